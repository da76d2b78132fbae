/**
 * The SDK's lane: the official implementation of the protocol behind a transport of ours. It is loaded at the first
 * message that the fast lane leaves to it, and first brought to where the connection already stands.
 *
 * @module
 */

import type { CallToolResult, JSONRPCMessage, ListToolsResult, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../canonical/json.ts";
import type { Tool, ToolAnswer } from "../tools/types.ts";
import { answerText, listedTool } from "./answers.ts";
import type { CallOutcome } from "./dispatcher.ts";
import { type EdgeError, jsonRpcError, type RequestId } from "./edge_error.ts";
import { CAPABILITIES, INSTRUCTIONS, LIST_CACHE, SERVER_INFO } from "./identity.ts";
import type { Log } from "./log.ts";

/** What the SDK's lane needs of the session. */
export interface SdkLaneOptions {
  /** Takes what the SDK sends: an answer to a delivered request, or a notification. */
  readonly send: (message: JSONRPCMessage) => void;
  readonly listTools: () => Promise<readonly Tool[]>;
  /** Calls a tool for a delivered request. */
  readonly callTool: (id: RequestId) => Promise<CallOutcome>;
  /** Told when the SDK cannot be loaded, and of each message delivered since: nothing will be answered. */
  readonly failed: (thrown: unknown) => void;
  readonly log: Log;
}

/** The SDK's side of one connection. */
export interface SdkLane {
  /** Whether the SDK is loaded, or being loaded. */
  readonly isStarted: () => boolean;
  /**
   * Loads the SDK.
   *
   * @param pin The message that brought the connection to where it stands, without its id; null for none. Its answer
   * was given already, so the SDK's is dropped.
   */
  readonly start: (pin: JsonObject | null) => void;
  /** Delivers one message, in order. */
  readonly deliver: (message: JsonObject) => void;
  readonly close: () => Promise<void>;
}

/** Logged when the SDK is loaded: a connection of plain messages never needs it. */
const SDK_LOADED = "Loading the protocol SDK";

/** The id under which a pin is replayed; no other request is under way then. */
const PIN_ID = "gate-pin";

/** Makes the lane; nothing is loaded yet. */
export function createSdkLane(options: SdkLaneOptions): SdkLane {
  let waiting: JsonObject[] = [];
  let handle: { close(): Promise<void> } | null = null;
  let starting: Promise<void> | null = null;
  let pinAnswered: (() => void) | null = null;
  let failure: { readonly thrown: unknown } | null = null;

  const channel: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      if (pinAnswered !== null && "id" in message && message.id === PIN_ID) pinAnswered();
      else options.send(message);
      return Promise.resolve();
    },
  };

  const deliverNow = (message: JsonObject): void => channel.onmessage?.(message as unknown as JSONRPCMessage);

  const start = async (pin: JsonObject | null): Promise<void> => {
    options.log("debug", SDK_LOADED);
    handle = await openSdk(channel, options);
    if (pin !== null) {
      const answered = Promise.withResolvers<void>();
      pinAnswered = answered.resolve;
      deliverNow({ ...pin, id: PIN_ID });
      await answered.promise;
      pinAnswered = null;
    }
    const first = waiting;
    waiting = [];
    for (const message of first) deliverNow(message);
  };

  return {
    isStarted: () => starting !== null,
    start: (pin) => {
      starting ??= start(pin).catch((thrown) => {
        failure = { thrown };
        waiting = [];
        options.failed(thrown);
      });
    },
    deliver: (message) => {
      if (failure !== null) options.failed(failure.thrown);
      else if (handle === null || pinAnswered !== null || waiting.length > 0) waiting.push(message);
      else deliverNow(message);
    },
    close: async () => {
      await starting;
      await handle?.close();
    },
  };
}

/** Connects the SDK's own stdio entry, which knows both eras, to a channel. */
async function openSdk(channel: Transport, options: SdkLaneOptions): Promise<{ close(): Promise<void> }> {
  const [{ Server }, { serveStdio }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const makeServer = (): InstanceType<typeof Server> => {
    const server = new Server({ ...SERVER_INFO }, {
      capabilities: CAPABILITIES,
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": LIST_CACHE, "server/discover": LIST_CACHE },
    });
    server.setRequestHandler("tools/list", async (request, context) => {
      if (request.params?.cursor !== undefined) throw new EdgeFailure(UNKNOWN_CURSOR, context.mcpReq.id);
      return { tools: (await options.listTools()).map(listedTool) as unknown as ListToolsResult["tools"] };
    });
    server.setRequestHandler("tools/call", async (_request, context) => {
      const outcome = await options.callTool(context.mcpReq.id);
      if (!outcome.ok) throw new EdgeFailure(outcome.error, context.mcpReq.id);
      return sdkResult(outcome.answer);
    });
    return server;
  };
  return serveStdio(makeServer, {
    transport: channel,
    onerror: (error) => options.log("debug", "Message refused by the protocol", { detail: error.message }),
  });
}

/** A tool's answer as the SDK takes it: what `callResult` of `answers.ts` writes. */
function sdkResult(answer: ToolAnswer): CallToolResult {
  return {
    content: [{ type: "text", text: answerText(answer) }],
    structuredContent: (answer.ok ? answer.result : { error: answer.error }) as Record<string, unknown>,
    ...(answer.ok ? {} : { isError: true }),
  };
}

const UNKNOWN_CURSOR: EdgeError = {
  kind: "invalid_params",
  message: "Unknown cursor: tools/list has one page",
  path: "$.params.cursor",
};

/** An edge failure in the shape that the SDK turns into a JSON-RPC error. */
class EdgeFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: EdgeError, id: RequestId) {
    super(error.message);
    const { code, data } = jsonRpcError(error, id);
    this.code = code;
    this.data = data;
  }
}
