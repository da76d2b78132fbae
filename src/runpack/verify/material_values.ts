/** The values of one segment, small and large, and whether they are exactly the ones that its records name. */

import { identifyCanonical, type Identity, type Sha256 } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { Payload } from "../../law/types.ts";
import { type TypedValue, VALUE_TYPES } from "../../law/value/types.ts";
import type { RunRecord } from "../../run/types.ts";
import { isCanonicalText, readLines, readText } from "../format/canonical_text.ts";
import type { SegmentPart } from "./object_walker.ts";
import { namedValues } from "../format/segments.ts";
import { anything, closed, contentHash, matches, oneOf, text, variant } from "../../canonical/shape.ts";
import { INLINE_VALUE_BYTES, type ValueLine } from "../format/types.ts";
import type { ViolationCode } from "./claims.ts";

/** A value that records of a segment name. */
export interface ValueName {
  readonly kind: ValueLine["kind"];
  readonly identity: Identity;
  /** The conditions of the items that name it; null for a payload. */
  readonly conditions: readonly (string | null)[];
}

const typedValueShape = closed({ value: anything, value_type: oneOf(...VALUE_TYPES) });
const payloadShape = variant("kind", {
  json: closed({ kind: text, value: anything }),
  bytes: closed({ kind: text, base64: text }),
  external: closed({ kind: text, content_ref: closed({ uri: text, content_hash: contentHash }, { encryption: text }) }),
});

/** The values of a segment. */
export interface SegmentValues {
  /** The canonical text of a value, or null where the segment does not hold it. */
  readonly body: (kind: ValueLine["kind"], identity: Identity) => Promise<string | null>;
  /** The bytes of a value; 0 where the segment does not hold it. */
  readonly size: (kind: ValueLine["kind"], identity: Identity) => number;
  /** Records that a value was derived again, with its identity and this text. */
  readonly confirm: (kind: ValueLine["kind"], identity: Identity, body: string) => void;
  /** The violation of the values of the segment, given the names in its records; null where they are right. */
  readonly finish: (named: Iterable<ValueName>, withheld: ReadonlySet<string>) => Promise<ViolationCode | null>;
}

/** Reads a text as a typed value; null where it has another shape. */
export function readTypedValue(body: string): TypedValue | null {
  const value = readText(body);
  return matches(typedValueShape, value) ? value as TypedValue : null;
}

/** Reads a text as a payload; null where it has another shape. */
export function readPayload(body: string): Payload | null {
  const value: JsonValue | undefined = readText(body);
  return isJsonObject(value) && matches(payloadShape, value) ? value as Payload : null;
}

/** Collects the values that the records of a segment name, each once, in the order in which they are first named. */
export function collectNames(): {
  readonly add: (record: RunRecord) => void;
  readonly names: () => Iterable<ValueName>;
} {
  const names = new Map<string, ValueName & { readonly conditions: (string | null)[] }>();
  return {
    add(record): void {
      for (const { kind, identity, condition_id } of namedValues(record)) {
        const key = keyOf(kind, identity);
        const known = names.get(key);
        if (known === undefined) names.set(key, { kind, identity, conditions: [condition_id] });
        else known.conditions.push(condition_id);
      }
    },
    names: () => names.values(),
  };
}

interface Line {
  readonly key: string;
  readonly kind: ValueLine["kind"];
  readonly identity: Identity;
  readonly body: string;
  readonly bytes: number;
  confirmed: boolean;
}

/** Characters of values after which the host may run other tasks: a few milliseconds of work. */
const PAUSE_CHARACTERS = 256 * 1024;

/**
 * Opens the values of a segment.
 *
 * @param pause Runs other tasks of the host
 */
export function openValues(
  sha256: Sha256,
  { segment, values, readLarge }: SegmentPart,
  pause: () => Promise<void> = () => Promise.resolve(),
): SegmentValues {
  const lines = readValueLines(values);
  // The first value counts where two have the same name; that duplicate is a contradiction of its own.
  const byKey = new Map(lines?.toReversed().map((line) => [line.key, line]));
  const largeKeys = segment.large_values.map(({ kind, identity }) => keyOf(kind, identity));
  const large = new Map(largeKeys.map((key, index) => [key, index] as const).reverse());
  let last: { readonly index: number; readonly body: string } | null = null;
  const pace = pacerOf(pause);

  const readBody = async (index: number): Promise<string | null> => {
    if (last?.index === index) return last.body;
    const body = decodeUtf8Strict(await readLarge(index));
    if (body !== null) last = { index, body };
    return body;
  };
  const isRight = (kind: ValueLine["kind"], identity: Identity, body: string | null): boolean => {
    if (body === null || identifyCanonical(sha256, kind, body) !== identity) return false;
    const value = readText(body);
    if (value === undefined || !isCanonicalText(body, value)) return false;
    return kind === "payload" ? matches(payloadShape, value) : matches(typedValueShape, value);
  };
  const findWrong = async (): Promise<ViolationCode | null> => {
    for (const line of lines ?? []) {
      await pace(line.body.length);
      if (!line.confirmed && !isRight(line.kind, line.identity, line.body)) return "value_mismatch";
    }
    for (const [index, { kind, identity, bytes }] of segment.large_values.entries()) {
      if (bytes <= INLINE_VALUE_BYTES) return "value_unexpected";
      await pace(bytes);
      if (!isRight(kind, identity, await readBody(index))) return "value_mismatch";
    }
    return null;
  };

  return {
    async body(kind, identity): Promise<string | null> {
      const key = keyOf(kind, identity);
      const index = large.get(key);
      const body = byKey.get(key)?.body ?? (index === undefined ? null : await readBody(index));
      await pace(body?.length ?? 0);
      return body;
    },
    size(kind, identity): number {
      const key = keyOf(kind, identity);
      return byKey.get(key)?.bytes ?? segment.large_values[large.get(key) ?? -1]?.bytes ?? 0;
    },
    confirm(kind, identity, body): void {
      const line = byKey.get(keyOf(kind, identity));
      if (line?.body === body) line.confirmed = true;
    },
    async finish(named, withheld): Promise<ViolationCode | null> {
      if (lines === null) return "value_invalid";
      let line = 0;
      let at = 0;
      for (const { kind, identity, conditions } of named) {
        if (conditions.every((condition) => condition !== null && withheld.has(condition))) continue;
        const key = keyOf(kind, identity);
        if (lines[line]?.key === key) line++;
        else if (largeKeys[at] === key) at++;
        else return "value_missing";
      }
      if (line < lines.length || at < segment.large_values.length) return "value_unexpected";
      return await findWrong();
    },
  };
}

/** Creates a function that counts characters of work, and pauses after many. */
function pacerOf(pause: () => Promise<void>): (characters: number) => Promise<void> | null {
  let work = 0;
  return (characters) => {
    work += characters;
    if (work < PAUSE_CHARACTERS) return null;
    work = 0;
    return pause();
  };
}

function keyOf(kind: ValueLine["kind"], identity: Identity): string {
  return `${kind} ${identity}`;
}

const BEFORE = '{"body":';
const TAILS: readonly { readonly kind: ValueLine["kind"]; readonly tail: string }[] = [
  { kind: "payload", tail: '","kind":"payload"}' },
  { kind: "evidence-value", tail: '","kind":"evidence-value"}' },
];
const MIDDLE = ',"identity":"';
const DIGITS = 64;
/** Bytes of the shortest line: with its line feed and a body of one digit. */
const SHORTEST_LINE = BEFORE.length + 1 + MIDDLE.length + DIGITS + '","kind":"payload"}\n'.length;

/**
 * Splits the lines of a `values` object by their outer members, in canonical order; null where a line has another form.
 */
function readValueLines(bytes: Uint8Array): Line[] | null {
  const most = Math.floor(bytes.length / SHORTEST_LINE);
  // Too many lines are too short ones, so no list of them is built.
  const texts = readLines(bytes, most);
  if (texts === null || texts.length > most) return null;
  const lines: Line[] = [];
  for (const line of texts) {
    const kind = TAILS.find(({ tail }) => line.endsWith(tail));
    const end = line.length - (kind?.tail.length ?? 0);
    const identity = line.slice(end - DIGITS, end);
    const bodyEnd = end - DIGITS - MIDDLE.length;
    const isLine = kind !== undefined && line.startsWith(BEFORE) && bodyEnd > BEFORE.length &&
      line.startsWith(MIDDLE, bodyEnd) && /^[0-9a-f]{64}$/.test(identity);
    const body = line.slice(BEFORE.length, bodyEnd);
    const bytes = utf8Length(body);
    if (!isLine || bytes > INLINE_VALUE_BYTES) return null;
    lines.push({ key: keyOf(kind.kind, identity), kind: kind.kind, identity, body, bytes, confirmed: false });
  }
  return lines;
}
