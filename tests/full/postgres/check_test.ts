/**
 * `gate store check` of databases, as a process: what the owner of a database can change in it is reported, and what is not a store is
 * refused. Each row has a database of its own, a copy of a sound one.
 */
import assert from "node:assert/strict";

import { closeStores, openStores } from "../../../src/store/open.ts";
import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import type { StoreProblem } from "../../../src/store/check/check_types.ts";
import { gate, inFolder } from "../../e2e/gate_command.ts";
import { fill, RUN } from "../../simulation/store/damage.ts";
import { appendTo, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions } from "../../simulation/store/open.ts";
import { runSql, startPostgres } from "./server.ts";

const server = await startPostgres();
await runSql(server, "CREATE ROLE gate_reader LOGIN");
await runSql(server, "CREATE DATABASE sound");
await migrateDatabase({ url: server.url("sound"), tls_ca_path: null, connections: 1 }, null);
await runSql(
  server,
  "GRANT USAGE ON SCHEMA gate TO gate_reader; GRANT SELECT ON ALL TABLES IN SCHEMA gate TO gate_reader",
  "sound",
);
const postgres = { name: "postgres", changes: { type: "postgres", url: server.url("sound") } } as const;
const stores = await openStores(storesOptions("", postgres), sha256);
await fill(stores);
await closeStores(stores);

let databases = 0;

/** A copy of the sound database with a change. */
async function changed(sql: string): Promise<string> {
  databases += 1;
  const database = `checked_${databases}`;
  await runSql(server, `CREATE DATABASE ${database} TEMPLATE sound`);
  if (sql !== "") await runSql(server, sql, database);
  return database;
}

const HEX = "0".repeat(64);
const COPY_RUN = `INSERT INTO gate.snapshots SELECT namespace_id, '${HEX.slice(32)}', revision, state_identity, state
  FROM gate.snapshots`;

// The change; the kind, revision and message of the problem that the check reports.
const CHANGES:
  readonly (readonly [sql: string, what: StoreProblem["what"], revision: number | null, message: RegExp])[] = [
    [
      "UPDATE gate.records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 3",
      "record",
      3,
      /does not hash/,
    ],
    [
      "UPDATE gate.records SET material = replace(material, 'json', 'jsom') WHERE revision = 2",
      "record",
      2,
      /payload" does not hash/,
    ],
    [
      "INSERT INTO gate.open_stages SELECT namespace_id, run_id, 's', 1 FROM gate.runs",
      "run",
      null,
      /open stages differ from its records/,
    ],
    ["UPDATE gate.records SET material = '' WHERE revision = 2", "record", 2, /0 pieces of material, expected 1/],
    [
      "UPDATE gate.records SET result = result || ' ' WHERE revision = 2",
      "record",
      2,
      /receipt differs from the written one/,
    ],
    [`UPDATE gate.records SET seal = '${HEX}' WHERE revision = 2`, "record", 2, /receipt differs from the written one/],
    [
      `UPDATE gate.records SET operation = '${HEX.slice(32)}' WHERE revision = 3`,
      "record",
      3,
      /operation of the record/,
    ],
    [`UPDATE gate.runs SET head = '${HEX}'`, "run", 4, /head names another record/],
    ["UPDATE gate.runs SET revision = 3", "record", 4, /beyond the head/],
    ["UPDATE gate.runs SET revision = 5", "run", 5, /record 5 is missing/],
    [`UPDATE gate.runs SET law_identity = '${HEX}'`, "record", 1, /run is bound to scenario_law_identity/],
    [`UPDATE gate.runs SET run_id = '${HEX.slice(32)}'`, "run", 1, /records 1 to 4 are missing/],
    [`UPDATE gate.runs SET creation = '${HEX.slice(32)}'`, "record", 1, /not the creation of the run/],
    ["UPDATE gate.runs SET status = 'complete'", "run", null, /entry in the index of runs differs/],
    ["UPDATE gate.runs SET created = created + 1", "run", null, /entry in the index of runs differs/],
    ["UPDATE gate.runs SET correlation = 'x'", "run", null, /entry in the index of runs differs/],
    ["UPDATE gate.runs SET parameter_hashes = '{x}'", "run", null, /entry in the index of runs differs/],
    ["UPDATE gate.runs SET complete_seal = active_seal", "run", null, /entry in the index of runs differs/],
    ["DELETE FROM gate.records WHERE revision = 4", "run", 4, /record 4 is missing/],
    ["DELETE FROM gate.records WHERE revision = 3", "run", 3, /record 3 is missing/],
    ["DELETE FROM gate.records WHERE revision = 1", "run", 1, /record 1 is missing/],
    ["DELETE FROM gate.runs", "record", null, /4 rows of "records" belong to no run/],
    [COPY_RUN, "snapshot", null, /1 rows of "snapshots" belong to no run/],
    ["UPDATE gate.snapshots SET revision = 9", "snapshot", null, /beyond the head/],
    ["UPDATE gate.snapshots SET revision = 2", "snapshot", 2, /of another revision/],
    ["UPDATE gate.snapshots SET state = replace(state, 'note', 'Note')", "snapshot", 3, /does not hash/],
    ["UPDATE gate.laws SET law = replace(law, 'release', 'Release')", "law", null, /does not hash/],
    ["UPDATE gate.laws SET scenario_id = 'other'", "law", null, /differ from the written ones/],
    ["DELETE FROM gate.laws", "run", null, /law ".*" is missing/],
    ["UPDATE gate.artifacts SET body = replace(body, 'lanes', 'Lanes')", "artifact", null, /does not hash/],
    [
      "UPDATE gate.schemas SET record = replace(record, 'object', 'Object')",
      "schema",
      null,
      /differs from the written one/,
    ],
    ["UPDATE gate.schemas SET tenants = '{7}'", "schema", null, /differs from the written one/],
    ["UPDATE gate.typed_providers SET checks = 2", "typed_provider", null, /differs from the written one/],
    ["UPDATE gate.typed_providers SET state = 'deprecated'", "typed_provider", null, /differs from the written one/],
    [
      "UPDATE gate.run_counts SET runs = runs + 1",
      "file",
      null,
      /counts of runs are 2 and 0 complete, expected 1 and 0/,
    ],
    [
      "UPDATE gate.run_counts SET complete = complete + 1",
      "file",
      null,
      /counts of runs are 1 and 1 complete, expected 1/,
    ],
    [
      "CREATE RULE r AS ON DELETE TO gate.laws DO INSTEAD NOTHING",
      "file",
      null,
      /The rule "r" on table "laws" is not part/,
    ],
    [
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'gate.runs_listed'::regclass",
      "file",
      null,
      /invalid index "runs_listed"/,
    ],
  ];

Deno.test("runs are counted in 1,024 rows, whatever the numbers of the server's processes are", async () => {
  const database = await changed("");
  const sql = "SELECT min(backend), max(backend), count(*), sum(runs) FROM gate.run_counts";
  const [least, most, count, runs] = (await runSql(server, sql, database)).split("|").map(Number);
  assert.ok(least !== undefined && least >= 0 && most !== undefined && most <= 1024, `${least} to ${most}`);
  assert.deepEqual([(count ?? 0) <= 2, runs], [true, 1]);
});

Deno.test("a run that was moved to another namespace in the database cannot be read there", async () => {
  const move = "UPDATE gate.runs SET namespace_id = 3; UPDATE gate.records SET namespace_id = 3";
  const url = server.url(await changed(move));
  const moved = await openStores(storesOptions("", { ...postgres, changes: { ...postgres.changes, url } }), sha256);
  await assert.rejects(moved.runs.getHead({ ...RUN, namespace_id: 3 }), /its record is of another run/);
  await closeStores(moved);
});

for (const [sql, what, revision, message] of CHANGES) {
  Deno.test(`gate store check of a database reports: ${sql.replace(/\s+/g, " ").replace(/0{32,}/, "0...")}`, () =>
    inFolder(async (folder) => {
      const database = await changed(sql);
      const { code, stdout, stderr } = await gate(folder, "store", "check", server.url(database), "--json");
      assert.deepEqual([code, stderr], [6, ""]);
      const { ok, result: { stores: [report] } } = JSON.parse(stdout);
      assert.deepEqual([ok, report.sound], [false, false]);
      const hit = report.problems.find((problem: StoreProblem) =>
        problem.what === what && problem.revision === revision && message.test(problem.message)
      );
      assert.ok(hit !== undefined, JSON.stringify(report.problems, null, 1));
    }));
}

Deno.test("a run whose creation request was edited in the database admits no second run", async () => {
  const url = server.url(await changed(`UPDATE gate.runs SET creation = '${HEX.slice(32)}'`));
  const edited = await openStores(storesOptions("", postgres, { url }), sha256);
  try {
    await assert.rejects(
      edited.runs.append(appendTo(runKey("again"), null, "create")),
      /its rows contradict each other \(23505\)/,
    );
  } finally {
    await closeStores(edited);
  }
});

Deno.test("gate store check of a database: a role that may only select is enough", () =>
  inFolder(async (folder) => {
    // The states of the fixture are no real ones, so folding them fails; everything else is sound.
    const { stdout } = await gate(folder, "store", "check", server.url("sound", "gate_reader"), "--json");
    const [report] = JSON.parse(stdout).result.stores;
    assert.equal(report.path, `database "sound" at 127.0.0.1:${server.port}`);
    const { laws, runs, records, material, artifacts, snapshots, schemas, typed_providers } = report.counts;
    assert.deepEqual([laws, runs, records, material, artifacts, snapshots, schemas, typed_providers], [
      1,
      1,
      4,
      1,
      1,
      1,
      1,
      1,
    ]);
    assert.deepEqual(report.problems.map((problem: StoreProblem) => problem.message.slice(0, 25)), [
      "its records do not fold: ",
    ]);
  }));

// What is named; the exit code, and what the command writes.
const REFUSED: readonly (readonly [name: () => string, code: number, message: RegExp])[] = [
  [
    () => server.url("absent"),
    8,
    /Cannot use database "absent" at 127\.0\.0\.1:\d+: the server has no such database \(3D000\)/,
  ],
  [() => server.url("postgres"), 8, /it has no tables of gate, run "gate store migrate"/],
  [() => "postgres://u:p@127.0.0.1:1/gate", 8, /it is not available \(ECONNREFUSED\)/],
  [() => "env:GATE_ABSENT", 2, /its url refers to variable "GATE_ABSENT", which is not set/],
  [
    () => "env:PATH",
    2,
    /its url refers to variable "PATH", which must be postgres:\/\/USER:PASSWORD@HOST:PORT\/DATABASE/,
  ],
  [() => "postgres://127.0.0.1/gate", 2, /address of the database: it has to be postgres:\/\/USER:PASSWORD@/],
];

for (const [name, code, message] of REFUSED) {
  Deno.test(`gate store check of a database that cannot be read: ${message.source}`, () =>
    inFolder(async (folder) => {
      const ended = await gate(folder, "store", "check", name());
      assert.deepEqual([ended.code, ended.stdout], [code, ""]);
      assert.match(ended.stderr, message);
    }));
}

Deno.test.afterAll(() => server[Symbol.asyncDispose]());
