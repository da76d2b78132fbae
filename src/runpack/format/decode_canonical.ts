/**
 * Decodes the JSON of a pack, which is not trusted: canonical bytes, closed objects, every member within its bounds.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { pathOf } from "../../canonical/path.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import {
  boundedText,
  closed,
  identity,
  integer,
  type Reader,
  readFirst,
  type ShapeFault,
} from "../../canonical/shape.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { hasControl } from "../../law/readers.ts";
import { type ObjectReference, PACK_DEPTH } from "./types.ts";

/** Why bytes of a pack cannot be decoded: they are not canonical JSON, or their value has another shape. */
export interface DecodeFault {
  readonly code: "not_canonical" | "invalid";
  /** JSON path. */
  readonly path: string;
  readonly message: string;
}

/** A decoded value, or the first fault. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: DecodeFault };

/** Decodes bytes that must be one value in canonical JSON. */
export function decodeCanonical<T>(bytes: Uint8Array, read: Reader<T>): Decoded<T> {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notCanonical("$", "Expected UTF-8");
  const parsed = parseJson(text, { maximumDepth: PACK_DEPTH });
  if (!parsed.ok) return notCanonical(parsed.fault.path, parsed.fault.message);
  if (canonicalize(parsed.value) !== text) return notCanonical("$", "Expected canonical JSON");
  const first = readFirst(read, parsed.value);
  if (first.ok) return first;
  return { ok: false, fault: { code: "invalid", path: pathOf(first.path), message: messageOf(first.fault) } };
}

function notCanonical(path: string, message: string): Decoded<never> {
  return { ok: false, fault: { code: "not_canonical", path, message } };
}

function messageOf(fault: ShapeFault): string {
  switch (fault.kind) {
    case "type":
    case "form":
      return `Expected ${fault.expected}`;
    case "object":
      return "Expected an object";
    case "missing":
      return `Member "${fault.name}" is required`;
    case "unknown":
      return `Member ${JSON.stringify(fault.name.slice(0, 256))} is unknown`;
    case "items":
      return `Expected ${fault.minimum} to ${fault.maximum} items, got ${fault.count}`;
    case "integer":
      return `Expected an integer from ${fault.minimum} to ${fault.maximum}`;
    case "bytes":
      return `Expected ${fault.minimum} to ${fault.maximum} bytes, got ${fault.bytes}`;
    case "duplicate":
      return "Expected distinct items";
    case "choice":
      return `Expected ${fault.known.map((known) => `"${known}"`).join(" or ")}`;
  }
}

const idText = boundedText(1, SPEC_LIMITS.identifierBytes);

/** An id as laws have them: 1 to 256 UTF-8 bytes, no control characters. */
export const identifier: Reader<string> = (faults, value, path) => {
  const id = idText(faults, value, path);
  if (id === undefined || !hasControl(id)) return id;
  faults.add({ kind: "form", expected: "no control characters", value }, path);
  return undefined;
};

/** A reference to an object of at most so many bytes. */
export function reference(maximumBytes: number): Reader<ObjectReference> {
  return closed({ bytes: integer(0, maximumBytes), object: identity });
}
