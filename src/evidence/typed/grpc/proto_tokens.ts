/**
 * The tokens of a `.proto` text, read from its bytes one after the other. A token becomes a string only where a reader asks for it.
 *
 * @module
 */

import { GRPC_LIMITS } from "./limits.ts";

/** The text is not in the language. */
export class ProtoFault extends Error {
  override readonly name = "ProtoFault";
}

/** What a token is; `end` is the end of the text. */
export type TokenKind = "end" | "word" | "number" | "text" | "symbol";

/** A place in a text, with the token that begins there. */
export interface ProtoCursor {
  readonly bytes: Uint8Array;
  kind: TokenKind;
  /** Offsets of the current token in bytes. */
  start: number;
  end: number;
  /** Offsets of the comment directly above the current token; `commentStart` is -1 without one. */
  commentStart: number;
  commentEnd: number;
}

const NEWLINE = 10;
const QUOTES = [34, 39];
const STAR = 42;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;

/** What a byte can begin: nothing, blank space, a word, a number, a text or a symbol. */
const [NOTHING, BLANK, LETTER, DIGIT, QUOTE, SYMBOL] = [0, 1, 2, 3, 4, 5];
const CLASSES = new Uint8Array(256);
for (let byte = 33; byte < 127; byte++) CLASSES[byte] = SYMBOL;
for (const byte of [9, 10, 11, 12, 13, 32]) CLASSES[byte] = BLANK;
for (let byte = 48; byte < 58; byte++) CLASSES[byte] = DIGIT;
for (let byte = 97; byte < 123; byte++) CLASSES[byte] = CLASSES[byte - 32] = LETTER;
CLASSES[95] = LETTER;
for (const byte of QUOTES) CLASSES[byte] = QUOTE;

/** A cursor on the first token of a text, or on the token at an offset. */
export function createCursor(bytes: Uint8Array, offset?: number): ProtoCursor {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const end = offset ?? (hasMark ? 3 : 0);
  const cursor: ProtoCursor = { bytes, kind: "end", start: end, end, commentStart: -1, commentEnd: -1 };
  advance(cursor);
  return cursor;
}

function classAt({ bytes }: ProtoCursor, at: number): number {
  return at < bytes.length ? CLASSES[bytes[at] ?? 0] ?? NOTHING : NOTHING;
}

/** Moves to the next token. */
export function advance(cursor: ProtoCursor): void {
  const { bytes } = cursor;
  const start = skipBlank(cursor);
  cursor.start = start;
  cursor.end = start;
  if (start >= bytes.length) {
    cursor.kind = "end";
    return;
  }
  const kind = classAt(cursor, start);
  if (kind === LETTER) readWordToken(cursor);
  else if (kind === DIGIT || bytes[start] === DOT && classAt(cursor, start + 1) === DIGIT) readNumberToken(cursor);
  else if (kind === QUOTE) readTextToken(cursor);
  else if (kind === SYMBOL) {
    cursor.kind = "symbol";
    cursor.end = start + 1;
  } else throw faultAt(cursor, "a character of the language");
}

function readWordToken(cursor: ProtoCursor): void {
  let end = cursor.start + 1;
  for (let kind = classAt(cursor, end); kind === LETTER || kind === DIGIT; kind = classAt(cursor, end)) end++;
  if (end - cursor.start > GRPC_LIMITS.nameBytes) {
    throw faultAt(cursor, `names of at most ${GRPC_LIMITS.nameBytes} characters`);
  }
  cursor.kind = "word";
  cursor.end = end;
}

/** A number with what stands directly beside it. Only integers are read further; other numbers are values of options. */
function readNumberToken(cursor: ProtoCursor): void {
  const { bytes } = cursor;
  let end = cursor.start + 1;
  for (;; end++) {
    const kind = classAt(cursor, end);
    const byte = bytes[end];
    const isSigned = (byte === 43 || byte === 45) && ((bytes[end - 1] ?? 0) | 32) === 101 &&
      bytes[cursor.start + 1] !== 120;
    if (kind !== DIGIT && kind !== LETTER && byte !== DOT && !isSigned) break;
  }
  cursor.kind = "number";
  cursor.end = end;
}

function readTextToken(cursor: ProtoCursor): void {
  const { bytes, start } = cursor;
  const quote = bytes[start];
  let end = start + 1;
  while (end < bytes.length && bytes[end] !== quote && bytes[end] !== NEWLINE) end += bytes[end] === BACKSLASH ? 2 : 1;
  if (end >= bytes.length || bytes[end] === NEWLINE) throw faultAt(cursor, "a text that ends on its line");
  cursor.kind = "text";
  cursor.end = end + 1;
}

/** Skips blank space and comments, and notes the comment that ends on the line above the next token. */
function skipBlank(cursor: ProtoCursor): number {
  const { bytes } = cursor;
  let at = cursor.end;
  /** Line ends since the last token or comment. */
  let lines = at === 0 ? 1 : 0;
  let isLine = false;
  cursor.commentStart = -1;
  for (;; at++) {
    if (bytes[at] === NEWLINE) lines++;
    if (classAt(cursor, at) === BLANK) continue;
    if (bytes[at] !== SLASH || bytes[at + 1] !== SLASH && bytes[at + 1] !== STAR) break;
    const end = commentEnd(cursor, at);
    const continues = isLine && bytes[at + 1] === SLASH && lines === 1 && cursor.commentStart >= 0;
    // A comment behind a token on the same line belongs to that token.
    if (!continues && (lines > 0 || cursor.commentStart >= 0)) cursor.commentStart = at;
    cursor.commentEnd = end;
    isLine = bytes[at + 1] === SLASH;
    lines = 0;
    at = end - 1;
  }
  if (lines > 1) cursor.commentStart = -1;
  return at;
}

function commentEnd(cursor: ProtoCursor, start: number): number {
  const { bytes } = cursor;
  if (bytes[start + 1] === SLASH) {
    const end = bytes.indexOf(NEWLINE, start);
    return end < 0 ? bytes.length : end;
  }
  for (let end = bytes.indexOf(SLASH, start + 3); end >= 0; end = bytes.indexOf(SLASH, end + 1)) {
    if (bytes[end - 1] === STAR) return end + 1;
  }
  cursor.start = cursor.end = start;
  throw faultAt(cursor, "a comment with an end");
}

/** Bytes of a comment that are read; a contract keeps fewer characters. */
const COMMENT_BYTES = 8192;

/** The text of the comment above the current token, without its marks; null without one. */
export function commentAbove({ bytes, commentStart, commentEnd }: ProtoCursor): string | null {
  if (commentStart < 0) return null;
  const end = Math.min(commentEnd, commentStart + COMMENT_BYTES);
  const lines = new TextDecoder().decode(bytes.subarray(commentStart, end)).replace(/\*\/$/, "").split("\n");
  return lines.map((line) => line.replace(/^\s*(?:\/[/*]+|\*+)?/, "").trim()).join("\n").trim();
}

/** The current token as ASCII text. */
export function tokenText({ bytes, start, end }: ProtoCursor): string {
  let text = "";
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

/** A fault at the current token. */
export function faultAt(cursor: ProtoCursor, expected: string): ProtoFault {
  const { bytes, kind, start, end } = cursor;
  let line = 1;
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < start; at = bytes.indexOf(NEWLINE, at + 1)) line++;
  const shown = new TextDecoder().decode(bytes.subarray(start, Math.min(Math.max(end, start + 1), start + 32)));
  const got = kind === "end" || shown === "" ? "the end" : JSON.stringify(shown);
  return new ProtoFault(`line ${line}: expected ${expected}, got ${got}`);
}

/** Whether the current token is this symbol. */
export function isSymbol({ bytes, kind, start }: ProtoCursor, symbol: string): boolean {
  return kind === "symbol" && bytes[start] === symbol.charCodeAt(0);
}

/** Moves on if the current token is this symbol. */
export function takeSymbol(cursor: ProtoCursor, symbol: string): boolean {
  if (!isSymbol(cursor, symbol)) return false;
  advance(cursor);
  return true;
}

/** Moves behind this symbol. */
export function expectSymbol(cursor: ProtoCursor, symbol: string): void {
  if (!takeSymbol(cursor, symbol)) throw faultAt(cursor, `"${symbol}"`);
}

/** Whether the current token is this word. */
export function isWord({ bytes, kind, start, end }: ProtoCursor, word: string): boolean {
  if (kind !== "word" || end - start !== word.length) return false;
  for (let at = 0; at < word.length; at++) if (bytes[start + at] !== word.charCodeAt(at)) return false;
  return true;
}

/** Moves on if the current token is this word. */
export function takeWord(cursor: ProtoCursor, word: string): boolean {
  if (!isWord(cursor, word)) return false;
  advance(cursor);
  return true;
}

/** Reads a name without dots. */
export function readWord(cursor: ProtoCursor, what: string): string {
  if (cursor.kind !== "word") throw faultAt(cursor, what);
  const text = tokenText(cursor);
  advance(cursor);
  return text;
}

/** Reads a name with dots. It begins with a dot only where `isType` allows it. */
export function readName(cursor: ProtoCursor, what: string, isType = true): string {
  let name = isType && takeSymbol(cursor, ".") ? "." : "";
  for (;;) {
    name += readWord(cursor, what);
    if (name.length > GRPC_LIMITS.nameBytes) {
      throw faultAt(cursor, `names of at most ${GRPC_LIMITS.nameBytes} characters`);
    }
    if (!takeSymbol(cursor, ".")) return name;
    name += ".";
  }
}

/** Reads an integer from `minimum` to `maximum`: decimal, hexadecimal or octal. */
export function readInteger(cursor: ProtoCursor, what: string, minimum: number, maximum: number): number {
  const at = { ...cursor };
  const sign = minimum < 0 && takeSymbol(cursor, "-") ? -1 : 1;
  const text = cursor.kind === "number" && cursor.end - cursor.start <= 32 ? tokenText(cursor) : "";
  const octal = /^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text;
  const value = /^(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+|0o[0-7]+)$/.test(octal) ? sign * Number(octal) : NaN;
  if (!(value >= minimum && value <= maximum)) throw faultAt(at, what);
  advance(cursor);
  // Not -0, which would differ from 0.
  return value + 0;
}

/** Reads one text, or several beside each other. */
export function readText(cursor: ProtoCursor, what: string): string {
  if (cursor.kind !== "text") throw faultAt(cursor, what);
  let text = "";
  while (cursor.kind === "text") {
    const { bytes, start, end } = cursor;
    if (end - start > GRPC_LIMITS.nameBytes) throw faultAt(cursor, `texts of at most ${GRPC_LIMITS.nameBytes} bytes`);
    text += unescape(new TextDecoder().decode(bytes.subarray(start + 1, end - 1)));
    advance(cursor);
  }
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** Replaces escapes; those of bytes stand for characters of ASCII here. */
function unescape(text: string): string {
  return text.replaceAll(/\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|(.))/gsu, (...found) => {
    const [, octal, hexadecimal, unit, other] = found as (string | undefined)[];
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & 0x7f);
    if (hexadecimal !== undefined) return String.fromCharCode(parseInt(hexadecimal, 16) & 0x7f);
    if (unit !== undefined) return String.fromCharCode(parseInt(unit, 16));
    return ESCAPES[other ?? ""] ?? other ?? "";
  });
}

/** Skips a value in braces, however deep. */
export function skipBraces(cursor: ProtoCursor): void {
  let depth = 0;
  do {
    if (cursor.kind === "end") throw faultAt(cursor, '"}"');
    if (isSymbol(cursor, "{")) depth++;
    else if (isSymbol(cursor, "}")) depth--;
    advance(cursor);
  } while (depth > 0);
}
