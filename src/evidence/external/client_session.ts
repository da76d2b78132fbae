/**
 * A conversation with an external provider: the official client over one of our transports, asked for nothing but
 * `tools/call`.
 *
 * @module
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
import { ExternalFailure, failureIn } from "./failure.ts";
import { boundedText } from "./reply.ts";
import type { Cloakroom } from "./wire.ts";

/** The tool that a provider answers evidence queries with. */
const TOOL = "evidence_query";
/** How gate names itself to providers. */
const CLIENT = { name: "gate", version: "0.1.0" };
/** Milliseconds that a question may take beyond what it was given, until the library itself gives up. */
const SLACK_MILLISECONDS = 50;

/** A conversation that was opened. */
export interface ClientSession {
  /**
   * Calls the evidence tool.
   *
   * @returns The result as it was on the wire
   * @throws {ExternalFailure} Where there is none
   */
  readonly call: (input: JsonObject, timeoutMillis: number, signal: AbortSignal) => Promise<JsonObject>;
  readonly close: () => Promise<void>;
}

/** How to settle on a protocol revision. */
export type Negotiation = NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>;

/**
 * Opens a conversation: negotiates the protocol revision.
 *
 * @throws {ExternalFailure} Where it cannot be opened
 */
export async function openSession(
  transport: Transport,
  cloakroom: Cloakroom,
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
        const result = cloakroom.redeem(await client.callTool(params, options));
        if (result !== null) return result;
        throw new ExternalFailure("provider_protocol_error", "The provider gave no result");
      } catch (error) {
        throw explain(error, timeout);
      }
    },
    close: () => client.close(),
  };
}

/** The conversation is forgotten on the other side: nothing was asked, so it may be opened and asked again. */
export class ConversationLost extends ExternalFailure {
  /** The failure that it is where it cannot be opened again. */
  constructor() {
    super("provider_unreachable", "The provider answered HTTP 404");
  }
}

/** The failure that an error of the protocol library amounts to. */
function explain(error: unknown, timeoutMillis: number): ExternalFailure {
  const own = failureIn(error);
  if (own !== null) return own;
  if (error instanceof SdkHttpError) return explainStatus(error.status);
  if (error instanceof ProtocolError) {
    const message = `The provider answered with error ${error.code}: ${boundedText(error.message)}`;
    return new ExternalFailure("provider_protocol_error", message);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return new ExternalFailure("timeout", `The provider did not answer within ${timeoutMillis} ms`);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    return new ExternalFailure("worker_died", "The provider ended the conversation");
  }
  const said = error instanceof Error ? boundedText(error.message) : "it is not said why";
  const message = isUnreadable(error) ? "its reply is no message of MCP; is there an MCP server behind it?" : said;
  return new ExternalFailure("provider_protocol_error", `Cannot understand provider: ${message}`);
}

/** Whether the library's validator refused what came, of which it gives a long account that says nothing to operators. */
function isUnreadable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ("issues" in at) return true;
  }
  return false;
}

/** The failure that an HTTP status amounts to. */
function explainStatus(status: number | undefined): ExternalFailure {
  if (status === 401 || status === 403) {
    return new ExternalFailure("provider_unreachable", `The provider refuses gate: HTTP ${status}`, false);
  }
  if (status !== undefined && status >= 300 && status < 400) {
    return new ExternalFailure(
      "provider_protocol_error",
      `The provider redirects, which is not followed: HTTP ${status}`,
    );
  }
  if (status === 404) return new ConversationLost();
  const unavailable = status === 429 || (status ?? 0) >= 500;
  return new ExternalFailure(
    "provider_unreachable",
    `The provider answered HTTP ${status ?? "without a status"}`,
    unavailable,
  );
}
