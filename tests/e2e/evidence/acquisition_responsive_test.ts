import assert from "node:assert/strict";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  oneStage,
  openAnother,
  type OpenRun,
  openRun,
  serveGate,
} from "./acquisition_serve.ts";
import { inFolder } from "../gate_command.ts";

/** Evaluations in flight, and calls of others meanwhile. */
const IN_FLIGHT = 64;
const CALLS = 300;

const CONFIG = `
[[providers]]
name = "http"
type = "builtin"
config = { timeout_ms = 60000, allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
`;

Deno.test("scenario_status is answered while 64 evaluations wait for a provider", () =>
  inFolder(async (folder) => {
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
      if (++waiting === IN_FLIGHT) all.resolve();
      await release.promise;
      return new Response(null, { status: 204 });
    });
    try {
      await using gate = await serveGate(folder, CONFIG);
      const url = `http://127.0.0.1:${slow.addr.port}/`;
      // Never true, so the stage stays open.
      const condition = acquiredCondition("c", { domain: "Integer" }, {
        predicate: "Equals",
        expected: { value: 200, value_type: "Integer" },
      });
      const first = await openRun(gate, oneStage([condition], [binding("b", "c", "http", "status", { url })]));
      const runs: OpenRun[] = [first];
      for (let number = 2; number <= IN_FLIGHT; number++) runs.push(await openAnother(gate, first.law, number));
      const evaluations = Promise.all(runs.map((run) => evaluate(gate, run)));
      await all.promise;
      for (let call = 0; call < CALLS; call++) await gate.call("scenario_status", first.run);
      release.resolve();
      for (const { outcome, result } of await evaluations) {
        assert.deepEqual([outcome, attemptOf(result).outcome], ["accepted", "false"], JSON.stringify(result));
      }
    } finally {
      release.resolve();
      await slow.shutdown();
    }
  }));
