/**
 * A server under attack: over HTTP, with tokens, a short patience, and an audit log to look into.
 *
 * @module
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { until } from "../until.ts";
import type { Wire } from "./client.ts";
import { TOKEN } from "./http/attack_rows.ts";
import { callText, type HttpServer, pause, send, startHttpFixture } from "./http_fixture.ts";

/** What `server.auth` has besides the mode and what it goes by. */
export const NO_MORE = { mtls_subjects: [], allowed_tools: [], principals: [] };

/** The token of another caller. */
export const OTHER_TOKEN = "another-caller-with-a-token";

/** `server.auth` with the token, or more of them. */
export function bearerAuth(tokens: readonly string[] = [TOKEN]): Wire {
  return { mode: "bearer_token", bearer_tokens: tokens, ...NO_MORE };
}

/** The fields of a caller who is let in. */
export function fieldsOf(token: string = TOKEN): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Connections end soon here, so that the tests do. */
export const BOUNDS = { headTime: 1_000, requestTime: 2_000, idleTime: 2_000 };

/** A server under attack. */
export interface Target extends HttpServer {
  /** Everything in the audit log so far. */
  readonly audited: () => Promise<string>;
}

/** A line of the audit log, as far as attacks go. */
export interface AuditLine {
  readonly kind: string;
  readonly outcome: string;
  readonly reason: string;
  readonly peer_address?: string;
  readonly subject?: string;
  readonly details?: { readonly count?: number };
}

/** Starts a server, attacks it, and ends it. */
export async function attack(server: Wire, http: Wire, body: (target: Target) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/audit.log`;
  try {
    const audit = { enabled: true, log_precheck_payloads: false, path };
    await using target = await startHttpFixture({
      server: { audit, auth: bearerAuth(), ...server },
      http: { bounds: BOUNDS, ...http },
    });
    await body({ ...target, audited: () => Deno.readTextFile(path) });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Waits until a word stands in the log. */
export async function logged(target: Target, word: string): Promise<void> {
  await until(`"${word}" in the log`, async () => (await target.audited()).includes(`"reason":"${word}"`));
}

/** Ends a server in order, and gives what it left in the log. */
export async function linesAfterEnd(target: Target): Promise<AuditLine[]> {
  target.process.signal("SIGTERM");
  assert.equal(await target.process.ended(), 0, target.process.errors());
  const lines = (await target.audited()).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as AuditLine);
}

/** The number of rejections for a reason in the log. */
export function refusalsIn(lines: readonly AuditLine[], word: string): number {
  const rejections = lines.filter(({ outcome, reason }) => outcome === "refused" && reason === word);
  return rejections.reduce((sum, { details }) => sum + (details?.count ?? 1), 0);
}

/** Sees that a server serves. */
export async function assertHealthy(target: Target, token: string = TOKEN): Promise<void> {
  assert.equal((await send(target.url, null, { path: "/readyz" })).status, 200);
  const { status, text } = await send(target.url, callText(1, "echo", { a: 1 }), { headers: fieldsOf(token) });
  assert.deepEqual([status, text.includes('"structuredContent":{"input":{"a":1}}')], [200, true], text);
}

/** The value of a metric; one that is not there is null. */
export async function metric(target: Target, name: string, token: string = TOKEN): Promise<number | null> {
  const { status, text } = await send(target.url, null, { path: "/metrics", headers: fieldsOf(token) });
  assert.equal(status, 200, text);
  const found = new RegExp(`^${RegExp.escape(name)} (\\S+)$`, "m").exec(text);
  return found === null ? null : Number(found[1]);
}

/** The number of rejections for a reason in the metrics. */
export async function refusals(target: Target, word: string, token: string = TOKEN): Promise<number> {
  return await metric(target, `gate_refusals_total{reason="${word}"}`, token) ?? 0;
}

/** Bytes that a server keeps. */
export interface Memory {
  readonly resident: number;
  readonly heap: number;
}

/** Bytes that the server keeps, once the collector has run. */
async function memoryOf(target: Target): Promise<Memory> {
  const { text } = await send(target.url, callText(1, "memory"), { headers: fieldsOf() });
  return (JSON.parse(text) as { result: { structuredContent: { resident: number; heap: number } } }).result
    .structuredContent;
}

/** The least that a few looks show: what is garbage goes when the collector comes, and it comes in its own time. */
export async function settledMemory(target: Target): Promise<Memory> {
  let least = await memoryOf(target);
  for (let look = 0; look < 6; look++) {
    await pause(400);
    const { resident, heap } = await memoryOf(target);
    least = { resident: Math.min(least.resident, resident), heap: Math.min(least.heap, heap) };
  }
  return least;
}

/** Opens connections that send a beginning and then nothing; gives how to close what is left of them. */
export async function halfOpen(port: number, count: number, beginning: string): Promise<Deno.Conn[]> {
  const bytes = new TextEncoder().encode(beginning);
  const opened: Deno.Conn[] = [];
  for (let index = 0; index < count; index++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    opened.push(connection);
    if (bytes.length > 0) await connection.write(bytes).catch(() => 0);
  }
  return opened;
}

/**
 * Opens connections that send something and are reset, all before a server takes the first of them: it is stopped
 * meanwhile.
 */
export async function resetBeforeTaken(server: HttpServer, count: number, sent: string): Promise<void> {
  server.process.signal("SIGSTOP");
  try {
    for (let index = 0; index < count; index++) {
      const socket = connect(server.port, "127.0.0.1");
      await once(socket, "connect");
      await new Promise<unknown>((resolve) => socket.write(sent, resolve));
      socket.resetAndDestroy();
      await once(socket, "close");
    }
  } finally {
    server.process.signal("SIGCONT");
  }
}

/** The head of a request of a caller who is let in, as far as its length. */
export function headOf(token: string = TOKEN, path = "/mcp"): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${token}\r\n`;
}
