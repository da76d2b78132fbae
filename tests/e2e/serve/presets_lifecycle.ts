/**
 * A run from its law to its verified runpack, over any transport.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { evidence, id, spec } from "@/tools/tests/tools_fixture.ts";
import type { Wire } from "../client.ts";

/** Calls a tool; returns the JSON-RPC answer. */
export type CallTool = (name: string, input: unknown) => Promise<Wire>;

/** The parameters of a lifecycle. */
export interface Lifecycle {
  /** The law, with the stages `build` and `deploy`. */
  readonly spec?: JsonObject;
  /** Evidence of the caller for `build` and `deploy`; absent if gate gathers it. */
  readonly callerEvidence?: boolean;
}

/** The structured content of a successful answer. */
export function contentOf(answer: Wire): Wire {
  const result = answer["result"] as Wire | undefined;
  assert.ok(result !== undefined && result["isError"] !== true, JSON.stringify(answer));
  return result["structuredContent"] as Wire;
}

/** Defines, starts, opens, evaluates, submits, exports and verifies; each step must be accepted. */
export async function runLifecycle(callTool: CallTool, lifecycle: Lifecycle = {}): Promise<void> {
  const { spec: law = spec(), callerEvidence = true } = lifecycle;
  const call = async (name: string, input: unknown): Promise<Wire> => contentOf(await callTool(name, input));
  const decide = async (name: string, input: unknown): Promise<Wire> => {
    const { outcome, result } = (await call(name, input))["outcome"] as Wire;
    assert.equal(outcome, "accepted", `${name}: ${JSON.stringify(result)}`);
    return result as Wire;
  };
  const { scenario_law_identity } = await call("scenario_define", { spec: law });
  const started = await decide("scenario_start", {
    namespace_id: 2,
    scenario_id: law["scenario_id"],
    scenario_law_identity,
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const { run_id } = started["run_key"] as Wire;
  const run = { namespace_id: 2, scenario_id: law["scenario_id"], run_id };
  let head = started["head"];
  let operation = 0;
  const mutate = async (name: string, change: Wire): Promise<Wire> => {
    const result = await decide(name, { ...run, expected_head: head, operation_id: id(++operation), ...change });
    head = result["accepted_head"];
    return result;
  };
  for (const [stage_id, condition_id] of [["build", "built"], ["deploy", "deployed"]] as const) {
    await mutate("scenario_open_stage", { stage_id });
    const given = callerEvidence ? { caller_evidence: [evidence(condition_id, true)] } : {};
    const { attempt } = await mutate("scenario_evaluate_stage", { stage_id, ...given });
    assert.equal((attempt as Wire)["outcome"], "true", JSON.stringify(attempt));
  }
  await mutate("scenario_submit", {
    content_type: "application/json",
    payload: { kind: "json", value: { build: 4711 } },
    scope: { kind: "run_wide" },
  });
  assert.equal((await call("scenario_status", run))["status"], "complete");
  const { publication } = await call("runpack_export", { namespace_id: 2, run_id });
  const { outcome, runpack_identity } = publication as Wire;
  assert.equal(outcome, "published", JSON.stringify(publication));
  const verified = await call("runpack_verify", { runpack_identity, profile: "full_replay_v1" });
  const violated = JSON.stringify(verified).match(/"status":"violated"/g);
  assert.equal(violated, null, JSON.stringify(verified));
  assert.match(JSON.stringify(verified), /"status":"satisfied"/);
}
