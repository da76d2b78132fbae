/** The scanner of raw JSON text. It makes one pass, builds no value and reports the first fault. */

import { isExactNumber } from "./number.ts";
import { formatPath } from "./path.ts";
import { explainString, skipEscape, skipPlain } from "./scan_string.ts";

/** A fault of JSON text: of the grammar of RFC 8259, or one of four that parsers hide. */
export type ScanFaultCode = "syntax" | "duplicate_name" | "lone_surrogate" | "depth_exceeded" | "number_not_exact";

/** The first fault of a JSON text. */
export interface ScanFault {
  /** What is wrong. */
  readonly code: ScanFaultCode;
  /** The path of the value at fault, `$.stages[0].stage_id`; for a name that cannot be read, that of its object. */
  readonly path: string;
  /** Where it starts, in UTF-16 code units from the start of the text. */
  readonly offset: number;
  /** What is wrong, for people. */
  readonly message: string;
}

/** Limits of a scan. */
export interface ScanOptions {
  /** Maximum nesting of containers, 1 to 128; the outermost one has depth 1. 64 by default. */
  readonly maximumDepth?: number;
}

/** The report of a scan. */
export interface ScanReport {
  /** The first fault, or null. */
  readonly fault: ScanFault | null;
  /** Whether some member name has an escape; false for a text with a fault. */
  readonly escapedNames: boolean;
}

/** Maximum nesting of containers in an input. */
export const INPUT_DEPTH_LIMIT = 64;

/** Maximum of `maximumDepth`: the scan recurses once for each level. */
export const HIGHEST_DEPTH_LIMIT = 128;

/** Up to this many names of an object are compared one by one, which is cheaper than a set. */
const LINEAR_NAMES = 8;

/** Longer names are cut in the path and message of a fault, so that a fault stays small. */
const SHOWN_NAME_UNITS = 256;

/** A double keeps every decimal of at most this many significant digits. */
const SAFE_DIGITS = 15;

/** The state of one scan. */
interface Scan {
  readonly text: string;
  readonly maximumDepth: number;
  /** Names of the objects being read, the innermost object's last. */
  readonly names: string[];
  /** The path to the value being read. Only the first `depth` entries are current. */
  readonly path: (string | number)[];
  escapedNames: boolean;
  fault: ScanFault | null;
}

/** The return value of the readers below after a fault. */
const FAULTY = -1;

/**
 * Scans a text in one pass and linear time.
 *
 * @param text The text
 * @param options Limits
 * @returns The first fault, and whether names have escapes
 * @throws {RangeError} If `maximumDepth` is not an integer in 1..128
 */
export function scanReport(text: string, options: ScanOptions = {}): ScanReport {
  const maximumDepth = depthLimit(options);
  const scan: Scan = { text, maximumDepth, names: [], path: [], escapedNames: false, fault: null };
  const end = readValue(scan, skipSpace(text, 0), 0);
  if (end !== FAULTY && skipSpace(text, end) < text.length) unexpected(scan, skipSpace(text, end), 0, "end of text");
  return { fault: scan.fault, escapedNames: scan.fault === null && scan.escapedNames };
}

/**
 * The maximum nesting of a scan.
 *
 * @throws {RangeError} If `maximumDepth` is not an integer in 1..128
 */
export function depthLimit({ maximumDepth = INPUT_DEPTH_LIMIT }: ScanOptions): number {
  if (Number.isInteger(maximumDepth) && maximumDepth >= 1 && maximumDepth <= HIGHEST_DEPTH_LIMIT) return maximumDepth;
  throw new RangeError(`Cannot scan JSON: maximumDepth must be in 1..${HIGHEST_DEPTH_LIMIT}, got ${maximumDepth}`);
}

/** Reads the value at `at`, enclosed by `depth` containers; returns the position after it. */
function readValue(scan: Scan, at: number, depth: number): number {
  const unit = scan.text.charCodeAt(at);
  if (unit === 0x22) return readString(scan, at, depth);
  if (unit === 0x7b) return readObject(scan, at, depth);
  if (unit === 0x5b) return readArray(scan, at, depth);
  if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) return readNumber(scan, at, depth);
  if (unit === 0x74 && scan.text.startsWith("true", at)) return at + 4;
  if (unit === 0x6e && scan.text.startsWith("null", at)) return at + 4;
  if (unit === 0x66 && scan.text.startsWith("false", at)) return at + 5;
  return unexpected(scan, at, depth, "a value");
}

function readObject(scan: Scan, start: number, depth: number): number {
  const { text, names } = scan;
  if (depth >= scan.maximumDepth) return tooDeep(scan, start, depth);
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === 0x7d) return at + 1;
  const base = names.length;
  let seen: Set<string> | null = null;
  for (;;) {
    if (text.charCodeAt(at) !== 0x22) return unexpected(scan, at, depth, "a member name");
    const end = readString(scan, at, depth);
    if (end === FAULTY) return FAULTY;
    const name = nameAt(scan, at, end);
    scan.path[depth] = name;
    if (seen === null && names.length - base >= LINEAR_NAMES) seen = new Set(names.slice(base));
    if (seen === null ? isAmong(names, base, name) : seen.has(name)) return duplicate(scan, at, depth, name);
    if (seen === null) names.push(name);
    else seen.add(name);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== 0x3a) return unexpected(scan, at, depth + 1, '":"');
    at = readValue(scan, skipSpace(text, at + 1), depth + 1);
    if (at === FAULTY) return FAULTY;
    at = skipSpace(text, at);
    const unit = text.charCodeAt(at);
    if (unit === 0x7d) break;
    if (unit !== 0x2c) return unexpected(scan, at, depth, '"," or "}"');
    at = skipSpace(text, at + 1);
  }
  names.length = base;
  return at + 1;
}

function readArray(scan: Scan, start: number, depth: number): number {
  const { text } = scan;
  if (depth >= scan.maximumDepth) return tooDeep(scan, start, depth);
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === 0x5d) return at + 1;
  for (let index = 0;; index++) {
    scan.path[depth] = index;
    at = readValue(scan, at, depth + 1);
    if (at === FAULTY) return FAULTY;
    at = skipSpace(text, at);
    const unit = text.charCodeAt(at);
    if (unit === 0x5d) return at + 1;
    if (unit !== 0x2c) return unexpected(scan, at, depth, '"," or "]"');
    at = skipSpace(text, at + 1);
  }
}

/** Reads the string whose opening quote is at `start`; returns the position after its closing quote. */
function readString(scan: Scan, start: number, depth: number): number {
  const { text } = scan;
  let at = skipPlain(text, start + 1);
  while (text.charCodeAt(at) !== 0x22) {
    const after = skipEscape(text, at);
    if (after < 0) {
      const { code, offset, message } = explainString(text, at);
      return fail(scan, code, offset, depth, message);
    }
    at = skipPlain(text, after);
  }
  return at + 1;
}

/** Reads the number at `start`. Most have at most 15 digits and no exponent, so a double keeps them. */
function readNumber(scan: Scan, start: number, depth: number): number {
  const { text } = scan;
  let at = text.charCodeAt(start) === 0x2d ? start + 1 : start;
  const first = at;
  at = skipDigits(text, at);
  if (at === first) return unexpected(scan, at, depth, "a digit");
  if (at > first + 1 && text.charCodeAt(first) === 0x30) return unexpected(scan, first + 1, depth, "no leading zero");
  let digits = at - first;
  let unit = text.charCodeAt(at);
  if (unit === 0x2e) {
    const end = skipDigits(text, at + 1);
    if (end === at + 1) return unexpected(scan, end, depth, "a digit");
    digits += end - at - 1;
    at = end;
    unit = text.charCodeAt(at);
  }
  if (unit === 0x65 || unit === 0x45) {
    const sign = text.charCodeAt(at + 1);
    const exponent = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
    at = skipDigits(text, exponent);
    if (at === exponent) return unexpected(scan, at, depth, "a digit");
  } else if (digits <= SAFE_DIGITS) {
    return at;
  }
  if (isExactNumber(text.slice(start, at))) return at;
  const shown = cut(text.slice(start, at));
  return fail(scan, "number_not_exact", start, depth, `Number ${shown} is not kept exactly by a double`);
}

/** The name between two quotes, unescaped. */
function nameAt(scan: Scan, start: number, end: number): string {
  const raw = scan.text.slice(start + 1, end - 1);
  if (!raw.includes("\\")) return raw;
  scan.escapedNames = true;
  return JSON.parse(scan.text.slice(start, end)) as string;
}

function isAmong(names: readonly string[], base: number, name: string): boolean {
  for (let index = base; index < names.length; index++) {
    if (names[index] === name) return true;
  }
  return false;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  let unit = text.charCodeAt(at);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++at);
  return at;
}

function skipDigits(text: string, start: number): number {
  let at = start;
  let unit = text.charCodeAt(at);
  while (unit >= 0x30 && unit <= 0x39) unit = text.charCodeAt(++at);
  return at;
}

function unexpected(scan: Scan, at: number, depth: number, expected: string): typeof FAULTY {
  const point = scan.text.codePointAt(at);
  const found = point === undefined ? "end of text" : JSON.stringify(String.fromCodePoint(point));
  return fail(scan, "syntax", at, depth, `Expected ${expected}, found ${found}`);
}

function tooDeep(scan: Scan, at: number, depth: number): typeof FAULTY {
  return fail(scan, "depth_exceeded", at, depth, `Value is nested deeper than ${scan.maximumDepth}`);
}

function duplicate(scan: Scan, at: number, depth: number, name: string): typeof FAULTY {
  return fail(scan, "duplicate_name", at, depth + 1, `Member name ${JSON.stringify(cut(name))} stands twice`);
}

function fail(scan: Scan, code: ScanFaultCode, offset: number, depth: number, message: string): typeof FAULTY {
  const segments = scan.path.slice(0, depth);
  const path = formatPath(segments.map((segment) => typeof segment === "string" ? cut(segment) : segment));
  scan.fault = { code, path, offset, message };
  return FAULTY;
}

function cut(text: string): string {
  return text.length <= SHOWN_NAME_UNITS ? text : `${text.slice(0, SHOWN_NAME_UNITS).toWellFormed()}...`;
}
