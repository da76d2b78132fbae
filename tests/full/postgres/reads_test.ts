/**
 * What a read costs: the statements that go over the line to a database, and the rows that they look at.
 */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";

import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { closeStores, openStores } from "../../../src/store/open.ts";
import { appendTo, headAfter, LAW, runKey, sha256, STORAGE } from "../../simulation/store/fixture.ts";
import { OWNER, runSql, startPostgres } from "./server.ts";

/** A line that counts the statements which a server is told to execute (PostgreSQL documentation, "Message Formats"). */
async function openCounter(target: number): Promise<{ port: number; executed: () => number; close: () => void }> {
  let executed = 0;
  const line = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    far.pipe(near).pipe(far);
    let rest = new Uint8Array();
    let isStarted = false;
    near.on("data", (bytes: Uint8Array) => {
      rest = new Uint8Array([...rest, ...bytes]);
      for (;;) {
        // The first message has no type.
        const at = isStarted ? 1 : 0;
        if (rest.length < at + 4) return;
        const end = at + new DataView(rest.buffer, rest.byteOffset).getUint32(at);
        if (rest.length < end) return;
        if (isStarted && "EQ".includes(String.fromCharCode(rest[0] ?? 0))) executed += 1;
        isStarted = true;
        rest = rest.slice(end);
      }
    });
    for (const socket of [near, far]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  const address = line.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, executed: () => executed, close: () => line.close() };
}

Deno.test("a read is one statement, and looks at a few rows beside many runs and in a long run, without statistics", async () => {
  await using server = await startPostgres(["autovacuum=off"]);
  await runSql(server, "CREATE DATABASE gate");
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const line = await openCounter(server.port);
  const url = `postgres://${OWNER}:unused@127.0.0.1:${line.port}/gate`;
  const storage = { ...STORAGE, type: "postgres", url, connections: 1 } as const;
  const stores = await openStores({
    run: { ...storage, max_versions: null },
    schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
  }, sha256);
  const { runs } = stores;
  const long = runKey("long");
  const created = appendTo(long, null, "create");
  const operation = created.records[0]!.receipt.operation;
  const submitted = appendTo(long, headAfter(created), "submit");
  const others = Array.from({ length: 64 }, (_, index) => runKey(`other ${index}`));
  // The read, how often it is called, and its statements.
  const reads: readonly (readonly [string, () => Promise<unknown>, number])[] = [
    ["a head", () => runs.getHead(long), 1],
    ["the heads of 64 runs in one turn", () => Promise.all(others.map((run) => runs.getHead(run))), 1],
    ["a receipt", () => runs.receipts.get(long, submitted.records[0]!.receipt.operation), 1],
    ["a receipt that is missing", () => runs.receipts.get(long, { family: "submit", identity: "0".repeat(32) }), 1],
    ["the receipt of a creation", () => runs.receipts.ofCreation(long.namespace_id, operation.identity), 1],
    ["a law", () => runs.laws.get(long.namespace_id, LAW.scenario_law_identity), 1],
    ["an artifact", () => runs.artifacts.get("0".repeat(64)), 1],
    ["a snapshot", () => runs.snapshots.get(long, 1), 1],
    ["a repeated append", () => runs.append(appendTo(long, null, "create")), 3],
    ["a stale append", () => runs.append(appendTo(long, headAfter(created), "late")), 3],
  ];
  const rows = "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables WHERE schemaname = 'gate'";
  try {
    assert.deepEqual(await runs.append(created), { outcome: "accepted" });
    assert.deepEqual(await runs.append(submitted), { outcome: "accepted" });
    for (const run of others) {
      assert.deepEqual(await runs.append(appendTo(run, null, run.run_id)), { outcome: "accepted" });
    }
    // Every statement is planned while the tables are small, and keeps its plan.
    for (const [, read] of reads) for (let call = 0; call < 10; call++) await read();
    await runSql(server, manyRuns(long.run_id), "gate");
    for (const [name, read, statements] of reads) {
      const before = line.executed();
      await read();
      assert.equal(line.executed() - before, statements, name);
    }
    await runSql(server, "SELECT pg_stat_reset()", "gate");
    for (const [, read] of reads) for (let call = 0; call < 10; call++) await read();
  } finally {
    await closeStores(stores);
    line.close();
  }
  for (
    let attempt = 0;
    await runSql(server, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gate'") !== "0";
  ) {
    assert.ok(attempt++ < 300, "the connections of the store do not end");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const looked = Number(await runSql(server, rows, "gate"));
  // 64 heads with a run, a record or two and the mark of an archive each, and a few rows of the others; ten times. A single
  // read that goes through the runs or the records adds 20,000.
  assert.ok(looked > 1000 && looked < 10_000, `${looked} rows were looked at`);
});

Deno.test("appends find their runs by the primary key alone, without statistics", async () => {
  await using server = await startPostgres(["autovacuum=off"]);
  await runSql(server, "CREATE DATABASE gate");
  const url = server.url("gate");
  await migrateDatabase({ url, tls_ca_path: null, connections: 1 }, null);
  const storage = { ...STORAGE, type: "postgres", url } as const;
  const stores = await openStores({
    run: { ...storage, max_versions: null },
    schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
  }, sha256);
  const names = Array.from({ length: 64 }, (_, index) => `run ${index}`);
  let appends = names.map((name) => appendTo(runKey(name), null, `${name} 0`));
  try {
    for (let revision = 1; revision <= 20; revision++) {
      const outcomes = await Promise.all(appends.map((append) => stores.runs.append(append)));
      assert.deepEqual(new Set(outcomes.map(({ outcome }) => outcome)), new Set(["accepted"]));
      // A creation among the appends makes another statement of them.
      const created = appendTo(runKey(`late ${revision}`), null, `late ${revision}`);
      if (revision % 2 === 0) assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
      appends = appends.map((append) =>
        appendTo(append.run_key, headAfter(append), `${append.run_key.run_id} ${revision}`)
      );
    }
  } finally {
    await closeStores(stores);
  }
  // A scan by an index of the lists goes through all runs of the namespace. Creations ask theirs.
  const scans = `SELECT indexrelname, idx_scan FROM pg_stat_user_indexes
    WHERE relname = 'runs' AND idx_scan > 0 AND indexrelname <> 'runs_namespace_id_creation_key'`;
  assert.match(await runSql(server, scans, "gate"), /^runs_pkey\|\d{3,}$/);
});

/** The SQL that adds 20,000 runs of the same law, and as many records to one run. */
function manyRuns(runId: string): string {
  const { scenario_id, scenario_law_identity } = LAW;
  // The text of a record names its run.
  const text = `{"run_key":{"namespace_id":2,"run_id":"${runId}"}}`;
  const record = `md5(i::text), 'submit', md5(i::text), md5(i::text), '', '', '', '${text}', ''`;
  return `INSERT INTO gate.runs (namespace_id, run_id, scenario_id, law_identity, creation, revision, head, created, status,
      correlation, parameters, parameter_hashes, active_seal, complete_seal)
    SELECT 2, md5(i::text), '${scenario_id}', '${scenario_law_identity}', md5(i::text), 1, md5(i::text), i, 'active', '', '[]',
      '{}', '', '' FROM generate_series(1, 20000) AS i;
    INSERT INTO gate.records SELECT 2, '${runId}', i + 2, ${record} FROM generate_series(1, 20000) AS i;
    UPDATE gate.runs SET revision = 20002, head = md5('20000') WHERE run_id = '${runId}'`;
}
