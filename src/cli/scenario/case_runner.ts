/**
 * Runs a case of a law as a trial, and compares the outcomes with the expected ones.
 *
 * @module
 */

import type { QualifiedEvidence } from "../../run/qualify.ts";
import type { TraceItem } from "../../run/types.ts";
import { startTrial, type Trial, type TrialContext } from "../../scenario/trial.ts";
import type { Case, StageCase, StageExpectation } from "./cases.ts";

/** The result of an attempt at a stage. */
export interface StageResult {
  readonly stage_id: string;
  readonly expected: StageExpectation;
  readonly outcome: StageExpectation;
  /** The differences from the expectation, with reasons, as messages. */
  readonly differences: readonly string[];
}

/** The result of a case. */
export interface CaseResult {
  readonly name: string;
  /** The line of the case; null if it passed. */
  readonly line: number | null;
  readonly passed: boolean;
  readonly stages: readonly StageResult[];
  readonly status: "complete" | "active";
  /** The differences of the run as a whole, as messages. */
  readonly differences: readonly string[];
}

/** Runs one case. */
export async function runCase(
  context: TrialContext,
  { name, line, parameters, stages, expect, ready }: Case,
): Promise<CaseResult> {
  const trial = startTrial(context, parameters);
  const results: StageResult[] = [];
  for (const one of stages) results.push(await runStage(trial, one));
  const status = trial.isComplete() ? "complete" : "active";
  const differences = status === expect ? [] : [`the run is ${status}, expected ${expect}`];
  const frontier = trial.isComplete() ? [] : trial.stages()
    .filter(({ classification }) => classification === "ready_unopened").map(({ stage_id }) => stage_id);
  if (ready !== null && [...ready].sort().join("\n") !== [...frontier].sort().join("\n")) {
    differences.push(`ready stages are ${frontier.join(", ") || "none"}, expected ${ready.join(", ") || "none"}`);
  }
  const passed = differences.length === 0 && results.every((one) => one.differences.length === 0);
  return { name, line: passed ? null : line(), passed, stages: results, status, differences };
}

async function runStage(trial: Trial, one: StageCase): Promise<StageResult> {
  const { stage_id, expect: expected } = one;
  const { outcome, why, evaluation } = await trial.attempt(one);
  const { trace, evidence } = evaluation ?? { trace: [], evidence: [] };
  const lines = [...why, ...new Set(trace.map((line) => describeTrace(line, evidence)))];
  const misjudged = trace.filter(({ condition_id, value }) => (one.conditions.get(condition_id) ?? value) !== value)
    .map((line) => `${describeTrace(line, evidence)}, expected ${one.conditions.get(line.condition_id)}`);
  const wrong = outcome === expected ? [] : [`${stage_id} is ${outcome}, expected ${expected}`, ...lines];
  return { stage_id, expected, outcome, differences: [...wrong, ...new Set(misjudged)] };
}

/** Describes the truth value of a condition and why items did not count, such as `a is unknown (unqualified: lane)`. */
function describeTrace({ condition_id, value, reason }: TraceItem, evidence: readonly QualifiedEvidence[]): string {
  if (reason === undefined) return `${condition_id} is ${value}`;
  const own = evidence.filter(({ item }) => item.condition_id === condition_id);
  const found = own.flatMap(({ item, reason }) => item.error?.message ?? reason ?? []);
  const why = found.length === 0 ? "" : `: ${[...new Set(found)].join("; ")}`;
  return `${condition_id} is ${value} (${reason}${why})`;
}
