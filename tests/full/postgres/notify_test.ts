/** Two servers on one database with one receiver: one sends for both, and the other one goes on when it is killed. */

import assert from "node:assert/strict";

import { until } from "../../until.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { EVENTS, notifyFlags, receiver, restored, SCENARIO, startServing } from "../../e2e/people/notify_fixture.ts";
import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { runSql, startPostgres } from "./server.ts";

const STORES = `
[run_state_store]
type = "postgres"
url = "env:GATE_DATABASE"

[schema_registry]
type = "postgres"
url = "env:GATE_DATABASE"
`;

Deno.test("events of two servers come once each; after a kill of the sender the other one goes on, without a loss", async () => {
  const database = await startPostgres();
  try {
    await runSql(database, "CREATE ROLE gate_server LOGIN");
    await runSql(database, "CREATE DATABASE notified");
    await migrateDatabase({ url: database.url("notified"), tls_ca_path: null, connections: 1 }, "gate_server");
    const environment = { GATE_DATABASE: database.url("notified", "gate_server") };
    let isUp = true;
    const peer = receiver(() => new Response(null, { status: isUp ? 204 : 503 }));
    const delivered: string[] = [];
    await inFolder((one) =>
      inFolder(async (two) => {
        await using first = await startServing(one, notifyFlags(peer.url), STORES, environment);
        await using second = await startServing(two, notifyFlags(peer.url), STORES, environment);
        const runs = [await first.drive(SCENARIO), await second.drive({ ...SCENARIO, scenario_id: "second" })];
        await until("all events came", () => runs.every((run) => restored(peer.got, run) === EVENTS.notified));
        assert.equal(peer.got.length, 8);

        isUp = false;
        runs.push(await first.drive({ ...SCENARIO, scenario_id: "third" }));
        await until("the sender tries", () => peer.got.length > 8);
        const ages = await Promise.all([first, second].map(async ({ url }) => {
          const text = await (await fetch(`${url}/metrics`)).text();
          return Number(/^gate_notify_oldest_seconds\{\} (\S+)$/m.exec(text)?.[1]);
        }));
        assert.equal(ages.filter((age) => age > 0).length, 1, "one server sends");
        const [sender, other] = (ages[0] ?? 0) > 0 ? [first, second] : [second, first];
        sender.process.signal("SIGKILL");
        await sender.process.ended();
        runs.push(await other.drive({ ...SCENARIO, scenario_id: "fourth" }));
        isUp = true;
        delivered.push(...runs);
        await until("all events came", () => delivered.every((run) => restored(peer.got, run) === EVENTS.notified), 60);
        await other.end();
        // No server names the receiver for 9 days: a record of that time has no row, and is announced when one does again.
        await runSql(database, "UPDATE gate.outbox_targets SET seen = now() - interval '9 days'", "notified");
        await using without = await startServing(one, [], STORES, environment);
        const missed = await without.drive({ ...SCENARIO, scenario_id: "fifth" });
        await without.end();
        assert.equal((await runSql(database, "SELECT count(*) FROM gate.outbox", "notified")).trim(), "0");
        assert.equal(restored(peer.got, missed), "");
        await using again = await startServing(two, notifyFlags(peer.url), STORES, environment);
        await until("the missed events came", () => restored(peer.got, missed) === EVENTS.notified);
        await again.end();
        // A server that stopped before it added all of them leaves the instant to begin from.
        await runSql(database, "UPDATE gate.outbox_targets SET seen = now() - interval '9 days'", "notified");
        await using unnamed = await startServing(one, [], STORES, environment);
        const later = await unnamed.drive({ ...SCENARIO, scenario_id: "sixth" });
        await unnamed.end();
        const stopped = "SET seen = now(), holder = 'refill', expires = now() - interval '2 days'";
        await runSql(database, `UPDATE gate.outbox_targets ${stopped}`, "notified");
        await using last = await startServing(two, notifyFlags(peer.url), STORES, environment);
        await until("the rest of the events came", () => restored(peer.got, later) === EVENTS.notified);
        await last.end();
      })
    );
    await peer.close();
  } finally {
    await database[Symbol.asyncDispose]();
  }
});
