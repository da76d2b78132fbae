/** What counts as absent: a condition `NotExists` on evidence that a server acquires itself. */

import assert from "node:assert/strict";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  oneStage,
  openAnother,
  openRun,
  serveGate,
} from "./acquisition_serve.ts";
import { inFolder } from "../gate_command.ts";

const TEXT = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
const ABSENT = acquiredCondition("no_hold", TEXT, { predicate: "NotExists" });

/** Status of an answer, whether it has the header, what `NotExists` is, and why the item counts or not. */
const ANSWERS: readonly (readonly [status: number, isThere: boolean, outcome: string, item: string])[] = [
  [200, true, "false", "qualified"],
  [200, false, "true", "qualified"],
  [204, false, "true", "qualified"],
  [302, true, "false", "qualified"],
  [302, false, "unknown", "status_unexpected"],
  [404, true, "false", "qualified"],
  [404, false, "unknown", "status_unexpected"],
  [503, true, "false", "qualified"],
  [503, false, "unknown", "status_unexpected"],
];

Deno.test("gate serve: a header is absent only from a 2xx answer, and there whatever the status", () =>
  inFolder(async (folder) => {
    let [status, isThere] = [200, true];
    const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      const headers = { location: "/elsewhere", ...isThere ? { "x-hold": "1" } : {} };
      return new Response(null, { status, headers });
    });
    try {
      const url = `http://127.0.0.1:${endpoint.addr.port}/release`;
      const config = `{ allow_http = true, allowed_hosts = ["127.0.0.1"], allow_private_networks = true }`;
      await using gate = await serveGate(
        folder,
        `[[providers]]\nname = "rest"\ntype = "builtin"\nconfig = ${config}\n`,
      );
      const bindings = [binding("hold", "no_hold", "rest", "header", { url, header_name: "x-hold" })];
      const { law } = await openRun(gate, oneStage([ABSENT], bindings));
      for (const [index, [answered, hasHeader, outcome, item]] of ANSWERS.entries()) {
        [status, isThere] = [answered, hasHeader];
        const { result } = await evaluate(gate, await openAnother(gate, law, index + 2));
        assert.deepEqual(attemptOf(result), { outcome, items: { hold: item } }, `${answered} ${hasHeader}`);
      }
    } finally {
      await endpoint.shutdown();
    }
  }));

/** `config` of `env`, the name that is asked for, what `NotExists` is, and why the item counts or not. HELD is set, FREE is not. */
const VARIABLES: readonly (readonly [config: string, key: string, outcome: string, item: string])[] = [
  ['{ overrides = { OTHER = "1" } }', "HELD", "false", "qualified"],
  ['{ overrides = { OTHER = "1" } }', "FREE", "true", "qualified"],
  ['{ overrides = { FREE = "1" } }', "FREE", "false", "qualified"],
  ['{ overrides = { OTHER = "1" }, allowlist = ["HELD", "OTHER"] }', "HELD", "false", "qualified"],
  ['{ overrides = { OTHER = "1" }, allowlist = ["OTHER"] }', "HELD", "unknown", "key_blocked"],
  ['{ overrides = { FREE = "1" }, denylist = ["FREE"] }', "FREE", "unknown", "key_blocked"],
  ['{ overrides = { GATE_HOLD = "1" } }', "GATE_HOLD", "unknown", "key_blocked"],
];

for (const [config, key, outcome, item] of VARIABLES) {
  Deno.test(`gate serve: env ${config}, ${key}: NotExists is ${outcome}, ${item}`, () =>
    inFolder(async (folder) => {
      const toml = `[[providers]]\nname = "env"\ntype = "builtin"\nconfig = ${config}\n`;
      await using gate = await serveGate(folder, toml, { HELD: "yes", GATE_HOLD: "yes" });
      const scenario = oneStage([ABSENT], [binding("hold", "no_hold", "env", "get", { key })]);
      const { result } = await evaluate(gate, await openRun(gate, scenario));
      assert.deepEqual(attemptOf(result), { outcome, items: { hold: item } });
    }));
}
