import assert from "node:assert/strict";
import {
  bool,
  callerItem,
  int,
  lawOf,
  oneConditionLaw,
  profileWith,
  SHA256,
} from "../../tests/simulation/kernel/fixture.ts";
import { leastSpec } from "../../tests/simulation/kernel/law_specs.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import {
  type CallerEvidence,
  hashValue,
  ITEMS_PER_CONDITION,
  maximumPayloadBytes,
  maximumValueBytes,
  presentCallerEvidence,
  type PresentedEvidence,
  valueMaterial,
} from "./evidence.ts";
import { ITEMS_PER_CALL } from "./record_shapes.ts";
import type { OperatorProfile } from "./profile.ts";

function present(
  law: CompiledLaw,
  evidence: readonly CallerEvidence[],
  profile: OperatorProfile = profileWith(),
): string {
  const stage = law.stages[0] as CompiledStage;
  const presentation = presentCallerEvidence(SHA256, law, stage, profile, evidence, new Map());
  return presentation.ok
    ? `${presentation.items.length} items`
    : presentation.rejections.map(({ code, path }) => `${code} ${path}`).join(", ");
}

const BOUNDED = { observation_domain: { domain: "Integer", minimum: 0, maximum: 9 } };
const digestOnly = { retention: { retention: "RetainDigestOnly" } } as const;

Deno.test("presentCallerEvidence() rejects every item that the law does not allow, with its path", () => {
  const rows: readonly [readonly CallerEvidence[], string][] = [
    [[], "0 items"],
    [[callerItem("c", int(3))], "1 items"],
    [[callerItem("nowhere", int(3))], "condition_not_found $.caller_evidence[0].condition_id"],
    [[callerItem("__proto__", int(3))], "condition_not_found $.caller_evidence[0].condition_id"],
    [[callerItem("other", bool(true))], "condition_of_other_stage $.caller_evidence[0].condition_id"],
    [[callerItem("c", bool(true))], "value_type_mismatch $.caller_evidence[0].value.value_type"],
    [[callerItem("c", { value: "3", value_type: "Integer" })], "value_invalid $.caller_evidence[0].value.value"],
    [[callerItem("c", int(10))], "value_outside_domain $.caller_evidence[0].value.value"],
    [[callerItem("c", int(3), digestOnly)], "retention_mismatch $.caller_evidence[0].retention.retention"],
    [
      [callerItem("c", int(3)), callerItem("c", int(-1)), callerItem("d", int(3))],
      "value_outside_domain $.caller_evidence[1].value.value, condition_not_found $.caller_evidence[2].condition_id",
    ],
  ];
  const law = oneConditionLaw({}, BOUNDED);
  for (const [evidence, outcome] of rows) assert.equal(present(law, evidence), outcome);
});

Deno.test("presentCallerEvidence() rejects another retention than the law's", () => {
  const law = oneConditionLaw({ retention: "retain_digest_only", replay: "digest_only" });
  assert.equal(present(law, [callerItem("c", int(3), digestOnly)]), "1 items");
  assert.equal(
    present(law, [callerItem("c", int(3))]),
    "retention_mismatch $.caller_evidence[0].retention.retention",
  );
});

Deno.test("presentCallerEvidence() items of a condition: 63, 64, 65", () => {
  const law = oneConditionLaw();
  const items = (count: number): CallerEvidence[] => Array.from({ length: count }, () => callerItem("c", int(3)));
  assert.equal(ITEMS_PER_CONDITION, 64);
  assert.equal(present(law, items(63)), "63 items");
  assert.equal(present(law, items(64)), "64 items");
  assert.equal(present(law, items(65)), "too_many_items $.caller_evidence");
});

Deno.test("presentCallerEvidence() items of a call: 4095, 4096, 4097", () => {
  const spec = leastSpec();
  const ids = Array.from({ length: 65 }, (_, index) => `c${index}`);
  spec.conditions = ids.map((condition_id) => ({ ...spec.conditions[0], condition_id }));
  spec.stages[0].completion_requirement = { And: ids.map((id) => ({ Condition: id })) };
  const law = lawOf(spec);
  const items = (count: number): CallerEvidence[] =>
    Array.from({ length: count }, (_, index) => callerItem(`c${index % 65}`, bool(true)));
  assert.equal(ITEMS_PER_CALL, 4096);
  assert.equal(present(law, items(4095)), "4095 items");
  assert.equal(present(law, items(4096)), "4096 items");
  assert.equal(present(law, items(4097)), "too_many_items $.caller_evidence");
});

Deno.test("presentCallerEvidence() bytes of a value: n - 1, n, n + 1 canonical bytes, in UTF-8", () => {
  const law = oneConditionLaw({}, {
    observation_domain: { domain: "Json", maximum_bytes: 1000 },
    predicate: { predicate: "Exists" },
  });
  const profile = profileWith({ value_limits: { maximum_value_bytes: 12, maximum_payload_bytes: 12 } });
  const text = (bytes: number): TypedValue => ({ value: "ä".repeat((bytes - 2) / 2), value_type: "Json" });
  assert.equal(present(law, [callerItem("c", text(10))], profile), "1 items");
  assert.equal(present(law, [callerItem("c", text(12))], profile), "1 items");
  const above: TypedValue = { value: "äääääa", value_type: "Json" };
  assert.equal(present(law, [callerItem("c", above)], profile), "value_too_large $.caller_evidence[0].value.value");
});

Deno.test("maximumValueBytes() and maximumPayloadBytes() return the lower of the operator's and the law's limit", () => {
  const spec = leastSpec();
  const profile = profileWith({ value_limits: { maximum_value_bytes: 100, maximum_payload_bytes: 200 } });
  for (const [value, payload, expected] of [[99, 199, [99, 199]], [101, 201, [100, 200]]] as const) {
    const value_limits = { selection: "Explicit", maximum_value_bytes: value, maximum_payload_bytes: payload };
    const law = lawOf({ ...spec, value_limits });
    assert.deepEqual([maximumValueBytes(law, profile), maximumPayloadBytes(law, profile)], expected);
  }
  assert.equal(maximumValueBytes(lawOf(spec), profile), 100);
});

Deno.test("presentCallerEvidence() presents the caller's items with computed hashes", () => {
  const law = oneConditionLaw();
  const signature = { scheme: "ed25519", key_id: "ci-1", signature: "AA==" } as const;
  const anchor = { anchor_type: "url", anchor_value: "{}" };
  const evidence = [callerItem("c", int(3), { signature, anchor, observed_at: 5 })];
  const stage = law.stages[0] as CompiledStage;
  const presentation = presentCallerEvidence(SHA256, law, stage, profileWith(), evidence, new Map([[0, "valid"]]));
  assert.ok(presentation.ok);
  const [item] = presentation.items;
  assert.deepEqual(item, {
    item_id: "caller:0",
    condition_id: "c",
    channel: "caller_submission",
    retention: "RetainCanonicalValue",
    lane: "verified",
    value: int(3),
    value_identity: SHA256('gate:evidence-value:v1\0{"value":3,"value_type":"Integer"}'),
    content_hash: { algorithm: "sha256", value: SHA256("3") },
    hash_recomputes: true,
    signature,
    anchor,
    observed_at: 5,
    schema_verdict: "valid",
  });
});

Deno.test("hashValue() hashes the canonical form, so spellings of one value share an identity", () => {
  const a = hashValue(SHA256, { value: { b: 1, a: [1.0] }, value_type: "Json" });
  const b = hashValue(SHA256, { value: { a: [1], b: 1 }, value_type: "Json" });
  assert.deepEqual(a, b);
  assert.notEqual(a.identity, hashValue(SHA256, { value: "1", value_type: "String" }).identity);
});

Deno.test("valueMaterial() keeps exactly the values to retain", () => {
  const stage = oneConditionLaw().stages[0] as CompiledStage;
  const presentation = presentCallerEvidence(
    SHA256,
    oneConditionLaw(),
    stage,
    profileWith(),
    [callerItem("c", int(3))],
    new Map(),
  );
  assert.ok(presentation.ok);
  const [item] = presentation.items as [PresentedEvidence];
  assert.deepEqual(valueMaterial(item), { kind: "evidence-value", identity: item.value_identity, body: int(3) });
  assert.equal(valueMaterial({ ...item, retention: "RetainDigestOnly" }), null);
  assert.equal(valueMaterial({ ...item, value: null }), null);
});
