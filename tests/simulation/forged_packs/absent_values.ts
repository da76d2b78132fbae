/**
 * Packs of which a value is absent: forgeries that have to be found all the same, and honest runs of which nothing may be
 * said.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import { KEY_1, KEY_2, NOW, SHA256, trusting } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts, rekey } from "./forge.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import { play, type Said, twoConditionLaw } from "./played.ts";

const DAY = 86_400_000;

/** A run of one evaluation, and what is changed of its third record. */
export interface AbsentRow {
  readonly name: string;
  readonly policy?: Readonly<Record<string, JsonValue>>;
  readonly condition?: Editable;
  readonly profile?: Partial<OperatorProfile>;
  readonly caller?: readonly Said[];
  readonly acquired?: Readonly<Record<string, Said>>;
  /** Changes the item of `c`, the last of the evidence of `c`. */
  readonly change?: (item: Editable, parts: Parts) => void;
  /** Violated claims by their codes. */
  readonly violates: Readonly<Record<string, string>>;
}

/** The pack of a row without the values of a condition. */
export function packOfRow(row: AbsentRow, withheld: string | null): MemoryPack {
  const { policy, condition, profile = {}, caller = [], acquired = {}, change } = row;
  const law = twoConditionLaw(policy, condition);
  return forge(play(law, profile, [{ caller, acquired, branch: "main" }]), (parts) => {
    const items: Editable[] = parts.records[2].body.evidence;
    change?.(items.findLast(({ condition_id }) => condition_id === "c"), parts);
    if (withheld !== null) withhold(parts, withheld);
  });
}

function withhold(parts: Parts, condition: string): void {
  parts.withheld.push(condition);
  for (const item of parts.records[2].body.evidence as Editable[]) {
    if (item.condition_id === condition) parts.bodies.delete(`evidence-value ${item.value_identity}`);
  }
}

/** Writes a verdict on an item into its record and into the receipt. */
function judged(item: Editable, parts: Parts, verdict: Editable): void {
  const { attempt } = parts.receipts[2].result;
  const recorded = attempt.evidence.find(({ item_id }: Editable) => item_id === item.item_id);
  for (const one of [item, recorded]) {
    delete one.reason;
    Object.assign(one, verdict);
  }
}

const count = (item: Editable, parts: Parts): void => judged(item, parts, { qualified: true });

const asserted = (item: Editable): void => {
  item.acquisition.lane = item.acquisition.provider_result.lane = "asserted";
};
const unanchored = (item: Editable): void => {
  delete item.anchor;
  item.acquisition.provider_result.evidence_anchor = null;
};
const signedOtherwise = (item: Editable): void => {
  item.signature.signature = KEY_1.sign("something else");
  if (item.acquisition !== undefined) item.acquisition.provider_result.signature = item.signature;
};
const unsigned = (item: Editable): void => {
  delete item.signature;
  item.acquisition.provider_result.signature = null;
};

const COUNTED = {
  evidence_use_policy_satisfaction: "qualification_mismatch",
  pure_semantic_replay: "decision_mismatch",
};
const QUALIFICATION = { evidence_use_policy_satisfaction: "qualification_mismatch" };
const DECISION = { pure_semantic_replay: "decision_mismatch" };

const SIGNING: Partial<OperatorProfile> = {
  trust: {
    min_lane: "verified",
    default_policy: "audit",
    providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
  },
};
const ANCHORING: Partial<OperatorProfile> = {
  anchors: [{ provider_id: "scanner", anchor_type: "commit", required_fields: ["sha"] }],
};
const signedBy = { key: KEY_1, observed_at: NOW - 5 };
const REPORT = {
  observation_domain: { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "release", version: "1" } },
  predicate: { predicate: "Exists" },
};
/** A number in a domain of decimal numbers. */
export const DECIMAL = {
  observation_domain: { domain: "Decimal" },
  predicate: { predicate: "LessThan", expected: { value: "5", value_type: "Decimal" } },
};
const DIGEST_VALUE = "d".repeat(64);
/** A hash in a domain of digests. */
export const DIGEST = {
  observation_domain: { domain: "Digest", algorithm: "sha256" },
  predicate: { predicate: "Equals", expected: { value: DIGEST_VALUE, value_type: "Digest" } },
};
/** A hash as an object. */
export const DIGEST_OBJECT = { algorithm: "sha256", value: DIGEST_VALUE };

/** Names a value in an item, its witness and the receipt. */
function named(item: Editable, parts: Parts, value: Editable): void {
  const value_identity = rekey(parts, "evidence-value", value);
  const content_hash = { algorithm: "sha256", value: SHA256(canonicalize(value.value)) };
  delete item.found_nothing;
  Object.assign(item, { value_identity, value_type: value.value_type, content_hash });
  item.acquisition.provider_result.value = { kind: "json", content_hash, value_identity };
  parts.receipts[2].result.attempt.evidence.at(-1).value_identity = value_identity;
}

/** Items that counted and must not have, or the other way round, by the reason that shows it. */
export const FORGED: readonly AbsentRow[] = [
  {
    name: "acquired ten days before a maximum age of a minute",
    policy: { freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 } },
    acquired: { "scan-1": { value: 1 } },
    change: (item) => item.acquisition.acquired_at -= 10 * DAY,
    violates: COUNTED,
  },
  {
    name: "fresh, and recorded as not fresh",
    acquired: { "scan-1": { value: 1 } },
    change: (item, parts) => judged(item, parts, { qualified: false, reason: "not_fresh" }),
    violates: QUALIFICATION,
  },
  {
    name: "a lane that its provider did not declare",
    acquired: { "scan-1": { value: 1 } },
    change: asserted,
    violates: { ...COUNTED, evidence_use_policy_satisfaction: "lane_mismatch" },
  },
  {
    name: "a lane below the minimum",
    acquired: { "scan-1": { value: 1 } },
    change: (item) => {
      asserted(item);
      item.lane = "asserted";
    },
    violates: COUNTED,
  },
  {
    name: "a hash that does not recompute",
    acquired: { "scan-1": { value: 1, hash: "right" } },
    change: (item) => {
      item.acquisition.provider_result.evidence_hash.value = "0".repeat(64);
      item.hash_recomputes = false;
    },
    violates: COUNTED,
  },
  {
    name: "content without the anchor that the policy asks for",
    policy: { integrity: "anchored_content" },
    profile: ANCHORING,
    acquired: { "scan-1": { value: 1, anchor: true } },
    change: unanchored,
    // The provider owes the anchor too.
    violates: COUNTED,
  },
  {
    name: "content without the signature that the policy asks for",
    policy: { integrity: "signed_content" },
    profile: SIGNING,
    acquired: { "scan-1": { value: 1, ...signedBy } },
    change: signedOtherwise,
    violates: COUNTED,
  },
  {
    name: "a caller's item without the signature that authorizes it",
    policy: { authorization: "signature" },
    profile: SIGNING,
    caller: [{ value: 1, ...signedBy }],
    change: signedOtherwise,
    violates: { ...COUNTED, evidence_use_policy_satisfaction: "lane_mismatch" },
  },
  {
    name: "a channel that the policy does not allow",
    policy: { allowed_channels: ["local_acquisition", "provider_acquisition"] },
    caller: [{ value: 1 }],
    change: count,
    violates: QUALIFICATION,
  },
  {
    name: "an anchor that assures nothing",
    policy: { required_assurance: ["source_anchor"] },
    profile: { anchors: [{ provider_id: "other", anchor_type: "commit", required_fields: ["sha"] }] },
    acquired: { "scan-1": { value: 1, anchor: true } },
    change: count,
    violates: QUALIFICATION,
  },
  {
    name: "a signature that assures nothing",
    policy: { required_assurance: ["source_signature"] },
    profile: SIGNING,
    caller: [{ value: 1, ...signedBy }],
    change: signedOtherwise,
    violates: COUNTED,
  },
  {
    name: "a value that its schema refuses",
    policy: { required_assurance: ["schema_compatibility"] },
    condition: REPORT,
    caller: [{ value: { coverage: 9 }, verdict: "valid" }],
    change: (item) => item.schema_verdict = "invalid",
    violates: COUNTED,
  },
  {
    name: "in its domain, and recorded as not assured",
    policy: { required_assurance: ["schema_compatibility"] },
    acquired: { "scan-1": { value: 1 } },
    change: (item, parts) => judged(item, parts, { qualified: false, reason: "assurance" }),
    violates: QUALIFICATION,
  },
  {
    name: "an item of a condition that the stage does not name",
    acquired: { "scan-1": { value: 1 } },
    change: (item, parts) => {
      item.condition_id = "other";
      parts.receipts[2].result.attempt.evidence.at(-1).condition_id = "other";
    },
    violates: {
      ...COUNTED,
      evidence_structural_admission: "condition_mismatch",
      acquisition_admission_witness_reconstruction: "binding_mismatch",
    },
  },
  {
    name: "two items of one source",
    policy: { combination: { combination: "Quorum", minimum: 2 }, independence: "distinct_provider" },
    acquired: { "scan-1": { value: 1 }, "scan-2": { value: 1 } },
    change: count,
    violates: QUALIFICATION,
  },
  {
    name: "without the signature that its provider owes",
    profile: SIGNING,
    acquired: { "scan-1": { value: 1, ...signedBy } },
    change: unsigned,
    violates: COUNTED,
  },
  {
    name: "with a signature over something else than its provider owes",
    profile: SIGNING,
    acquired: { "scan-1": { value: 1, key: KEY_1, bare: true } },
    change: signedOtherwise,
    violates: COUNTED,
  },
  {
    name: "with a signature over another number than its provider gave",
    profile: SIGNING,
    condition: DECIMAL,
    acquired: { "scan-1": { value: 1.5, key: KEY_1, bare: true } },
    change: signedOtherwise,
    violates: COUNTED,
  },
  {
    name: "with a signature by a key that its provider does not have to sign with",
    profile: SIGNING,
    acquired: { "scan-1": { value: 1, key: KEY_1, bare: true } },
    change: (item) => item.signature.key_id = item.acquisition.provider_result.signature.key_id = KEY_2.key_id,
    violates: COUNTED,
  },
  {
    name: "without the anchor that its provider owes",
    profile: ANCHORING,
    acquired: { "scan-1": { value: 1, anchor: true } },
    change: unanchored,
    violates: COUNTED,
  },
  {
    name: "a false value that its trace calls true",
    acquired: { "scan-1": { value: 1 } },
    change: (item, parts) => named(item, parts, { value: 9, value_type: "Integer" }),
    violates: DECISION,
  },
  {
    name: "a value that was found, of which its trace says that there is none",
    condition: { predicate: { predicate: "NotExists" } },
    acquired: { "scan-1": { value: null } },
    change: (item, parts) => named(item, parts, { value: 1, value_type: "Integer" }),
    violates: DECISION,
  },
];

/** Forgeries that are not found where the value of `c` itself is withheld. */
export const ONLY_BY_VALUE: ReadonlySet<string> = new Set([
  "a false value that its trace calls true",
  // The value is that of another condition then.
  "an item of a condition that the stage does not name",
]);

/** Honest runs, each with what claim 23 comes to under the key of the provider where the value of `c` is withheld. */
export const HONEST: readonly (AbsentRow & { readonly authenticity: string })[] = [
  {
    name: "a number in a Decimal domain, its bare hash signed",
    condition: DECIMAL,
    profile: SIGNING,
    acquired: { "scan-1": { value: 1.5, key: KEY_1, bare: true } },
    violates: {},
    authenticity: "unavailable unsigned_evidence",
  },
  {
    name: "a hash object in a Digest domain, its bare hash signed",
    condition: DIGEST,
    profile: SIGNING,
    acquired: { "scan-1": { value: DIGEST_OBJECT, key: KEY_1, bare: true } },
    violates: {},
    authenticity: "unavailable unsigned_evidence",
  },
  {
    name: "a decimal number as a string, its bare hash signed",
    condition: DECIMAL,
    profile: SIGNING,
    acquired: { "scan-1": { value: "1.5", key: KEY_1, bare: true } },
    violates: {},
    authenticity: "unavailable unsigned_evidence",
  },
  {
    name: "a decimal number as a string, the bare hash of the number signed",
    condition: DECIMAL,
    profile: SIGNING,
    acquired: { "scan-1": { value: "1.5", key: KEY_1, bare: 1.5 } },
    violates: {},
    authenticity: "unavailable value_withheld",
  },
  {
    name: "a caller's decimal number, the bare hash of the number signed",
    condition: DECIMAL,
    profile: SIGNING,
    caller: [{ value: "1.5", key: KEY_1, bare: 1.5 }],
    violates: {},
    authenticity: "unavailable value_withheld",
  },
  {
    name: "two spellings of one decimal number of one provider",
    condition: DECIMAL,
    policy: { independence: "distinct_provider" },
    acquired: { "scan-1": { value: "1.5" }, "scan-2": { value: "1.50" } },
    violates: {},
    authenticity: "unavailable unsigned_evidence",
  },
  {
    name: "a statement signed, bound to the attempt",
    condition: DECIMAL,
    profile: SIGNING,
    acquired: { "scan-1": { value: 1.5, ...signedBy } },
    violates: {},
    authenticity: "unavailable unsigned_evidence",
  },
];

/** Two contracts of one provider in the artifact list, of which the run is bound to one; the other refuses the law. */
export function secondContract(parts: Parts): void {
  const bound = parts.artifacts.find(({ body }) => body.provider_id === "scanner")?.body;
  // Both orders of the list: one of these identities is below, one above that of the contract that is bound.
  for (const note of ["a", "b", "c", "d", "e", "f"]) {
    const body = { ...structuredClone(bound), description: note };
    for (const check of body.checks) check.allowed_comparators = [];
    parts.artifacts.push({ kind: "contract", identity: identify(SHA256, "contract", body), body });
  }
}
