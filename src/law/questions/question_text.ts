/** Answers to questions in words, and as JSON. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import type { ParameterValues } from "../expand.ts";
import type { ScenarioLaw } from "../types.ts";
import type { LawWords } from "../words.ts";
import type { Change, ChangeVerdict, Comparison } from "./compare.ts";
import type { Difference } from "./differences.ts";
import type { Party } from "./parties.ts";
import type { ClaimAnswer } from "./prove.ts";
import type { Way } from "./ways.ts";
import type { WhoAnswer } from "./who.ts";

/** A party in JSON: sources of one provider are one party. */
function partyName(party: Party): string {
  if (party.kind === "caller") return "caller";
  return party.kind === "key" ? `key:${party.key_id}` : `provider:${party.provider_id}`;
}

/** A party in words. */
export function partyText(party: Party): string {
  if (party.kind === "caller") return "the caller's word";
  if (party.kind === "key") {
    return party.key_id.startsWith("*") ? "a trusted key without a name here" : `key ${party.key_id}`;
  }
  const { provider_id, check_id, params } = party;
  const values = isJsonObject(params) ? Object.values(params) : params === null ? [] : [params];
  const words = values.map((one) => typeof one === "string" ? one : placeholderText(one ?? null));
  return [`${provider_id}.${check_id}`, ...words].join(" ");
}

/** A value of params: a parameter is `{NAME}`, as in the URL of a template. */
function placeholderText(value: JsonValue): string {
  const [name, given] = isJsonObject(value) && Object.keys(value).length === 1 ? Object.entries(value)[0] ?? [] : [];
  if (typeof given !== "string") return canonicalize(value);
  return name === "$template" ? given : name === "$parameter" ? `{${given}}` : canonicalize(value);
}

function partiesText(parties: readonly Party[]): string {
  return parties.map(partyText).join(" + ") || "no party";
}

/** The sets of an answer by the names of parties, without those that hold another one. */
function namedSets(sets: readonly (readonly Party[])[]): readonly (readonly string[])[] {
  const named = sets.map((set) => new Set(set.map(partyName)));
  const least = named.filter((set, at) =>
    !named.some((other, before) => other.isSubsetOf(set) && (other.size < set.size || before < at))
  );
  return least.map((set) => [...set].sort());
}

/** An answer about parties as JSON. */
export function whoData({ stages, run }: WhoAnswer): {
  readonly stages: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly run: readonly (readonly string[])[];
} {
  return { stages: Object.fromEntries([...stages].map(([id, sets]) => [id, namedSets(sets)])), run: namedSets(run) };
}

/** Most sets of a stage in an answer in words. */
const SETS_SHOWN = 16;

/** Sets of parties in words, each a line; a last line counts those that are left out. */
export function setLines(sets: readonly (readonly Party[])[]): readonly string[] {
  if (sets.length === 0) return ["no party"];
  const lines = sets.slice(0, SETS_SHOWN).map(partiesText);
  return sets.length > SETS_SHOWN ? [...lines, `and ${sets.length - SETS_SHOWN} more`] : lines;
}

/** An answer about parties in words: a line for each smallest set. */
export function whoText({ stages, run }: WhoAnswer, shown: (text: string) => string): string {
  const part = (title: string, sets: readonly (readonly Party[])[]): string =>
    `${title}\n${setLines(sets).map((line) => `  ${shown(line)}\n`).join("")}`;
  const parts = [...stages].map(([id, sets]) => part(`Stage ${shown(id)}, once it is open, is completed by`, sets));
  return [...parts, part("The run is completed by", run)].join("");
}

/** What opens a law alone. */
export const LONE_OPENERS = ["caller alone", "one person alone"] as const;

/** Visits for deciding {@link loneOpeners} while somebody waits: a tenth of a second. */
export const LONE_OPENER_VISITS = 2 ** 19;

/** One of {@link LONE_OPENERS}. */
export type LoneOpener = typeof LONE_OPENERS[number];

/** What of the run alone opens a law: `caller alone`, `one person alone`, or nothing. */
export function loneOpeners({ run }: Pick<WhoAnswer, "run">): readonly LoneOpener[] {
  const others = run.map((set) => set.filter(({ kind }) => kind !== "caller"));
  const isCaller = others.some((set) => set.length === 0);
  // A person who signs can call, too.
  const isPerson = others.some((set) => set.length === 1 && set[0]?.kind === "key");
  return [...isCaller ? ["caller alone" as const] : [], ...isPerson ? ["one person alone" as const] : []];
}

function parameterLine(parameters: ParameterValues, shown: (text: string) => string): string {
  const given = [...parameters].map(([id, { value }]) => `${id} = ${canonicalize(value)}`);
  return given.length === 0 ? "" : `  with ${shown(given.join(", "))}\n`;
}

/** A way in words: a line for each attempt, and what only a policy of the operator would stop. */
function wayText(
  law: ScenarioLaw,
  words: LawWords,
  { parameters, steps }: Way,
  shown: (text: string) => string,
): string {
  const lines = steps.map(({ stage_id, evidence }, at) => {
    const given = evidence.map(({ condition_id, truth, value, by }) => {
      const found = value === null ? "nothing found" : canonicalize(value.value);
      return `    ${shown(words.condition(condition_id))} is ${truth}: ${shown(found)} by ${shown(partiesText(by))}\n`;
    });
    return `  ${at + 1}. stage ${shown(stage_id)}\n${given.join("")}`;
  });
  const stopped = operatorStops(law, steps.map(({ stage_id }) => stage_id));
  return `${parameterLine(parameters, shown)}${lines.join("")}${
    stopped.map((one) => `  only the operator's policy would stop: ${shown(one)}\n`).join("")
  }`;
}

/** What of stages a policy of the operator may stop: each disclosure of a packet. */
function operatorStops(law: ScenarioLaw, stages: readonly string[]): readonly string[] {
  return law.stages.filter(({ stage_id }) => stages.includes(stage_id)).flatMap(({ stage_id, entry_packets }) =>
    entry_packets.map(({ packet_id }) => `the disclosure of ${packet_id} at the opening of ${stage_id}`)
  );
}

/** The answer to a claim in words. */
export function claimText(
  law: ScenarioLaw,
  words: LawWords,
  what: string,
  answer: ClaimAnswer,
  shown: (text: string) => string,
): string {
  if (answer.verdict === "undecided") return `Undecided: ${what}\n`;
  if (answer.verdict === "proved") return `Proved: ${what}${answer.vacuous ? ", since nothing completes it" : ""}\n`;
  return `Not proved: ${what}\n${wayText(law, words, answer.way, shown)}`;
}

/** The answer to a claim as JSON. */
export function claimData(law: ScenarioLaw, answer: ClaimAnswer): Readonly<Record<string, unknown>> {
  if (answer.verdict !== "not_proved") return answer;
  const { verdict, way } = answer;
  const operator_policy = operatorStops(law, way.steps.map(({ stage_id }) => stage_id));
  return { verdict, way: { ...evidenceData(way), operator_policy } };
}

/** A way or a difference as JSON. */
function evidenceData({ parameters, steps }: Way | Difference): Readonly<Record<string, unknown>> {
  return {
    parameters: Object.fromEntries([...parameters].map(([id, { value }]) => [id, value])),
    steps: steps.map(({ stage_id, evidence }) => ({
      stage_id,
      evidence: evidence.map(({ value, by, ...one }) => ({
        ...one,
        value: value?.value ?? null,
        by: by.map(partyName),
      })),
    })),
  };
}

/** A comparison as JSON. */
export function comparisonData({ run, stages }: Comparison): Readonly<Record<string, unknown>> {
  const change = ({ verdict, looser, stricter }: Change): Readonly<Record<string, unknown>> => ({
    verdict,
    ...looser === undefined ? {} : { looser: evidenceData(looser) },
    ...stricter === undefined ? {} : { stricter: evidenceData(stricter) },
  });
  return { run: change(run), stages: Object.fromEntries([...stages].map(([id, one]) => [id, change(one)])) };
}

/** A comparison in words: the verdicts, each with the evidence that shows it. */
export function comparisonText({ run, stages }: Comparison, shown: (text: string) => string): string {
  const part = (title: string, { verdict, looser, stricter }: Change): string => {
    const line = (side: string, { parameters, steps }: Difference): string => {
      const attempts = steps.map(({ stage_id, evidence }) => {
        const given = evidence.map(({ old, new: next, value, by, stale }) => {
          const name = [...new Set([...old, ...next])].join(" and ");
          const age = stale ? ", older than one of them accepts," : "";
          return `${name} ${value === null ? "finds nothing" : canonicalize(value.value)}${age} by ${partiesText(by)}`;
        });
        return `    stage ${shown(stage_id)}: ${shown(given.join("; ")) || "no evidence"}\n`;
      });
      return `  only the ${side} law accepts\n${parameterLine(parameters, shown)}${attempts.join("")}`;
    };
    return `${title}: ${verdict}\n${looser === undefined ? "" : line("new", looser)}${
      stricter === undefined ? "" : line("old", stricter)
    }`;
  };
  return `${part("the run", run)}${[...stages].map(([id, one]) => part(`stage ${shown(id)}`, one)).join("")}`;
}

/** What a change does as a whole: to the run and to each stage. */
export function changeOf({ run, stages }: Comparison): ChangeVerdict {
  const verdicts = new Set([run, ...stages.values()].map(({ verdict }) => verdict));
  const isIncomparable = verdicts.has("looser") && verdicts.has("stricter");
  if (isIncomparable || verdicts.has("incomparable")) return "incomparable";
  const order = ["looser", "undecided", "stricter"] as const;
  return order.find((one) => verdicts.has(one)) ?? "equivalent";
}

/** Whether a whole comparison is no wider than what is allowed; null if that is not known. */
export function isAllowed({ run, stages }: Comparison, allowStricter: boolean): boolean | null {
  const verdicts = [run, ...stages.values()].map(({ verdict }) => verdict);
  if (verdicts.some((one) => one === "looser" || one === "incomparable" || one === "stricter" && !allowStricter)) {
    return false;
  }
  return verdicts.includes("undecided") ? null : true;
}
