/**
 * The values of one segment: what its `values` object and its large values hold, and whether that is exactly what its
 * records name.
 *
 * @module
 */

import { identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { isJsonObject, type JsonValue } from "../canonical/json.ts";
import { decodeUtf8Strict } from "../canonical/scan.ts";
import { utf8Length } from "../canonical/utf8.ts";
import type { Payload } from "../law/types.ts";
import { type TypedValue, VALUE_TYPES } from "../law/value/types.ts";
import type { RunRecord } from "../run/types.ts";
import { isCanonicalText, readLines, readText } from "./canonical_text.ts";
import type { SegmentPart } from "./material_tree.ts";
import { namedValues } from "./segments.ts";
import { anything, closed, contentHash, oneOf, text, variant } from "./shape.ts";
import { violation } from "./verify_findings.ts";
import type { Violation } from "./verify_types.ts";
import { INLINE_VALUE_BYTES, type LargeValue, type ValueLine } from "./types.ts";

/** What records of a segment name once or more. */
export interface ValueName {
  readonly kind: ValueLine["kind"];
  readonly identity: Identity;
  /** Conditions of the items that name it; null for a payload. */
  readonly conditions: readonly (string | null)[];
}

const isTypedValue = closed({ value: anything, value_type: oneOf(...VALUE_TYPES) });
const isPayload = variant("kind", {
  json: closed({ kind: text, value: anything }),
  bytes: closed({ kind: text, base64: text }),
  external: closed({ kind: text, content_ref: closed({ uri: text, content_hash: contentHash }, { encryption: text }) }),
});

/** What the values of a segment come to. */
export interface SegmentValues {
  /** The canonical text of a value, or null where the segment does not hold it. */
  readonly body: (kind: ValueLine["kind"], identity: Identity) => Promise<string | null>;
  /** Takes note that a value was made anew, hashes to its identity and has this text. */
  readonly confirm: (kind: ValueLine["kind"], identity: Identity, body: string) => void;
  /** What is wrong with what the segment holds, given what its records name; null where nothing is. */
  readonly finish: (named: Iterable<ValueName>, withheld: ReadonlySet<string>) => Promise<Violation | null>;
}

/** A text as a typed value; null where it is none. */
export function readTypedValue(body: string): TypedValue | null {
  const value = readText(body);
  return isTypedValue(value) ? value as unknown as TypedValue : null;
}

/** A text as a payload; null where it is none. */
export function readPayload(body: string): Payload | null {
  const value: JsonValue | undefined = readText(body);
  return isJsonObject(value) && isPayload(value) ? value as unknown as Payload : null;
}

/**
 * Collects what the records of a segment name, each kind and identity once, in the order in which they are first named.
 */
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
  confirmed: boolean;
}

/** Opens the values of a segment. */
export function openValues(sha256: Sha256, { segment, values, readLarge }: SegmentPart): SegmentValues {
  const lines = readValueLines(values);
  const byKey = new Map(lines?.map((line) => [line.key, line]));
  const large = new Map(segment.large_values.map((value) => [keyOf(value.kind, value.identity), value]));
  let last: { readonly key: string; readonly body: string } | null = null;

  const readBody = async (value: LargeValue): Promise<string | null> => {
    const key = keyOf(value.kind, value.identity);
    if (last?.key === key) return last.body;
    const body = decodeUtf8Strict(await readLarge(value));
    if (body !== null) last = { key, body };
    return body;
  };
  const isRight = (kind: ValueLine["kind"], identity: Identity, body: string | null): boolean => {
    if (body === null || identifyCanonical(sha256, kind, body) !== identity) return false;
    const value = readText(body);
    if (value === undefined || !isCanonicalText(body, value)) return false;
    return kind === "payload" ? isPayload(value) : isTypedValue(value);
  };
  const findWrong = async (): Promise<Violation | null> => {
    for (const line of lines ?? []) {
      if (!line.confirmed && !isRight(line.kind, line.identity, line.body)) return violation("value_mismatch");
    }
    for (const value of segment.large_values) {
      if (value.bytes <= INLINE_VALUE_BYTES) return violation("value_unexpected");
      if (!isRight(value.kind, value.identity, await readBody(value))) return violation("value_mismatch");
    }
    return null;
  };

  return {
    async body(kind, identity): Promise<string | null> {
      const key = keyOf(kind, identity);
      const value = large.get(key);
      return byKey.get(key)?.body ?? (value === undefined ? null : await readBody(value));
    },
    confirm(kind, identity, body): void {
      const line = byKey.get(keyOf(kind, identity));
      if (line?.body === body) line.confirmed = true;
    },
    async finish(named, withheld): Promise<Violation | null> {
      if (lines === null) return violation("value_invalid");
      let [line, at] = [0, 0];
      for (const { kind, identity, conditions } of named) {
        if (conditions.every((condition) => condition !== null && withheld.has(condition))) continue;
        const key = keyOf(kind, identity);
        const next = segment.large_values[at];
        if (lines[line]?.key === key) line++;
        else if (next !== undefined && keyOf(next.kind, next.identity) === key) at++;
        else return violation("value_missing");
      }
      if (line < lines.length || at < segment.large_values.length) return violation("value_unexpected");
      return await findWrong();
    },
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
/** Bytes of the shortest line, its line feed and a body of one digit included. */
const SHORTEST_LINE = BEFORE.length + 1 + MIDDLE.length + DIGITS + '","kind":"payload"}\n'.length;

/**
 * The lines of a `values` object by their outer members, which stand in canonical order; null where one has another
 * form.
 */
function readValueLines(bytes: Uint8Array): Line[] | null {
  const most = Math.floor(bytes.length / SHORTEST_LINE);
  // Lines that are too many are too short, and no list of them is made.
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
    if (!isLine || utf8Length(body) > INLINE_VALUE_BYTES) return null;
    lines.push({ key: keyOf(kind.kind, identity), kind: kind.kind, identity, body, confirmed: false });
  }
  return lines;
}
