/**
 * HTTP to an external provider: a `fetch` for the protocol library. It bounds every response in bytes and time, follows
 * no redirect and parses each message as strict JSON. It ends an event stream after the response that the request waits
 * for.
 */

import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import { checkServerIdentity } from "node:tls";
import { byAlternativeNames } from "../../config/server_identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { HEAD_BYTES_MAXIMUM, isHeadTooLarge } from "../egress/response_head.ts";
import { readResponseEvent, readText } from "./body.ts";
import { noteOutgoing } from "./child.ts";
import { ExternalFailure } from "./failure.ts";
import { type RawResults, readMessageText } from "./messages.ts";

/** How to reach the provider. */
export interface BoundedFetchOptions {
  readonly url: URL;
  /** Milliseconds to reach the host, TLS included. */
  readonly connectTimeoutMillis: number;
  /** Milliseconds for an exchange. One whose response nothing awaits has the time of connecting. */
  readonly requestTimeoutMillis: number;
  readonly rawResults: RawResults;
}

/** A `fetch` for one provider. */
export interface BoundedFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Ends every connection. */
  readonly close: () => void;
}

/** Creates the `fetch` of a provider. It reuses connections. */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const secure = options.url.protocol === "https:";
  const agent = new (secure ? https : http).Agent({
    keepAlive: true,
    maxSockets: 64,
    maxFreeSockets: 8,
    checkServerIdentity: byAlternativeNames(checkServerIdentity),
  });
  const open = new Map<JsonValue, AbortController>();
  return {
    fetch: async (_url, init = {}) => {
      const method = init.method ?? "GET";
      // GET would open a stream for messages that the provider sends unasked; evidence comes only as a response.
      if (method === "GET") return new Response(null, { status: 405 });
      const sent = method === "POST" && typeof init.body === "string" ? parseJson(init.body) : null;
      const message = sent?.ok === true && isJsonObject(sent.value) ? sent.value : null;
      if (message !== null) {
        const cancelled = noteOutgoing(options.rawResults, message, member(message, "method"));
        open.get(cancelled)?.abort(new ExternalFailure("cancelled", "Cancelled", false));
      }
      const id = message === null ? null : member(message, "id") ?? null;
      const millis = id === null ? options.connectTimeoutMillis : options.requestTimeoutMillis;
      // The library ends neither a cancelled nor a late exchange: each would keep its connection, and soon none would
      // be free.
      const exchange = new AbortController();
      const late = new ExternalFailure("timeout", `The provider did not answer within ${millis} ms`);
      const timer = setTimeout(() => exchange.abort(late), millis);
      if (id !== null) open.set(id, exchange);
      const signal = AbortSignal.any([exchange.signal, ...init.signal ? [init.signal] : []]);
      try {
        return await request(options, agent, { ...init, signal }, method, message);
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
        return await request(options, agent, { ...init, signal }, method, message);
      } finally {
        clearTimeout(timer);
        open.delete(id);
      }
    },
    close: () => agent.destroy(),
  };
}

/** The other side closed a reused connection. No response was read, so sending the request again is safe. */
class StaleConnection extends Error {}

function requireNetwork(url: URL): void {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  // Deno throws a permission error past every handler here, so the permission is checked first.
  const { state } = Deno.permissions.querySync({ name: "net", host: `${url.hostname}:${port}` });
  if (state === "granted") return;
  throw new ExternalFailure("provider_unreachable", "Cannot reach provider: gate may not connect to its host", false);
}

function request(
  options: BoundedFetchOptions,
  agent: http.Agent,
  init: RequestInit,
  method: string,
  message: JsonObject | null,
): Promise<Response> {
  const { url } = options;
  requireNetwork(url);
  init.signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const outgoing = (url.protocol === "https:" ? https : http).request(url, {
    method,
    agent,
    headers: headersOf(init),
    maxHeaderSize: HEAD_BYTES_MAXIMUM,
  });
  outgoing.maxHeadersCount = HEAD_BYTES_MAXIMUM;
  const fail = (error: unknown): void => {
    reject(error);
    outgoing.destroy();
  };
  const abort = (): void => fail(init.signal?.reason ?? new ExternalFailure("cancelled", "Cancelled", false));
  init.signal?.addEventListener("abort", abort, { once: true });
  limitConnectTime(outgoing, options, fail);
  outgoing.on("error", (error) => reject(outgoing.reusedSocket ? stale(error) : transportFailure(error)));
  let answered = false;
  outgoing.on("close", () => {
    // After a response, the end of its body decides.
    if (!answered) reject(new ExternalFailure("connection_failed", "The provider ended the connection"));
  });
  outgoing.on("response", (response) => {
    answered = true;
    readResponse(response, message, options.rawResults).then(resolve, fail);
  });
  outgoing.end(typeof init.body === "string" ? init.body : undefined);
  return promise.finally(() => init.signal?.removeEventListener("abort", abort));
}

function headersOf(init: RequestInit): Record<string, string> {
  const headers = Object.fromEntries(new Headers(init.headers ?? {}));
  const body = typeof init.body === "string" ? init.body : "";
  return { ...headers, "accept-encoding": "identity", "content-length": String(Buffer.byteLength(body)) };
}

/** Fails the request where connecting, TLS included, exceeds the connect timeout. A reused connection is open already. */
function limitConnectTime(
  outgoing: http.ClientRequest,
  { url, connectTimeoutMillis }: BoundedFetchOptions,
  fail: (error: ExternalFailure) => void,
): void {
  const message = `Cannot reach provider within ${connectTimeoutMillis} ms`;
  const timer = setTimeout(() => fail(new ExternalFailure("timeout", message)), connectTimeoutMillis);
  const reached = (): void => clearTimeout(timer);
  outgoing.on("close", reached);
  outgoing.on("response", reached);
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) reached();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", reached);
  });
}

async function readResponse(
  response: http.IncomingMessage,
  sent: JsonObject | null,
  rawResults: RawResults,
): Promise<Response> {
  if (isHeadTooLarge(response)) throw headTooLarge();
  const status = response.statusCode ?? 0;
  const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const encoding = response.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new ExternalFailure(
      "provider_protocol_error",
      "The provider answered with a content encoding that was not requested",
    );
  }
  const headers = sessionHeader(response);
  const chunks = chunksOf(response);
  if (type === "text/event-stream" && status < 300) {
    const found = await readResponseEvent(chunks, sent === null ? undefined : member(sent, "id"));
    return Response.json(rawResults.substitute(found), { status, headers });
  }
  const text = await readText(chunks, response.headers["content-length"]);
  if (status < 200 || status > 599) {
    throw new ExternalFailure("provider_protocol_error", "The provider answered with an invalid status");
  }
  if (status >= 300) return new Response(status === 304 ? null : text, { status, headers });
  if (status === 202 || status === 204 || text === "") return new Response(null, { status, headers });
  const reply = readMessageText(text);
  const id = sent === null ? undefined : member(sent, "id");
  if (id !== undefined && member(reply, "id") !== id) {
    throw new ExternalFailure("provider_protocol_error", "Cannot read reply of provider: it answers another request");
  }
  return Response.json(rawResults.substitute(reply), { status, headers });
}

function headTooLarge(): ExternalFailure {
  return new ExternalFailure(
    "response_too_large",
    `The headers of the provider's reply exceed ${HEAD_BYTES_MAXIMUM} bytes`,
  );
}

/** The only header of a response that the protocol library reads. */
function sessionHeader(response: http.IncomingMessage): Headers {
  const headers = new Headers();
  const session = response.headers["mcp-session-id"];
  if (typeof session === "string" && /^[\x21-\x7e]{1,1024}$/.test(session)) headers.set("mcp-session-id", session);
  return headers;
}

/** The chunks of a body; a truncated body is an error. */
async function* chunksOf(response: http.IncomingMessage): AsyncGenerator<Uint8Array> {
  const truncated = new ExternalFailure("response_truncated", "The reply of the provider ended early");
  try {
    for await (const chunk of response) yield chunk as Uint8Array;
  } catch {
    throw truncated;
  }
  if (!response.complete) throw truncated;
}

function stale(error: Error): Error {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE" ? new StaleConnection(error.message) : transportFailure(error);
}

/** The failure for an error of the connection, by the runtime's error code. */
export function transportFailure(error: Error): ExternalFailure {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ENOTFOUND" || code.startsWith("EAI_")) {
    return new ExternalFailure("dns_failed", "Cannot reach provider: its host name does not resolve");
  }
  if (/CERT|TLS|SSL|SIGNATURE|ALTNAME|ISSUER/.test(code)) {
    return new ExternalFailure("tls_failed", `Cannot reach provider: TLS failed (${code})`, false);
  }
  if (code === "HPE_HEADER_OVERFLOW") return headTooLarge();
  if (code.startsWith("HPE_")) {
    return new ExternalFailure("provider_protocol_error", "The provider does not answer in HTTP");
  }
  return new ExternalFailure("connection_failed", "Cannot reach provider: the connection failed");
}
