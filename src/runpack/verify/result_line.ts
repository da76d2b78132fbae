/**
 * The result of a verification in one line. Every verifier writes the same line (docs/format/runpack.md "Result line").
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { CLAIMS } from "./claims.ts";
import type { RunResult } from "./run_result.ts";
import type { UnavailableReason, VerificationReport } from "./types.ts";
import type { Examination } from "./verify.ts";

/** Stages or parameters that the line names. */
const NAMED = 16;
/** Characters of a value that the line shows. */
const VALUE_CHARACTERS = 100;
const PLAIN_NAME = /^[A-Za-z0-9_.-]+$/;

/** The claims that have to be satisfied for decisions to count as derived: all that a pack can decide but its sources. */
const DERIVED = new Set(
  CLAIMS.filter(({ name, method }) => method !== null && name !== "source_authenticity").map(({ name }) => name),
);

/** What a verification shows about the decisions of a run. */
export type Derivation = "derived" | "violated" | "unavailable" | "not_replayed";

/** Whether every decision was derived again. */
export function derivationOf({ claims, profile }: VerificationReport): Derivation {
  if (claims.some(({ status }) => status.status === "violated")) return "violated";
  if (profile !== "full_replay_v1") return "not_replayed";
  const isDerived = claims.every(({ claim, status }) => status.status === "satisfied" || !DERIVED.has(claim));
  return isDerived ? "derived" : "unavailable";
}

/** Why decisions were not all derived again: the reasons of the claims that would show it, each once. */
export function gapsOf({ claims }: VerificationReport): readonly UnavailableReason[] {
  const reasons = claims.flatMap(({ claim, status }) =>
    DERIVED.has(claim) && status.status === "unavailable" ? [status.reason] : []
  );
  return [...new Set(reasons)];
}

/** What a run came to, under which law, with which parameters. */
export function resultLine({ report, run, law_identity, parameters }: Examination): string {
  const law = `law ${law_identity ?? "unknown"}`;
  if (parameters === null) return `${resultText(report, run)}; ${law}; parameters unknown`;
  const named = parameters.map(({ parameter_id, value }) =>
    `${nameText(parameter_id)} = ${cut(canonicalize(value.value))}`
  );
  return `${resultText(report, run)}; ${law}; ${
    named.length === 0 ? "no parameters" : `parameters ${listText(named)}`
  }`;
}

function resultText(report: VerificationReport, run: RunResult | null): string {
  const derivation = derivationOf(report);
  const count = (wanted: string): string => {
    const counted = report.claims.filter(({ claim, status }) =>
      status.status === wanted && (wanted === "violated" || DERIVED.has(claim))
    );
    return `${counted.length} ${counted.length === 1 ? "claim" : "claims"} ${wanted}`;
  };
  if (derivation === "violated") return `No result: ${count("violated")}`;
  if (derivation === "not_replayed") return "No result: the records were not replayed";
  if (run === null) return `No result: ${count("unavailable")}`;
  return derivation === "derived"
    ? runText(run)
    : `${runText(run)}, as recorded and not derived: ${count("unavailable")}`;
}

function runText({ status, stages }: RunResult): string {
  const namesOf = (classification: string): string[] =>
    stages.filter((stage) => stage.classification === classification).map(({ stage_id }) => canonicalize(stage_id));
  if (status === "complete") return "Complete";
  const complete = namesOf("complete");
  if (complete.length > 0) {
    return `${complete.length === 1 ? "Stage" : "Stages"} ${listText(complete)} complete, run open`;
  }
  const opened = namesOf("open_incomplete");
  if (opened.length === 0) return "Open, no stage opened";
  return `Open, ${opened.length === 1 ? "stage" : "stages"} ${listText(opened)} opened, no stage complete`;
}

/** The name of a parameter, quoted unless it is plain. */
export function nameText(name: string): string {
  return PLAIN_NAME.test(name) ? name : canonicalize(name);
}

function listText(texts: readonly string[]): string {
  const more = texts.length - NAMED;
  return `${texts.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** A text with at most as many characters as a line shows of a value. */
export function cut(text: string): string {
  const characters = [...text];
  return characters.length <= VALUE_CHARACTERS ? text : `${characters.slice(0, VALUE_CHARACTERS).join("")}…`;
}
