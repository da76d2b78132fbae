/**
 * Positions in scenario files, which the readers of all formats share.
 *
 * @module
 */

import type { JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";

/** A position in a text; lines and columns (in UTF-16 code units) count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The path from the root of a document to a value. */
export type Steps = readonly (string | number)[];

/** Finds the positions of values. A missing value has the position of its nearest existing parent. */
export interface Locator {
  /** The start of a value, or of the name of its member. */
  readonly locate: (steps: Steps, part: "name" | "value") => Position;
}

/** Where the name and the value of a member start, by path; both are equal for an item of an array. */
export type Places<Place> = Map<string, { readonly name: Place; readonly value: Place }>;

/** Finds values among the places of all values of a document. */
export function locatorOf<Place>(places: Places<Place>, positionOf: (place: Place) => Position): Locator {
  return {
    locate: (steps, part) => {
      for (let length = steps.length; length >= 0; length--) {
        const found = places.get(formatPath(steps.slice(0, length)));
        if (found !== undefined) {
          return positionOf(part === "name" && length === steps.length ? found.name : found.value);
        }
      }
      return { line: 1, column: 1 };
    },
  };
}

/** Why a text is not a valid document. */
export interface SourceFault {
  readonly code: string;
  /** JSON path of the fault; `$` if it is unknown. */
  readonly path: string;
  readonly message: string;
  readonly position: Position;
}

/** The result of parsing one format. */
export type ReadSource =
  | { readonly ok: true; readonly value: JsonValue; readonly locator: () => Locator }
  | { readonly ok: false; readonly fault: SourceFault };

/** Converts an offset of a text to a position. */
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
 * Parses a path that `formatPath` of `src/canonical` wrote, up to the first invalid step.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { stepsOfPath } from "@/scenario/source_position.ts";
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
    // A single JSON string has no members, so the strict parser is not needed.
    else steps.push(JSON.parse(quoted ?? '""') as string);
  }
  return steps;
}
