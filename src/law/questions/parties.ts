/**
 * Who can give the evidence of a condition: callers, keys of people and sources, and which of them suffice together.
 *
 * Parties outside a set give nothing, or an error. Parties within it agree on one value.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { type Formula, threshold } from "../proof/formula.ts";
import type { AcquisitionBinding, Condition, EvidenceUsePolicy, ScenarioLaw } from "../types.ts";

/** A party whose evidence can count. */
export type Party =
  /** The word of the caller, without a signature. */
  | { readonly kind: "caller" }
  /** A person with a key; `*` and `*2` stand for trusted keys that the law does not name. */
  | { readonly kind: "key"; readonly key_id: string }
  /** A check of a provider. */
  | { readonly kind: "source"; readonly provider_id: string; readonly check_id: string; readonly params: JsonValue };

/** Numbers parties in the order in which they are met. */
export interface PartyTable {
  readonly parties: readonly Party[];
  readonly numberOf: (party: Party) => number;
}

/** Makes an empty table. */
export function partyTable(): PartyTable {
  const numbers = new Map<string, number>();
  const parties: Party[] = [];
  const numberOf = (party: Party): number => {
    const key = canonicalize(party as unknown as JsonValue);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, parties.length);
    return parties.push(party) - 1;
  };
  return { parties, numberOf };
}

/** The keys that the policies of laws name. */
export function namedKeys(laws: readonly ScenarioLaw[]): readonly string[] {
  const policies = laws.flatMap(({ conditions }) => conditions.map((one) => one.evidence_use_policy));
  return [...new Set(policies.flatMap(({ authorized_key_ids = [] }) => authorized_key_ids))].sort();
}

/** The keys that policies of laws name, with as many others as the largest quorum needs. */
export function allKeys(laws: readonly ScenarioLaw[]): readonly string[] {
  const quorums = laws.flatMap(({ conditions }) => conditions.map((one) => quorumOf(one.evidence_use_policy)));
  return [...namedKeys(laws), ...othersOf(Math.max(1, ...quorums))];
}

function quorumOf({ combination }: EvidenceUsePolicy): number {
  return combination.combination === "Quorum" ? combination.minimum : 1;
}

/** The sets of parties that suffice, as formulas over the numbers of parties; null if none does. */
export interface Support {
  /** To make the condition true, or false, by a value. */
  readonly byValue: Sufficient;
  /** To make it true, or false, by finding nothing. */
  readonly byNothing: Sufficient;
  /** Whether no other set suffices. */
  readonly exact: boolean;
}

/** The sets that suffice for each truth value. */
interface Sufficient {
  readonly whenTrue: Formula | null;
  readonly whenFalse: Formula | null;
}

/** Who can give an item that counts. */
interface Givers {
  readonly caller: Formula | null;
  readonly keys: readonly Formula[];
  /** Whether one of the two above can give several items in a call. */
  readonly repeats: boolean;
  /** The sources of each binding, by provider. */
  readonly sources: readonly (readonly Formula[])[];
  readonly exact: boolean;
}

/**
 * Which parties suffice for a condition.
 *
 * @param named The keys that have names; others are trusted keys without
 * @param signers The keys to name even where a caller's word is enough: a signature may stand in its place
 */
export function supportOf(
  { evidence_use_policy: policy }: Pick<Condition, "evidence_use_policy">,
  bindings: readonly AcquisitionBinding[],
  table: PartyTable,
  named: readonly string[],
  signers?: readonly string[],
): Support {
  const givers = giversOf(policy, bindings, table, named, signers);
  const observers = { ...givers, caller: null, keys: [] };
  const sufficient = (from: Givers): Sufficient => ({
    whenTrue: sufficientFor(policy, from, true),
    whenFalse: sufficientFor(policy, from, false),
  });
  return { byValue: sufficient(givers), byNothing: sufficient(observers), exact: givers.exact };
}

function sufficientFor(policy: EvidenceUsePolicy, givers: Givers, truth: boolean): Formula | null {
  const { caller, keys, repeats, sources } = givers;
  const callers = caller === null ? keys : [caller, ...keys];
  const flat = sources.flat();
  const { combination } = policy;
  if (combination.combination === "Quorum") {
    const { minimum } = combination;
    const items = policy.independence === "distinct_provider" ? sources.flatMap((own) => atLeast(1, own) ?? []) : flat;
    const counted = atLeast(minimum, [...callers, ...items]);
    if (!repeats || minimum === 1) return counted;
    const alone = atLeast(1, callers);
    return alone === null ? counted : counted === null ? alone : threshold(1, [alone, counted]);
  }
  // An error of a source that has to answer leaves the condition unknown; one that is true is enough for any.
  const needsAll = policy.requires_all_bindings === true && flat.length > 0 &&
    !(combination.combination === "AnyQualifying" && truth);
  return needsAll ? atLeast(flat.length, flat) : atLeast(1, [...callers, ...flat]);
}

function atLeast(minimum: number, operands: readonly Formula[]): Formula | null {
  return operands.length < minimum ? null : threshold(minimum, operands);
}

function giversOf(
  policy: EvidenceUsePolicy,
  bindings: readonly AcquisitionBinding[],
  table: PartyTable,
  named: readonly string[],
  known?: readonly string[],
): Givers {
  const { allowed_channels, authorization, integrity, required_assurance, freshness, independence } = policy;
  const isSigned = authorization === "signature" || integrity === "signed_content" ||
    required_assurance.includes("source_signature");
  const leaf = (party: Party): Formula => table.numberOf(party) * 2;
  const quorum = quorumOf(policy);
  const inCall = allowed_channels.includes("caller_submission");
  const takesCaller = inCall && !isSigned && freshness.freshness === "NotRequired";
  const takesKeys = (inCall || allowed_channels.includes("accepted_submission")) &&
    (!takesCaller || quorum > 1 || known !== undefined);
  const keyIds = policy.authorized_key_ids ?? known ?? [...named, ...othersOf(quorum)];
  const isNamed = takesKeys || policy.authorized_key_ids !== undefined;
  const signers = isNamed ? keyIds.map((key_id) => leaf({ kind: "key", key_id })) : [];
  const allowed = bindings.filter(({ channel }) =>
    allowed_channels.includes(channel) && !(isSigned && channel === "local_acquisition")
  );
  const sources = [...Map.groupBy(allowed, ({ provider_id }) => provider_id).values()].map((own) =>
    own.map(({ provider_id, check_id, params = null }) => leaf({ kind: "source", provider_id, check_id, params }))
  );
  const signedBy = policy.authorized_key_ids === undefined ? null : threshold(1, signers);
  return {
    caller: takesCaller ? leaf({ kind: "caller" }) : null,
    keys: takesKeys ? signers : [],
    repeats: inCall && independence === "not_required" && quorum <= ITEMS_PER_CONDITION,
    sources: signedBy === null ? sources : sources.map((own) => own.map((one) => threshold(2, [one, signedBy]))),
    // Items of sources that are not signed or anchored do not count, so sources that need not answer may be silent.
    exact: bindings.length < (quorum > 1 ? 1 : 2) || !(isSigned || integrity === "anchored_content" ||
      required_assurance.includes("source_anchor")),
  };
}

/** Most items of one condition that one caller gives in a call. */
const ITEMS_PER_CONDITION = 64;

/** Trusted keys that the laws do not name, as many as a quorum needs. */
function othersOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => at === 0 ? "*" : `*${at + 1}`);
}
