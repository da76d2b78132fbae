/**
 * What goes over the connections to a database, and connections that the server ends at the worst moment.
 */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";

import { migrateDatabase } from "../../src/store/postgres/open.ts";
import { closeStores, openStores, type Stores } from "../../src/store/open.ts";
import { StoreError } from "../../src/store/types.ts";
import { appendTo, headAfter, makeSchema, runKey, sha256, STORAGE } from "../simulation/store_fixture.ts";
import { OWNER, type PostgresServer, runSql, startPostgres } from "./postgres_server.ts";

const WAITING = "FROM pg_stat_activity WHERE application_name = 'gate' AND wait_event_type = 'Lock'";
const HOLDING = "FROM pg_stat_activity WHERE application_name = 'psql' AND wait_event = 'PgSleep'";

async function untilOne(server: PostgresServer, condition: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await runSql(server, `SELECT count(*) ${condition}`) === "1") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing is ${condition}`);
}

/** Registers a schema as callers do: a call that met an unavailable store is repeated. */
async function registerAgain(stores: Stores, id: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      return await stores.schemas.register(makeSchema(id, "1"));
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
  const storage = { ...STORAGE, type: "postgres", url } as const;
  const stores = await openStores({
    run: { ...storage, max_versions: null },
    schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
  }, sha256);
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

Deno.test("a call of unknown outcome is unavailable also where the database then refuses to look it up", async () => {
  await using server = await startPostgres();
  await runSql(server, "CREATE DATABASE gate");
  await runSql(server, "CREATE ROLE gate_server LOGIN");
  await migrateDatabase({ url: server.url("gate"), tls_ca_path: null, connections: 1 }, "gate_server");
  const storage = { ...STORAGE, type: "postgres", url: server.url("gate", "gate_server") } as const;
  const stores = await openStores({
    run: { ...storage, max_versions: null },
    schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
  }, sha256);
  try {
    const run = runKey("unknown outcome");
    const created = appendTo(run, null, "create");
    assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
    const holder = runSql(server, "BEGIN; SELECT 1 FROM gate.runs FOR UPDATE; SELECT pg_sleep(600)", "gate").catch(
      () => {},
    );
    await untilOne(server, HOLDING);
    const appended = assert.rejects(stores.runs.append(appendTo(run, headAfter(created), "submit")), isUnavailable);
    await untilOne(server, WAITING);
    await runSql(server, "REVOKE SELECT ON gate.records FROM gate_server", "gate");
    await runSql(server, `SELECT pg_terminate_backend(pid) ${WAITING}`);
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
  const storage = { ...STORAGE, type: "postgres", url } as const;
  for (let round = 0; round < 3; round++) {
    const stores = await openStores({
      run: { ...storage, max_versions: null },
      schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
    }, sha256);
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
      assert.equal(await registerAgain(stores, `after ${round}`), "registered");
    } finally {
      await closeStores(stores);
    }
  }
});
