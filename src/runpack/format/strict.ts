/**
 * Reading the JSON of a pack: canonical bytes, closed objects, every member within its bounds. Whoever wrote it is
 * not trusted.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { type ObjectReference, PACK_DEPTH } from "./types.ts";

/** What is wrong with a text of a pack: it is not canonical JSON, or not what its place asks for. */
export interface StrictFault {
  readonly code: "not_canonical" | "invalid";
  /** JSON path. */
  readonly path: string;
  readonly message: string;
}

/** A decoded thing, or why there is none. */
export type Strict<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: StrictFault };

/** Thrown within a decoder, and caught by {@link decodeStrict}. */
class Refusal extends Error {
  readonly fault: StrictFault;

  constructor(fault: StrictFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Ends decoding with a fault at a path. */
export function refuse(path: string, message: string): never {
  throw new Refusal({ code: "invalid", path, message });
}

/**
 * Decodes bytes that have to be one value in canonical JSON.
 *
 * @param read Reads the value; may end with {@link refuse}
 */
export function decodeStrict<T>(bytes: Uint8Array, read: (value: JsonValue) => T): Strict<T> {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notCanonical("$", "Expected UTF-8");
  const parsed = parseJson(text, { maximumDepth: PACK_DEPTH });
  if (!parsed.ok) return notCanonical(parsed.fault.path, parsed.fault.message);
  if (canonicalize(parsed.value) !== text) return notCanonical("$", "Expected canonical JSON");
  try {
    return { ok: true, value: read(parsed.value) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: error.fault };
    throw error;
  }
}

function notCanonical(path: string, message: string): Strict<never> {
  return { ok: false, fault: { code: "not_canonical", path, message } };
}

/** An object with exactly these members. */
export function closedObject(value: JsonValue | undefined, path: string, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) return refuse(path, "Expected an object");
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) return refuse(path, `Member ${JSON.stringify(unknown.slice(0, 256))} is unknown`);
  const missing = names.find((name) => member(value, name) === undefined);
  return missing === undefined ? value : refuse(path, `Member "${missing}" is required`);
}

/** An array of so many items, each read with its path. */
export function boundedArray<T>(
  value: JsonValue | undefined,
  path: string,
  least: number,
  most: number,
  read: (item: JsonValue, path: string) => T,
): readonly T[] {
  if (!isJsonArray(value)) return refuse(path, "Expected an array");
  if (value.length < least || value.length > most) {
    return refuse(path, `Expected ${least} to ${most} items, got ${value.length}`);
  }
  return value.map((item, index) => read(item, `${path}[${index}]`));
}

/** An integer within bounds. */
export function boundedInteger(
  value: JsonValue | undefined,
  path: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  return refuse(path, `Expected an integer from ${least} to ${most}`);
}

/** One of some strings. */
export function oneOf<T extends string>(value: JsonValue | undefined, path: string, known: readonly T[]): T {
  return known.find((text) => text === value) ??
    refuse(path, `Expected ${known.map((text) => `"${text}"`).join(" or ")}`);
}

/** A string. */
export function text(value: JsonValue | undefined, path: string): string {
  return typeof value === "string" ? value : refuse(path, "Expected a string");
}

// C0 controls, delete, and C1 controls, as in the ids of a law.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** An id as laws have them: 1 to 256 UTF-8 bytes, no control characters. */
export function identifierAt(value: JsonValue | undefined, path: string): string {
  const id = text(value, path);
  const [bytes, most] = [utf8Length(id), SPEC_LIMITS.identifierBytes];
  if (bytes < 1 || bytes > most) return refuse(path, `Expected 1 to ${most} bytes, got ${bytes}`);
  return CONTROL.test(id) ? refuse(path, "Expected no control characters") : id;
}

/** 64 lower-case hex digits. */
export function identityAt(value: JsonValue | undefined, path: string): Identity {
  return isIdentity(value) ? value : refuse(path, "Expected 64 lower-case hex digits");
}

/** A reference to an object of at most so many bytes. */
export function referenceAt(value: JsonValue | undefined, path: string, mostBytes: number): ObjectReference {
  const object = closedObject(value, path, ["bytes", "object"]);
  return {
    object: identityAt(member(object, "object"), `${path}.object`),
    bytes: boundedInteger(member(object, "bytes"), `${path}.bytes`, 0, mostBytes),
  };
}
