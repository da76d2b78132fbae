/** Describes in words what a run is missing. */

import { countOf } from "../../config/problems.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import type { Kleene } from "../../law/value/truth.ts";
import { everyFinding, type Findings } from "../../run/missing/causes.ts";
import type { MissingCondition, NeededCondition } from "../../run/missing/missing.ts";
import type { CountingEvidence, StageStanding } from "../../run/missing/stage.ts";
import type { RunState, StageClassification, TraceItem } from "../../run/types.ts";
import { describeEvidence } from "../../tools/law_words/describe_law.ts";
import { attemptSentences, neededText } from "../../run/missing/sentence.ts";
import { type LawWords, lawWords, type NamedParts } from "../../law/words.ts";
import { paint, shown } from "../terminal/text.ts";
import { layersOf } from "../../law/stage_layers.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";

const STATES: Readonly<Record<StageClassification, string>> = {
  blocked: "is blocked",
  ready_unopened: "is ready to be opened",
  open_incomplete: "is open",
  complete: "is complete",
};

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Describes the run in one line. */
export function describeRun(
  { run_key, scenario_id, status, head }: Pick<RunState, "run_key" | "scenario_id" | "status" | "head">,
  colour: boolean,
): string {
  const standing = paint(status, status === "complete" ? "good" : "strong", colour);
  return `Run ${run_key.run_id} of scenario ${
    quote(scenario_id)
  } in namespace ${run_key.namespace_id} is ${standing} ` +
    `at revision ${head.revision}\n`;
}

function alternatives(sets: readonly (readonly string[])[], complete: boolean): string[] {
  if (sets.length === 0) return ["too much to show here"];
  const more = complete ? [] : ["or another combination that is not shown"];
  return [...sets.map((set, index) => `${index === 0 ? "" : "or "}${set.join(" and ")}`), ...more];
}

/**
 * An attempt takes no evidence from the previous one, so what held in it is needed again. Servers before sentences
 * answer with ids alone.
 */
export function describeNeeded(
  one: MissingCondition & Partial<NeededCondition>,
  attempt: LastAttempt | undefined,
  words: LawWords,
  show: (text: string) => string = shown,
): string {
  const met = one.needed ? attempt?.holds : attempt?.fails;
  const held = met?.includes(one.condition_id) === true ? ` (held in attempt ${attempt?.attempt_number})` : "";
  return show(one.sentence ?? neededText(one, words)) + held;
}

/** The parts of a law that determine which evidence counts. */
export type EvidenceLaw = NamedParts;

function describeCounting({ condition_id }: CountingEvidence, law: EvidenceLaw, words: LawWords): string {
  const condition = law.conditions.find((one) => one.condition_id === condition_id);
  if (condition === undefined) return `    ${shown(condition_id)}\n`;
  const lines = describeEvidence(law, condition).map((line) => `        ${line}\n`);
  return `    ${shown(words.condition(condition_id))}\n${lines.join("")}`;
}

/** The last attempt at a stage that is still open. */
export interface LastAttempt extends Partial<Findings> {
  readonly stage_id: string;
  readonly attempt_number: number;
  readonly record_id: string;
  readonly outcome: Kleene;
  /** The conditions that held in it. */
  readonly holds: readonly string[];
  /** The conditions that did not hold in it, though all was known. */
  readonly fails: readonly string[];
}

/** The conditions that held in an attempt, and those that did not. */
export function verdictsOf(
  trace: readonly Pick<TraceItem, "condition_id" | "value">[],
): Pick<LastAttempt, "holds" | "fails"> {
  const idsOf = (wanted: Kleene): readonly string[] => [
    ...new Set(trace.flatMap(({ condition_id, value }) => value === wanted ? [condition_id] : [])),
  ];
  return { holds: idsOf("true"), fails: idsOf("false") };
}

/** 0 for a complete run, 3 if the last attempt of an open stage was False, else 4. */
export function exitCodeOfAttempts(status: RunState["status"], attempts: readonly LastAttempt[]): ExitCode {
  if (status === "complete") return EXIT.ok;
  return attempts.some(({ outcome }) => outcome === "false") ? EXIT.evaluatedFalse : EXIT.unknown;
}

/** Sorts stages into an order in which they can be passed; the law has them by name. */
export function inOrder<Named extends { readonly stage_id: string }>(
  { stages }: Pick<ScenarioLaw, "stages">,
  named: readonly Named[],
): readonly Named[] {
  const positions = new Map(layersOf(stages).flat().map(({ stage_id }, index) => [stage_id, index]));
  return named.toSorted((a, b) => (positions.get(a.stage_id) ?? 0) - (positions.get(b.stage_id) ?? 0));
}

function describeAttempt(attempt: LastAttempt, law: EvidenceLaw): string[] {
  const { outcome, attempt_number } = attempt;
  const lines = attemptSentences(law, everyFinding(attempt)).map((line) => `    ${shown(line)}\n`);
  return [`  Its last attempt, number ${attempt_number}, was ${outcome}\n`, ...lines];
}

/** Describes one stage: its state, last attempt and prerequisites, what would complete it, and which evidence counts. */
export function describeStage(
  stage: StageStanding,
  attempt: LastAttempt | undefined,
  law: EvidenceLaw,
  colour: boolean,
): string {
  const { stage_id, classification, waits_for, sets, complete, evidence, evidence_left_out } = stage;
  const words = lawWords(law);
  const lines = [`\nStage ${paint(quote(stage_id), "strong", colour)} ${STATES[classification]}\n`];
  if (attempt !== undefined) lines.push(...describeAttempt(attempt, law));
  if (waits_for !== undefined) {
    lines.push("  It waits for\n", ...alternatives(waits_for.sets, waits_for.complete).map((line) => `    ${line}\n`));
  }
  const names = sets.map((set) => set.map((one) => describeNeeded(one, attempt, words)));
  lines.push("  To be complete it needs\n", ...alternatives(names, complete).map((line) => `    ${line}\n`));
  if (evidence.length > 0) {
    lines.push("  Evidence that counts\n", ...evidence.map((one) => describeCounting(one, law, words)));
  }
  if (evidence_left_out !== undefined) lines.push(`    and for ${countOf(evidence_left_out, "more condition")}\n`);
  return lines.join("");
}

/** Describes all stages that are not complete. */
export function describeMissing(
  missing: readonly StageStanding[],
  attempts: readonly LastAttempt[],
  law: EvidenceLaw,
  colour: boolean,
): string {
  if (missing.length === 0) return "Nothing is missing.\n";
  const count = countOf(missing.length, "stage");
  return `${count} ${missing.length === 1 ? "is" : "are"} not complete.\n` +
    missing.map((stage) => {
      const attempt = attempts.find(({ stage_id }) => stage_id === stage.stage_id);
      return describeStage(stage, attempt, law, colour);
    }).join("");
}
