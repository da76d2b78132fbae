import assert from "node:assert/strict";
import {
  acquiredItem,
  ATTEMPT,
  int,
  KEY_1,
  KEY_2,
  NOW,
  oneConditionLaw,
  presented,
  qualificationWith,
  signed,
  type TestKey,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { CompiledLaw } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import type { OperatorProfile } from "./profile.ts";
import { qualifyItem } from "./qualify.ts";

type Policy = Readonly<Record<string, JsonValue>>;
type Item = (law: CompiledLaw) => PresentedEvidence;

const caller: Item = () => presented("c", int(3));
const env: Item = (law) => acquiredItem(law, "env-1", int(3));
const scan: Item = (law) => acquiredItem(law, "scan-1", int(3));
const byKey1 = (item: Item): Item => (law) => signed(law, item(law), KEY_1);
const aged = (age: number): Item => (law) => acquiredItem(law, "env-1", int(3), {}, { acquired_at: NOW - age });
const with_ = (item: Item, changes: Partial<PresentedEvidence>): Item => (law) => ({ ...item(law), ...changes });

const TRUST: Partial<OperatorProfile> = {
  trust: { min_lane: "verified", default_policy: trusting(KEY_1, KEY_2), providers: [] },
};
const ASSERTED: Partial<OperatorProfile> = { trust: { min_lane: "asserted", default_policy: "audit", providers: [] } };
const PERMISSIVE: Partial<OperatorProfile> = { permissive: { enabled: true, exempt_providers: ["ledger"] } };
const ANCHORS: Partial<OperatorProfile> = {
  anchors: [{ provider_id: "env", anchor_type: "env", required_fields: ["key"] }],
};
const ANCHOR = { anchor_type: "env", anchor_value: '{"key":"REGION"}' };
const SIGNATURE: Policy = { authorization: "signature" };
const PINNED: Policy = {
  ...SIGNATURE,
  authorized_key_ids: ["ci-1"],
  authorized_public_keys: { "ci-1": KEY_1.public_key },
};
/** A key under the id of another. */
const STRANGER: TestKey = { ...KEY_2, key_id: KEY_1.key_id };
const STRANGER_KEY = { key_id: STRANGER.key_id, public_key: STRANGER.public_key };
const MINUTE: Policy = { freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 } };
const SCHEMA_LAW = {
  observation_domain: { domain: "Json", maximum_bytes: 100, schema: { schema_id: "release", version: "1" } },
  predicate: { predicate: "Exists" },
};
const json = presented("c", { value: { a: 1 }, value_type: "Json" });

type Row = readonly [name: string, policy: Policy, item: Item, profile: Partial<OperatorProfile>, outcome: string];

const ROWS: readonly Row[] = [
  ["a caller's item", {}, caller, {}, "qualified"],
  ["a built-in provider's item", {}, env, {}, "qualified"],
  ["an external provider's item", {}, scan, {}, "qualified"],
  // channel: no law has a binding on a channel that its condition does not allow, so only callers can use a wrong one
  ["a caller where callers may not", { allowed_channels: ["local_acquisition"] }, caller, {}, "channel"],
  // authorization
  ["no signature", SIGNATURE, caller, TRUST, "authorization"],
  ["a signature", SIGNATURE, byKey1(caller), TRUST, "qualified"],
  ["a signature on an acquired item", SIGNATURE, byKey1(scan), TRUST, "qualified"],
  ["a signature by a key that is not trusted", SIGNATURE, byKey1(caller), {}, "authorization"],
  ["an authorized key", { ...SIGNATURE, authorized_key_ids: ["ci-1"] }, byKey1(caller), TRUST, "qualified"],
  ["another key", { ...SIGNATURE, authorized_key_ids: ["ci-2"] }, byKey1(caller), TRUST, "authorization"],
  ["a key that the law pins, unknown to the operator", PINNED, byKey1(caller), {}, "qualified"],
  ["a pinned key on an acquired item", PINNED, byKey1(scan), {}, "qualified"],
  ["another key under a pinned id", PINNED, (law) => signed(law, caller(law), STRANGER), {}, "authorization"],
  [
    "another key under a pinned id, which the operator trusts",
    PINNED,
    (law) => signed(law, caller(law), STRANGER),
    { evidence_keys: [STRANGER_KEY] },
    "authorization",
  ],
  [
    "a pinned key, of which the operator has another meanwhile",
    PINNED,
    byKey1(caller),
    { evidence_keys: [STRANGER_KEY] },
    "qualified",
  ],
  ["a trusted key that the law does not pin", PINNED, (law) => signed(law, caller(law), KEY_2), TRUST, "authorization"],
  ["a bad signature counts for nothing", {}, with_(byKey1(caller), { observed_at: 5 }), TRUST, "qualified"],
  // lane
  ["a provider that only asserts", {}, with_(env, { lane: "asserted" }), {}, "lane"],
  ["the same where asserted is enough", {}, with_(env, { lane: "asserted" }), ASSERTED, "qualified"],
  ["the same under dev-permissive", {}, with_(env, { lane: "asserted" }), PERMISSIVE, "qualified"],
  [
    "a provider that dev-permissive exempts",
    {},
    (law) => acquiredItem(law, "ledger-1", int(3), { lane: "asserted" }),
    PERMISSIVE,
    "lane",
  ],
  ["the time as the authority stamped it", {}, (law) => acquiredItem(law, "time-1", int(3)), {}, "qualified"],
  [
    "the time as the caller gave it",
    {},
    (law) => acquiredItem(law, "time-1", int(3), {}, { trigger_time_given: true }),
    {},
    "lane",
  ],
  [
    "another check at a time that the caller gave",
    {},
    (law) => acquiredItem(law, "env-1", int(3), {}, { trigger_time_given: true }),
    {},
    "qualified",
  ],
  // not_fresh
  ["younger than the maximum age", MINUTE, aged(59_999), {}, "qualified"],
  ["exactly of the maximum age", MINUTE, aged(60_000), {}, "qualified"],
  ["older than the maximum age", MINUTE, aged(60_001), {}, "not_fresh"],
  ["acquired at acceptance", MINUTE, aged(0), {}, "qualified"],
  ["acquired after acceptance", MINUTE, aged(-1), {}, "not_fresh"],
  ["a caller's item of no known age", MINUTE, caller, {}, "not_fresh"],
  ["a caller's item with an unsigned age", MINUTE, with_(caller, { observed_at: NOW }), {}, "not_fresh"],
  ["a caller's item with a signed age", MINUTE, byKey1(caller), TRUST, "qualified"],
  [
    "a caller's item signed too long ago",
    MINUTE,
    byKey1(with_(caller, { observed_at: NOW - 60_001 })),
    TRUST,
    "not_fresh",
  ],
  ["a caller's item signed in the future", MINUTE, byKey1(with_(caller, { observed_at: NOW + 1 })), TRUST, "not_fresh"],
  ["acquired now, observed long ago", MINUTE, byKey1(with_(env, { observed_at: 1 })), TRUST, "not_fresh"],
  ["acquired now, observed long ago, unsigned", MINUTE, with_(env, { observed_at: 1 }), TRUST, "qualified"],
  // integrity
  ["a hash that does not recompute", {}, with_(env, { hash_recomputes: false }), {}, "integrity"],
  ["no anchor", { integrity: "anchored_content" }, env, ANCHORS, "integrity"],
  ["an anchor", { integrity: "anchored_content" }, with_(env, { anchor: ANCHOR }), ANCHORS, "qualified"],
  ["an anchor without a policy", { integrity: "anchored_content" }, with_(env, { anchor: ANCHOR }), {}, "integrity"],
  [
    "an anchor of another provider",
    { integrity: "anchored_content" },
    with_(scan, { anchor: ANCHOR }),
    ANCHORS,
    "integrity",
  ],
  ["an anchor of a caller", { integrity: "anchored_content" }, with_(caller, { anchor: ANCHOR }), ANCHORS, "qualified"],
  ["no signed content", { integrity: "signed_content" }, caller, TRUST, "integrity"],
  ["signed content", { integrity: "signed_content" }, byKey1(caller), TRUST, "qualified"],
  // assurance
  ["no source anchor", { required_assurance: ["source_anchor"] }, env, ANCHORS, "assurance"],
  ["a source anchor", { required_assurance: ["source_anchor"] }, with_(env, { anchor: ANCHOR }), ANCHORS, "qualified"],
  ["no source signature", { required_assurance: ["source_signature"] }, caller, TRUST, "assurance"],
  ["a source signature", { required_assurance: ["source_signature"] }, byKey1(caller), TRUST, "qualified"],
  [
    "an acquired value outside the domain",
    {},
    (law) => acquiredItem(law, "env-1", { value: "3", value_type: "String" }),
    {},
    "assurance",
  ],
  // scope
  ["an item of another condition's binding", {}, with_(env, { binding_id: "other-1" }), {}, "scope"],
  ["an item of another provider than its binding's", {}, with_(env, { provider_id: "json" }), {}, "scope"],
  ["an item of another channel than its binding's", {}, with_(env, { channel: "provider_acquisition" }), {}, "scope"],
  // observed errors count, as Unknown, once channel, authorization and lane are in order
  ["an observed error", MINUTE, (law) => acquiredItem(law, "env-1", { error: "jsonpath_not_found" }), {}, "qualified"],
  [
    "an observed error of an age and integrity that would not do",
    { ...MINUTE, integrity: "anchored_content" },
    (law) => acquiredItem(law, "env-1", { error: "jsonpath_not_found" }, {}, { acquired_at: 1 }),
    {},
    "qualified",
  ],
  [
    "an observed error on a lane that does not do",
    {},
    (law) => acquiredItem(law, "env-1", { error: "e" }, { lane: "asserted" }),
    {},
    "lane",
  ],
  ["nothing found", {}, (law) => acquiredItem(law, "env-1", null), {}, "qualified"],
  [
    "nothing found, to be signed",
    { integrity: "signed_content" },
    (law) => acquiredItem(law, "env-1", null),
    TRUST,
    "integrity",
  ],
];

for (const [name, policy, item, profile, outcome] of ROWS) {
  Deno.test(`qualifyItem() ${name}: ${outcome}`, () => {
    const law = oneConditionLaw(policy);
    const condition = law.conditionIndex.get("c");
    assert.ok(condition !== undefined);
    const { reason } = qualifyItem(qualificationWith(law, profile), condition, item(law));
    assert.equal(reason ?? "qualified", outcome);
  });
}

Deno.test("qualifyItem() counts a value under a schema only with the verdict valid", () => {
  const rows = [["valid", null], ["invalid", "assurance"], [undefined, "assurance"]] as const;
  const law = oneConditionLaw({}, SCHEMA_LAW);
  const lax = oneConditionLaw({ required_assurance: [] }, SCHEMA_LAW);
  for (const [schema_verdict, reason] of rows) {
    const item = schema_verdict === undefined ? json : { ...json, schema_verdict };
    for (const [one, expected] of [[law, reason], [lax, null]] as const) {
      const condition = one.conditionIndex.get("c");
      assert.ok(condition !== undefined);
      assert.equal(qualifyItem(qualificationWith(one), condition, item).reason, expected);
    }
  }
});

Deno.test("qualifyItem() tests neither freshness nor lane without an attempt, and counts acquisitions as signed and anchored", () => {
  const strict = {
    ...SIGNATURE,
    ...MINUTE,
    authorized_key_ids: ["ci-1"],
    integrity: "anchored_content",
    required_assurance: ["source_signature", "source_anchor", "schema_compatibility"],
  };
  const law = oneConditionLaw(strict);
  const condition = law.conditionIndex.get("c");
  assert.ok(condition !== undefined);
  const environment = qualificationWith(law, TRUST, null);
  assert.equal(qualifyItem(environment, condition, { ...env(law), lane: "asserted" }).reason, null);
  assert.equal(qualifyItem(environment, condition, signed(law, caller(law), KEY_1, ATTEMPT)).reason, "authorization");
});

Deno.test("qualifyItem() takes a built-in calendar at a caller's time as asserted, and no other provider of that name", () => {
  const plain = oneConditionLaw({});
  const rows = [["env-1", {}, null], ["env-1", { trigger_time_given: true }, "lane"], [
    "scan-1",
    { trigger_time_given: true },
    null,
  ]] as const;
  for (const [id, witness, reason] of rows) {
    const binding = plain.bindingIndex.get(id);
    const condition = plain.conditionIndex.get("c");
    assert.ok(binding !== undefined && condition !== undefined);
    const law = {
      ...plain,
      bindingIndex: new Map([...plain.bindingIndex, [id, { ...binding, provider_id: "calendar" }]]),
    };
    assert.equal(
      qualifyItem(qualificationWith(law), condition, acquiredItem(law, id, int(3), {}, witness)).reason,
      reason,
    );
  }
});
