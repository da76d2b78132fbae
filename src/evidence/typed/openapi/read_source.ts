/**
 * Reads the bytes of an OpenAPI document, in JSON or in YAML. Limits apply before anything is built out of the bytes.
 *
 * @module
 */

import type { JsonValue } from "../../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../../canonical/scan.ts";
import { withoutByteOrderMark } from "../../../config/files.ts";
import { readYamlDocument } from "../../builtin/yaml_document.ts";
import { IMPORT_LIMITS, type ImportRefusal, refuseImport } from "../import_result.ts";

/** Commas, colons and opening brackets of a document in JSON, those in texts included. One value takes up to 200 bytes of memory. */
export const JSON_MARKS_MAXIMUM = 3_000_000;
/** Nesting of containers: those of the document around schemas, and schemas. */
const DEPTH_MAXIMUM = 128;

/** The document, or the refusal. */
export type ReadSource = { readonly document: JsonValue } | ImportRefusal;

/** Reads a document; text that begins with `{` is JSON, any other YAML. */
export function readSource(given: Uint8Array): ReadSource {
  if (given.length > IMPORT_LIMITS.documentBytes) return tooLarge(given.length, IMPORT_LIMITS.documentBytes);
  const bytes = withoutByteOrderMark(given);
  return isJson(bytes) ? readJsonSource(bytes) : readYamlSource(bytes);
}

function tooLarge(bytes: number, maximum: number): ImportRefusal {
  return refuseImport("document_too_large", `${bytes} bytes; the most are ${maximum}`);
}

function isJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  return first === 0x7b;
}

function readJsonSource(bytes: Uint8Array): ReadSource {
  // Every mark is a byte.
  if (bytes.length > JSON_MARKS_MAXIMUM && countMarks(bytes) > JSON_MARKS_MAXIMUM) {
    return refuseImport("document_too_complex", `more than ${JSON_MARKS_MAXIMUM} commas, colons and brackets`);
  }
  const text = decodeUtf8Strict(bytes);
  if (text === null) return refuseImport("document_invalid", "Expected UTF-8");
  const parsed = parseJson(text, { maximumDepth: DEPTH_MAXIMUM });
  if (parsed.ok) return { document: parsed.value };
  const { path, message, offset } = parsed.fault;
  return refuseImport("document_invalid", `${message} (${path}, offset ${offset})`);
}

function countMarks(bytes: Uint8Array): number {
  let marks = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) marks++;
  }
  return marks;
}

function readYamlSource(bytes: Uint8Array): ReadSource {
  if (bytes.length > IMPORT_LIMITS.yamlBytes) return tooLarge(bytes.length, IMPORT_LIMITS.yamlBytes);
  const read = readYamlDocument(bytes, {});
  return "document" in read ? read : refuseImport("document_invalid", read.error.message);
}
