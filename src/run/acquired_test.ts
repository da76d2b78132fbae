import assert from "node:assert/strict";
import {
  acquiredItem,
  ATTEMPT,
  int,
  KEY_1,
  KEY_2,
  oneConditionLaw,
  presented,
  qualificationWith,
  signed,
  type TestKey,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import { admitAcquired, providerTrust, sourceForms } from "./acquired.ts";
import type { PresentedEvidence } from "./evidence.ts";
import type { OperatorProfile, TrustPolicy } from "./profile.ts";
import { qualifyItem } from "./qualify.ts";

const LAW = oneConditionLaw();
const scan = acquiredItem(LAW, "scan-1", int(3));
const env = acquiredItem(LAW, "env-1", int(3));

function trust(default_policy: TrustPolicy, own: Readonly<Record<string, TrustPolicy>> = {}): Partial<OperatorProfile> {
  const providers = Object.entries(own).map(([provider_id, policy]) => ({ provider_id, policy }));
  return { trust: { min_lane: "verified", default_policy, providers } };
}

/** A signature over the bare hash object of a value, as a provider without knowledge of runs may send it. */
function hashSigned(item: PresentedEvidence, key: TestKey): PresentedEvidence {
  const text = `{"algorithm":"sha256","value":"${item.content_hash?.value}"}`;
  return { ...item, signature: { scheme: "ed25519", key_id: key.key_id, signature: key.sign(text) } };
}

const ANCHORS: Partial<OperatorProfile> = {
  anchors: [
    { provider_id: "scanner", anchor_type: "report", required_fields: ["path"] },
    { provider_id: "scanner", anchor_type: "database", required_fields: ["row", "table"] },
  ],
};

function anchored(anchor_type: string, anchor_value: string): PresentedEvidence {
  return { ...scan, anchor: { anchor_type, anchor_value } };
}

const ROWS: readonly [string, Partial<OperatorProfile>, PresentedEvidence, string][] = [
  ["audit asks for nothing", trust("audit"), scan, "value"],
  ["the default asks external providers", trust(trusting(KEY_1)), scan, "signature_invalid"],
  ["the default leaves built-in ones alone", trust(trusting(KEY_1)), env, "value"],
  ["a built-in's own setting holds", trust("audit", { env: trusting(KEY_1) }), env, "signature_invalid"],
  ["an external one's own setting replaces the default", trust(trusting(KEY_1), { scanner: "audit" }), scan, "value"],
  ["a signature over the statement", trust(trusting(KEY_1)), signed(LAW, scan, KEY_1), "value"],
  ["a signature over the bare hash object", trust(trusting(KEY_1)), hashSigned(scan, KEY_1), "value"],
  [
    "a key that this provider's setting does not name",
    trust(trusting(KEY_1), { scanner: trusting(KEY_2) }),
    hashSigned(scan, KEY_1),
    "signature_invalid",
  ],
  [
    "a signature over another value",
    trust(trusting(KEY_1)),
    { ...scan, signature: hashSigned(acquiredItem(LAW, "scan-1", int(4)), KEY_1).signature as never },
    "signature_invalid",
  ],
  ["nothing found is nothing signed", trust(trusting(KEY_1)), acquiredItem(LAW, "scan-1", null), "signature_invalid"],
  [
    "an observed error stays the error that it is",
    trust(trusting(KEY_1)),
    acquiredItem(LAW, "scan-1", { error: "http_status" }),
    "http_status",
  ],
  ["an anchor that is owed", ANCHORS, scan, "anchor_invalid"],
  ["the anchor that is owed", ANCHORS, anchored("report", '{"path":"a"}'), "value"],
  ["another that is as good", ANCHORS, anchored("database", '{"row":1,"table":"t"}'), "value"],
  ["one of another type", ANCHORS, anchored("url", '{"path":"a"}'), "anchor_invalid"],
  ["one without a field", ANCHORS, anchored("database", '{"row":1}'), "anchor_invalid"],
  ["no anchor from a provider that owes none", ANCHORS, env, "value"],
];

for (const [name, profile, item, outcome] of ROWS) {
  Deno.test(`admitAcquired() ${name}: ${outcome}`, () => {
    const [admitted] = admitAcquired(qualificationWith(LAW, profile), ATTEMPT, [item]);
    assert.ok(admitted !== undefined);
    if (outcome === "value") return assert.equal(admitted, item);
    assert.equal(admitted.error?.code, outcome);
    assert.equal(admitted.value, null);
    assert.equal(admitted.value_identity, undefined);
    assert.equal(admitted.content_hash, undefined);
    assert.deepEqual(admitted.acquisition, item.acquisition);
  });
}

Deno.test("admitAcquired() sorts by item id and throws on faults of the acquisition", () => {
  const environment = qualificationWith(LAW);
  const admitted = admitAcquired(environment, ATTEMPT, [scan, env]);
  assert.deepEqual(admitted.map(({ item_id }) => item_id), ["binding:env-1", "binding:scan-1"]);
  assert.throws(() => admitAcquired(environment, ATTEMPT, [scan, scan]), TypeError);
  assert.throws(() => admitAcquired(environment, ATTEMPT, [{ ...scan, retention: "RetainDigestOnly" }]), TypeError);
});

Deno.test("a signature over the bare hash object never counts as a bound one", () => {
  const law = oneConditionLaw({ integrity: "signed_content" });
  const environment = qualificationWith(law, trust(trusting(KEY_1)));
  const item = hashSigned(acquiredItem(law, "scan-1", int(3)), KEY_1);
  const [admitted] = admitAcquired(environment, ATTEMPT, [item]);
  assert.equal(admitted?.error, undefined);
  const condition = law.conditionIndex.get("c");
  assert.ok(condition !== undefined && admitted !== undefined);
  assert.equal(qualifyItem(environment, condition, admitted).reason, "integrity");
});

Deno.test("admitAcquired() does not test the trust of a caller's item", () => {
  const { profile } = qualificationWith(LAW, trust(trusting(KEY_1)));
  assert.equal(providerTrust(profile, "env", "local_acquisition"), "audit");
  const item = presented("c", int(3));
  assert.deepEqual(admitAcquired(qualificationWith(LAW, trust(trusting(KEY_1))), ATTEMPT, [item]), [item]);
});

Deno.test("sourceForms() returns every form that a value may have had at its source", () => {
  const digest = "0".repeat(64);
  assert.deepEqual(sourceForms({ value: digest, value_type: "Digest" }), [digest, {
    algorithm: "sha256",
    value: digest,
  }]);
  assert.deepEqual(sourceForms({ value: "0.1", value_type: "Decimal" }), ["0.1", 0.1]);
  assert.deepEqual(sourceForms({ value: "0.10", value_type: "Decimal" }), ["0.10"]);
  assert.deepEqual(sourceForms({ value: `1${"0".repeat(400)}`, value_type: "Decimal" }), [`1${"0".repeat(400)}`]);
  assert.deepEqual(sourceForms({ value: 3, value_type: "Integer" }), [3]);
  assert.deepEqual(sourceForms({ value: { a: 0.1 }, value_type: "Json" }), [{ a: 0.1 }]);
});
