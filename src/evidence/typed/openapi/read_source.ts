/**
 * Reads the bytes of an OpenAPI document, in JSON or in YAML. Limits apply before anything is built out of the bytes.
 */

import type { JsonValue } from "../../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../../canonical/scan.ts";
import { withoutByteOrderMark } from "../../../config/files.ts";
import { readYamlDocument } from "../../builtin/yaml_document.ts";
import { IMPORT_LIMITS, type ImportRefusal, type ImportWarning, refuseImport } from "../import_result.ts";

/**
 * Commas, colons and opening brackets of a document in JSON, those in texts included. One value takes up to 200 bytes
 * of memory.
 */
export const JSON_MARKS_MAXIMUM = 3_000_000;
/** Nesting of containers: those of the document around schemas, and schemas. */
const DEPTH_MAXIMUM = 128;

/** Numbers that are rounded, and characters that are scanned for them. */
const ROUNDED_MAXIMUM = 1000;
const SCANNED_MAXIMUM = 268_435_456;
/** Characters of a document whose numbers are rounded: each time the text is copied. */
const ROUNDED_CHARACTERS = 16_777_216;
/** Bytes of memory for a document in JSON, its text and its values, estimated before they are made. */
export const JSON_MEMORY_MAXIMUM = 402_653_184;
/** Estimated bytes of memory for a mark; measured on documents that take much. */
const MARK_MEMORY = 100;
/** The first byte of a character that a text of one byte a character cannot hold. */
const WIDE_BYTE = 0xc4;

/** The document, or the refusal. */
export type ReadSource = { readonly document: JsonValue; readonly warnings: readonly ImportWarning[] } | ImportRefusal;

/** Reads a document; text that begins with `{` is JSON, any other YAML. */
export function readSource(given: Uint8Array): ReadSource {
  if (given.length > IMPORT_LIMITS.documentBytes) return documentTooLarge(given.length, IMPORT_LIMITS.documentBytes);
  const bytes = withoutByteOrderMark(given);
  return isJson(bytes) ? readJsonSource(bytes) : readYamlSource(bytes);
}

function documentTooLarge(bytes: number, maximum: number): ImportRefusal {
  return refuseImport("document_too_large", `${bytes} bytes; the most are ${maximum}`);
}

function isJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  return first === 0x7b;
}

function readJsonSource(bytes: Uint8Array): ReadSource {
  const complex = complexityFault(bytes);
  if (complex !== null) return refuseImport("document_too_complex", complex);
  const decoded = decodeUtf8Strict(bytes);
  if (decoded === null) return refuseImport("document_invalid", "Expected UTF-8");
  const warnings: ImportWarning[] = [];
  let text = decoded;
  for (;;) {
    const parsed = parseJson(text, { maximumDepth: DEPTH_MAXIMUM }, text === decoded ? bytes : undefined);
    if (parsed.ok) return { document: parsed.value, warnings };
    const { code, path, message, offset } = parsed.fault;
    const isBounded = warnings.length < ROUNDED_MAXIMUM && text.length <= ROUNDED_CHARACTERS &&
      (warnings.length + 1) * text.length <= SCANNED_MAXIMUM;
    const rounded = code === "number_not_exact" && isBounded ? withRounded(text, offset) : null;
    if (rounded === null) return refuseImport("document_invalid", `${message} (${path}, offset ${offset})`);
    warnings.push(roundedAt(path));
    text = rounded;
  }
}

/**
 * The text with the number at an offset rounded. Bounds of 64-bit integers are common in documents: a check compares
 * with the nearest double. Null where no double is near.
 */
function withRounded(text: string, offset: number): string | null {
  const [literal = ""] =
    /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/.exec(text.slice(offset, offset + NUMBER_CHARACTERS)) ?? [];
  const double = Number(literal);
  if (literal === "" || literal.length === NUMBER_CHARACTERS || !Number.isFinite(double)) return null;
  return text.slice(0, offset) + JSON.stringify(double) + text.slice(offset + literal.length);
}

/** Characters of a number that is rounded; a longer one is refused. */
const NUMBER_CHARACTERS = 1024;

function roundedAt(path: string): ImportWarning {
  const message = `The number at ${path} was rounded`.slice(0, MESSAGE_CHARACTERS).toWellFormed();
  return { code: "number_rounded", pointer: "", message };
}

const MESSAGE_CHARACTERS = 512;

/** Why a document in JSON would take too much memory; null where it would not. */
export function complexityFault(bytes: Uint8Array): string | null {
  // A short document has few marks, because every mark is a byte.
  if (bytes.length <= SHORT_BYTES) return null;
  let marks = 0;
  let width = 1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) marks++;
    else if (byte >= WIDE_BYTE) width = 2;
  }
  if (marks > JSON_MARKS_MAXIMUM) return `more than ${JSON_MARKS_MAXIMUM} commas, colons and brackets`;
  // The bytes, the text, and at worst one value that is as long as the text.
  const memory = bytes.length * (1 + 2 * width) + marks * MARK_MEMORY;
  return memory > JSON_MEMORY_MAXIMUM ? `it would take about ${memory} bytes of memory` : null;
}

/** Bytes of a document that is within every limit, whatever it contains. */
const SHORT_BYTES = 2_097_152;

function readYamlSource(bytes: Uint8Array): ReadSource {
  if (bytes.length > IMPORT_LIMITS.yamlBytes) return documentTooLarge(bytes.length, IMPORT_LIMITS.yamlBytes);
  const warnings: ImportWarning[] = [];
  const read = readYamlDocument(bytes, {}, (path) => {
    if (warnings.length < ROUNDED_MAXIMUM) warnings.push(roundedAt(path));
  });
  return "document" in read ? { ...read, warnings } : refuseImport("document_invalid", read.error.message);
}
