/**
 * Calls of tools on the store of a folder, for tests of commands that read it.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { NO_GRANTS } from "../../../src/evidence/typed/grants.ts";
import { openRuntime } from "../../../src/tools/runtime.ts";
import { LEAST_POLICY } from "../../least_policy.ts";

/** Calls a tool that must succeed. */
export type ToolCall = (name: string, input: JsonObject) => Promise<JsonObject>;

/** Calls tools on the store of a folder's configuration `gate.toml`. */
export async function withStore<Result>(folder: string, body: (call: ToolCall) => Promise<Result>): Promise<Result> {
  const runtime = await openRuntime(await loadConfig({ config: join(folder, "gate.toml") }), {
    dataDir: join(folder, ".gate"),
    signingKey: null,
    typed: NO_GRANTS,
  });
  const principal = { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] } as const;
  const call: ToolCall = async (name, input) => {
    const answer = await runtime.tools.get(name)?.handle(input, {
      principal,
      signal: new AbortController().signal,
      correlationId: null,
    });
    assert.ok(answer?.ok === true, JSON.stringify(answer));
    return answer.result;
  };
  try {
    return await body(call);
  } finally {
    await runtime.close();
  }
}

/** A condition on a boolean that callers send. */
export function flag(condition_id: string): JsonObject {
  const predicate = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
  return { condition_id, observation_domain: { domain: "Boolean" }, predicate, evidence_use_policy: LEAST_POLICY };
}

/** A law of two stages in a row: `build`, then `deploy`. */
export const TWO_STAGES: JsonObject = {
  spec_version: "dag-v3",
  scenario_id: "release",
  namespace_id: 2,
  acquisition_bindings: [],
  conditions: [flag("built"), flag("deployed")],
  policies: [],
  schemas: [],
  stages: [
    {
      stage_id: "build",
      prerequisite: { kind: "root" },
      entry_packets: [],
      completion_requirement: { Condition: "built" },
    },
    {
      stage_id: "deploy",
      prerequisite: { kind: "requires", requirement: { Condition: "build" } },
      entry_packets: [],
      completion_requirement: { Condition: "deployed" },
    },
  ],
  completion_requirement: { Condition: "deploy" },
  value_limits: { selection: "InheritOperator" },
};

/** Starts a run of {@link TWO_STAGES}, and takes a step for each of the values of its conditions; returns the run id. */
export async function startRun(call: ToolCall, request: string, values: readonly boolean[]): Promise<string> {
  const listed = (await call("scenarios_list", { namespace_id: 2 }))["items"] as JsonObject[];
  const law = listed[0] ?? await call("scenario_define", { spec: TWO_STAGES });
  const started = await call("scenario_start", {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law["scenario_law_identity"] ?? null,
    creation_request_id: request,
    correlation: { kind: "set", correlation_id: request },
    genesis: { kind: "empty" },
  });
  const { result } = started["outcome"] as { result: { run_key: { run_id: string }; head: JsonObject } };
  let head = result.head;
  for (const [index, value] of values.entries()) {
    const condition_id = index === 0 ? "built" : "deployed";
    const answer = await call("scenario_next", {
      namespace_id: 2,
      scenario_id: "release",
      run_id: result.run_key.run_id,
      expected_head: head,
      request_id: `${index}`.padStart(32, "0"),
      stage_id: index === 0 ? "build" : "deploy",
      caller_evidence: [{
        condition_id,
        retention: { retention: "RetainCanonicalValue" },
        value: { value, value_type: "Boolean" },
      }],
    });
    head = (answer["outcome"] as { result: { accepted_head: JsonObject } }).result.accepted_head;
  }
  return result.run_key.run_id;
}
