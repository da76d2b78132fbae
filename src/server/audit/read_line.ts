/** Reads a line of the audit log strictly: it must equal, byte for byte, a line that gate writes. */

import { CANONICAL_DEPTH_LIMIT, canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { terminalSafe } from "../process/terminal_safe.ts";
import { type ChainState, hashOfLine } from "./line.ts";

/** The fault of bytes that are not a line. */
export type LineFault = "not_json" | "not_canonical" | "not_a_line" | "hash_mismatch";

/** A parsed line. */
export interface ReadLine {
  /** The chain after the line. */
  readonly chain: ChainState;
  readonly previous: string;
  readonly kind: string;
  readonly reason: string;
  readonly timestamp_ms: number;
  readonly details: JsonValue;
}

/** A line, or its fault. */
export type LineReading =
  | { readonly ok: true; readonly line: ReadLine }
  | { readonly ok: false; readonly fault: LineFault };

const HEX_128 = /^[0-9a-f]{32}$/;
const HEX_256 = /^[0-9a-f]{64}$/;

/** The members of a line, and whether each is required. */
const MEMBERS: ReadonlyMap<string, boolean> = new Map([
  ["chain_id", true],
  ["correlation_id", false],
  ["details", false],
  ["hash", true],
  ["kind", true],
  ["outcome", true],
  ["peer_address", false],
  ["previous", true],
  ["reason", true],
  ["sequence", true],
  ["server_correlation_id", false],
  ["subject", false],
  ["timestamp_ms", true],
  ["tool", false],
  ["traceparent", false],
  ["transport", false],
]);

/** Reads a line and recomputes its hash. Does not check that it follows the line before. */
export function readLine(bytes: Uint8Array): LineReading {
  const text = decodeUtf8Strict(bytes);
  const parsed = text === null ? null : parseJson(text, { maximumDepth: CANONICAL_DEPTH_LIMIT });
  if (parsed === null || !parsed.ok) return { ok: false, fault: "not_json" };
  if (!isJsonObject(parsed.value)) return { ok: false, fault: "not_a_line" };
  const value = parsed.value;
  const body = Object.fromEntries(Object.entries(value).filter(([name]) => name !== "hash"));
  const line = lineOf(value);
  if (line === null) return { ok: false, fault: "not_a_line" };
  const canonical = canonicalize(value);
  // Earlier versions wrote the canonical text as it is.
  if (text !== terminalSafe(canonical) && text !== canonical) return { ok: false, fault: "not_canonical" };
  if (hashOfLine(canonicalize(body)) !== line.chain.head) return { ok: false, fault: "hash_mismatch" };
  return { ok: true, line };
}

function lineOf(value: JsonObject): ReadLine | null {
  for (const name of Object.keys(value)) if (!MEMBERS.has(name)) return null;
  for (const [name, isNeeded] of MEMBERS) if (isNeeded && !Object.hasOwn(value, name)) return null;
  const head = member(value, "hash");
  const chainId = member(value, "chain_id");
  const previous = member(value, "previous");
  const { sequence, timestamp_ms, kind, reason, details } = value;
  if (typeof head !== "string" || !HEX_256.test(head)) return null;
  if (typeof chainId !== "string" || !HEX_128.test(chainId)) return null;
  if (typeof previous !== "string" || !HEX_256.test(previous)) return null;
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence) || sequence < 1) return null;
  if (typeof timestamp_ms !== "number" || typeof kind !== "string" || typeof reason !== "string") return null;
  const chain = { chain_id: chainId, sequence, head };
  return { chain, previous, kind, reason, timestamp_ms, details: details ?? null };
}
