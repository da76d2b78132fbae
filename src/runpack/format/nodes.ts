/**
 * Decodes the nodes of the segment tree and the artifact list (docs/format/runpack.md "Segment tree", "Artifacts").
 * Canonical JSON of a closed form has one text for each value. So the bytes are compared with that form, and reading
 * stops at the first byte that departs from it. Nothing is allocated but the result. The walk of the tree checks the
 * shape of the whole tree.
 */

import type { Identity } from "../../canonical/identity.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import {
  type ArtifactList,
  type ArtifactReference,
  ARTIFACTS_BYTES,
  type LargeValue,
  NODE_BYTES,
  NODE_CHILDREN,
  OBJECT_BYTES,
  type ObjectReference,
  type Segment,
  type SegmentNode,
  TEXT_BYTES,
  TREE_LEVELS,
} from "./types.ts";

/** The decoded value, or the first byte that departs from the form. */
export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly departs: number };

/** The bytes of one node, and the position of the reader. */
interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

/** Thrown where bytes depart from their form, and caught by {@link read}. */
class Departure extends Error {
  readonly at: number;

  constructor(at: number) {
    super(`Cannot read on at byte ${at}`);
    this.at = at;
  }
}

function read<T>(bytes: Uint8Array, form: (cursor: Cursor) => T): Read<T> {
  const cursor = { bytes, at: 0 };
  try {
    const value = form(cursor);
    return cursor.at === bytes.length ? { ok: true, value } : { ok: false, departs: cursor.at };
  } catch (error) {
    if (error instanceof Departure) return { ok: false, departs: error.at };
    throw error;
  }
}

/** Skips a required text. */
function pass(cursor: Cursor, text: string): void {
  for (let index = 0; index < text.length; index++) {
    if (cursor.bytes[cursor.at] !== text.charCodeAt(index)) throw new Departure(cursor.at);
    cursor.at++;
  }
}

/** Skips a text where it comes next, and returns whether it did. */
function passes(cursor: Cursor, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (cursor.bytes[cursor.at + index] !== text.charCodeAt(index)) return false;
  }
  cursor.at += text.length;
  return true;
}

const ZERO = 0x30;

/** An integer as canonical JSON writes one. */
function integer(cursor: Cursor, least: number, most: number): number {
  const start = cursor.at;
  let value = 0;
  for (;;) {
    const digit = (cursor.bytes[cursor.at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    cursor.at++;
    if (value > most) throw new Departure(start);
    // No digit may follow a leading zero; the caller rejects the next byte.
    if (value === 0) break;
  }
  if (cursor.at === start || value < least) throw new Departure(start);
  return value;
}

const IDENTITY_DIGITS = 64;
const ASCII = new TextDecoder();

function isHexDigit(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66));
}

function identity(cursor: Cursor): Identity {
  const start = cursor.at;
  for (; cursor.at < start + IDENTITY_DIGITS; cursor.at++) {
    if (!isHexDigit(cursor.bytes[cursor.at])) throw new Departure(cursor.at);
  }
  return ASCII.decode(cursor.bytes.subarray(start, cursor.at));
}

function oneOf<T extends string>(cursor: Cursor, known: readonly T[]): T {
  const found = known.find((text) => passes(cursor, `${text}"`));
  if (found === undefined) throw new Departure(cursor.at);
  return found;
}

/** The items of an array after its opening bracket, up to the limit of the form. */
function items<T>(cursor: Cursor, most: number, item: (cursor: Cursor) => T): readonly T[] {
  const found: T[] = [];
  do {
    if (found.length === most) throw new Departure(cursor.at);
    found.push(item(cursor));
  } while (passes(cursor, ","));
  pass(cursor, "]");
  return found;
}

function itemsOrNone<T>(cursor: Cursor, item: (cursor: Cursor) => T): readonly T[] {
  return passes(cursor, "]") ? [] : items(cursor, Infinity, item);
}

function reference(cursor: Cursor, mostBytes: number): ObjectReference {
  pass(cursor, '{"bytes":');
  const bytes = integer(cursor, 0, mostBytes);
  pass(cursor, ',"object":"');
  const object = identity(cursor);
  pass(cursor, '"}');
  return { object, bytes };
}

/** A reference with the kind and the identity of what it names. */
function named<Kind extends string>(
  cursor: Cursor,
  kinds: readonly Kind[],
): ObjectReference & { readonly kind: Kind; readonly identity: Identity } {
  pass(cursor, '{"bytes":');
  const bytes = integer(cursor, 0, TEXT_BYTES);
  pass(cursor, ',"identity":"');
  const name = identity(cursor);
  pass(cursor, '","kind":"');
  const kind = oneOf(cursor, kinds);
  pass(cursor, ',"object":"');
  const object = identity(cursor);
  pass(cursor, '"}');
  return { kind, identity: name, object, bytes };
}

const VALUE_KINDS = ["evidence-value", "payload"] as const;
const ARTIFACT_KINDS = ["contract", "operator-profile", "provider-version", "schema"] as const;

function segment(cursor: Cursor): Segment {
  pass(cursor, '{"first_revision":');
  const first_revision = integer(cursor, 1, Number.MAX_SAFE_INTEGER);
  pass(cursor, ',"large_values":[');
  const large_values = itemsOrNone(cursor, (at): LargeValue => named(at, VALUE_KINDS));
  pass(cursor, ',"last_revision":');
  const last_revision = integer(cursor, 1, Number.MAX_SAFE_INTEGER);
  pass(cursor, ',"receipts":');
  const receipts = reference(cursor, OBJECT_BYTES);
  pass(cursor, ',"records":');
  const records = reference(cursor, OBJECT_BYTES);
  pass(cursor, ',"values":');
  const values = reference(cursor, OBJECT_BYTES);
  pass(cursor, "}");
  return { first_revision, last_revision, records, receipts, values, large_values };
}

/** Decodes a node of the segment tree: its form, and the bounds of its members. */
export function decodeSegmentNode(bytes: Uint8Array): Read<SegmentNode> {
  return read(bytes, (cursor): SegmentNode => {
    if (passes(cursor, '{"level":0,"node":"segments","segments":[')) {
      const segments = items(cursor, NODE_CHILDREN, segment);
      pass(cursor, "}");
      return { node: "segments", level: 0, segments };
    }
    pass(cursor, '{"children":[');
    const children = items(cursor, NODE_CHILDREN, (at) => reference(at, NODE_BYTES));
    pass(cursor, ',"level":');
    const level = integer(cursor, 1, TREE_LEVELS - 1);
    pass(cursor, ',"node":"segments"}');
    return { node: "segments", level, children };
  });
}

/** Decodes an artifact list: sorted by kind and identity, without duplicates, and within the limit on bytes. */
export function decodeArtifactList(bytes: Uint8Array): Read<ArtifactList> {
  return read(bytes, (cursor): ArtifactList => {
    let before: ArtifactReference | null = null;
    let bytes = 0;
    pass(cursor, '{"artifacts":[');
    const artifacts = itemsOrNone(cursor, (at): ArtifactReference => {
      const start = at.at;
      const artifact = named(at, ARTIFACT_KINDS);
      if (before !== null && compareArtifacts(before, artifact) >= 0) throw new Departure(start);
      bytes += artifact.bytes;
      if (bytes > ARTIFACTS_BYTES) throw new Departure(start);
      before = artifact;
      return artifact;
    });
    pass(cursor, ',"node":"artifacts"}');
    return { node: "artifacts", artifacts };
  });
}

/** The order of the artifact list: by kind, then identity, code points. */
export function compareArtifacts(
  a: Pick<ArtifactReference, "kind" | "identity">,
  b: Pick<ArtifactReference, "kind" | "identity">,
): number {
  return compareCodePoints(a.kind, b.kind) || compareCodePoints(a.identity, b.identity);
}
