import assert from "node:assert/strict";
import { environmentWith, oneConditionLaw } from "../../tests/simulation/kernel/fixture.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import { type AssertedValue, precheckAsserted } from "./precheck_asserted.ts";
import type { OperatorProfile } from "./profile.ts";

const ASSERTED: Partial<OperatorProfile> = { trust: { min_lane: "asserted", default_policy: "audit", providers: [] } };
const CALLERS = { allowed_channels: ["caller_submission"] };
const BUILTINS = { allowed_channels: ["local_acquisition"] };

function said(
  law: CompiledLaw,
  value: JsonValue | undefined,
  profile = ASSERTED,
  changes: Partial<AssertedValue> = {},
): string {
  const values = value === undefined ? [] : [{ condition_id: "c", value, ...changes }];
  const judged = precheckAsserted(law, law.stages[0] as CompiledStage, values, {
    ...environmentWith(profile),
    precheck_at: null,
  });
  const [line] = judged.trace;
  return [judged.outcome, line?.reason, line?.error?.code, judged.blocked_by, judged.outcome_without_lane].filter(
    Boolean,
  ).join(
    " ",
  );
}

Deno.test("precheckAsserted() judges plain data if the asserted lane is sufficient", () => {
  const rows: readonly [Readonly<Record<string, JsonValue>>, JsonValue | undefined, string][] = [
    [CALLERS, 3, "true"],
    [CALLERS, 9, "false"],
    [CALLERS, undefined, "unknown no_evidence"],
    [CALLERS, "3", "unknown error domain_mismatch"],
    [CALLERS, null, "unknown error domain_mismatch"],
    [BUILTINS, 3, "true"],
    [BUILTINS, null, "unknown no_evidence"],
    [{ ...CALLERS, freshness: { freshness: "MaximumAge", maximum_age_millis: 1 } }, 3, "true"],
    [{ ...CALLERS, authorization: "signature" }, 3, "unknown unqualified"],
    [{ ...CALLERS, combination: { combination: "Quorum", minimum: 2 } }, 3, "unknown no_evidence"],
  ];
  for (const [policy, value, expected] of rows) assert.equal(said(oneConditionLaw(policy), value), expected);
});

Deno.test("precheckAsserted() reports the trust lane exactly if it decides the outcome", () => {
  const verified = {};
  const law = oneConditionLaw(CALLERS);
  assert.equal(said(law, 3, verified), "unknown unqualified trust_lane true");
  assert.equal(said(law, 9, verified), "unknown unqualified trust_lane false");
  assert.equal(said(law, undefined, verified), "unknown no_evidence");
  assert.equal(said(law, "3", verified), "unknown unqualified domain_mismatch");
  const relaxed = { permissive: { enabled: true, exempt_providers: [] } };
  assert.equal(said(law, 3, relaxed), "true");
  const exempt = { permissive: { enabled: true, exempt_providers: ["env", "time"] } };
  assert.equal(said(oneConditionLaw(BUILTINS), 3, exempt), "unknown unqualified trust_lane true");
  assert.equal(said(law, 3, exempt), "true");
});

Deno.test("precheckAsserted() counts a value under a schema only with the verdict valid", () => {
  const law = oneConditionLaw(CALLERS, {
    observation_domain: { domain: "Json", maximum_bytes: 100, schema: { schema_id: "release", version: "1" } },
    predicate: { predicate: "Exists" },
  });
  assert.equal(said(law, { a: 1 }, ASSERTED, { schema_verdict: "valid" }), "true");
  assert.equal(said(law, { a: 1 }, ASSERTED, { schema_verdict: "invalid" }), "unknown unqualified");
  assert.equal(said(law, { a: 1 }), "unknown unqualified");
});

Deno.test("precheckAsserted() rejects a value over the limit of values", () => {
  const law = oneConditionLaw(CALLERS, {
    observation_domain: { domain: "Json", maximum_bytes: 1000 },
    predicate: { predicate: "Exists" },
  });
  const limit = (maximum_value_bytes: number): Partial<OperatorProfile> => ({
    ...ASSERTED,
    value_limits: { maximum_value_bytes, maximum_payload_bytes: 1 },
  });
  for (const [bytes, expected] of [[9, "unknown error value_too_large"], [10, "true"], [11, "true"]] as const) {
    assert.equal(said(law, "x".repeat(8), limit(bytes)), expected);
  }
});
