/**
 * Claim 13: every attempt follows from its outcome and the state before it, and its outcome from its trace.
 *
 * @module
 */

import { TRI, type Tri, triName, UNKNOWN } from "../../../law/value/truth.ts";
import { rejectLeftOut } from "../../../run/evidence.ts";
import type { CompiledStage } from "../../../run/compile.ts";
import { stagesAfterCompletion, stagesSatisfy, traceStages } from "../../../run/frontier.ts";
import { runProgram } from "../../../run/program.ts";
import type { StageEvaluatedBody, TraceItem } from "../../../run/types.ts";
import { sameJson } from "../../format/canonical_text.ts";
import { atRevision, violation } from "../findings.ts";
import type { Step } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";
import { narrowedBindings } from "../../../run/decide/decide_evaluate.ts";

/** Derives the outcome of an attempt from its trace. */
export function checkAttempt(step: Step): Violation | null {
  if (step.record.record_kind !== "stage_evaluated") return null;
  const code = faultOf(step, step.record.body);
  return code === null ? null : violation(code, atRevision(step.record.revision));
}

function faultOf({ before, law }: Step, body: StageEvaluatedBody): ViolationCode | null {
  const index = law.stageIndex.get(body.stage_id) ?? -1;
  const compiled = law.stages[index];
  const stage = before?.stages[index];
  if (compiled === undefined || stage === undefined || before === null) return "stage_missing";
  if (stage.classification !== "open_incomplete" || before.status !== "active") return "stage_state_mismatch";
  if (body.attempt_number !== before.attempt_count + 1) return "attempt_number_mismatch";
  if (body.completed !== (body.outcome === "true")) return "completed_mismatch";
  const outcome = outcomeOf(compiled, body.trace);
  if (outcome === null) return "trace_mismatch";
  if (triName(outcome) !== body.outcome) return "outcome_mismatch";
  if (!sameJson(narrowedBindings(compiled, body.evidence), body.narrowed_bindings)) return "narrowed_bindings_mismatch";
  const narrowed = new Set(body.narrowed_bindings);
  if (rejectLeftOut(compiled, (bindingId) => !narrowed.has(bindingId)).length > 0) return "binding_required";
  const after = before.stages.map((one, at) => at === index ? { ...one, classification: "complete" as const } : one);
  if (body.completed) stagesAfterCompletion(law, after, index);
  const trace = body.completed ? traceStages(law.completion, law.completionStages, after) : null;
  if (!sameJson(trace, body.scenario_trace ?? null)) return "scenario_trace_mismatch";
  const complete = body.completed && stagesSatisfy(law.completion, law.completionStages, after);
  return body.run_status === (complete ? "complete" : before.status) ? null : "run_status_mismatch";
}

/** The truth of the requirement over the lines of the trace; null where they are not the lines of its leaves. */
function outcomeOf({ completion }: CompiledStage, trace: readonly TraceItem[]): Tri | null {
  if (trace.length !== completion.paths.length) return null;
  const values = new Uint8Array(completion.slots.length).fill(UNKNOWN);
  const seen = new Map<number, TraceItem>();
  for (const [visit, line] of trace.entries()) {
    const slot = completion.visits[visit] ?? -1;
    if (line.path !== completion.paths[visit] || line.condition_id !== completion.slots[slot]) return null;
    const earlier = seen.get(slot);
    // A condition has one truth, however often a requirement names it.
    if (earlier !== undefined && (earlier.value !== line.value || earlier.reason !== line.reason)) return null;
    seen.set(slot, line);
    if ((line.value === "unknown") !== (line.reason !== undefined)) return null;
    values[slot] = TRI[line.value];
  }
  return runProgram(completion, values);
}
