/**
 * Connections that the server ends at the worst moment.
 */
import assert from "node:assert/strict";

import { migrateDatabase } from "../../src/store/postgres/open.ts";
import { closeStores, openStores, type Stores } from "../../src/store/open.ts";
import { StoreError } from "../../src/store/types.ts";
import { appendTo, headAfter, makeSchema, runKey, sha256, STORAGE } from "../simulation/store_fixture.ts";
import { type PostgresServer, runSql, startPostgres } from "./postgres_server.ts";

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
