/** Fixtures of the tests of steps: a scenario with evidence of a provider, and that provider. */

import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { type BenchOptions, condition, id } from "./tools_fixture.ts";
import type { Scene } from "./outcome_case_fixture.ts";

/** Arguments of `scenario_next` at the current head. */
export function next(s: Scene, change: JsonObject = {}): JsonObject {
  return { ...s.run, expected_head: s.head, request_id: id(1), ...change };
}

/** Arguments of `scenario_trigger` at the current head. */
export function trigger(s: Scene, change: JsonObject = {}, members: JsonObject = {}): JsonObject {
  const own = { trigger_id: id(1), kind: "tick", source_id: "scheduler", ...change };
  return { ...s.run, expected_head: s.head, trigger: own, ...members };
}

/** A condition on a boolean that the provider `scanner` reads, or a caller submits. */
export function scannedCondition(condition_id: string): JsonObject {
  const plain = condition(condition_id, { domain: "Boolean" }, {
    predicate: "Equals",
    expected: { value: true, value_type: "Boolean" },
  });
  const policy = plain["evidence_use_policy"] as JsonObject;
  const allowed_channels = ["caller_submission", "provider_acquisition"];
  return { ...plain, evidence_use_policy: { ...policy, allowed_channels } };
}

/** The binding that acquires a condition from the provider `scanner`. */
export function scanBinding(condition_id: string): JsonObject {
  return {
    binding_id: `scan-${condition_id}`,
    condition_id,
    channel: "provider_acquisition",
    provider_id: "scanner",
    check_id: "read",
    params: { of: condition_id },
  };
}

/** A spec with a binding of the condition `built` to the provider `scanner`. */
export const SCANNED: Readonly<Record<string, JsonValue>> = {
  conditions: [scannedCondition("built"), condition("deployed", { domain: "Boolean" }, { predicate: "Exists" })],
  acquisition_bindings: [scanBinding("built")],
};

/** The answers of the provider `scanner`: a value or a failure, by condition or the same for all. */
export function scanner(answers: JsonValue | "unreachable" | Readonly<Record<string, JsonValue>>): BenchOptions {
  const provider = testProvider("scanner", ({ params }) => {
    const of = String((params as JsonObject)["of"]);
    const value = typeof answers === "object" && answers !== null ? (answers as JsonObject)[of] ?? null : answers;
    return value === "unreachable"
      ? { ok: false, code: "timeout", message: "Cannot reach the scanner", retryable: true }
      : answered(found(value), Date.now());
  });
  return { providers: new Map([["scanner", provider]]) };
}
