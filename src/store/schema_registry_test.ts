import assert from "node:assert/strict";
import { nextTurns } from "../../tests/until.ts";
import { DatabaseSync } from "node:sqlite";
import { sealAsBefore } from "../../tests/simulation/store/damage.ts";
import { makeSchema, sha256 } from "../../tests/simulation/store/fixture.ts";
import {
  type Changes,
  IMPLEMENTATIONS,
  storesOptions,
  WAL_FULL,
  withFolder,
  withStores,
} from "../../tests/simulation/store/open.ts";
import { closeStores, openStores } from "./open.ts";
import { type SchemaRegistry, StoreError } from "./types.ts";

function overAll(name: string, changes: Changes, run: (schemas: SchemaRegistry) => Promise<void>): void {
  for (const implementation of IMPLEMENTATIONS) {
    Deno.test(
      `SchemaRegistry (${implementation.name}) ${name}`,
      () => withStores(implementation, changes, ({ schemas }) => run(schemas)),
    );
  }
}

overAll("register() stores an id and version once in a namespace", {}, async (schemas) => {
  const schema = makeSchema("report", "1");
  assert.equal(await schemas.register(schema), "registered");
  assert.equal(await schemas.register({ ...schema, record: "{}" }), "exists");
  assert.equal(await schemas.register(makeSchema("report", "2")), "registered");
  assert.equal(await schemas.register(makeSchema("report", "1", 3)), "registered");
  assert.deepEqual(await schemas.get(2, "report", "1"), schema);
  assert.equal(await schemas.get(3, "report", "2"), null);
  assert.equal(await schemas.get(2, "Report", "1"), null);
  await assert.rejects(schemas.register(makeSchema("a\0", "1")), StoreError);
  await assert.rejects(schemas.register(makeSchema("a", "1\0")), StoreError);
});

overAll(
  "register() counts entries within a namespace, also of those that come together",
  { max_entries: 3 },
  async (schemas) => {
    const versions = ["1", "2", "3", "4"];
    const together = await Promise.all(versions.map((version) => schemas.register(makeSchema("report", version))));
    assert.deepEqual(together.toSorted(), ["limit", "registered", "registered", "registered"]);
    const kept = versions[together.indexOf("registered")] ?? "";
    assert.equal(await schemas.register(makeSchema("report", kept)), "exists");
    assert.equal(await schemas.register(makeSchema("report", kept, 3)), "registered");
    assert.equal(await schemas.get(2, "report", versions[together.indexOf("limit")] ?? ""), null);
  },
);

/** Tenants of each registration in a namespace with 2 schemas for each tenant; `all` is a caller for every tenant. */
const TENANTS: readonly (readonly [registrations: string, outcomes: string])[] = [
  ["1 1 1", "registered registered limit"],
  ["1 1 2 2 2", "registered registered registered registered limit"],
  ["1,2 1 1 2 2", "registered registered limit registered limit"],
  ["1 1 1,2", "registered registered limit"],
  ["1 all 1 2 2", "registered registered limit registered limit"],
  ["all all 1 all", "registered registered limit limit"],
  ["1 1 all 2", "registered registered limit registered"],
  ["none none none 1", "registered registered limit registered"],
];

for (const [registrations, outcomes] of TENANTS) {
  overAll(`register() counts entries of each tenant: ${registrations}`, { max_entries: 2 }, async (schemas) => {
    const found: string[] = [];
    for (const [version, who] of registrations.split(" ").entries()) {
      const tenants = who === "all" ? null : who === "none" ? [] : who.split(",").map(Number);
      found.push(await schemas.register(makeSchema("report", `${version}`), tenants));
    }
    assert.equal(found.join(" "), outcomes);
  });
}

overAll("getTenants() returns those of the registration in order, and null for every tenant", {}, async (schemas) => {
  const given = [null, [], [2, 1], [9]];
  for (const [version, tenants] of given.entries()) await schemas.register(makeSchema("report", `${version}`), tenants);
  const found = given.map((_, version) => schemas.getTenants(2, "report", `${version}`));
  assert.deepEqual(await Promise.all(found), [null, [0], [1, 2], [9]]);
  assert.equal(await schemas.getTenants(2, "report", "other"), null);
});

Deno.test("schemas of a file without tenants count for every tenant after it was opened", () =>
  withFolder(async (folder) => {
    const makeOld = (): void => {
      using database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(
        "DROP TABLE run_index; DROP TABLE run_parameters; DROP TABLE schema_tenants; DROP TABLE typed_providers; " +
          "DROP TABLE archives; DROP TABLE outbox_targets; DROP TABLE open_stages; DROP INDEX records_of_creation; " +
          "PRAGMA user_version = 1",
      );
      sealAsBefore(database);
    };
    const rows: readonly (readonly [max_entries: number | null, registrations: string])[] = [
      [null, "1:registered 1:registered"],
      [3, "2:registered 2:limit 1:registered 1:limit 3:registered"],
      [null, "2:registered"],
      [4, "2:limit 1:registered 1:limit"],
    ];
    let version = 0;
    for (const [max_entries, registrations] of rows) {
      if (version === 2) makeOld();
      const stores = await openStores(storesOptions(folder, WAL_FULL, { max_entries }), sha256);
      for (const [who = "", outcome] of registrations.split(" ").map((one) => one.split(":"))) {
        assert.equal(await stores.schemas.register(makeSchema("report", `${++version}`), [Number(who)]), outcome, who);
      }
      await closeStores(stores);
    }
  }));

for (const [bytes, isKept] of [[1, false], [0, true], [-1, true]] as const) {
  const schema = makeSchema("report", "1");
  const max_schema_bytes = schema.schema_bytes - bytes;
  overAll(
    `register() of ${schema.schema_bytes} bytes where ${max_schema_bytes} are kept`,
    { max_schema_bytes },
    async (schemas) => {
      const registering = schemas.register(schema);
      if (isKept) assert.equal(await registering, "registered");
      else await assert.rejects(registering, StoreError);
      assert.deepEqual(await schemas.get(2, "report", "1"), isKept ? schema : null);
    },
  );
}

overAll("list() pages by id and version in code point order", {}, async (schemas) => {
  const keys = [["b", "1"], ["a", "2"], ["a", "10"], ["\u{10000}", "1"], ["\uffff", "1"]] as const;
  for (const [id, version] of keys) await schemas.register(makeSchema(id, version));
  await schemas.register(makeSchema("a", "1", 3));
  const found: string[] = [];
  let after = null;
  for (;;) {
    const page = await schemas.list(2, after, 2);
    found.push(...page.map((schema) => `${schema.schema_id} ${schema.version}`));
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  assert.deepEqual(found, ["a 10", "a 2", "b 1", "\uffff 1", "\u{10000} 1"]);
  assert.deepEqual(await schemas.list(4, null, 10), []);
});

overAll("list() reads up to the first schema that does not fit into a page", {}, async (schemas) => {
  const sizes: number[] = [];
  for (const version of ["1", "2", "3", "4"]) {
    const schema = makeSchema("report", version);
    await schemas.register(schema);
    sizes.push(schema.record.length);
  }
  const [first = 0, second = 0, third = 0] = sizes;
  const rows: readonly (readonly [maximum: number, listed: string])[] = [
    [0, "1 2"],
    [first, "1 2"],
    [first + second - 1, "1 2"],
    [first + second, "1 2 3"],
    [first + second + third, "1 2 3 4"],
    [Infinity, "1 2 3 4"],
  ];
  for (const [maximum, listed] of rows) {
    const found = await schemas.list(2, null, 10, maximum);
    assert.equal(found.map(({ version }) => version).join(" "), listed, `${maximum}`);
  }
  assert.equal((await schemas.list(2, null, 3)).length, 3);
});

overAll("close() rejects later calls", {}, async (schemas) => {
  const queued = schemas.register(makeSchema("report", "1"));
  await schemas.close();
  assert.equal(await queued, "registered");
  for (const call of [schemas.get(2, "report", "1"), schemas.register(makeSchema("a", "1")), schemas.ready()]) {
    await assert.rejects(call, (error) => error instanceof StoreError && error.code === "closed");
  }
});

Deno.test("SchemaRegistry (sqlite) get() refuses a schema that another process changed after the first read", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    try {
      await stores.schemas.register(makeSchema("report", "1"));
      for (let read = 0; read < 2; read++) assert.ok(await stores.schemas.get(2, "report", "1"));
      const { path } = storesOptions(folder, WAL_FULL).schemas;
      using other = new DatabaseSync(path ?? "");
      other.exec("UPDATE schemas SET record = replace(record, 'object', 'Object')");
      await nextTurns();
      await assert.rejects(stores.schemas.get(2, "report", "1"), { code: "corrupt" });
    } finally {
      await closeStores(stores);
    }
  }));
