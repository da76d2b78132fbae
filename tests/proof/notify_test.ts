/** A receiver that is down for a real minute, while the server is killed and started again. */

import assert from "node:assert/strict";
import { until } from "../until.ts";
import { inFolder } from "../e2e/gate_command.ts";
import { EVENTS, notifyFlags, receiver, restored, SCENARIO, startNotifying } from "../e2e/people/notify_fixture.ts";

const MINUTE = 60_000;

Deno.test("after a minute without a receiver, and a kill of the server in it, every event comes", () =>
  inFolder(async (folder) => {
    const down = receiver();
    const port = Number(new URL(down.url).port);
    await down.close();
    const began = performance.now();
    const runs: string[] = [];
    for (let round = 0; round < 3; round++) {
      await using served = await startNotifying(folder, notifyFlags(down.url));
      runs.push(await served.drive({ ...SCENARIO, scenario_id: `round-${round}` }));
      await served.process.logged("Cannot send an event");
      served.process.signal("SIGKILL");
      await served.process.ended();
    }
    await using last = await startNotifying(folder, notifyFlags(down.url));
    await new Promise((resolve) => setTimeout(resolve, MINUTE - (performance.now() - began)));
    const peer = receiver(() => new Response(), port);
    await until("all events came", () => runs.every((run) => restored(peer.got, run) === EVENTS.notified), 90);
    assert.equal(runs.length, 3);
    await last.end();
    await peer.close();
  }));
