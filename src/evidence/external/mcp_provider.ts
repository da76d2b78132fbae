/**
 * Providers of type `mcp`: programs and services of others that answer the tool `evidence_query` (docs/guide/trust.md).
 *
 * @module
 */

import { basename } from "node:path";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { McpProviderConfig } from "../../config/types.ts";
import { asJson } from "../../run/primitives.ts";
import type { EvidenceContext, EvidenceQuery, LoadedContract, Provider, ProviderAnswer } from "../types.ts";
import type { StderrTail } from "./child.ts";
import type { Connect } from "./connections.ts";
import { ExternalFailure, failureAnswer, failureIn } from "./failure.ts";
import { createKeeper, type Keeper } from "./reconnecting_connection.ts";
import { decodeToolResult } from "./reply.ts";

/** What a provider is made with beside its configuration. */
export interface McpProviderOptions {
  /** Working directory of a provider's process: the folder of the configuration. */
  readonly directory: string;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A provider of type `mcp`; what it can say of itself beyond {@link Provider} is for diagnosis. */
export interface McpProvider extends Provider {
  /** The end of what its process wrote to standard error; may hold anything, so it is for the operator alone. */
  readonly stderrTail: () => string;
}

/**
 * Makes a provider of its configuration. Nothing is started before it is first asked; `command` wins over `url`.
 *
 * @throws {TypeError} Where the entry has neither, which the configuration refuses
 */
export function createMcpProvider(
  entry: McpProviderConfig,
  loaded: LoadedContract,
  options: McpProviderOptions,
): McpProvider {
  const now = options.now ?? Date.now;
  const { request_timeout_ms: timeoutMillis } = entry.timeouts;
  const stderr: StderrTail = { text: "" };
  const keeper = createKeeper(connectorOf(entry, options.directory, stderr), timeoutMillis);
  const grant = grantOf(entry);
  return {
    provider_id: entry.name,
    kind: "mcp",
    loaded,
    allow_raw: entry.allow_raw,
    query: async (query, context, signal) => {
      try {
        const result = await ask(keeper, inputOf(query, context), timeoutMillis, signal);
        const decoded = decodeToolResult(result);
        if (decoded.ok) return { ok: true, result: decoded.result, acquired_at: now(), grant };
        return refused(`Cannot take reply of provider: ${decoded.message}`);
      } catch (error) {
        return failureAnswer(failureIn(error) ?? new ExternalFailure("provider_protocol_error", "Cannot ask provider"));
      }
    },
    close: keeper.close,
    stderrTail: () => stderr.text,
  };
}

function refused(message: string): ProviderAnswer {
  return failureAnswer(new ExternalFailure("provider_protocol_error", message));
}

/** How to reach a provider; the protocol library is loaded when that is first needed. */
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

/** What the provider can touch, as far as gate knows: all that a process may, or whatever stands behind a host. */
function grantOf(entry: McpProviderConfig): JsonObject {
  return entry.command.length > 0
    ? { kind: "unconfined_subprocess", program: basename(entry.command[0] ?? "") }
    : { kind: "http", host: new URL(entry.url ?? "").hostname };
}

function inputOf(query: EvidenceQuery, context: EvidenceContext): JsonObject {
  return { query: asJson(query), context: asJson(context) } satisfies Record<string, JsonValue>;
}

/** Asks within the time there is. A process that lets it pass is ended: it may be stuck. */
async function ask(
  keeper: Keeper,
  input: JsonObject,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const deadline = performance.now() + timeoutMillis;
  for (let attempt = 0;; attempt++) {
    const connection = await keeper.take(deadline, signal);
    const remaining = deadline - performance.now();
    if (remaining <= 0) throw new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
    try {
      const result = await connection.session.call(input, Math.ceil(remaining), signal);
      keeper.praise();
      return result;
    } catch (error) {
      const failure = connection.over() ?? failureIn(error);
      if (signal.aborted) throw new ExternalFailure("cancelled", "The caller is gone", false);
      if (failure?.code === "timeout" && connection.endsWithTimeout && connection.over() === null) {
        keeper.drop(
          connection,
          new ExternalFailure("worker_died", "The provider was ended: it did not answer in time"),
        );
        throw new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
      }
      const { ConversationLost } = await import("./client_session.ts");
      if (!(failure instanceof ConversationLost) || attempt > 0) throw failure ?? error;
      keeper.drop(connection, failure);
    }
  }
}
