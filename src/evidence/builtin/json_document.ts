/** Reads JSON documents from bytes; no number is rounded silently. */

import type { JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import type { ObservedError } from "../../run/types.ts";

/** A document, or the observed error. */
export type Document = { readonly document: JsonValue } | { readonly error: ObservedError };

/** The origin of a document, for the details of an error: `{file}` or `{url}`. */
export type Origin = Readonly<Record<string, string>>;

/**
 * Reads JSON. The error `invalid_json` states reason and path, and quotes no value of the document.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readJsonDocument } from "@/evidence/builtin/json_document.ts";
 *
 * const read = readJsonDocument(new TextEncoder().encode('{"a":[9007199254740993]}'), { file: "a.json" });
 * assert.deepEqual("error" in read ? read.error.details : null, {
 *   file: "a.json",
 *   offset: 6,
 *   path: "$.a[0]",
 *   reason: "number_not_exact",
 * });
 * ```
 */
export function readJsonDocument(bytes: Uint8Array, origin: Origin): Document {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return invalidDocument("invalid_json", origin, { reason: "not_utf8" });
  const parsed = parseJson(text);
  if (parsed.ok) return { document: parsed.value };
  const { code, path, offset } = parsed.fault;
  return invalidDocument("invalid_json", origin, { reason: code, path, offset });
}

/** The error for an invalid document. */
export function invalidDocument(
  code: "invalid_json" | "invalid_yaml",
  origin: Origin,
  fault: { readonly reason: string; readonly path?: string; readonly offset?: number },
): { readonly error: ObservedError } {
  const place = fault.path ?? (fault.offset === undefined ? "" : `offset ${fault.offset}`);
  const what = code === "invalid_json" ? "JSON" : "YAML";
  const message = `Cannot read ${what}: ${fault.reason}${place === "" ? "" : ` at ${place}`}`;
  return { error: { code, message, details: { ...origin, ...fault } } };
}
