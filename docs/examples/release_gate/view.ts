/**
 * How the demo looks in a terminal.
 *
 * @module
 */

import type { Json } from "./gate_session.ts";

const COLOURED = Deno.stdout.isTerminal() && Deno.noColor === false;

const MARKS: Readonly<Record<string, string>> = {
  true: "\x1b[32m",
  complete: "\x1b[32m",
  accepted: "\x1b[32m",
  false: "\x1b[31m",
  stale: "\x1b[33m",
  unknown: "\x1b[33m",
};

/** A word in its colour, where the terminal has colours. */
export function mark(word: string): string {
  const colour = MARKS[word];
  return COLOURED && colour !== undefined ? `${colour}${word}\x1b[0m` : word;
}

/** Writes a line to standard output. */
export function say(line = ""): void {
  console.log(line);
}

/** Writes a heading. */
export function heading(text: string): void {
  say();
  say(COLOURED ? `\x1b[1m${text}\x1b[0m` : text);
}

/** The first digits of an identity, as people compare them. */
export function short(identity: string): string {
  return identity.slice(0, 12);
}

/** Shows the stage graph with where each stage stands. */
export function showGraph(scenario: Json, status: Json): void {
  const standing = new Map<string, string>(
    status["stages"].map((stage: Json) => [stage["stage_id"], stage["classification"]]),
  );
  // A law has its stages in the order of their ids; those that can open at once are shown first.
  const isLater = ({ prerequisite }: Json): number => prerequisite["kind"] === "root" ? 0 : 1;
  for (const stage of (scenario["stages"] as readonly Json[]).toSorted((a, b) => isLater(a) - isLater(b))) {
    const { prerequisite } = stage;
    const needs = prerequisite["kind"] === "root"
      ? ""
      : `  <- ${
        (prerequisite["requirement"]["And"] as readonly Json[]).map((leaf) => leaf["Condition"]).join(" and ")
      }`;
    say(`  [${mark(standing.get(stage["stage_id"]) ?? "")}] ${stage["stage_id"]}${needs}`);
  }
}

/** Shows an attempt: every condition with its truth, then the stage's. */
export function showAttempt(attempt: Json): void {
  for (const line of attempt["trace"] as readonly Json[]) {
    const reason = line["reason"] === undefined ? "" : ` (${line["reason"]})`;
    say(`    ${line["condition_id"].padEnd(18)} ${mark(line["value"])}${reason}`);
  }
  const end = attempt["completed"] ? "stage complete" : "stage stays open";
  say(`  ${attempt["stage_id"]}: ${mark(attempt["outcome"])}, ${end}`);
}

/** Shows the records of a run, each with the head it starts from. */
export function showChain(records: readonly Json[]): void {
  for (const { record_id, record } of records) {
    const from = record["previous_record_id"] === null ? "".padEnd(12) : short(record["previous_record_id"]);
    const { stage_id, outcome } = record["body"];
    const what = [record["record_kind"], ...stage_id ? [stage_id] : [], ...outcome ? [mark(outcome)] : []].join(" ");
    say(`  ${String(record["revision"]).padStart(2)}  ${from} -> ${short(record_id)}  ${what}`);
  }
}
