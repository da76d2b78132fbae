/**
 * Providers of type `mcp`: programs and services of others that answer the tool `evidence_query` (docs/guide/trust.md).
 */

import { basename } from "node:path";
import type { JsonObject } from "../../canonical/json.ts";
import type { McpProviderConfig } from "../../config/types.ts";
import { asJson } from "../../run/primitives.ts";
import type { LoadedContract, Provider } from "../types.ts";
import type { StderrTail } from "./child.ts";
import type { Connect } from "./connections.ts";
import { ExternalFailure, failureAnswer, failureIn } from "./failure.ts";
import { createReconnectingConnection, type ReconnectingConnection } from "./reconnecting_connection.ts";
import { decodeToolResult } from "./reply.ts";

/** A provider of type `mcp`, with diagnostics beyond {@link Provider}. */
export interface McpProvider extends Provider {
  /** The end of its process's standard error. It can hold any text, so only the operator sees it. */
  readonly stderrTail: () => string;
}

/**
 * Creates a provider from its configuration. The first query starts or connects it; `command` wins over `url`.
 *
 * @throws {TypeError} Where the entry has neither, which the configuration rejects
 */
export function createMcpProvider(
  entry: McpProviderConfig,
  loaded: LoadedContract,
  directory: string,
): McpProvider {
  const { request_timeout_ms: timeoutMillis } = entry.timeouts;
  const stderr: StderrTail = { text: "" };
  const connections = createReconnectingConnection(connectorOf(entry, directory, stderr), timeoutMillis);
  const grant = grantOf(entry);
  return {
    provider_id: entry.name,
    kind: "mcp",
    loaded,
    allow_raw: entry.allow_raw,
    query: async (query, context, signal) => {
      try {
        const result = await ask(
          connections,
          { query: asJson(query), context: asJson(context) },
          timeoutMillis,
          signal,
        );
        const decoded = decodeToolResult(result);
        if (decoded.ok) return { ok: true, result: decoded.result, acquired_at: Date.now(), grant };
        const message = `Cannot accept reply of provider: ${decoded.message}`;
        return failureAnswer(new ExternalFailure("provider_protocol_error", message));
      } catch (error) {
        return failureAnswer(failureIn(error) ?? new ExternalFailure("provider_protocol_error", "Cannot ask provider"));
      }
    },
    close: connections.close,
    stderrTail: () => stderr.text,
  };
}

/** The function that connects to a provider. It loads the protocol library on the first call. */
function connectorOf(entry: McpProviderConfig, directory: string, stderr: StderrTail): Connect {
  if (entry.command.length === 0 && entry.url === null) {
    throw new TypeError(`Cannot make provider "${entry.name}": it has neither command nor url`);
  }
  let connect: Connect | null = null;
  return async (timeoutMillis) => {
    const { connectChild, connectEndpoint } = await import("./connections.ts");
    connect ??= entry.command.length > 0
      ? connectChild(entry.command, directory, stderr)
      : connectEndpoint(entry, new URL(entry.url ?? ""));
    return await connect(timeoutMillis);
  };
}

/** The grant to record: a process runs unconfined, and of an endpoint gate knows the host only. */
function grantOf(entry: McpProviderConfig): JsonObject {
  return entry.command.length > 0
    ? { kind: "unconfined_subprocess", program: basename(entry.command[0] ?? "") }
    : { kind: "http", host: new URL(entry.url ?? "").hostname };
}

/**
 * Queries within the timeout. A process that exceeds it is ended, because it may be stuck. The callers may leave
 * before, so the time of all queries counts that waited since its last answer.
 */
async function ask(
  connections: ReconnectingConnection,
  input: JsonObject,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const deadline = performance.now() + timeoutMillis;
  for (let attempt = 0;; attempt++) {
    const connection = await connections.acquire(deadline, signal);
    const remaining = deadline - performance.now();
    if (remaining <= 0) throw new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
    const { silence } = connection;
    silence?.begin();
    try {
      const result = await connection.session.call(input, Math.ceil(remaining), signal);
      connections.recordSuccess();
      silence?.answered();
      return result;
    } catch (error) {
      const failure = connection.over() ?? failureIn(error);
      const isLate = failure?.code === "timeout" && !signal.aborted;
      const isStuck = isLate || signal.aborted && (silence?.milliseconds() ?? 0) >= timeoutMillis;
      if (isStuck && silence !== null && connection.over() === null) {
        connections.discard(
          connection,
          new ExternalFailure("worker_died", "The provider was ended: it did not answer in time"),
        );
      }
      if (signal.aborted) throw new ExternalFailure("cancelled", "The caller is gone", false);
      if (isLate && silence !== null) {
        throw new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
      }
      silence?.answered();
      const { SessionLost } = await import("./client_session.ts");
      if (!(failure instanceof SessionLost) || attempt > 0) throw failure ?? error;
      connections.discard(connection, failure);
    } finally {
      silence?.end();
    }
  }
}
