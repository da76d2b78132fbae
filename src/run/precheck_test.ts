import assert from "node:assert/strict";
import {
  bool,
  callerItem,
  environmentWith,
  int,
  KEY_1,
  oneConditionLaw,
  presented,
  signed,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import type { CallerEvidence } from "./evidence.ts";
import { type AssumedAcquisition, precheckResult, precheckStage } from "./precheck.ts";

const TRUST = environmentWith({
  trust: { min_lane: "verified", default_policy: trusting(KEY_1), providers: [] },
  anchors: [{ provider_id: "env", anchor_type: "env", required_fields: ["key"] }],
});

function precheck(
  law: CompiledLaw,
  evidence: readonly CallerEvidence[],
  assumed: readonly AssumedAcquisition[] = [],
  environment = TRUST,
): string {
  const result = precheckStage(law, law.stages[0] as CompiledStage, evidence, new Map(), assumed, {
    ...environment,
    precheck_at: null,
  });
  if (!result.ok) return result.rejections.map(({ code, path }) => `${code} ${path}`).join(", ");
  const [line] = result.trace;
  return [result.outcome, line?.reason, line?.error?.code, ...line?.assumptions ?? []].filter(Boolean).join(" ");
}

const env = (value: JsonValue): AssumedAcquisition => ({ binding_id: "env-1", value });
const MINUTE = { freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 } };
const SCHEMA = {
  observation_domain: { domain: "Json", maximum_bytes: 100, schema: { schema_id: "release", version: "1" } },
  predicate: { predicate: "Exists" },
};

Deno.test("precheckStage() predicts the outcome of an evaluation, with its assumptions", () => {
  const rows: readonly [
    Readonly<Record<string, JsonValue>>,
    readonly CallerEvidence[],
    readonly AssumedAcquisition[],
    string,
  ][] = [
    [{}, [], [], "unknown no_evidence"],
    [{}, [callerItem("c", int(3))], [], "true lane_not_tested"],
    [{}, [callerItem("c", int(9))], [], "false lane_not_tested"],
    [{}, [], [env(3)], "true acquired lane_not_tested"],
    [{}, [], [env(9)], "false acquired lane_not_tested"],
    [{}, [], [env(null)], "unknown no_evidence acquired lane_not_tested"],
    [{}, [], [env("3")], "unknown error domain_mismatch acquired lane_not_tested"],
    [{}, [callerItem("c", int(4))], [env(3)], "unknown disagreement acquired lane_not_tested"],
    [MINUTE, [callerItem("c", int(3))], [], "true fresh lane_not_tested"],
    [{ integrity: "anchored_content" }, [], [env(3)], "true acquired anchored lane_not_tested"],
    [{ integrity: "anchored_content" }, [callerItem("c", int(3))], [], "unknown unqualified lane_not_tested"],
    [{ authorization: "signature" }, [], [env(3)], "true acquired signed lane_not_tested"],
    [
      { authorization: "signature" },
      [callerItem("c", int(3), { signature: { scheme: "ed25519", key_id: "ci-1", signature: KEY_1.sign("a") } })],
      [],
      "unknown unqualified lane_not_tested signature_not_bound",
    ],
  ];
  for (const [policy, evidence, assumed, expected] of rows) {
    assert.equal(precheck(oneConditionLaw(policy), evidence, assumed), expected);
  }
});

Deno.test("precheckStage() counts an assumed value under a schema only with the verdict valid", () => {
  const law = oneConditionLaw({}, SCHEMA);
  assert.equal(precheck(law, [], [{ ...env({ a: 1 }), schema_verdict: "valid" }]), "true acquired lane_not_tested");
  for (const assumed of [env({ a: 1 }), { ...env({ a: 1 }), schema_verdict: "invalid" as const }]) {
    assert.equal(precheck(law, [], [assumed]), "unknown unqualified acquired lane_not_tested");
  }
});

Deno.test("precheckStage() rejects evidence as an evaluation would, and bindings that are not the stage's", () => {
  const law = oneConditionLaw();
  assert.equal(
    precheck(law, [callerItem("other", bool(true))], [{ binding_id: "nowhere", value: 3 }, env(3), env(3)]),
    "condition_of_other_stage $.caller_evidence[0].condition_id, " +
      "binding_not_found $.local_acquisition[0].binding_id, binding_repeated $.local_acquisition[2].binding_id",
  );
});

Deno.test("precheckStage() bytes of an assumed value: n - 1, n, n + 1 canonical bytes, in UTF-8", () => {
  const law = oneConditionLaw({}, {
    observation_domain: { domain: "Json", maximum_bytes: 1000 },
    predicate: { predicate: "Exists" },
  });
  const bounded = environmentWith({ value_limits: { maximum_value_bytes: 12, maximum_payload_bytes: 12 } });
  for (const [text, expected] of [["äääää", "true"], ["äääää!", "value_too_large"]] as const) {
    assert.match(precheck(law, [], [env(text.slice(1))], bounded), /^true/);
    assert.equal(precheck(law, [], [env(text)], bounded).split(" ")[0], expected, text);
  }
  assert.match(precheck(law, [], [env(null)], bounded), /^true/);
  assert.equal(
    precheck(law, [callerItem("c", bool(true))], [env({ a: "0123456789" })], bounded),
    "value_type_mismatch $.caller_evidence[0].value.value_type, value_too_large $.local_acquisition[0].value",
  );
});

Deno.test("precheckStage() does not count a signature that is bound to some attempt", () => {
  const law = oneConditionLaw({ integrity: "signed_content" });
  const { signature, observed_at } = signed(law, presented("c", int(3)), KEY_1);
  assert.ok(signature !== undefined && observed_at !== undefined);
  assert.equal(
    precheck(law, [callerItem("c", int(3), { signature, observed_at })]),
    "unknown unqualified lane_not_tested signature_not_bound",
  );
});

Deno.test("precheckResult() is outcome and trace", () => {
  const law = oneConditionLaw();
  const result = precheckStage(law, law.stages[0] as CompiledStage, [], new Map(), [env(3)], {
    ...TRUST,
    precheck_at: null,
  });
  assert.ok(result.ok);
  assert.deepEqual(precheckResult(result), {
    outcome: "true",
    trace: [{ path: "$", condition_id: "c", value: "true", assumptions: ["acquired", "lane_not_tested"] }],
  });
});
