/**
 * Reads evidence-use policies (docs/format/scenario_law.md, "Policies on evidence"), and checks the rules between
 * members.
 *
 * @module
 */

import { decodeBase64 } from "../canonical/base64.ts";
import type { JsonValue } from "../canonical/json.ts";
import { compareCodePoints } from "../canonical/order.ts";
import {
  boolean,
  type Bounds,
  integer,
  matching,
  object as anyObject,
  oneOf,
  readMember,
  readObject,
  readWholeArray,
  text,
} from "../canonical/shape.ts";
import { objectOf, type Read, readIdentifier, variantOf } from "./readers.ts";
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
export const ASSURANCES: readonly Assurance[] = [
  "content_integrity",
  "scope",
  "schema_compatibility",
  "source_anchor",
  "source_signature",
];

const REQUIRED = [
  "allowed_channels",
  "authorization",
  "combination",
  "freshness",
  "independence",
  "integrity",
  "replay",
  "required_assurance",
  "retention",
  "scope",
];

/** Reads an evidence-use policy; undefined if a member is malformed or two of them contradict each other. */
export const readEvidenceUsePolicy: Read<EvidenceUsePolicy> = (refusals, value, path) => {
  const object = readObject(refusals, value, path, REQUIRED, [
    "authorized_key_ids",
    "authorized_public_keys",
    "requires_all_bindings",
  ]);
  if (object === undefined) return undefined;
  const read = <T>(name: string, reader: Read<T>): T | undefined => readMember(refusals, object, path, name, reader);
  const policy = {
    allowed_channels: read("allowed_channels", readChannels),
    authorization: read("authorization", oneOf("embedding_authority", "signature")),
    combination: read("combination", readCombination),
    freshness: read("freshness", readFreshness),
    independence: read("independence", oneOf("distinct_acquisition", "distinct_provider", "not_required")),
    integrity: read("integrity", oneOf("canonical_content_only", "anchored_content", "signed_content")),
    replay: read("replay", oneOf("full_semantic", "digest_only")),
    required_assurance: read("required_assurance", readAssurances),
    retention: read("retention", oneOf("retain_canonical_value", "retain_digest_only")),
    scope: read("scope", oneOf("exact_condition")),
  };
  const keys = read("authorized_key_ids", readKeyIds);
  const keysGiven = Object.hasOwn(object, "authorized_key_ids");
  const pinned = read("authorized_public_keys", readPublicKeys);
  if (Object.hasOwn(object, "authorized_public_keys") && !checkPinned(refusals, path, pinned, keys)) return undefined;
  const requiresAll = read("requires_all_bindings", boolean);
  if (Object.hasOwn(object, "requires_all_bindings") && requiresAll === undefined) return undefined;
  const consistent = checkPolicy(refusals, path, policy, keysGiven);
  if (!consistent || (keysGiven && keys === undefined)) return undefined;
  if (!isWhole(policy)) return undefined;
  return {
    ...policy,
    ...keys === undefined ? {} : { authorized_key_ids: keys },
    ...pinned === undefined ? {} : { authorized_public_keys: pinned },
    // False means the same as absent, and must have the same identity.
    ...requiresAll === true ? { requires_all_bindings: true as const } : {},
  };
};

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

function readChannels(refusals: Collector, value: JsonValue, path: JsonPath): Channel[] | undefined {
  return readSet(refusals, value, path, { minimum: 1, maximum: CHANNELS.length }, oneOf(...CHANNELS));
}

function readAssurances(refusals: Collector, value: JsonValue, path: JsonPath): Assurance[] | undefined {
  return readSet(refusals, value, path, { minimum: 0, maximum: ASSURANCES.length }, oneOf(...ASSURANCES));
}

function readKeyIds(refusals: Collector, value: JsonValue, path: JsonPath): string[] | undefined {
  return readSet(refusals, value, path, { minimum: 1, maximum: SPEC_LIMITS.authorizedKeyIds }, readIdentifier);
}

const isPublicKey = matching(
  "the base64 of the 32 bytes of a public key, as its .pub file has it",
  (value): value is string => typeof value === "string" && decodeBase64(value)?.length === 32,
);

const readPublicKey: Read<string> = (refusals, value, path) =>
  text(refusals, value, path) === undefined ? undefined : isPublicKey(refusals, value, path);

function readPublicKeys(refusals: Collector, value: JsonValue, path: JsonPath): Record<string, string> | undefined {
  const given = anyObject(refusals, value, path);
  if (given === undefined) return undefined;
  const names = Object.keys(given).sort(compareCodePoints);
  const keys = names.map((name) => [name, readPublicKey(refusals, given[name] ?? null, below(path, name))] as const);
  const whole = keys.flatMap(([name, key]) => key === undefined ? [] : [[name, key] as const]);
  return whole.length === keys.length ? Object.fromEntries(whole) : undefined;
}

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

/** Reads an array of distinct strings. */
export function readSet<T extends string>(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  bounds: Bounds,
  read: Read<T>,
): T[] | undefined {
  const first = new Map<string, number>();
  let index = 0;
  return readWholeArray<T, Collector>(refusals, value, path, bounds, (_, item, at) => {
    const text = read(refusals, item, at);
    const position = index++;
    if (text === undefined) return undefined;
    const earlier = first.get(text);
    if (earlier === undefined) {
      first.set(text, position);
      return text;
    }
    refusals.refuse("duplicate", at, `Item ${JSON.stringify(text)} repeats item ${earlier}`);
    return undefined;
  });
}

const readCombination = variantOf<Combination>("combination", {
  AllQualifyingAgree: objectOf({ combination: oneOf("AllQualifyingAgree") }),
  AnyQualifying: objectOf({ combination: oneOf("AnyQualifying") }),
  Quorum: objectOf({ combination: oneOf("Quorum"), minimum: integer(1, SPEC_LIMITS.quorum) }),
});

const readFreshness = variantOf<Freshness>("freshness", {
  NotRequired: objectOf({ freshness: oneOf("NotRequired") }),
  MaximumAge: objectOf({ freshness: oneOf("MaximumAge"), maximum_age_millis: integer(1) }),
});

/** Whether every member of a record could be read. */
export function isWhole<T extends object>(draft: { readonly [K in keyof T]: T[K] | undefined }): draft is T {
  return Object.values(draft).every((value) => value !== undefined);
}
