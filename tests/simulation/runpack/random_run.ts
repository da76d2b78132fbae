/**
 * Runs that are played by chance: any policy, profile, domain and evidence, decided by the kernel.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import { KEY_1, KEY_2, NOW, trusting } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { DECIMAL, DIGEST, DIGEST_OBJECT } from "../forged_packs/absent_values.ts";
import { type Given, play, type Said, twoConditionLaw } from "../forged_packs/played.ts";
import type { Parts } from "../forged_packs/forge.ts";
import type { PlayedRun } from "./run.ts";

/** Members of policies and profiles that random runs choose from. */
const POLICIES: readonly Readonly<Record<string, JsonValue>>[] = [
  {},
  { authorization: "signature" },
  { combination: { combination: "AnyQualifying" } },
  { combination: { combination: "Quorum", minimum: 2 }, independence: "distinct_provider" },
  { freshness: { freshness: "MaximumAge", maximum_age_millis: 100 } },
  { integrity: "anchored_content" },
  { integrity: "signed_content", independence: "not_required" },
  { required_assurance: ["content_integrity", "source_anchor"] },
  { required_assurance: ["source_signature"] },
  { required_assurance: ["schema_compatibility"], independence: "distinct_provider" },
  { allowed_channels: ["local_acquisition", "provider_acquisition"] },
  { retention: "retain_digest_only", replay: "digest_only" },
];
const PROFILES: readonly Partial<OperatorProfile>[] = [
  {},
  { trust: { min_lane: "asserted", default_policy: trusting(KEY_1), providers: [] } },
  {
    trust: {
      min_lane: "verified",
      default_policy: "audit",
      providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
    },
  },
  { anchors: [{ provider_id: "scanner", anchor_type: "commit", required_fields: ["sha"] }] },
  { permissive: { enabled: true, exempt_providers: ["ledger"] } },
];
const VALUES: readonly Said["value"][] = [1, 4, 5, 9, null, "text", { error: "jsonpath_not_found" }];
/** Domains in which a source may give a value in several forms, with values of them. */
const DOMAINS: readonly (readonly [Editable, readonly Said["value"][]])[] = [
  [{}, VALUES],
  [DECIMAL, [1.5, "1.5", "1.50", 9, null]],
  [{ ...DECIMAL, predicate: { predicate: "Exists" } }, [1.5, "1.5", "1.50", 9, null]],
  [{ predicate: { predicate: "NotExists" } }, VALUES],
  [DIGEST, [DIGEST_OBJECT, DIGEST_OBJECT.value, "e".repeat(64), null]],
];

/** Plays a run of up to three evaluations. */
export function playRandomRun(random: () => number): PlayedRun {
  const one = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const said = (values: readonly Said["value"][]): Said => ({
    value: one(values),
    ...random() < 0.3 ? { lane: "asserted" as const } : {},
    ...random() < 0.4 ? { hash: one(["right", "wrong"] as const) } : {},
    ...random() < 0.5 ? { key: one([KEY_1, KEY_2]) } : {},
    ...random() < 0.3 ? { bare: one([true, 1.5]) } : {},
    ...random() < 0.6 ? { observed_at: NOW - Math.floor(random() * 300) } : {},
    ...random() < 0.4 ? { anchor: true } : {},
    ...random() < 0.3 ? { acquired_at: NOW - 200 } : {},
    ...random() < 0.3 ? { given: true } : {},
  });
  const [condition, values] = one(DOMAINS);
  const law = twoConditionLaw(one(POLICIES), condition);
  const bindings = [...law.bindingIndex.keys()].filter(() => random() < 0.4);
  const allowsCaller = random() < 0.7;
  const evaluations = Array.from({ length: 3 }, (): Given => ({
    caller: allowsCaller ? Array.from({ length: Math.floor(random() * 3) }, () => said(values)) : [],
    acquired: Object.fromEntries(bindings.map((binding) => [binding, said(values)])),
    ...random() < 0.8 ? { branch: one(["main", "side"]) } : {},
  }));
  return play(law, one(PROFILES), evaluations);
}

const REASONS = ["scope", "channel", "authorization", "lane", "not_fresh", "integrity", "assurance", "not_independent"];
const LINES = [
  { value: "true" },
  { value: "false" },
  ...["no_evidence", "unqualified", "disagreement", "type_mismatch", "error"].map((reason) => ({
    value: "unknown",
    reason,
  })),
];

/** Writes another verdict on one item of `c`, or another trace line for it; false where the run has none. */
export function rejudge({ records }: Parts, random: () => number): boolean {
  const one = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const { evidence, trace } = one(records.slice(2))?.body ?? {};
  const items = (evidence ?? []).filter(({ condition_id }: Editable) => condition_id === "c");
  if (items.length === 0) return false;
  if (random() < 0.4) {
    const line = trace.find(({ condition_id }: Editable) => condition_id === "c");
    delete line.reason;
    Object.assign(line, one(LINES));
    return true;
  }
  const item = one<Editable>(items);
  const { reason } = item;
  delete item.reason;
  if (reason === undefined) item.reason = one(REASONS);
  item.qualified = item.reason === undefined && item.error === undefined;
  return true;
}
