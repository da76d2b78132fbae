import { parseJson } from "../../canonical/scan.ts";
import type { RequestId } from "../process/edge_error.ts";
import { isRequestId } from "./message.ts";

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

/**
 * Recovers the id of a JSON text that the strict parser rejected, if every reader would agree on it. The text must
 * parse, and its outermost object must have exactly one `id`: a well-formed string or an integer within ±(2^53-1).
 *
 * @param text The text
 * @returns The id, or null if it is ambiguous
 */
export function recoverRequestId(text: string): RequestId | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const bytes = new TextEncoder().encode(text);
  const finder = createRequestIdScanner(bytes.length);
  finder.push(bytes);
  return finder.id();
}

/** Finds the id of a message while its bytes are received. */
export interface RequestIdScanner {
  readonly push: (bytes: Uint8Array) => void;
  /** The id, after the last byte; null if it is ambiguous. Does not check that the rest is JSON. */
  readonly id: () => RequestId | null;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/**
 * Makes a scanner. Its memory is bounded: it keeps only the bytes of one member name or id.
 *
 * @param keptBytes The most bytes of a name or an id; a longer one is not recovered
 */
export function createRequestIdScanner(keptBytes: number): RequestIdScanner {
  const found: (RequestId | null)[] = [];
  let depth = 0;
  let inString = false;
  let escaped = false;
  let isOver = false;
  let isOther = false;
  /** The name of the outermost member whose value is being scanned; null while its name is. */
  let name: string | null = null;
  let kept: number[] = [];

  const keep = (byte: number): void => {
    if (depth === 0 && byte > SPACE) isOther = true;
    const isWanted = name === null || name === "id";
    // One byte more than allowed marks a longer text.
    if (isWanted && kept.length <= keptBytes && (kept.length > 0 || byte > SPACE)) kept.push(byte);
  };
  const flushKept = (): string => {
    const text = kept.length > keptBytes ? "" : new TextDecoder().decode(new Uint8Array(kept)).trimEnd();
    kept = [];
    return text;
  };
  const structure = (byte: number): void => {
    if (depth === 1 && byte === COLON && name === null) {
      name = nameOf(flushKept());
      return;
    }
    const closes = byte === CLOSE_OBJECT || byte === CLOSE_LIST;
    if (depth === 1 && (byte === COMMA || closes)) {
      const text = flushKept();
      if (name === "id" && found.length < 2) found.push(idOf(text));
      name = null;
    } else if (depth > 0 || byte !== OPEN_OBJECT || isOver) keep(byte);
    if (closes) isOver = --depth === 0;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
  };
  const scan = (byte: number): void => {
    if (!inString && STRUCTURE.has(byte)) return structure(byte);
    keep(byte);
    if (escaped) escaped = false;
    else if (inString && byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) inString = !inString;
  };
  return {
    push: (bytes) => bytes.forEach(scan),
    id: () => isOver && !isOther && found.length === 1 ? found[0] ?? null : null,
  };
}

const STRUCTURE: ReadonlySet<number> = new Set([COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST]);

function nameOf(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : "";
}

function idOf(text: string): RequestId | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRequestId(parsed.value)) return null;
  return typeof parsed.value === "string" || INTEGER.test(text) ? parsed.value : null;
}
