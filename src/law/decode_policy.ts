/**
 * Reads evidence-use policies (docs/format/scenario_law.md, "Policies on evidence"), and checks the rules between
 * members.
 */

import { decodeBase64 } from "../canonical/base64.ts";
import { compareCodePoints } from "../canonical/order.ts";
import {
  boolean,
  integer,
  matching,
  named,
  object as anyObject,
  oneOf,
  setOf,
  shape,
  text,
} from "../canonical/shape.ts";
import { draftOf, objectOf, optional, type Read, readIdentifier, readPositive, titled, variantOf } from "./readers.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { Assurance, Channel, Combination, EvidenceUsePolicy, Freshness } from "./types.ts";

/** All channels, in the order of the documentation. */
export const CHANNELS: readonly Channel[] = [
  "caller_submission",
  "accepted_submission",
  "local_acquisition",
  "provider_acquisition",
];

/** All assurances, in the order of the documentation. */
const ASSURANCES: readonly Assurance[] = [
  "content_integrity",
  "scope",
  "schema_compatibility",
  "source_anchor",
  "source_signature",
];

/** An array of distinct names, of which all are known. */
function someOf<T extends string>(known: readonly T[], minimum: number): Read<readonly T[]> {
  return shape<readonly T[], Collector>(
    setOf(oneOf(...known), known.length, minimum),
    () => ({ type: "array", items: { enum: known }, ...minimum > 0 && { minItems: minimum }, uniqueItems: true }),
  );
}

/** Reads an evidence-use policy; undefined if a member is malformed or two of them contradict each other. */
export const readEvidenceUsePolicy: Read<EvidenceUsePolicy> = named(
  "policy",
  shape<EvidenceUsePolicy, Collector>((refusals, value, path) => {
    const draft = readDraft(refusals, value, path);
    const { authorized_key_ids: keys, authorized_public_keys: pinned, requires_all_bindings: all, ...policy } = draft;
    if (pinned !== null && !checkPinned(refusals, path, pinned, keys ?? undefined)) return undefined;
    if (all === undefined || pinned === undefined) return undefined;
    const consistent = checkPolicy(refusals, path, policy, keys !== null);
    if (!consistent || keys === undefined || !isWhole(policy)) return undefined;
    return {
      ...policy,
      ...keys === null ? {} : { authorized_key_ids: keys },
      ...pinned === null ? {} : { authorized_public_keys: pinned },
      // False means the same as absent, and must have the same identity.
      ...all === true ? { requires_all_bindings: true as const } : {},
    };
  }, ({ of }) => of(readDraft)),
);

function checkPolicy(
  refusals: Collector,
  path: JsonPath,
  policy: {
    readonly allowed_channels: readonly Channel[] | undefined;
    readonly authorization: string | undefined;
    readonly replay: string | undefined;
    readonly retention: string | undefined;
  },
  keysGiven: boolean,
): boolean {
  const { allowed_channels, authorization, replay, retention } = policy;
  const waits = allowed_channels?.includes("accepted_submission") === true;
  const before = refusals.count();
  if (retention === "retain_digest_only" && replay === "full_semantic") {
    const message = 'Retention "retain_digest_only" keeps no value to replay; expected replay "digest_only"';
    refusals.refuse("policy_conflict", below(path, "replay"), message);
  }
  if (retention === "retain_canonical_value" && replay === "digest_only") {
    const message = 'Replay "digest_only" goes with retention "retain_digest_only"; expected "full_semantic"';
    refusals.refuse("policy_conflict", below(path, "replay"), message);
  }
  if (keysGiven && authorization !== undefined && authorization !== "signature") {
    const message = `Authorized keys need authorization "signature", got "${authorization}"`;
    refusals.refuse("policy_conflict", below(path, "authorized_key_ids"), message);
  }
  if (waits && authorization !== undefined && authorization !== "signature") {
    const message = `Channel "accepted_submission" needs authorization "signature", got "${authorization}"`;
    refusals.refuse("policy_conflict", below(path, "authorization"), message);
  }
  if (waits && retention !== undefined && retention !== "retain_canonical_value") {
    const message = `Channel "accepted_submission" needs retention "retain_canonical_value", got "${retention}"`;
    refusals.refuse("policy_conflict", below(path, "retention"), message);
  }
  return refusals.count() === before;
}

const isPublicKey = matching(
  "the base64 of the 32 bytes of a public key, as its .pub file has it",
  (value): value is string => typeof value === "string" && decodeBase64(value)?.length === 32,
);

const readPublicKey: Read<string> = (refusals, value, path) =>
  text(refusals, value, path) === undefined ? undefined : isPublicKey(refusals, value, path);

const readPublicKeys: Read<Record<string, string>> = shape<Record<string, string>, Collector>(
  (refusals, value, path) => {
    const given = anyObject(refusals, value, path);
    if (given === undefined) return undefined;
    const names = Object.keys(given).sort(compareCodePoints);
    const keys = names.map((name) => [name, readPublicKey(refusals, given[name] ?? null, below(path, name))] as const);
    const whole = keys.flatMap(([name, key]) => key === undefined ? [] : [[name, key] as const]);
    return whole.length === keys.length ? Object.fromEntries(whole) : undefined;
  },
  () => ({
    type: "object",
    additionalProperties: { type: "string", pattern: "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$" },
    minProperties: 1,
    maxProperties: SPEC_LIMITS.authorizedKeyIds,
  }),
);

/** Pinned keys are exactly the authorized ones, and differ: one key under two ids would be one person who counts twice. */
function checkPinned(
  refusals: Collector,
  path: JsonPath,
  pinned: Readonly<Record<string, string>> | undefined,
  keys: readonly string[] | undefined,
): boolean {
  if (pinned === undefined) return false;
  const at = below(path, "authorized_public_keys");
  const ids = new Set(keys);
  const names = Object.keys(pinned);
  if (names.length !== ids.size || names.some((name) => !ids.has(name))) {
    refusals.refuse("policy_conflict", at, 'Expected one public key for each of "authorized_key_ids", and no other');
    return false;
  }
  const idOf = new Map<string, string>();
  for (const [name, key] of Object.entries(pinned)) {
    const other = idOf.get(key);
    if (other === undefined) idOf.set(key, name);
    else refusals.refuse("duplicate", below(at, name), `The key is that of ${JSON.stringify(other)}`);
  }
  return idOf.size === names.length;
}

/** Reads the ids of keys. */
const readKeyIds: Read<readonly string[]> = shape<readonly string[], Collector>(
  setOf(readIdentifier, SPEC_LIMITS.authorizedKeyIds, 1),
  ({ of }) => ({
    type: "array",
    items: of(readIdentifier),
    maxItems: SPEC_LIMITS.authorizedKeyIds,
    minItems: 1,
    uniqueItems: true,
  }),
);

const readAll = objectOf({ combination: oneOf("AllQualifyingAgree", "AnyQualifying") });
const readCombination = variantOf<Combination>("combination", {
  AllQualifyingAgree: readAll,
  AnyQualifying: readAll,
  Quorum: objectOf({ combination: oneOf("Quorum"), minimum: integer(1, SPEC_LIMITS.quorum) }),
});

const readFreshness = variantOf<Freshness>("freshness", {
  NotRequired: objectOf({ freshness: oneOf("NotRequired") }),
  MaximumAge: objectOf({ freshness: oneOf("MaximumAge"), maximum_age_millis: readPositive }),
});

const readDraft = titled(
  "Which evidence counts; retain_digest_only goes with digest_only, keys with signature",
  draftOf({
    allowed_channels: someOf(CHANNELS, 1),
    authorization: oneOf("embedding_authority", "signature"),
    authorized_key_ids: optional<readonly string[] | null>(readKeyIds, null),
    authorized_public_keys: optional<Readonly<Record<string, string>> | null>(readPublicKeys, null),
    combination: readCombination,
    freshness: readFreshness,
    independence: oneOf("distinct_acquisition", "distinct_provider", "not_required"),
    integrity: oneOf("canonical_content_only", "anchored_content", "signed_content"),
    replay: oneOf("full_semantic", "digest_only"),
    required_assurance: someOf(ASSURANCES, 0),
    requires_all_bindings: optional<boolean | null>(boolean, null),
    retention: oneOf("retain_canonical_value", "retain_digest_only"),
    scope: oneOf("exact_condition"),
  }),
);

/** Whether every member of a record could be read. */
export function isWhole<T extends object>(draft: { readonly [K in keyof T]: T[K] | undefined }): draft is T {
  return Object.values(draft).every((value) => value !== undefined);
}
