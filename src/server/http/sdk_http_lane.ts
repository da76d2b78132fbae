/**
 * The SDK lane over HTTP answers messages that the fast lane does not accept, and every fault of the protocol. The SDK
 * receives messages that were parsed and checked before, and answers each alone, without sessions.
 *
 * @module
 */

import type { McpHttpHandler, Server } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { Call } from "../../tools/framework/types.ts";
import type { ReadOutcome } from "../protocol/read_request.ts";
import type { CallOutcome, Dispatcher } from "../protocol/dispatcher.ts";
import { type RequestId, withEdgeData } from "../process/edge_error.ts";
import { internalError } from "../process/internal_error.ts";
import type { Log } from "../process/log.ts";
import { makeSdkServer } from "../protocol/sdk_server.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import { callFailureReply, errorReply, httpError, type HttpReply, jsonReply, type StreamSink } from "./reply.ts";

/** A message for the SDK. */
export interface SdkDelivery {
  readonly incoming: AuthenticatedRequest;
  /** The message as it was received, checked. */
  readonly raw: JsonObject;
  /** Null for a message that is not answered. */
  readonly id: RequestId | null;
  /** The caller of a request; null for a message without an id. */
  readonly call: Call | null;
}

/** The SDK lane of the HTTP transport. */
export interface SdkHttpLane {
  readonly answer: (delivery: SdkDelivery) => Promise<HttpReply>;
  /** Ends the open streams. */
  readonly close: () => Promise<void>;
}

/** The options of the lane. */
export interface SdkHttpLaneOptions {
  readonly dispatcher: Dispatcher;
  readonly log: Log;
}

type Sdk = typeof import("@modelcontextprotocol/server");

/** The loaded SDK. */
interface Loaded {
  readonly sdk: Sdk;
  readonly modern: McpHttpHandler;
}

/** A delivery with the outcome of its call or read. */
interface Delivered extends SdkDelivery {
  outcome: CallOutcome | ReadOutcome<unknown> | null;
}

/** Subscription streams at one time. This server sends no events over them, so a few suffice. */
const SUBSCRIPTIONS = 64;

/** Unread bytes from which on a stream is dropped. */
const BEHIND_BYTES = 1 << 20;

/** Header fields that the SDK checks. */
const JUDGED_FIELDS = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"];

/** Makes the lane; the SDK is loaded at the first message for it. */
export function createSdkHttpLane(options: SdkHttpLaneOptions): SdkHttpLane {
  const deliveries = new WeakMap<Request, Delivered>();
  let loading: Promise<Loaded> | null = null;

  const load = async (): Promise<Loaded> => {
    options.log("debug", "Loading the protocol SDK");
    const sdk = await import("@modelcontextprotocol/server");
    const modern = sdk.createMcpHandler(({ requestInfo }) => {
      const delivery = requestInfo === undefined ? undefined : deliveries.get(requestInfo);
      if (delivery === undefined) throw new Error("Cannot serve: the message was not delivered by this server");
      return serverFor(sdk, options, delivery);
    }, {
      legacy: "reject",
      maxSubscriptions: SUBSCRIPTIONS,
      onerror: (error) => options.log("debug", "Message rejected by the protocol", { detail: error.message }),
    });
    return { sdk, modern };
  };

  // The next message tries to load the SDK again.
  const forget = (error: unknown): never => {
    loading = null;
    throw error;
  };

  return {
    answer: async (given) => {
      const delivery: Delivered = { ...given, outcome: null };
      try {
        const { sdk, modern } = await (loading ??= load().catch(forget));
        const request = sdkRequest(delivery.incoming);
        deliveries.set(request, delivery);
        const response = await sdk.isLegacyRequest(request, delivery.raw)
          ? await answerLegacy(sdk, options, request, delivery)
          : await modern.fetch(request, { parsedBody: delivery.raw });
        return await replyOf(response, delivery);
      } catch (thrown) {
        return errorReply(httpError(internalError(options.log, "the protocol", thrown, null)), delivery.id);
      }
    },
    close: async () => {
      const loaded = await loading?.catch(() => null);
      await loaded?.modern.close();
    },
  };
}

/** The request for the SDK, without its body. It accepts both media types, as the SDK requires of clients. */
export function sdkRequest({ request: { headers, method, signal } }: AuthenticatedRequest): Request {
  const fields = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  for (const name of JUDGED_FIELDS) {
    const value = headers.get(name);
    if (value !== null) fields.set(name, value);
  }
  return new Request("http://localhost/mcp", { method, headers: fields, signal });
}

function serverFor(sdk: Sdk, options: SdkHttpLaneOptions, delivery: Delivered): Server {
  const ask = async (name: string, input: JsonObject): Promise<CallOutcome> =>
    delivery.call === null ? NO_CALLER : await options.dispatcher.call(name, input, delivery.call);
  return makeSdkServer(sdk, {
    listTools: () => options.dispatcher.listing(),
    offer: options.dispatcher.offer,
    askTool: (_id, name, input) => ask(name, input),
    read: async (_id, request) => {
      if (delivery.call === null) return NO_CALLER;
      const outcome = await options.dispatcher.read(request, delivery.call);
      delivery.outcome = outcome;
      return outcome;
    },
    callTool: async () => {
      const params = member(delivery.raw, "params");
      const name = isJsonObject(params) ? member(params, "name") : undefined;
      const input = isJsonObject(params) ? member(params, "arguments") : undefined;
      const outcome = await ask(typeof name === "string" ? name : "", isJsonObject(input) ? input : {});
      delivery.outcome = outcome;
      return outcome;
    },
  });
}

const NO_CALLER = { ok: false, error: { kind: "invalid_request", message: "Cannot call without an id" } } as const;

/** Answers a message of the older era with its own server and transport. */
async function answerLegacy(
  sdk: Sdk,
  options: SdkHttpLaneOptions,
  request: Request,
  delivery: Delivered,
): Promise<Response> {
  const server = serverFor(sdk, options, delivery);
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: delivery.raw });
  } finally {
    await server.close();
  }
}

async function replyOf(response: Response, delivery: Delivered): Promise<HttpReply> {
  const { outcome, id } = delivery;
  if (isStream(response)) return streamReply(response);
  const text = await response.text();
  if (outcome?.ok === true) return jsonReply(response.status, text);
  if (outcome?.ok === false && id !== null) return callFailureReply(outcome.error, id);
  if (text === "") return { status: response.status, fields: {}, body: null };
  const body = parseJson(text);
  const answer = body.ok && isJsonObject(body.value) ? body.value : {};
  const error = member(answer, "error");
  if (!isJsonObject(error)) return jsonReply(response.status, text);
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  const whole = withEdgeData({
    ...(id === null ? {} : { id }),
    error: { code: Number(code), message: String(message), data },
  });
  const reply = jsonReply(response.status, JSON.stringify({ jsonrpc: "2.0", id, error: whole.error }));
  return response.status >= 400 ? { ...reply, refused: String(whole.error.data["kind"]) } : reply;
}

/** Whether a response of the SDK is a stream. */
export function isStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** Forwards a stream; drops a reader that falls behind. */
export function streamReply(response: Response): HttpReply {
  const fields = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  };
  return { status: response.status, fields, body: null, stream: (sink) => void pump(response, sink) };
}

async function pump(response: Response, sink: StreamSink): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const stop = (): void => void reader?.cancel().catch(() => undefined);
  sink.gone.addEventListener("abort", stop);
  try {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      sink.write(next.value);
      if (sink.waiting() > BEHIND_BYTES) break;
    }
  } catch {
    // The SDK ended the stream.
  }
  stop();
  sink.end();
}
