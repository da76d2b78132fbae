import assert from "node:assert/strict";

import { makeSchema } from "../../tests/simulation/store_fixture.ts";
import { type Changes, IMPLEMENTATIONS, withStores } from "../../tests/simulation/store_open.ts";
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
    const together = ["1", "2", "3", "4"].map((version) => schemas.register(makeSchema("report", version)));
    assert.deepEqual(await Promise.all(together), ["registered", "registered", "registered", "limit"]);
    assert.equal(await schemas.register(makeSchema("report", "1")), "exists");
    assert.equal(await schemas.register(makeSchema("report", "1", 3)), "registered");
    assert.equal(await schemas.get(2, "report", "4"), null);
  },
);

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

overAll("list() reads no further than the first schema that a page leaves out", {}, async (schemas) => {
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

overAll("close() refuses what comes after", {}, async (schemas) => {
  const queued = schemas.register(makeSchema("report", "1"));
  await schemas.close();
  assert.equal(await queued, "registered");
  for (const call of [schemas.get(2, "report", "1"), schemas.register(makeSchema("a", "1")), schemas.ready()]) {
    await assert.rejects(call, (error) => error instanceof StoreError && error.code === "closed");
  }
});
