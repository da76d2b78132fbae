/**
 * One line of the audit log: an event in canonical JSON (RFC 8785), with its own hash and the hash of the line before
 * it. Characters that control a terminal are escaped. `docs/reference/audit.md` has the format.
 */

import { hash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { encodeHex } from "../../canonical/hex.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { terminalSafe } from "../process/terminal_safe.ts";
import { type AuditEvent, TOOL_CHARACTERS } from "./types.ts";

/** The most characters of an event's details. Longer details are replaced by their number of characters. */
export const DETAILS_CHARACTERS = 256 * 1024;

/** Bytes of a line without its end. */
export const LINE_BYTES = 1024 * 1024;

/** The state of a chain after a line. */
export interface ChainState {
  /** 32 lower-case hex digits, drawn when the chain began. */
  readonly chain_id: string;
  /** Lines so far; the first line is 1. */
  readonly sequence: number;
  /** The hash of the last line, or the anchor of a chain without lines. */
  readonly head: string;
}

/** An event with its time, ready to become a line. */
export interface TimedEvent {
  readonly event: AuditEvent;
  /** Unix milliseconds. */
  readonly timestamp: number;
  /** The member `details` in canonical JSON, with the comma before it; empty without details. */
  readonly details: string;
}

function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** The `previous` of the first line of a chain. */
export function anchorOf(chainId: string): string {
  return sha256(`gate:audit-chain:v1\0${chainId}`);
}

/** The hash of a line: over its canonical JSON without the member `hash`. */
export function hashOfLine(body: string): string {
  return sha256(`gate:audit-line:v1\0${body}`);
}

/** A chain without lines. */
export function newChain(): ChainState {
  const chainId = encodeHex(crypto.getRandomValues(new Uint8Array(16)));
  return { chain_id: chainId, sequence: 0, head: anchorOf(chainId) };
}

/** Adds the time to an event and serializes its details, within bounds. */
export function timeEvent(event: AuditEvent, timestamp: number): TimedEvent {
  return { event, timestamp, details: detailsText(event.details) };
}

function detailsText(details: JsonObject | undefined): string {
  if (details === undefined) return "";
  const text = canonicalize(details);
  // An escape takes six characters in place of one.
  const length = text.length * 6 <= DETAILS_CHARACTERS ? text.length : terminalSafe(text).length;
  return `,"details":${length <= DETAILS_CHARACTERS ? text : `{"omitted_characters":${length}}`}`;
}

/** The next line of a chain, without its end, and the state of the chain after it. */
export function nextLine(chain: ChainState, timed: TimedEvent): { readonly text: string; readonly chain: ChainState } {
  const { event, timestamp, details } = timed;
  const { origin } = event;
  const sequence = chain.sequence + 1;
  // The members are in canonical order; `hash` belongs between the two halves. Members without a value are left out.
  const before = `{"chain_id":"${chain.chain_id}"${text("correlation_id", origin?.correlation_id)}${details}`;
  const after = `,"kind":"${event.kind}","outcome":"${event.outcome}"${text("peer_address", origin?.peer_address)}` +
    `,"previous":"${chain.head}"${text("reason", event.reason)},"sequence":${sequence}` +
    `${text("server_correlation_id", origin?.server_correlation_id)}${text("subject", event.subject)}` +
    `,"timestamp_ms":${timestamp}${text("tool", event.tool?.slice(0, TOOL_CHARACTERS))}` +
    `${text("traceparent", origin?.traceparent)}${text("transport", origin?.transport)}}`;
  const head = hashOfLine(before + after);
  const line = terminalSafe(`${before},"hash":"${head}"${after}`);
  return { text: line, chain: { chain_id: chain.chain_id, sequence, head } };
}

/** A member with a comma before it; empty without a value. */
function text(name: string, value: string | null | undefined): string {
  if (value === null || value === undefined) return "";
  // A lone surrogate has no canonical form.
  return `,"${name}":${PLAIN.test(value) ? `"${value}"` : JSON.stringify(value.toWellFormed())}`;
}

/** Texts that JSON does not escape. */
const PLAIN = /^[\w :.,=@/+-]*$/;
