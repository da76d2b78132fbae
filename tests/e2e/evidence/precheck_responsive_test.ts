/** Whatever data shape somebody prechecks a stage of many conditions against, others are answered. */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { condition, schemaRecord, spec, stage } from "@/tools/tests/tools_fixture.ts";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";

const CONDITIONS = 1_500;
/**
 * Milliseconds of work of the serving thread between two answers; each of these shapes took seconds before, all of them in
 * one turn. The thread's own time is the measure: other work on the machine takes none of it.
 */
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

/** Milliseconds for which the main thread of a process has run. */
async function threadMillis(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/task/${pid}/stat`] }).output();
  const fields = new TextDecoder().decode(stdout).split(") ").at(-1)?.split(" ") ?? [];
  // utime and stime, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The most that the serving thread works between two small answers while there is work. */
async function longestTurn(server: HttpServer, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work.finally(() => isDone = true);
  let longest = 0;
  let before = await threadMillis(server.process.pid);
  while (!isDone) {
    assert.equal((await send(server.url, null, { path: "/healthz" })).status, 200);
    const now = await threadMillis(server.process.pid);
    longest = Math.max(longest, now - before);
    before = now;
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
      const data_shape = { schema_id: "report", version: String(version) };
      await ask(server, "schemas_register", {
        record: schemaRecord({ ...data_shape, schema: { type: "object", ...heavy } }),
      });
      const named = { namespace_id: 2, scenario_id: "release", data_shape, payload: {} };
      const longest = await longestTurn(server, ask(server, "precheck", named));
      console.log(`${what}: ${longest} ms`);
      assert.ok(longest < PATIENCE, `${what}: ${longest} ms`);
    }
  }));
