/** Each operation of a list is counted, audited and turned away as a call of its own, by a server process. */

import assert from "node:assert/strict";
import { initializeParams, startServer } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";

/** Tools that may be called, and what becomes of an operation; the rate is used up by then where a number is given. */
const OPERATIONS: readonly (readonly [tool: string, result: string, audited: readonly string[]])[] = [
  ["scenario_submit", "run_not_found", ["begun authorized", "done run_not_found"]],
  ["scenario_trigger", "tool_not_allowed", ["refused tool_not_allowed"]],
  ["scenario_open_stage", "-32602", ["refused tool_unknown"]],
  ["scenario_start", "invalid_input", ["refused invalid_input"]],
  ["scenario_submit", "-32071", []],
  ["scenario_submit", "-32071", []],
];

const CONFIG = `[server.tools]
denylist = ["scenario_open_stage"]
[server.auth]
mode = "local_only"
allowed_tools = ["scenario_apply", "scenario_submit", "scenario_start"]
[server.audit]
path = "audit.jsonl"
[server.limits.rate_limit]
max_requests = 5
window_ms = 60000
`;

function argumentsOf(tool: string, index: number): object {
  if (tool !== "scenario_submit") return {};
  return {
    namespace_id: 2,
    scenario_id: "none",
    run_id: String(index).padStart(32, "0"),
    expected_head: { record_id: "0".repeat(64), revision: 1 },
    operation_id: "1".repeat(32),
    content_type: "application/json",
    payload: { kind: "json", value: 1 },
    scope: { kind: "run_wide" },
  };
}

interface Result {
  readonly outcome?: { readonly outcome: string };
  readonly error?: { readonly code: string | number };
}

Deno.test("each operation of a list meets tool list, rate and audit log as a call of its own", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await using server = startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder });
    await server.request("initialize", initializeParams());
    const operations = OPERATIONS.map(([tool], index) => ({ tool, arguments: argumentsOf(tool, index) }));
    const { result } = await server.request("tools/call", { name: "scenario_apply", arguments: { operations } });
    const { structuredContent: { results } } = result as { structuredContent: { results: readonly Result[] } };
    assert.deepEqual(
      results.map(({ outcome, error }) => String(outcome?.outcome ?? error?.code)),
      OPERATIONS.map(([, outcome]) => outcome),
    );
    await server.closeInput();
    assert.equal(await server.ended(), 0);
    const text = await Deno.readTextFile(`${folder}/audit.jsonl`);
    const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Record<string, string>);
    const own = lines.filter(({ tool }) => tool?.startsWith("scenario_") && tool !== "scenario_apply");
    const said = own.map(({ tool, outcome, reason }) => `${tool}: ${outcome} ${reason}`).sort();
    assert.deepEqual(said, OPERATIONS.flatMap(([tool, , audited]) => audited.map((one) => `${tool}: ${one}`)).sort());
    const late = lines.filter(({ kind, reason }) => kind === "request" && reason === "rate_limited");
    assert.ok(late.length > 0, "what the rate turns away is in the log");
  }));
