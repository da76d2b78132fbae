/**
 * What was found for a condition, in the words that every screen shows: `tests_failed == 0: found 2 ✗`. The truth of a
 * predicate never stands under the name of a value.
 */

import type { AcquisitionBinding, Condition, Requirement } from "../../law/types.ts";
import { type LawWords, lawWords, type NamedParts } from "../../law/words.ts";
import type { Kleene } from "../../law/value/truth.ts";
import { instantText } from "../../canonical/instant_text.ts";
import type { UnmetCause } from "./causes.ts";
import { judgedBy, leafStandings, type MissingCondition } from "./missing.ts";
import type { Refusal, WaitingCondition } from "./waiting.ts";

/** How a condition was judged, and from what. */
export type Judged = Omit<UnmetCause, "condition_id">;

/** Who gave statements on a condition, and who still may, by key name. */
export interface Signers {
  readonly signed: readonly string[];
  readonly refused: readonly Refusal[];
  readonly may: readonly string[];
}

const MARKS: Readonly<Record<Kleene, string>> = { true: "✓", false: "✗", unknown: "?" };
const OPPOSITES: Readonly<Record<Kleene, Kleene>> = { true: "false", false: "true", unknown: "unknown" };
const HASH_ONLY = "a value of which only the hash is kept";
const HIDDEN = "a value that is hidden from callers of the server";

/** The judgement of a condition as its leaf needs it: the opposite where the condition must not hold. */
export function asNeeded(value: Kleene, needed: boolean | undefined): Kleene {
  return needed === false ? OPPOSITES[value] : value;
}

/** What was found for a condition, such as `found 2`; empty where it holds and no value is shown. */
export function foundText(
  { value, reason, cause = [], files = [], hidden_by, counts, found, refused = [], signed = [], may = [] }: Judged,
  policy?: Condition["evidence_use_policy"],
): string {
  const names = files.length === 0 ? "" : `: ${files.map((file) => JSON.stringify(file)).join(", ")}`;
  const codes = [...new Set(cause)].map((code) => code.replaceAll("_", " ") + (code === "file_not_found" ? names : ""))
    .join(", ");
  const why = codes === "" ? "" : ` (${codes})`;
  const people = refusalsOf(refused).join("; ");
  if (counts !== undefined) {
    const named = refused.filter(({ withdrawn }) => withdrawn !== true).length;
    const fails = counts.fails <= named ? "" : `, ${counts.fails} refused`;
    const signers = signersText({ signed, refused, may });
    return `${counts.holds} of ${counts.needed}${fails}${signers === "" ? "" : `: ${signers}`}${why}`;
  }
  const seen = found === undefined ? null : `found ${found.join(", ")}`;
  // A refused approval is found false, which the refusal says already.
  if (people !== "") return seen === null || seen === "found false" ? people : `${seen}; ${people}`;
  switch (reason) {
    case undefined:
      // A name that stands alone is true where it holds.
      if (value === "true") return seen === null || seen === "found true" ? "" : seen;
      if (seen !== null) return seen;
      if (value === "unknown") return "nothing known yet";
      return policy?.retention === "retain_digest_only"
        ? `found ${HASH_ONLY}`
        : `found ${HIDDEN} (${hidden_by?.join(", ") ?? "evidence.allow_raw_values"})`;
    case "no_evidence":
      return `${seen ?? "nothing known yet"}${why}`;
    case "disagreement":
      return `${seen ?? "found values"}, which differ${why}`;
    case "unqualified":
      return `${seen === null ? "what was given does" : `${seen}, which does`} not count${why}`;
    case "error":
      return `no answer${why}`;
    default:
      return `${reason.replaceAll("_", " ")}${why}`;
  }
}

/** A condition in the law's words with what was found, and its mark. */
function judgedSentence(
  words: LawWords,
  bindings: readonly Pick<AcquisitionBinding, "condition_id" | "provider_id">[],
  { condition_id, ...judged }: Judged & { readonly condition_id: string },
  policy?: Condition["evidence_use_policy"],
): string {
  const { needed, reason, cause, counts, asked = [], hidden_by } = judged;
  const value = asNeeded(judged.value, needed);
  const isAsked = reason !== "no_evidence" || cause !== undefined || counts !== undefined || asked.length > 0;
  const unasked = isAsked ? [] : bindings.filter((one) => one.condition_id === condition_id);
  const providers = new Set(unasked.map(({ provider_id }) => provider_id));
  const others = providers.size === 0 ? "" : ` (${[...providers].join(", ")} was not asked)`;
  const text = neededText({ condition_id, needed: needed !== false }, words);
  const found = foundText({ ...judged, value }, policy) + others;
  // A name that stands alone is its value.
  const isHidden = found === "" && value === "true" && judged.found === undefined && !/^!?[^\s()]+$/.test(text);
  const rule = hidden_by === undefined ? "" : ` (${hidden_by.join(", ")})`;
  const hidden = policy?.retention === "retain_digest_only" ? `found ${HASH_ONLY}` : `value hidden${rule}`;
  const said = isHidden ? hidden : found;
  return `${text}${said === "" ? "" : `: ${said}`} ${MARKS[value]}`;
}

/**
 * The conditions of an attempt, each once: its judgements, with what an answer says of them.
 *
 * @param requirement The requirement of a trace, since an answer does not say of every condition what is needed
 */
export function attemptSentences(
  law: NamedParts,
  judged: readonly (Judged & { readonly condition_id: string })[],
  causes: readonly UnmetCause[] = [],
  requirement?: Requirement,
): readonly string[] {
  const words = lawWords(law);
  const policies = new Map(law.conditions.map((one) => [one.condition_id, one.evidence_use_policy]));
  const known = new Map(causes.map((cause) => [cause.condition_id, cause]));
  const lines = new Map(judged.map((line) => [line.condition_id, line]));
  const standings = requirement === undefined ? null : leafStandings(requirement, judgedBy(judged));
  return [...lines.values()].map(({ condition_id, value, reason, ...rest }) =>
    judgedSentence(words, law.acquisition_bindings, {
      ...known.get(condition_id),
      ...rest,
      condition_id,
      value,
      ...reason === undefined ? {} : { reason },
      ...standings?.get(condition_id)?.needed === false ? { needed: false } : {},
    }, policies.get(condition_id))
  );
}

/** What a condition has to be, such as `tests_failed == 0`, or `!(coverage >= 80)` where it must not hold. */
export function neededText({ condition_id, needed }: MissingCondition, words: LawWords): string {
  const leaf = { Condition: condition_id };
  return words.requirement(needed ? leaf : { Not: leaf });
}

/** How far a condition that waits is, such as `1 of 2: alice signed; bob refused at 2026-03-01T09:00:00.000Z`. */
export function tallyText(
  { have, needed, disagree, signed = [], refused = [] }: Omit<WaitingCondition, "stage_id" | "condition_id" | "keys">,
): string {
  const people = signersText({ signed, refused, may: [] });
  return `${have} of ${needed}${disagree === true ? ", disagree" : ""}${people === "" ? "" : `: ${people}`}`;
}

/** Refusals in words: the first ones, and how many more. */
function refusalsOf(refused: readonly Refusal[]): readonly string[] {
  const more = refused.length - NAMES;
  return [...refused.slice(0, NAMES).map(refusalText), ...more > 0 ? [`${more} more refused or withdrew`] : []];
}

/** A refusal in words, such as `bob refused at 2026-03-01T09:00:00.000Z: "Later"`. */
function refusalText({ key_id, observed_at, withdrawn, comment }: Refusal): string {
  const what = `${key_id} ${withdrawn === true ? "withdrew" : "refused"} at ${instantText(observed_at)}`;
  return comment === undefined ? what : `${what}: ${JSON.stringify(comment)}`;
}

/** Most names, or refusals, of people in one sentence. */
const NAMES = 8;

/** Names with a word before the last one, such as `alice, bob or carol`; of many the first ones, and how many more. */
export function namesInWords(names: readonly string[], word: "and" | "or"): string {
  const shown = names.length > NAMES ? [...names.slice(0, NAMES), `${names.length - NAMES} more`] : names;
  return shown.length === 1 ? `${shown[0]}` : `${shown.slice(0, -1).join(", ")} ${word} ${shown.at(-1)}`;
}

/** Who signed and who may, such as `alice signed; bob or carol may`. */
export function signersText({ signed, refused, may }: Signers): string {
  const parts = [
    ...signed.length === 0 ? [] : [`${namesInWords(signed, "and")} signed`],
    ...refusalsOf(refused),
    ...may.length === 0 ? [] : [`${namesInWords(may, "or")} may`],
  ];
  return parts.join("; ");
}
