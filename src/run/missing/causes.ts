/**
 * Explains why the conditions of an attempt are not judged as its stage needs them: the code of every item that did not
 * count, and the counts of a quorum (docs/guide/agent_playbook.md, "When the outcome is unknown").
 *
 * Causes are derived for each answer from the law and the attempt. Records, receipts and states do not have them.
 */

import type { Identity } from "../../canonical/identity.ts";
import { isJsonObject } from "../../canonical/json.ts";
import { sortedBy } from "../../canonical/order.ts";
import type { AcquisitionBinding, Condition } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { FALSE, type Kleene, type Tri, TRUE } from "../../law/value/truth.ts";
import type { CompiledCondition, CompiledStage } from "../compile.ts";
import type { EvaluationTime, QualifiedEvidence } from "../qualify.ts";
import type { DisqualificationReason, EvidenceItem, RecordedEvidence, TraceItem } from "../types.ts";
import { KEYS_PER_CONDITION } from "../submitted_evidence.ts";
import { judgedBy, type LeafStanding, leafStandings } from "./missing.ts";
import { valueText } from "../../law/words.ts";
import type { Refusal } from "./waiting.ts";

/** An item of an attempt or a precheck with its verdict. */
export interface JudgedItem {
  readonly condition_id: string;
  readonly provider_id?: string;
  readonly binding_id?: string;
  readonly qualified: boolean;
  readonly reason?: DisqualificationReason;
  readonly error?: { readonly code: string };
  /** The key that signed it, by id, and when: Unix milliseconds. */
  readonly signer?: Omit<Refusal, "comment" | "withdrawn">;
  /** Null if nothing was found; absent if the value was not retained. */
  readonly value?: TypedValue | null;
  /** Whether the reader of the answer may see the value. */
  readonly isShown?: boolean;
  /** The rule of its provider that hides the value; absent if the rule of the server does. */
  readonly hiddenBy?: string;
}

/** Whether the reader of an answer may see a value. */
export type Showing = Pick<JudgedItem, "isShown" | "hiddenBy">;

/** How many items of a quorum hold and fail, and how many of one kind decide. */
export interface QuorumCounts {
  readonly holds: number;
  readonly fails: number;
  readonly needed: number;
}

/** A quorum's counts if all values that count are known, and whose signatures they are. */
interface QuorumStanding {
  readonly counts: QuorumCounts;
  /** The keys whose items hold, by id. */
  readonly signed?: readonly string[];
  /** The statements against it, and withdrawals where the reader knows of them. */
  readonly refused?: readonly Refusal[];
  /** The keys that may still sign where the quorum is short: those that the law names and that have no item that counts. */
  readonly may?: readonly string[];
}

/** Why one condition is unmet, or what a condition was judged from that is not in the way. */
export interface UnmetCause extends Partial<QuorumStanding> {
  readonly condition_id: string;
  readonly value: Kleene;
  /** Present where the law needs that the condition does not hold. */
  readonly needed?: false;
  /** The reason of its trace line. */
  readonly reason?: NonNullable<TraceItem["reason"]>;
  /** One code for each item that did not count: the observed error, else the failed test. Absent if all items count. */
  readonly cause?: readonly string[];
  /** The files that the provider `json` did not find. */
  readonly files?: readonly string[];
  /** The providers that were asked where nothing is known. */
  readonly asked?: readonly string[];
  /** The rules of providers that hide what was found. */
  readonly hidden_by?: readonly string[];
  /** The values of its items that the reader may see, as an expression has them. */
  readonly found?: readonly string[];
}

/** An item of a record. `valueOf` finds its value, since a record has the identity alone. */
export function judgedFromRecord(
  item: EvidenceItem & Pick<RecordedEvidence, "found_nothing" | "signature" | "observed_at">,
  valueOf: (identity: Identity) => TypedValue | undefined,
  showing: Showing = {},
): JudgedItem {
  const { condition_id, provider_id, binding_id, qualified, reason, error, found_nothing, value_identity } = item;
  const value = found_nothing === true ? null : value_identity === undefined ? undefined : valueOf(value_identity);
  return {
    ...sourceOf({ provider_id, binding_id }),
    condition_id,
    qualified,
    ...reason === undefined ? {} : { reason },
    ...error === undefined ? {} : { error },
    ...value === undefined ? {} : { value },
    ...signerMember(item),
    ...showing,
  };
}

function signerMember(
  { signature, observed_at }: Pick<RecordedEvidence, "signature" | "observed_at">,
): Pick<JudgedItem, "signer"> {
  return signature === undefined || observed_at === undefined
    ? {}
    : { signer: { key_id: signature.key_id, observed_at } };
}

type ItemSource = { readonly provider_id?: string | undefined; readonly binding_id?: string | undefined };

function sourceOf({ provider_id, binding_id }: ItemSource): Pick<JudgedItem, "provider_id" | "binding_id"> {
  return {
    ...provider_id === undefined ? {} : { provider_id },
    ...binding_id === undefined ? {} : { binding_id },
  };
}

/** The file of the binding of an item that its provider did not find. Other providers do not read files by name. */
function missingFile(bindings: readonly AcquisitionBinding[], { binding_id, error }: JudgedItem): readonly string[] {
  const binding = bindings.find((one) => one.binding_id === binding_id);
  const { provider_id, params = null } = binding ?? {};
  if (provider_id !== "json" || error?.code !== "file_not_found" || !isJsonObject(params)) return [];
  // A parameter of the run that has no value here is an object.
  const { file } = params;
  return typeof file === "string" ? [file] : [];
}

/** Maximum values of `found`, and characters of each. */
const FOUND_VALUES = 8;
const FOUND_CHARACTERS = 200;

function foundOf(items: readonly JudgedItem[]): readonly string[] {
  const texts = items.flatMap(({ value, isShown }) => {
    if (value === undefined || isShown !== true) return [];
    const text = value === null ? "nothing" : valueText(value);
    return [text.length <= FOUND_CHARACTERS ? text : `${text.slice(0, FOUND_CHARACTERS).toWellFormed()}…`];
  });
  return [...new Set(texts)].slice(0, FOUND_VALUES);
}

/** An item of a precheck, whose values its caller gave. */
export function judgedFromPrecheck({ item, reason }: QualifiedEvidence): JudgedItem {
  const { condition_id, error, value } = item;
  const qualified = reason === null && error === undefined;
  return {
    ...sourceOf(item),
    condition_id,
    qualified,
    ...reason === null ? {} : { reason },
    ...signerMember(item),
    ...error === undefined ? { value, isShown: true } : { error },
  };
}

function quorumStanding(
  condition: CompiledCondition,
  items: readonly JudgedItem[],
  evaluatedAt: EvaluationTime,
): QuorumStanding | null {
  const { combination, authorized_key_ids = [] } = condition.condition.evidence_use_policy;
  if (combination.combination !== "Quorum") return null;
  const counting = items.filter(({ qualified }) => qualified);
  const judge = ({ value }: JudgedItem): Tri | undefined =>
    value === undefined ? undefined : value === null ? condition.onFoundNothing : condition.judge(value, evaluatedAt);
  const judged = Map.groupBy(counting, judge);
  if (judged.has(undefined)) return null;
  const [holding = [], failing = []] = [judged.get(TRUE), judged.get(FALSE)];
  const signersOf = (list: readonly JudgedItem[]): readonly Refusal[] => {
    const newest = list.flatMap(({ signer }) => signer ?? []).sort((a, b) => a.observed_at - b.observed_at);
    return sortedBy([...new Map(newest.map((one) => [one.key_id, one])).values()], ({ key_id }) => key_id);
  };
  const signed = signersOf(holding).map(({ key_id }) => key_id);
  // A measurement that does not hold is no refusal of a person.
  const refused = expectedBoolean(condition.condition) === null ? [] : signersOf(failing);
  // Of an item without a signer it is not known whose statement is missing.
  const isKnown = holding.length < combination.minimum && counting.every(({ signer }) => signer !== undefined);
  const able = new Set(isKnown ? authorized_key_ids : []);
  for (const { key_id } of signersOf(counting)) able.delete(key_id);
  return {
    counts: { holds: holding.length, fails: failing.length, needed: combination.minimum },
    ...signed.length === 0 ? {} : { signed },
    ...refused.length === 0 ? {} : { refused },
    ...able.size === 0 ? {} : { may: [...able].slice(0, KEYS_PER_CONDITION) },
  };
}

/** The one boolean that a condition expects; null for any other condition. */
export function expectedBoolean({ observation_domain, predicate }: Condition): boolean | null {
  if (observation_domain.domain !== "Boolean" || predicate.predicate !== "Equals") return null;
  const { expected } = predicate;
  return "value" in expected && typeof expected.value === "boolean" ? expected.value : null;
}

/** Whether {@link unmetCauses} of the stage reads values. Only a quorum needs them. */
export function countsValues({ conditions }: CompiledStage): boolean {
  return conditions.some(({ condition }) => condition.evidence_use_policy.combination.combination === "Quorum");
}

/** What the conditions of an attempt were judged from. */
export interface Findings {
  /** One entry for each unmet condition, in the order of the requirement; empty if the requirement holds. */
  readonly causes: readonly UnmetCause[];
  /** One entry for each condition that is as the law needs it, with a value that may be shown. */
  readonly met: readonly UnmetCause[];
  /** The same of each condition that is not, but beside which another one suffices. */
  readonly not_needed: readonly UnmetCause[];
}

/** What is known of every condition of an attempt, as far as an answer has it. */
export function everyFinding({ causes = [], met = [], not_needed = [] }: Partial<Findings>): readonly UnmetCause[] {
  return [...causes, ...met, ...not_needed];
}

/**
 * What the conditions of an attempt were judged from.
 *
 * @param evaluatedAt The evaluation time of the attempt; read only with values
 * @param isSaid Which of those that are not in the way are said
 */
export function findingsOf(
  stage: CompiledStage,
  trace: readonly TraceItem[],
  items: readonly JudgedItem[],
  evaluatedAt: EvaluationTime,
  isSaid: (finding: UnmetCause) => boolean = ({ found }) => found !== undefined,
): Findings {
  const lines = new Map(trace.map((line) => [line.condition_id, line]));
  const itemsOf = Map.groupBy(items, (item) => item.condition_id);
  const standings = leafStandings(stage.stage.completion_requirement, judgedBy(trace));
  const findingOf = (condition_id: string): UnmetCause => {
    const { value, reason } = lines.get(condition_id) ?? { value: "unknown" };
    const own = itemsOf.get(condition_id) ?? [];
    const cause = own.flatMap(({ qualified, reason, error }) =>
      qualified ? [] : [error?.code ?? reason ?? "unqualified"]
    );
    const condition = stage.conditions[stage.slotOf.get(condition_id) ?? -1];
    const quorum = condition === undefined ? null : quorumStanding(condition, own, evaluatedAt);
    // A condition holds by the items that count.
    const judged = value === "true" ? own.filter(({ qualified }) => qualified) : own;
    const found = foundOf(judged);
    const files = new Set(own.flatMap((item) => missingFile(stage.bindings, item)));
    const asked = new Set(reason === "no_evidence" ? own.flatMap(({ provider_id }) => provider_id ?? []) : []);
    const isHidden = found.length === 0 && reason === undefined;
    const rules = new Set(isHidden ? judged.flatMap(({ hiddenBy }) => hiddenBy ?? []) : []);
    return {
      condition_id,
      value,
      ...standings.get(condition_id)?.needed === false ? { needed: false as const } : {},
      ...reason === undefined ? {} : { reason },
      ...cause.length === 0 ? {} : { cause },
      ...files.size === 0 ? {} : { files: [...files] },
      ...asked.size === 0 ? {} : { asked: [...asked] },
      ...rules.size === 0 ? {} : { hidden_by: [...rules] },
      ...quorum,
      ...found.length === 0 ? {} : { found },
    };
  };
  const idsOf = (wanted: LeafStanding["standing"], ids: Iterable<string>): readonly UnmetCause[] =>
    [...ids].filter((id) => standings.get(id)?.standing === wanted).map(findingOf);
  const shown = (wanted: LeafStanding["standing"]): readonly UnmetCause[] => idsOf(wanted, lines.keys()).filter(isSaid);
  return { causes: idsOf("unmet", standings.keys()), met: shown("met"), not_needed: shown("not_needed") };
}
