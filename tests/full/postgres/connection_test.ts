/**
 * What goes over the connections to a database, and connections that the server ends at the worst moment.
 */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";

import { parsePostgresAddress } from "../../../src/config/postgres_address.ts";
import { openDatabase } from "../../../src/store/postgres/database.ts";
import { migrateDatabase, type Migration } from "../../../src/store/postgres/open.ts";
import { TABLES_VERSION } from "../../../src/store/postgres/tables.ts";
import { closeStores, openStores, type Stores } from "../../../src/store/open.ts";
import { type Append, type AppendResult, StoreError } from "../../../src/store/types.ts";
import { appendTo, headAfter, makeSchema, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions } from "../../simulation/store/open.ts";
import { OWNER, type PostgresServer, runSql, startPostgres, startStandby } from "./server.ts";

const WAITING = "FROM pg_stat_activity WHERE application_name = 'gate' AND wait_event_type = 'Lock'";
const HOLDING = "FROM pg_stat_activity WHERE application_name = 'psql' AND wait_event = 'PgSleep'";

async function untilOne(server: PostgresServer, condition: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await runSql(server, `SELECT count(*) ${condition}`) === "1") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing is ${condition}`);
}

/** Calls as callers do: a call that met an unavailable store is repeated. */
async function untilAvailable<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error("The store does not come back");
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && error.code === "unavailable";
}

function openOn(url: string, connections = 4): Promise<Stores> {
  return openStores(
    storesOptions("", { name: "postgres", changes: { type: "postgres" } }, { url, connections }),
    sha256,
  );
}

/** Prepares a database for a server whose role has some attributes, and opens the stores as that role. */
async function openAsRole(server: PostgresServer, attributes: string): Promise<Stores> {
  await runSql(server, "CREATE DATABASE gate");
  await runSql(server, `CREATE ROLE gate_server ${attributes}`);
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, "gate_server");
  return await openOn(server.url("gate", "gate_server"));
}

Deno.test("a page of large records is not read beyond its limit in bytes", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, null);
  let received = 0;
  const line = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    far.on("data", (bytes) => void (received += bytes.length));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  const address = line.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `postgres://${OWNER}:unused@127.0.0.1:${port}/gate`;
  const stores = await openOn(url);
  try {
    const run = runKey("large records");
    const large = Array.from({ length: 20 }, (_, index) => ({ operation: `large ${index}`, filling: 500_000 }));
    const created = appendTo(run, null, "create");
    assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
    const added = appendTo(run, headAfter(created), ...large);
    assert.deepEqual(await stores.runs.append(added), { outcome: "accepted" });
    received = 0;
    assert.equal((await stores.runs.listRecords(run, 1, 20, 1_100_000)).length, 2);
    // The two records of the page, and the one that does not fit any more.
    assert.ok(received < 2_000_000, `${received} bytes were received`);
    assert.equal((await stores.runs.listRecords(run, 0, 100)).length, 21);
  } finally {
    await closeStores(stores);
    line.close();
  }
});

/** A line that counts what the server sends, and ends after so many bytes of it. */
async function openLine(
  server: PostgresServer,
): Promise<{ port: number; endAfter: (bytes: number) => void; close: () => void }> {
  let left = Infinity;
  const line = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    near.pipe(far);
    far.on("data", (bytes) => {
      if (bytes.length < left) {
        left -= bytes.length;
        near.write(bytes);
        return;
      }
      near.end(bytes.subarray(0, left));
      far.destroy();
      left = Infinity;
    });
    far.on("end", () => near.end());
    for (const socket of [near, far]) socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  const address = line.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, endAfter: (bytes) => void (left = bytes), close: () => line.close() };
}

Deno.test("a reply that ended in the middle leaves nothing behind for the calls that come next", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const line = await openLine(server);
  const url = `postgres://${OWNER}:unused@127.0.0.1:${line.port}/gate`;
  const stores = await openOn(url, 1);
  try {
    const { runs } = stores;
    const run = runKey("cut reply");
    const created = appendTo(run, null, "create");
    assert.deepEqual(await runs.append(created), { outcome: "accepted" });
    const filled = Array.from({ length: 20 }, (_, index) => ({ operation: `step ${index}`, filling: 2000 }));
    const added = appendTo(run, headAfter(created), ...filled);
    assert.deepEqual(await runs.append(added), { outcome: "accepted" });
    const [first] = added.records;
    const again = appendTo(run, headAfter(added), "step 0");
    // What comes after the cut; its answer.
    const rows: readonly (readonly [() => Promise<unknown>, unknown])[] = [
      [async () => (await runs.getHead(run))?.head, headAfter(added)],
      [async () => (await runs.listRecords(run, 0, 100)).length, 21],
      [async () => (await runs.receipts.get(run, first!.receipt.operation))?.revision, 2],
      [async () => (await runs.append(again)).outcome, "operation_exists"],
      [async () => (await runs.findRuns({ namespace_id: run.namespace_id }, null, 10)).runs.length, 1],
      [async () => (await runs.listRuns(null, 10)).length, 1],
      [() => stores.schemas.register(makeSchema("cut", "1")), "registered"],
      [() => stores.schemas.register(makeSchema("cut", "1")), "exists"],
    ];
    for (const [index, [call, expected]] of rows.entries()) {
      await runs.getHead(run);
      // Several records, and not the whole page.
      line.endAfter(20_000);
      await assert.rejects(runs.listRecords(run, 0, 100), isUnavailable, `row ${index}`);
      assert.deepEqual(await call(), expected, `row ${index}`);
    }
  } finally {
    await closeStores(stores);
    line.close();
  }
});

Deno.test("reads and writes go to the server that accepts writes alone, whichever the address names first", async () => {
  await using primary = await startPostgres();
  await runSql(primary, "CREATE DATABASE gate");
  await migrateDatabase({ url: primary.url("gate"), tls_ca_path: null, connections: 1 }, null);
  await using standby = await startStandby(primary);
  const urlOf = (...servers: readonly PostgresServer[]): string =>
    `postgres://${OWNER}:unused@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/gate`;
  await assert.rejects(openOn(urlOf(standby), 2), isUnavailable);
  const stores = await openOn(urlOf(standby, primary), 2);
  try {
    // The standby receives records and does not show them.
    await runSql(standby, "SELECT pg_wal_replay_pause()");
    const run = runKey("one server");
    const created = appendTo(run, null, "create");
    assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
    for (let read = 0; read < 20; read++) {
      const head = await untilAvailable(() => stores.runs.getHead(run));
      assert.deepEqual(head?.head, headAfter(created));
      await runSql(primary, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gate'");
    }
  } finally {
    await closeStores(stores);
  }
});

Deno.test("two statements share the appends of many runs; a later append of a run stays behind the one before it", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const stores = await openOn(server.url("gate"));
  const { runs } = stores;
  const send = (appends: readonly Append[]): Promise<AppendResult>[] => appends.map((append) => runs.append(append));
  const accepted = (count: number): AppendResult[] => Array.from({ length: count }, () => ({ outcome: "accepted" }));
  try {
    const created = Array.from({ length: 64 }, (_, index) => appendTo(runKey(`shared ${index}`), null, `${index}`));
    assert.deepEqual(await Promise.all(send(created.slice(0, 8))), accepted(8));
    assert.equal(runs.load().batches, 1, "a few appends are not shared");
    assert.deepEqual(await Promise.all(send(created.slice(8))), accepted(56));
    const before = runs.load();
    const held = runKey("shared 0");
    const lock = `BEGIN; SELECT 1 FROM gate.runs WHERE run_id = '${held.run_id}' FOR UPDATE; SELECT pg_sleep(600)`;
    const holder = runSql(server, lock, "gate").catch(() => {});
    await untilOne(server, HOLDING);
    const moved = created.map((append, index) => appendTo(append.run_key, headAfter(append), `then ${index}`));
    const [first, last] = [moved[0], moved.at(-1)];
    assert.ok(before !== undefined && first !== undefined && last !== undefined);
    const [locked, ...answers] = send(moved);
    assert.ok(locked !== undefined);
    assert.deepEqual(await Promise.all(answers.slice(31)), accepted(32));
    // The other runs of its statement wait a moment only, and go on.
    assert.deepEqual(await Promise.all(answers.slice(0, 31)), accepted(31));
    answers.push(locked, ...send([appendTo(held, headAfter(first), "behind")]));
    for (const moment of ["beside", "again"]) {
      const next = moved.slice(1).map((append) => appendTo(append.run_key, headAfter(append), moment));
      const expected = moment === "beside" ? "accepted" : "stale";
      const outcomes = (await Promise.all(send(next))).map(({ outcome }) => outcome);
      assert.deepEqual(new Set(outcomes), new Set([expected]));
    }
    await untilOne(server, WAITING);
    assert.deepEqual([runs.load().queued, runs.load().operations], [1, before.operations + 63 + 63]);
    await runSql(server, `SELECT pg_terminate_backend(pid) ${HOLDING}`);
    await holder;
    assert.deepEqual(await Promise.all(answers), accepted(65));
  } finally {
    await closeStores(stores);
  }
});

Deno.test("a server that refuses further connections is used over the one that is open", async () => {
  await using server = await startPostgres();
  const stores = await openAsRole(server, "LOGIN CONNECTION LIMIT 1");
  const { runs } = stores;
  const keys = Array.from({ length: 64 }, (_, index) => runKey(`refused ${index}`));
  try {
    const appended = await Promise.all(keys.map((key, index) => runs.append(appendTo(key, null, `${index}`))));
    assert.deepEqual(new Set(appended.map(({ outcome }) => outcome)), new Set(["accepted"]));
    const read = await Promise.all(keys.map((key) => runs.listRecords(key, 0, 10)));
    assert.deepEqual(new Set(read.map(({ length }) => length)), new Set([1]));
  } finally {
    await closeStores(stores);
  }
});

Deno.test("a call of unknown outcome is unavailable also where the database then refuses to look it up", async () => {
  await using server = await startPostgres();
  const stores = await openAsRole(server, "LOGIN");
  try {
    const run = runKey("unknown outcome");
    const created = appendTo(run, null, "create");
    assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
    const holder = runSql(server, "BEGIN; SELECT 1 FROM gate.runs FOR UPDATE; SELECT pg_sleep(600)", "gate").catch(
      () => {},
    );
    await untilOne(server, HOLDING);
    const appended = assert.rejects(stores.runs.append(appendTo(run, headAfter(created), "submit")), isUnavailable);
    // The connections end while the append waits for the row; none is opened again before the right is gone.
    await runSql(server, "ALTER ROLE gate_server CONNECTION LIMIT 0");
    const ended = `SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity
      WHERE application_name = 'gate' AND EXISTS (SELECT 1 ${WAITING})`;
    while (await runSql(server, ended) === "f") await new Promise((resolve) => setTimeout(resolve, 20));
    await runSql(server, "REVOKE SELECT ON gate.records FROM gate_server", "gate");
    await runSql(server, "ALTER ROLE gate_server CONNECTION LIMIT -1");
    await appended;
    await runSql(server, `SELECT pg_terminate_backend(pid) ${HOLDING}`);
    await holder;
  } finally {
    await closeStores(stores);
  }
});

Deno.test("a connection that ends inside a transaction is an unavailable store, and the process goes on", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  const url = server.url("gate");
  await migrateDatabase({ url, tls_ca_path: null, connections: 1 }, null);
  for (let round = 0; round < 3; round++) {
    const stores = await openOn(url);
    try {
      assert.equal(await stores.schemas.register(makeSchema(`before ${round}`, "1")), "registered");
      const lock = "BEGIN; SELECT 1 FROM gate.namespaces FOR UPDATE; SELECT pg_sleep(600)";
      const holder = runSql(server, lock, "gate").catch(() => {});
      await untilOne(server, HOLDING);
      const refused = assert.rejects(stores.schemas.register(makeSchema(`after ${round}`, "1")), isUnavailable);
      await untilOne(server, WAITING);
      await runSql(server, `SELECT pg_terminate_backend(pid) ${WAITING}`);
      await refused;
      await runSql(server, `SELECT pg_terminate_backend(pid) ${HOLDING}`);
      await holder;
      assert.equal(
        await untilAvailable(() => stores.schemas.register(makeSchema(`after ${round}`, "1"))),
        "registered",
      );
    } finally {
      await closeStores(stores);
    }
  }
});

/** Servers that take connections and say nothing. */
async function startSilent(count: number): Promise<{ ports: readonly number[]; close: () => void }> {
  const servers = Array.from({ length: count }, () => createServer((socket) => void socket.on("error", () => {})));
  const ports = await Promise.all(
    servers.map((silent) =>
      new Promise<number>((resolve) =>
        silent.listen(0, "127.0.0.1", () => {
          const address = silent.address();
          resolve(typeof address === "object" && address !== null ? address.port : 0);
        })
      )
    ),
  );
  return { ports, close: () => servers.forEach((silent) => silent.close()) };
}

// The silent servers that the address names before a good one; whether the database is only read; what a statement answers.
const silence: readonly (readonly [silent: number, readOnly: boolean, answer: "rows" | "unavailable"])[] = [
  [3, false, "rows"],
  [7, false, "rows"],
  [7, true, "rows"],
];

for (const [count, readOnly, answer] of silence) {
  const what = `${count} silent servers before a good one${readOnly ? ", of which any may answer" : ""}`;
  Deno.test(`a statement on a database with ${what}: ${answer}`, async () => {
    await using server = await startPostgres();
    const silent = await startSilent(count);
    const hosts = [...silent.ports, server.port].map((port) => `127.0.0.1:${port}`).join(",");
    const address = parsePostgresAddress(`postgres://${OWNER}:unused@${hosts}/postgres`);
    assert.ok(address !== null);
    const database = openDatabase({ address, authorities: null, connections: 2, readOnly });
    try {
      const numbers = await Promise.all([1, 2].map((number) => database.query(`SELECT ${number}::int8 AS number`)));
      assert.deepEqual(numbers, [[{ number: 1 }], [{ number: 2 }]]);
    } finally {
      await database.close();
      silent.close();
    }
  });
}

Deno.test("closing a database ends its attempts to reach silent servers", async () => {
  const silent = await startSilent(2);
  const hosts = silent.ports.map((port) => `127.0.0.1:${port}`).join(",");
  const address = parsePostgresAddress(`postgres://${OWNER}:unused@${hosts}/postgres`);
  assert.ok(address !== null);
  const database = openDatabase({ address, authorities: null, connections: 1 });
  const asked = assert.rejects(database.query("SELECT 1"), isUnavailable);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await database.close();
  await asked;
  silent.close();
});

Deno.test("two migrations of one database at once: one creates the tables, the other one finds them", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  // Both have looked for the tables before one of them can create the schema.
  const lock = "BEGIN; LOCK TABLE pg_namespace IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(600)";
  const holder = runSql(server, lock, "gate").catch(() => {});
  await untilOne(server, HOLDING);
  const migrate = (): Promise<Migration> =>
    migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const both = Promise.all([migrate(), migrate()]);
  const waiting = "FROM (SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'gate' " +
    "AND wait_event_type = 'Lock') AS w WHERE n = 2";
  await untilOne(server, waiting);
  await runSql(server, `SELECT pg_terminate_backend(pid) ${HOLDING}`);
  await holder;
  assert.deepEqual((await both).map(({ from }) => from).toSorted(), [TABLES_VERSION, null]);
});

Deno.test("a statement of a migration may take longer than one of a server", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  // The creation of one index takes 11 s, as that of an index over a large table may.
  const slow = `CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_event_trigger_ddl_commands() WHERE object_identity = 'gate.open_stages_opened')
    THEN PERFORM pg_sleep(11); END IF; END $$`;
  await runSql(server, slow, "gate");
  await runSql(server, "CREATE EVENT TRIGGER slow ON ddl_command_end EXECUTE FUNCTION slow()", "gate");
  const options = { url: server.url("gate"), tls_ca_path: null, connections: 1 };
  const { from, version } = await migrateDatabase(options, null);
  assert.deepEqual([from, version], [null, TABLES_VERSION]);
});

Deno.test("a transaction may take longer than a statement may", async () => {
  await using server = await startPostgres();
  const address = parsePostgresAddress(server.url("postgres"));
  assert.ok(address !== null);
  const database = openDatabase({ address, authorities: null, connections: 1 });
  try {
    const answer = await database.transaction(async (query) => {
      for (let repeated = 0; repeated < 2; repeated++) await query("SELECT pg_sleep(7)::text");
      return "committed";
    });
    assert.equal(answer, "committed");
  } finally {
    await database.close();
  }
});
