/** What the tests of the audit log share: a path of their own, and files that are written and verified. */

import assert from "node:assert/strict";
import { openAuditFile } from "./file.ts";
import { readHead } from "./head.ts";
import { type ChainState, timeEvent } from "./line.ts";
import type { AuditEvent } from "./types.ts";
import { type AuditReport, verifyAuditFile } from "./verify.ts";

/** What these logs say first. */
export const OPENING: AuditEvent = {
  kind: "process",
  outcome: "begun",
  reason: "process_started",
  subject: null,
  origin: null,
};

/** An event whose reason is a test's own. */
export function event(reason: string): AuditEvent {
  const origin = {
    transport: "http" as const,
    peer_address: "127.0.0.1",
    correlation_id: "client-1",
    server_correlation_id: "gate-1",
    traceparent: null,
  };
  return { kind: "mutation", outcome: "done", reason, subject: "token:00", origin, tool: "t", details: { n: 1 } };
}

/** Runs a test on a path of its own. */
export async function withPath(test: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/audit.jsonl`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Opens, writes events in one batch, synchronises and closes. */
export async function writeOnce(path: string, ...reasons: string[]): Promise<void> {
  const file = openAuditFile(path, null, OPENING);
  if (reasons.length > 0) assert.ok(file.append(reasons.map((reason) => timeEvent(event(reason), 7))));
  await file.sync();
  file.close();
}

/** Bytes in pieces. */
export async function* bytesOf(text: string | Uint8Array, step = 100): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
}

/** Verifies a file by its head file. */
export async function verify(path: string): Promise<AuditReport> {
  return await verifyAuditFile(bytesOf(await Deno.readFile(path)), { head: readHead(path) });
}

/** The chain at the end of a file that is sound. */
export async function chainOf(path: string, after: ChainState | null): Promise<ChainState> {
  const { sound, broken, chain_id, last_sequence, head } = await verifyAuditFile(bytesOf(await Deno.readFile(path)), {
    after,
  });
  assert.ok(sound, JSON.stringify(broken));
  return { chain_id: chain_id ?? "", sequence: last_sequence ?? 0, head: head ?? "" };
}
