/** Positions in scenario files, which the readers of all formats share. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import type { ScenarioLaw } from "../law/types.ts";

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
  /** The source of a text; null of any other value. */
  readonly textAt: (steps: Steps) => TextSource | null;
}

/** How a text is written: without quotes, in quotes (with escapes, with doubled quotes, literally), or in a block of YAML. */
export type TextStyle = "plain" | "escaped" | "doubled" | "literal" | "block";

/** Where a text stands in its file, quotes included. */
export interface TextSource {
  readonly start: number;
  readonly end: number;
  readonly style: TextStyle;
}

/** Where the name and the value of a member start, by path; both are equal for an item of an array. */
export type Places<Place> = Map<string, { readonly name: Place; readonly value: Place }>;

/** Finds values among the places of all values of a document. */
export function locatorOf<Place>(
  places: Places<Place>,
  positionOf: (place: Place) => Position,
  sourceOf: (place: Place) => TextSource | null,
): Locator {
  const sources = new Map<Place, TextSource | null>();
  return {
    textAt: (steps) => {
      const found = places.get(formatPath(steps));
      if (found === undefined) return null;
      const source = sources.get(found.value) ?? sourceOf(found.value);
      sources.set(found.value, source);
      return source;
    },
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
  /** The line of the position with a mark below it. */
  readonly excerpt?: string;
}

/** The result of parsing one format. */
export type ReadSource =
  | {
    readonly ok: true;
    readonly value: JsonValue;
    readonly text: string;
    readonly locator: () => Locator;
    /** What only some formats have and a law file has not: tags, anchors, aliases. Absent where the format has none. */
    readonly extras?: () => readonly SourceFault[];
  }
  | { readonly ok: false; readonly fault: SourceFault };

/** Whether a document is a law file (`law_file.ts`), not a spec in long form. */
export function isLawFile(document: JsonValue): document is JsonObject {
  return isJsonObject(document) && Object.hasOwn(document, "law");
}

/** A text in which places are found. Its lines, and each text in it, are read once for all places. */
export class PlacedText {
  readonly text: string;
  /** Characters read so far: the work of all places together. */
  visited = 0;
  readonly #inside = new Map<number, Uint32Array>();
  #starts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Where the lines start. */
  get #lines(): readonly number[] {
    if (this.#starts === undefined) {
      const starts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) starts.push(at + 1);
      this.#starts = starts;
      this.visited += this.text.length;
    }
    return this.#starts;
  }

  /** Converts an offset to a position. */
  positionAt(offset: number): Position {
    const starts = this.#lines;
    const within = Math.min(Math.max(0, offset), this.text.length);
    let first = 0;
    for (let after = starts.length; after - first > 1;) {
      const middle = (first + after) >> 1;
      if ((starts[middle] ?? 0) <= within) first = middle;
      else after = middle;
    }
    return { line: first + 1, column: within - (starts[first] ?? 0) + 1 };
  }

  /** A line, which counts from 1, without its end. */
  line(line: number): string {
    const start = this.#lines[line - 1];
    return start === undefined ? "" : this.text.slice(start, this.#lines[line]).replace(/\r?\n$/, "");
  }

  /** The offset of a character of a text that stands in this one. */
  offsetInside(source: TextSource, value: string, offset: number): number {
    let offsets = this.#inside.get(source.start);
    if (offsets === undefined) {
      offsets = offsetsInside(this.text, source, value);
      this.#inside.set(source.start, offsets);
      this.visited += source.end - source.start + value.length;
    }
    return offsets[offset] ?? source.end;
  }
}

/** Converts one offset of a text to a position. */
export function positionAt(text: string, offset: number): Position {
  return new PlacedText(text).positionAt(offset);
}

const BLANK = /\s/;
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/**
 * The offsets in a file of the characters of a text, and of its end. Blanks may be folded and characters escaped, so both
 * are read side by side: what is not blank has the same order in both.
 */
function offsetsInside(file: string, source: TextSource, value: string): Uint32Array {
  const { style, end } = source;
  const offsets = new Uint32Array(value.length + 1);
  let at = source.start + headLength(file.slice(source.start, end), style);
  for (let index = 0; index <= value.length; index++) {
    const isBlank = index === value.length || BLANK.test(value[index] ?? "");
    while (
      !isBlank && at < end &&
      (BLANK.test(file[at] ?? "") || (style === "escaped" && /^\\\s*\n/.test(file.slice(at, at + 80))))
    ) at++;
    offsets[index] = Math.min(at, end);
    const unit = file[at] ?? "";
    if (style === "escaped" && unit === "\\") {
      const length = ESCAPE_LENGTHS[file[at + 1] ?? ""] ?? 2;
      // One escape of ten characters may stand for two code units.
      if (length === 10 && Number.parseInt(file.slice(at + 2, at + 10), 16) > 0xffff) offsets[++index] = at + length;
      at += length;
    } else if (!isBlank) at += style === "doubled" && file.startsWith("''", at) ? 2 : 1;
    else if (BLANK.test(unit)) at++;
  }
  return offsets;
}

/** The length of the opening quotes, or of the first line of a block. */
function headLength(raw: string, style: TextStyle): number {
  if (style === "plain") return 0;
  if (style === "block") return raw.indexOf("\n") + 1;
  return /^("""|''')/.test(raw) ? 3 : 1;
}

/** The fault of a file that is not UTF-8. */
export function notUtf8(): ReadSource {
  const message = "The file is not valid UTF-8";
  return { ok: false, fault: { code: "not_utf8", path: "$", message, position: { line: 1, column: 1 } } };
}

const STEP = /\.([A-Za-z_$][A-Za-z0-9_$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path that `formatPath` of `src/canonical` wrote, up to the first invalid step. */
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

/** The member or the item of a value. */
export function childOf(value: JsonValue | undefined, step: string | number): JsonValue | undefined {
  if (typeof step === "number") return isJsonArray(value) ? value[step] : undefined;
  return isJsonObject(value) ? member(value, step) : undefined;
}

/** The sorted collections of a law, with the identifying member of their items. */
const NAMED_BY: Readonly<Record<string, string>> = {
  acquisition_bindings: "binding_id",
  conditions: "condition_id",
  parameters: "parameter_id",
  entry_packets: "packet_id",
  policies: "policy_id",
  stages: "stage_id",
};

/** Converts steps in a law to steps in the spec that it was constructed from, whose items may have a different order. */
export function stepsInSpec(law: ScenarioLaw, spec: JsonValue, steps: Steps): Steps {
  let inLaw: JsonValue | undefined = law as unknown as JsonObject;
  let inSpec: JsonValue | undefined = spec;
  return steps.map((step, at) => {
    const name = typeof step === "number" ? NAMED_BY[String(steps[at - 1])] : undefined;
    inLaw = childOf(inLaw, step);
    const wanted = name === undefined ? undefined : childOf(inLaw, name);
    const found = wanted !== undefined && isJsonArray(inSpec)
      ? inSpec.findIndex((item) => name !== undefined && childOf(item, name) === wanted)
      : -1;
    const inOrder = found < 0 ? step : found;
    inSpec = childOf(inSpec, inOrder);
    return inOrder;
  });
}
