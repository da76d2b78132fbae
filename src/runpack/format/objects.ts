/** Objects of a pack: bytes under the identity that follows from them. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { identifyBytes, identifyCanonical, type Identity, type Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { OBJECT_BYTES, type ObjectReference } from "./types.ts";

const encoder = new TextEncoder();

/** An object with its identity. */
export interface PackObject {
  readonly identity: Identity;
  readonly bytes: Uint8Array;
}

/** Why a run cannot be exported. */
export type ExportErrorCode =
  /** The store returned an object that differs from the one that it accepted. */
  | "integrity_failure"
  /** The run does not fit into the format. */
  | "limit_exceeded"
  /** The law has no condition that should be withheld. */
  | "condition_not_found";

/** A failed export; no pack contains the objects emitted before. */
export class ExportError extends Error {
  /** The kind of failure. */
  readonly code: ExportErrorCode;

  /** An error with its code and a sentence. */
  constructor(code: ExportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ExportError";
    this.code = code;
  }
}

/**
 * Makes an object of a text.
 *
 * @param what Its description, for the error
 * @throws {ExportError} `limit_exceeded`
 */
export function textObject(sha256: Sha256, text: string, what: string, mostBytes: number = OBJECT_BYTES): PackObject {
  // A text has at least as many UTF-8 bytes as code units, so this check bounds the allocation below.
  if (text.length > mostBytes) throw tooLarge(what, mostBytes);
  const bytes = encoder.encode(text);
  if (bytes.length > mostBytes) throw tooLarge(what, mostBytes);
  return { identity: identifyCanonical(sha256, "object", text), bytes };
}

/** Makes an object of a value, in canonical JSON. */
export function jsonObjectOf(sha256: Sha256, value: JsonValue, what: string, mostBytes: number): PackObject {
  return textObject(sha256, canonicalize(value), what, mostBytes);
}

/** The reference to an object. */
export function referenceTo({ identity, bytes }: PackObject): ObjectReference {
  return { object: identity, bytes: bytes.length };
}

/** Whether bytes are the object that a reference names. */
export function isObject(sha256: Sha256, bytes: Uint8Array, reference: ObjectReference): boolean {
  return bytes.length === reference.bytes && identifyBytes(sha256, "object", bytes) === reference.object;
}

/** The error for an exceeded limit. */
export function tooLarge(what: string, mostBytes: number): ExportError {
  return new ExportError("limit_exceeded", `Cannot export ${what}: it has more than ${mostBytes} bytes`);
}
