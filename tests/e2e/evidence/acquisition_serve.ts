/**
 * `gate serve` in a separate process with test providers, and scenarios that acquire from them.
 *
 * @module
 */

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { condition, envelope, id, spec, stage } from "@/tools/tests/tools_fixture.ts";
import { initializeParams, type ServerProcess, startServer, type Wire } from "../client.ts";
import { gateArgs } from "../gate_command.ts";

/** The folder of the sample provider. */
export const SAMPLE = fileURLToPath(new URL("../../../docs/examples/mcp_provider/", import.meta.url));

/** A running server. */
export interface Gate extends AsyncDisposable {
  readonly server: ServerProcess;
  /** Calls a tool; the structured result, or `{error}`. */
  readonly call: (tool: string, input: JsonObject) => Promise<JsonObject>;
  /** Calls a tool that answers with an outcome. */
  readonly decide: (
    tool: string,
    input: JsonObject,
  ) => Promise<{ readonly outcome: string; readonly result: JsonObject }>;
}

/** Writes a configuration into a folder and starts `gate serve` with it. */
export async function serveGate(
  folder: string,
  toml: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Gate> {
  await Deno.writeTextFile(`${folder}/gate.toml`, toml);
  return await startGate(folder, environment);
}

/** Starts `gate serve` with the configuration in a folder. */
export async function startGate(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Gate> {
  const server = startServer({
    args: gateArgs("serve", "--config", `${folder}/gate.toml`, "--log-level", "warn"),
    cwd: folder,
    env: environment,
  });
  await server.request("initialize", initializeParams());
  await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const call = async (name: string, input: JsonObject): Promise<JsonObject> => {
    const answer = await server.request("tools/call", { name, arguments: input });
    const result = answer["result"] as Wire | undefined;
    assert.ok(result !== undefined, `${name}: ${JSON.stringify(answer)} ${server.errors()}`);
    return result["structuredContent"] as JsonObject;
  };
  return {
    server,
    call,
    decide: async (tool, input) => {
      const answer = await call(tool, input);
      assert.ok("outcome" in answer, `${tool}: ${JSON.stringify(answer)}`);
      return envelope(answer);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A condition that accepts acquired evidence. */
export function acquiredCondition(
  condition_id: string,
  observation_domain: JsonObject,
  predicate: JsonObject,
  policy: JsonObject = {},
): JsonObject {
  const made = condition(condition_id, observation_domain, predicate);
  const allowed_channels = ["local_acquisition", "provider_acquisition"];
  return {
    ...made,
    evidence_use_policy: { ...made["evidence_use_policy"] as JsonObject, allowed_channels, ...policy },
  };
}

/** A binding. */
export function binding(
  binding_id: string,
  condition_id: string,
  provider_id: string,
  check_id: string,
  params?: JsonValue,
): JsonObject {
  const builtin = ["time", "calendar", "env", "json", "http", "rest"].includes(provider_id);
  return {
    binding_id,
    condition_id,
    channel: builtin ? "local_acquisition" : "provider_acquisition",
    provider_id,
    check_id,
    ...params === undefined ? {} : { params },
  };
}

/** A spec of one stage `release` that completes when all of these conditions hold. */
export function oneStage(conditions: readonly JsonObject[], acquisition_bindings: readonly JsonObject[]): JsonObject {
  const names = conditions.map(({ condition_id }) => ({ Condition: condition_id as string }));
  return spec({
    scenario_id: "release",
    conditions,
    acquisition_bindings,
    stages: [{
      ...stage("release", ""),
      completion_requirement: names.length === 1 ? names[0] as JsonObject : { And: names },
    }],
    completion_requirement: { Condition: "release" },
  });
}

/** A run whose only stage is open. */
export interface OpenRun {
  readonly run: JsonObject;
  readonly law: string;
  head: JsonObject;
  operations: number;
}

/** Defines a scenario, starts a run and opens its stage. */
export async function openRun(gate: Gate, scenario: JsonObject, number = 1): Promise<OpenRun> {
  const defined = await gate.call("scenario_define", { spec: scenario });
  assert.ok("scenario_law_identity" in defined, JSON.stringify(defined));
  return await openAnother(gate, defined["scenario_law_identity"] as string, number);
}

/** Starts another run of a law and opens its stage. */
export async function openAnother(gate: Gate, law: string, number: number): Promise<OpenRun> {
  const started = await gate.decide("scenario_start", {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law,
    creation_request_id: id(number),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  assert.equal(started.outcome, "accepted", JSON.stringify(started));
  const { head, run_key } = started.result as { head: JsonObject; run_key: JsonObject };
  const run = { namespace_id: 2, scenario_id: "release", run_id: run_key["run_id"] as string };
  const opened = await gate.decide("scenario_open_stage", {
    ...run,
    stage_id: "release",
    expected_head: head,
    operation_id: id(1),
  });
  assert.equal(opened.outcome, "accepted", JSON.stringify(opened));
  return { run, law, head: opened.result["accepted_head"] as JsonObject, operations: 1 };
}

/** Evaluates the open stage of a run at its head, and updates the head if the attempt is accepted. */
export async function evaluate(
  gate: Gate,
  open: OpenRun,
  change: JsonObject = {},
): Promise<{ readonly outcome: string; readonly result: JsonObject }> {
  const answer = await gate.decide("scenario_evaluate_stage", {
    ...open.run,
    stage_id: "release",
    expected_head: open.head,
    operation_id: id(++open.operations),
    ...change,
  });
  if (answer.outcome === "accepted") open.head = answer.result["accepted_head"] as JsonObject;
  return answer;
}

/** The outcome of an accepted attempt, and each item as `binding: qualified | reason | error code`. */
export function attemptOf(
  result: JsonObject,
): { readonly outcome: string; readonly items: Readonly<Record<string, string>> } {
  const { outcome, evidence } = result["attempt"] as { outcome: string; evidence: JsonObject[] };
  const items = evidence.map((item) => {
    const error = item["error"] as JsonObject | undefined;
    const name = (item["binding_id"] ?? item["item_id"]) as string;
    return [name, item["qualified"] ? "qualified" : error?.["code"] ?? item["reason"]] as [string, string];
  });
  return { outcome, items: Object.fromEntries(items) };
}
