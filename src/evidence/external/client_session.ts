/**
 * An MCP session with an external provider: the official client over one of gate's transports, used for `tools/call`
 * only.
 */

import {
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../../canonical/json.ts";
import { VERSION } from "../../config/product_version.ts";
import { ExternalFailure, failureIn } from "./failure.ts";
import { oneLine } from "./reply.ts";
import type { RawResults } from "./messages.ts";

/** The tool of a provider that answers evidence queries. */
const TOOL = "evidence_query";
/** The client information that gate sends to providers. */
const CLIENT = { name: "gate", version: VERSION };
/** Milliseconds after a query's timeout at which the library itself gives up. */
const SLACK_MILLISECONDS = 50;

/** An open session. */
export interface ClientSession {
  /**
   * Calls the evidence tool.
   *
   * @returns The result as it was on the wire
   * @throws {ExternalFailure} Where no result came
   */
  readonly call: (input: JsonObject, timeoutMillis: number, signal: AbortSignal) => Promise<JsonObject>;
  readonly close: () => Promise<void>;
}

/** How to negotiate the protocol revision. */
export type Negotiation = NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;

/**
 * Opens a session: negotiates the protocol revision.
 *
 * @throws {ExternalFailure} Where it cannot be opened
 */
export async function openSession(
  transport: Transport,
  rawResults: RawResults,
  negotiation: Negotiation,
  timeoutMillis: number,
): Promise<ClientSession> {
  const client = new Client(CLIENT, { versionNegotiation: { mode: negotiation } });
  try {
    await client.connect(transport, { timeout: timeoutMillis });
  } catch (error) {
    throw explain(error, timeoutMillis);
  }
  return {
    call: async (input, timeout, signal) => {
      try {
        const params = { name: TOOL, arguments: input as Record<string, unknown> };
        const options = {
          timeout: timeout + SLACK_MILLISECONDS,
          signal,
          maxTotalTimeout: timeout + SLACK_MILLISECONDS,
        };
        const result = rawResults.retrieve(await client.callTool(params, options));
        if (result !== null) return result;
        throw new ExternalFailure("provider_protocol_error", "The provider sent no result");
      } catch (error) {
        throw explain(error, timeout);
      }
    },
    close: () => client.close(),
  };
}

/** The endpoint no longer knows the session. It has not run the query, so the query is safe to repeat in a new session. */
export class SessionLost extends ExternalFailure {
  /** Builds the failure that is reported where a new session fails too. */
  constructor() {
    super("provider_unreachable", "The provider answered HTTP 404");
  }
}

/** The failure for an error of the protocol library. */
function explain(error: unknown, timeoutMillis: number): ExternalFailure {
  const own = failureIn(error);
  if (own !== null) return own;
  if (error instanceof SdkHttpError) return failureOfStatus(error.status);
  if (error instanceof ProtocolError) {
    const message = `The provider answered with error ${error.code}: ${oneLine(error.message)}`;
    return new ExternalFailure("provider_protocol_error", message);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    return new ExternalFailure("worker_died", "The provider ended the session");
  }
  const reason = error instanceof Error ? oneLine(error.message) : "unknown reason";
  const message = isInvalidMessage(error) ? "its reply is not an MCP message; is it an MCP server?" : reason;
  return new ExternalFailure("provider_protocol_error", `Cannot understand provider: ${message}`);
}

/** Whether the library's validator rejected the message. Its long list of issues does not help an operator. */
function isInvalidMessage(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ("issues" in at) return true;
  }
  return false;
}

/** The failure for an HTTP status. */
function failureOfStatus(status: number | undefined): ExternalFailure {
  if (status === 401 || status === 403) {
    return new ExternalFailure("provider_unreachable", `The provider refused access: HTTP ${status}`, false);
  }
  if (status !== undefined && status >= 300 && status < 400) {
    return new ExternalFailure(
      "provider_protocol_error",
      `The provider answered with a redirect, which gate does not follow: HTTP ${status}`,
    );
  }
  if (status === 404) return new SessionLost();
  const unavailable = status === 429 || (status ?? 0) >= 500;
  return new ExternalFailure(
    "provider_unreachable",
    `The provider answered HTTP ${status ?? "without a status"}`,
    unavailable,
  );
}
