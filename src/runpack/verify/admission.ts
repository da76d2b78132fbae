/**
 * Decides whether a verified runpack shows what its reader requires (docs/format/runpack.md "Admission").
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { domainEqual } from "../../law/value/typed_value.ts";
import { valueOfText } from "../../law/value/value_of_text.ts";
import { derivationOf, nameText, resultLine } from "./result_line.ts";
import type { StageResult } from "./run_result.ts";
import type { Examination } from "./verify.ts";

/** What the reader of a runpack requires, and which requirements it waives. */
export interface Expectation {
  readonly law: Identity;
  /** That law, where the reader has it; else the one of the runpack counts. */
  readonly document: ScenarioLaw | null;
  /** Texts by parameter id. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Parameters that may have any value. */
  readonly any_parameters: readonly string[];
  /** The stage that has to be complete; null for the run. */
  readonly stage: string | null;
  /** Unix milliseconds before which the run, or the stage, must not have been completed. */
  readonly not_before: number | null;
  readonly origin_unchecked: boolean;
  readonly allow_asserted: boolean;
}

/** Why a runpack is not admitted, in the order of precedence, with the exit code of each. */
const ADMISSION_CODES = {
  parameter_undeclared: 2,
  parameter_invalid: 2,
  parameter_missing: 2,
  stage_undeclared: 2,
  violated: 6,
  law_mismatch: 6,
  parameter_mismatch: 6,
  material_unknown: 4,
  not_complete: 3,
  completed_before: 3,
  evidence_asserted: 4,
  origin_unknown: 4,
} as const;
/** Why a runpack is not admitted. */
export type AdmissionCode = keyof typeof ADMISSION_CODES;

/** One reason against admission. */
export interface AdmissionReason {
  readonly code: AdmissionCode;
  readonly message: string;
}

/** The decision on a runpack. */
export interface Admission {
  /** 0 where it is admitted, else that of the first reason. */
  readonly exit_code: 0 | 2 | 3 | 4 | 6;
  /** Every reason, in the order of precedence. */
  readonly reasons: readonly AdmissionReason[];
  /** The requirements that the reader waived. */
  readonly waived: readonly string[];
  /** The decision in one line, with what was waived and assumed. */
  readonly line: string;
}

/** Decides on a runpack that was examined under `full_replay_v1`. */
export function decideAdmission(examination: Examination, expectation: Expectation): Admission {
  const reasons = [
    ...faultsOf(examination, expectation),
    ...contradictionsOf(examination, expectation),
    ...gapsOf(examination, expectation),
  ];
  const [first] = reasons;
  const waived = waiversOf(expectation);
  const { assumptions } = examination.report;
  const head = first === undefined ? "Admitted" : `Not admitted (${first.code})`;
  const line = [
    `${head}: ${resultLine(examination)}`,
    ...waived.length === 0 ? [] : [`waived: ${waived.join(", ")}`],
    ...assumptions.length === 0 ? [] : [`assumed: ${assumptions.join(", ")}`],
  ].join("; ");
  return { exit_code: first === undefined ? 0 : ADMISSION_CODES[first.code], reasons, waived, line };
}

function waiversOf({ any_parameters, origin_unchecked, allow_asserted }: Expectation): string[] {
  return [
    ...origin_unchecked ? ["origin"] : [],
    ...allow_asserted ? ["asserted evidence"] : [],
    ...any_parameters.map((name) => `parameter ${nameText(name)}`),
  ];
}

/** The expected law, as far as it is known. */
function lawOf({ law, law_identity }: Examination, expectation: Expectation): ScenarioLaw | null {
  return expectation.document ?? (law_identity === expectation.law ? law?.law ?? null : null);
}

/** What is wrong with the expectation itself. */
function faultsOf(examination: Examination, expectation: Expectation): AdmissionReason[] {
  const law = lawOf(examination, expectation);
  if (law === null) return [];
  const declared = new Map(law.parameters?.map(({ parameter_id, domain }) => [parameter_id, domain]));
  const { parameters, any_parameters, stage } = expectation;
  const reasons: AdmissionReason[] = [];
  for (const name of [...parameters.keys(), ...any_parameters]) {
    if (declared.has(name)) continue;
    reasons.push({ code: "parameter_undeclared", message: `The law declares no parameter ${nameText(name)}` });
  }
  for (const [name, text] of parameters) {
    const domain = declared.get(name);
    if (domain === undefined || valueOfText(text, domain) !== null) continue;
    const message = `The value of parameter ${nameText(name)} is outside its domain ${domain.domain}`;
    reasons.push({ code: "parameter_invalid", message });
  }
  for (const name of declared.keys()) {
    if (parameters.has(name) || any_parameters.includes(name)) continue;
    const message = `The law declares parameter ${nameText(name)}: give its value, or allow any`;
    reasons.push({ code: "parameter_missing", message });
  }
  if (stage !== null && law.stages.every(({ stage_id }) => stage_id !== stage)) {
    reasons.push({ code: "stage_undeclared", message: `The law has no stage ${nameText(stage)}` });
  }
  return reasons;
}

/** What of the runpack is wrong, or is of another law or other parameters. */
function contradictionsOf(examination: Examination, expectation: Expectation): AdmissionReason[] {
  const { report, law_identity, parameters } = examination;
  const reasons: AdmissionReason[] = [];
  const violated = report.claims.filter(({ status }) => status.status === "violated");
  if (violated.length > 0) {
    const names = violated.map(({ claim }) => claim).join(", ");
    reasons.push({ code: "violated", message: `The runpack contradicts itself: ${names}` });
  }
  if (law_identity !== null && law_identity !== expectation.law) {
    reasons.push({ code: "law_mismatch", message: `The runpack is of law ${law_identity}` });
  }
  const law = lawOf(examination, expectation);
  if (law === null || parameters === null || law_identity !== expectation.law) return reasons;
  for (const { parameter_id, domain } of law.parameters ?? []) {
    const text = expectation.parameters.get(parameter_id);
    const wanted = text === undefined ? null : valueOfText(text, domain);
    const found = parameters.find((one) => one.parameter_id === parameter_id);
    if (wanted === null || found !== undefined && domainEqual(wanted, found.value)) continue;
    const message = `Parameter ${nameText(parameter_id)} has another value`;
    reasons.push({ code: "parameter_mismatch", message });
  }
  return reasons;
}

/** What the runpack does not show. */
function gapsOf({ report, run, producers, parameters }: Examination, expectation: Expectation): AdmissionReason[] {
  const derivation = derivationOf(report);
  if (derivation === "violated") return [];
  const reasons: AdmissionReason[] = [];
  if (derivation !== "derived" || run === null) {
    reasons.push({ code: "material_unknown", message: "Not every decision could be derived again" });
  } else {
    const subject = expectation.stage === null
      ? { name: "run", completed_at: run.completed_at, isComplete: run.status === "complete" }
      : stageOf(run.stages, expectation.stage);
    const { not_before } = expectation;
    if (!subject.isComplete || subject.completed_at === null) {
      reasons.push({ code: "not_complete", message: `The ${subject.name} is not complete` });
    } else if (not_before !== null && subject.completed_at < not_before) {
      const message = `The ${subject.name} was completed at ${subject.completed_at} ms, before ${not_before} ms`;
      reasons.push({ code: "completed_before", message });
    }
  }
  if (run?.is_permissive === true && !expectation.allow_asserted) {
    const message = "Asserted evidence counted, under a permissive operator profile";
    reasons.push({ code: "evidence_asserted", message });
  }
  // A statement without the head is good for a run of the same id with other parameters.
  const isOfRun = parameters?.length === 0 || run?.is_head_signed === true;
  const isSigned = isOfRun &&
    report.claims.some(({ claim, status }) => claim === "source_authenticity" && status.status === "satisfied");
  if (producers.length === 0 && !isSigned && !expectation.origin_unchecked) {
    const message = "No producer key signed the runpack, and not all evidence that counted is signed by a trusted key";
    reasons.push({ code: "origin_unknown", message });
  }
  return reasons;
}

function stageOf(
  stages: readonly StageResult[],
  stageId: string,
): { readonly name: string; readonly completed_at: number | null; readonly isComplete: boolean } {
  const stage = stages.find(({ stage_id }) => stage_id === stageId);
  return {
    name: `stage ${nameText(stageId)}`,
    completed_at: stage?.completed_at ?? null,
    isComplete: stage?.classification === "complete",
  };
}
