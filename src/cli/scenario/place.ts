/**
 * Places in scenario files: what the readers of the formats share.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";

/** A place in a text; lines and columns (of UTF-16 code units) count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The way from the root of a document to a value. */
export type Steps = readonly (string | number)[];

/** Where values stand; of a value that is not there, where the nearest one around it does. */
export interface Locator {
  /** Where the value of a member, or the name of that member, starts. */
  readonly locate: (steps: Steps, part: "name" | "value") => Position;
}

/** Why a text is no document. */
export interface SourceFault {
  readonly code: string;
  /** JSON path, where it is known. */
  readonly path: string;
  readonly message: string;
  readonly position: Position;
}

/** What a reader of one format makes of a text. */
export type ReadSource =
  | { readonly ok: true; readonly value: JsonValue; readonly locator: () => Locator }
  | { readonly ok: false; readonly fault: SourceFault };

/** Where an offset of a text stands. */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, Math.max(0, offset));
  const start = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line++;
  return { line, column: before.length - start + 1 };
}

/** The fault of a file that is not UTF-8. */
export function notUtf8(): ReadSource {
  const message = "The file is not valid UTF-8";
  return { ok: false, fault: { code: "not_utf8", path: "$", message, position: { line: 1, column: 1 } } };
}

const STEP = /\.([A-Za-z_$][A-Za-z0-9_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/**
 * The steps of a path text as `formatPath` of the canonical room writes it; as far as it can be read.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { stepsOfPath } from "@/cli/scenario/place.ts";
 *
 * assert.deepEqual(stepsOfPath('$.stages[0]["a b"].stage_id'), ["stages", 0, "a b", "stage_id"]);
 * ```
 */
export function stepsOfPath(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  for (let match = STEP.exec(path); match !== null; match = STEP.exec(path)) {
    const [, name, index, quoted] = match;
    if (name !== undefined) steps.push(name);
    else if (index !== undefined) steps.push(Number(index));
    // A lone JSON string has no member names that a parser could confuse.
    else steps.push(JSON.parse(quoted ?? '""') as string);
  }
  return steps;
}
