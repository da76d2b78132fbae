/** Whatever data shape somebody prechecks a stage of many conditions against, others are answered. */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { condition, schemaRecord, spec, stage } from "@/tools/tests/tools_fixture.ts";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";

const CONDITIONS = 1_500;
/** Others may wait for so long, in milliseconds; each of these shapes took seconds before, all of them in one turn. */
const PATIENCE = 1_000;

const ids = Array.from({ length: CONDITIONS }, (_, index) => `c${index}`);

const LAW = spec({
  conditions: ids.map((id) => condition(id, { domain: "Boolean" }, { predicate: "Exists" })),
  stages: [{
    ...stage("s", "c0"),
    completion_requirement: { Or: ids.map((Condition) => ({ Condition })) },
  }],
  completion_requirement: { Condition: "s" },
});

const ONE: JsonObject = { type: "boolean" };
const EACH = Object.fromEntries(ids.map((id) => [id, { $ref: "#/$defs/e" }]));

/** Shapes that are large, or lead to what is large over and over. */
const HEAVY: readonly (readonly [what: string, schema: JsonObject])[] = [
  ["a long text beside the members", { description: "x".repeat(900_000), additionalProperties: ONE }],
  ["an enum for all others", { additionalProperties: { enum: new Array<JsonValue>(400_000).fill(1) } }],
  ["an enum that each member refers to", { properties: EACH, $defs: { e: { enum: new Array(400_000).fill(1) } } }],
  ["alternatives that each member refers to", {
    properties: EACH,
    $defs: { e: { oneOf: new Array(150_000).fill(true) } },
  }],
  ["many that hold", { allOf: new Array(40_000).fill({ properties: {} }), additionalProperties: ONE }],
];

async function ask(server: HttpServer, name: string, input: JsonObject): Promise<Wire> {
  const { status, text } = await send(server.url, callText(1, name, input));
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { result: { structuredContent: Wire } }).result.structuredContent;
}

/** The longest time that anybody waits for a small answer while there is work. */
async function longestWait(server: HttpServer, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => isDone = true);
  let longest = 0;
  while (!isDone) {
    const began = performance.now();
    assert.equal((await send(server.url, null, { path: "/healthz" })).status, 200);
    longest = Math.max(longest, performance.now() - began);
  }
  await done;
  return longest;
}

Deno.test("gate serve answers others while a stage is prechecked against a heavy data shape", () =>
  inFolder(async (folder) => {
    const config = `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${STORES}`;
    await Deno.writeTextFile(`${folder}/gate.toml`, config);
    const process = startServer({
      args: gateArgs("serve", "--config", `${folder}/gate.toml`),
      cwd: folder,
      env: { GATE_CONFIG: "" },
    });
    await using server = await listening(process);
    await ask(server, "scenario_define", { spec: LAW });
    for (const [version, [what, heavy]] of HEAVY.entries()) {
      // Other work on the machine may lengthen some waits; a turn of seconds would lengthen each.
      const waits: number[] = [];
      while (waits.length < 10 && !waits.some((wait) => wait < PATIENCE)) {
        const data_shape = { schema_id: "report", version: `${version}.${waits.length}` };
        await ask(server, "schemas_register", {
          record: schemaRecord({ ...data_shape, schema: { type: "object", ...heavy } }),
        });
        const named = { namespace_id: 2, scenario_id: "release", data_shape, payload: {} };
        waits.push(await longestWait(server, ask(server, "precheck", named)));
      }
      assert.ok(waits.some((wait) => wait < PATIENCE), `${what}: ${waits} ms`);
    }
  }));
