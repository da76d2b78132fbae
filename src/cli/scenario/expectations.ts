/** How a run stands after a step of a case: the sentences of `then`, and whether they hold. */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { needsSignature } from "../../law/lint.ts";
import { didYouMean, quote } from "../../law/suggest.ts";
import { TRI, type Tri, triName, TRUE } from "../../law/value/truth.ts";
import type { LawNames } from "../../law/words.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import { type AskedExpression, askedExpression } from "../../scenario/law_file.ts";
import { ATTEMPT_OUTCOMES, type AttemptResult, type Trial } from "../../scenario/trial.ts";
import type { Expectation, Report } from "./case_types.ts";

const EXPECTED = '"complete", "active", "held: EXPR", "unknown: EXPR", "waits for N of NAMES", "error CODE", ' +
  '"ready: STAGES" or "STAGE is OUTCOME"';
const CALLS = new Map([["condition", true]]);

/** Reads `then`: a sentence, or a list of them. */
export function readExpectations(
  report: Report,
  law: CompiledLaw,
  names: LawNames,
  value: JsonValue | undefined,
  at: readonly (string | number)[],
): readonly Expectation[] {
  if (value === undefined) return [];
  const list = isJsonArray(value) ? value : [value];
  if (list.length === 0) report(at, `Expected ${EXPECTED}`);
  return list.flatMap((one, index) => {
    const where = isJsonArray(value) ? [...at, index] : at;
    // Without quotes, YAML reads "held: EXPR" as an object.
    const [pair, ...more] = isJsonObject(one) ? Object.entries(one) : [];
    const text = pair !== undefined && more.length === 0 ? `${pair[0]}: ${pair[1]}` : one;
    const read = typeof text === "string" ? readExpectation(report, law, names, text, where) : undefined;
    if (typeof text !== "string") report(where, `Expected ${EXPECTED}`);
    return read ?? [];
  });
}

function readExpectation(
  report: Report,
  law: CompiledLaw,
  names: LawNames,
  text: string,
  at: readonly (string | number)[],
): Expectation | undefined {
  const [, kind, asked = ""] = /^(held|unknown):\s*(.*)$/s.exec(text) ?? [];
  if (kind === "held" || kind === "unknown") {
    const expression = readAsked(report, law, names, asked, at);
    return expression && { text, kind, expression };
  }
  const [, count, listed = ""] = /^waits for (\d+) of (.+)$/.exec(text) ?? [];
  if (count !== undefined) {
    const people = listed.split(",").map((name) => name.trim());
    return { text, kind: "waits", count: Number(count), people };
  }
  const [, code] = /^error ([a-z][a-z0-9_]*)$/.exec(text) ?? [];
  if (code !== undefined) return { text, kind: "error", code };
  if (text === "complete" || text === "active") return { text, kind: "run", status: text };
  const ids = new Map(law.law.stages.flatMap(({ stage_id: id }) => [[names.stages.get(id) ?? id, id], [id, id]]));
  const stageOf = (name: string): string => {
    const id = ids.get(name);
    if (id === undefined) report(at, `Stage ${quote(name)} is not in the law${didYouMean(name, ids.keys())}`);
    return id ?? name;
  };
  const [, ready] = /^ready: (.+)$/.exec(text) ?? [];
  if (ready !== undefined) {
    return { text, kind: "ready", stages: ready === "none" ? [] : ready.split(/\s*,\s*/).map(stageOf) };
  }
  const [, stage, outcome = ""] = /^(.+) is (\w+)$/.exec(text) ?? [];
  if (stage !== undefined && ATTEMPT_OUTCOMES.some((one) => one === outcome)) {
    return { text, kind: "stage", stage: stageOf(stage), outcome };
  }
  report(at, `Expected ${EXPECTED}, got ${quote(text)}`);
  return undefined;
}

function readAsked(
  report: Report,
  law: CompiledLaw,
  names: LawNames,
  text: string,
  at: readonly (string | number)[],
): AskedExpression | undefined {
  // The id of a condition may be no expression.
  if (law.conditionIndex.has(text)) return { Called: { call: "condition", argument: text } };
  const read = askedExpression(text, law.law, names, CALLS);
  if (!read.ok) {
    for (const { message } of read.faults) report(at, message);
    return undefined;
  }
  const missing = leavesOf(read.expression).find((id) => !law.conditionIndex.has(id ?? ""));
  if (missing === undefined) return read.expression;
  report(at, `No condition of the law is so compared: ${quote(text)}`);
  return undefined;
}

/** The conditions of an expression; null for a comparison that the law lacks. */
function leavesOf(expression: AskedExpression): readonly (string | null)[] {
  if ("Compared" in expression) return [expression.Compared.condition_id];
  if ("Called" in expression) return [expression.Called.argument];
  if ("Not" in expression) return leavesOf(expression.Not);
  return operandsOf(expression).flatMap(leavesOf);
}

function operandsOf(
  expression: Extract<AskedExpression, { And: unknown } | { Or: unknown } | { RequireGroup: unknown }>,
): readonly AskedExpression[] {
  if ("And" in expression) return expression.And;
  return "Or" in expression ? expression.Or : expression.RequireGroup.reqs;
}

/** The truth of an expression; null where one of its conditions was not judged. */
function truthOf(expression: AskedExpression, of: (id: string) => Tri | undefined): Tri | null {
  if ("Compared" in expression) return of(expression.Compared.condition_id ?? "") ?? null;
  if ("Called" in expression) return of(expression.Called.argument ?? "") ?? null;
  if ("Not" in expression) {
    const inner = truthOf(expression.Not, of);
    return inner === null ? null : (TRUE - inner) as Tri;
  }
  const values = operandsOf(expression).map((one) => truthOf(one, of));
  if (values.includes(null)) return null;
  const falling = (values as Tri[]).sort((a, b) => b - a);
  const at = "And" in expression ? falling.length : "Or" in expression ? 1 : expression.RequireGroup.min;
  return falling[at - 1] ?? null;
}

/** What a step did: the trial after it, and its attempts by stage. */
export interface Done {
  readonly trial: Trial;
  readonly now: number | null;
  readonly attempts: ReadonlyMap<string, AttemptResult>;
}

/** Why a sentence does not hold; null where it does. */
export function differenceOf(expectation: Expectation, done: Done): string | null {
  const { trial, attempts } = done;
  const { text } = expectation;
  const isComplete = trial.isComplete();
  switch (expectation.kind) {
    case "run":
      return isComplete === (expectation.status === "complete") ? null : `${text}: the run is ${statusOf(trial)}`;
    case "stage": {
      const found = attempts.get(expectation.stage)?.outcome ?? "not attempted";
      return found === expectation.outcome ? null : `${text}: it is ${found}`;
    }
    case "ready": {
      const ready = isComplete
        ? []
        : trial.stages().filter(({ classification }) => classification === "ready_unopened");
      const ids = ready.map(({ stage_id }) => stage_id);
      return sameNames(ids, expectation.stages) ? null : `${text}: ready are ${ids.join(", ") || "none"}`;
    }
    case "held":
    case "unknown": {
      if (isComplete) return `${text}: the run is complete`;
      const held = [...attempts.values()].filter(({ outcome }) => outcome !== "true");
      const trace = held.flatMap(({ evaluation }) => evaluation?.trace ?? []);
      const of = (id: string): Tri | undefined => {
        const found = trace.find(({ condition_id }) => condition_id === id);
        return found === undefined ? undefined : TRI[found.value];
      };
      const truth = truthOf(expectation.expression, of);
      if (truth === null) return `${text}: no stage that is held was judged by it`;
      const found = triName(truth);
      const wanted = expectation.kind === "held" ? "false" : "unknown";
      return found === wanted ? null : `${text}: it is ${found}`;
    }
    case "waits": {
      const waiting = waitingFor(done);
      if (waiting.some(({ count, people }) => count === expectation.count && sameNames(people, expectation.people))) {
        return null;
      }
      const found = waiting.map(({ count, people }) => `${count} of ${people.join(", ")}`).join("; ");
      return `${text}: it waits for ${found || "no signature"}`;
    }
    case "error": {
      const codes = codesOf(done);
      return codes.includes(expectation.code) ? null : `${text}: found ${codes.join(", ") || "no error"}`;
    }
  }
}

/** The status of the run of a trial. */
export function statusOf(trial: Trial): "complete" | "active" {
  return trial.isComplete() ? "complete" : "active";
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return [...one].sort().join("\n") === [...other].sort().join("\n");
}

/** The codes of refusals, of observed errors and of items that did not count. */
function codesOf({ attempts }: Done): readonly string[] {
  const found = [...attempts.values()].flatMap(({ codes, evaluation }) => [
    ...codes,
    ...(evaluation?.evidence ?? []).flatMap(({ item, reason }) => item.error?.code ?? reason ?? []),
  ]);
  return [...new Set(found)];
}

interface Waiting {
  readonly count: number;
  readonly people: readonly string[];
}

/** The signatures that stages wait for: how many, and of whom. */
function waitingFor({ trial, attempts, now }: Done): readonly Waiting[] {
  return [...attempts].flatMap(([stageId, { outcome, evaluation }]) => {
    const stage = trial.law.stages[trial.law.stageIndex.get(stageId) ?? -1];
    if (outcome === "true" || evaluation === null || stage === undefined) return [];
    return evaluation.trace.flatMap(({ condition_id, value }) => {
      const own = stage.conditions[stage.slotOf.get(condition_id) ?? -1];
      if (value !== "unknown" || own === undefined || !needsSignature(own.condition.evidence_use_policy)) return [];
      return waitingOf(own, evaluation.evidence, now);
    });
  });
}

function waitingOf(
  own: CompiledStage["conditions"][number],
  evidence: NonNullable<AttemptResult["evaluation"]>["evidence"],
  now: number | null,
): Waiting {
  const { condition_id, evidence_use_policy: { combination, authorized_key_ids } } = own.condition;
  const agreed = new Set(evidence.flatMap(({ item, reason }) => {
    const counts = item.condition_id === condition_id && reason === null && item.value !== null;
    return counts && own.judge(item.value, now) === TRUE ? item.signature?.key_id ?? [] : [];
  }));
  const minimum = combination.combination === "Quorum" ? combination.minimum : 1;
  const people = authorized_key_ids?.filter((key) => !agreed.has(key)) ?? ["any key"];
  return { count: minimum - agreed.size, people };
}
