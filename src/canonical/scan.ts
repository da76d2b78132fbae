/**
 * Checks JSON text from outside, before any parse.
 *
 * Parsers differ on some texts and hide it: they keep one of two members with the same name, replace lone surrogates
 * and round numbers. The scan reads the text itself and names the first such fault.
 */

import type { JsonValue } from "./json.ts";
import { parseScanned } from "./reader.ts";
import { readPlain } from "./plain_text.ts";
import { depthLimit, HIGHEST_DEPTH_LIMIT, type ScanFault, type ScanOptions, scanReport } from "./scanner.ts";

export { INPUT_DEPTH_LIMIT, type ScanFault, type ScanFaultCode, type ScanOptions } from "./scanner.ts";
export { decodeUtf8Strict } from "./utf8.ts";

/** A value, or the first fault of its text. */
export type ParseResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: ScanFault };

/**
 * Checks that a text is JSON (RFC 8259) with one meaning for every parser. No object has a name twice (after
 * unescaping), and no string or name a lone surrogate. Containers nest no deeper than the limit. Every number equals in
 * decimal the shortest ECMAScript form of its double. The scan needs linear time.
 *
 * @param text The text; a byte order mark is a fault
 * @param options Limits
 * @returns The first fault of the text, or null
 * @throws {RangeError} If `maximumDepth` is not an integer in 1..128
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { scanJson } from "@/canonical/scan.ts";
 *
 * assert.equal(scanJson('{"a":[0.1,1e21]}'), null);
 * const fault = scanJson('{"stages":[{"a":1,"\\u0061":2}]}');
 * assert.deepEqual([fault?.code, fault?.path, fault?.offset], ["duplicate_name", "$.stages[0].a", 18]);
 * ```
 */
export function scanJson(text: string, options: ScanOptions = {}): ScanFault | null {
  return scanReport(text, options).fault;
}

/**
 * Reads JSON text from outside, with the faults of {@link scanJson}. `__proto__` becomes an ordinary own member.
 *
 * @param text The text
 * @param options Limits of the scan
 * @param utf8 The text in UTF-8, if the caller has it: it is then not encoded again
 * @returns The value, or the first fault of the text
 * @throws {RangeError} As {@link scanJson}
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseJson } from "@/canonical/scan.ts";
 *
 * assert.deepEqual(parseJson("[1.0]"), { ok: true, value: [1] });
 * const result = parseJson('{"a":9007199254740993}');
 * assert.equal(result.ok ? null : result.fault.path, "$.a");
 * ```
 */
export function parseJson(text: string, options: ScanOptions = {}, utf8?: Uint8Array): ParseResult {
  const plain = readPlain(text, depthLimit(options), utf8);
  if (plain !== undefined) return { ok: true, value: plain };
  const report = scanReport(text, options);
  if (report.fault !== null) return { ok: false, fault: report.fault };
  return { ok: true, value: parseScanned(text, report) };
}

/**
 * Reads JSON text that gate wrote itself, such as the content of a store. A fault there is damage, not input. Use it in
 * place of `JSON.parse`, which misreads some escaped member names (see `reader.ts`), if names may come from outside.
 * Text without a backslash costs no more than the native parse.
 *
 * @param text Canonical text, nested as deep as canonical text may be
&
 * @throws {SyntaxError} If the text has a fault
 */
export function readJson<T = JsonValue>(text: string): T {
  if (!text.includes("\\")) return JSON.parse(text) as T;
  const plain = readPlain(text, HIGHEST_DEPTH_LIMIT);
  if (plain !== undefined) return plain as T;
  const report = scanReport(text, { maximumDepth: HIGHEST_DEPTH_LIMIT });
  if (report.fault !== null) throw new SyntaxError(`${report.fault.message} (${report.fault.path})`);
  return parseScanned(text, report) as T;
}
