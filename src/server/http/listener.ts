/**
 * Accepts connections within bounds, reads requests and writes the replies of a handler. The server is `node:http`,
 * with or without TLS: only this server of the runtime ends slow connections and verifies client certificates.
 */

import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as SocketServer, type Socket } from "node:net";
import type { RequestTls } from "../auth/types.ts";
import { delay, type Log } from "../process/log.ts";
import { isTlsFault } from "./tls_failure.ts";
import { readBody } from "./body.ts";
import { HEADER_FIELDS, type HeaderFields, readFields } from "./header_fields.ts";
import { type Connections, createConnections, type Exchange } from "./connections.ts";
import { addressOf } from "../audit/peers.ts";
import type { HttpReply, StreamSink } from "./reply.ts";
import type { HttpRequest } from "./request.ts";

/** Bounds on connections; times in milliseconds. */
export interface ConnectionBounds {
  /** Connections at one time; a further one ends an idle connection. */
  readonly connections: number;
  /** Bytes of a request's head. */
  readonly headBytes: number;
  /** The time for a complete head of a request and, with TLS, for a handshake. */
  readonly headTime: number;
  /** The time for a complete body of a request, and for reading its answer. */
  readonly requestTime: number;
  /** The time that a connection may wait for its next request. */
  readonly idleTime: number;
}

/** The bounds of the service. */
export const CONNECTION_BOUNDS: ConnectionBounds = {
  connections: 1024,
  headBytes: 16 * 1024,
  headTime: 10_000,
  requestTime: 30_000,
  idleTime: 60_000,
};

/** The options of a listener. */
export interface ListenerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly bounds: ConnectionBounds;
  readonly handle: (request: HttpRequest) => Promise<HttpReply>;
  /** Counts response bytes for a caller; the returned function releases them, once they are read or never will be. */
  readonly hold: (caller: string, bytes: number) => () => void;
  /** Records a connection that is ended for its input, or for slow input. */
  readonly refused: (reason: string, peerAddress: string) => void;
  readonly log: Log;
  /** TLS in this process; null for none. */
  readonly tls: {
    readonly createServer: (options: object, listener: Handler) => Server;
    /** The TLS facts of a connection; null for a connection that is not, or no longer, accepted. */
    readonly tlsOf: (socket: Socket) => RequestTls | null;
    /** Ends a connection that is no longer accepted, and records the reason once. */
    readonly end: (socket: Socket) => void;
    /** Records why TLS failed on an open connection. */
    readonly failed: (error: Error, socket: Socket) => void;
  } | null;
}

/** A started listener. */
export interface Listener {
  readonly address: { readonly hostname: string; readonly port: number };
  /** Open connections. */
  readonly connections: () => number;
  /** Accepts no more requests; resolves once those in work are answered, at the latest after `patience` milliseconds. */
  readonly close: (patience: number) => Promise<void>;
}

interface State {
  readonly connections: Connections;
  closing: boolean;
}

/** The request handler of `node:http`. */
export type Handler = (message: IncomingMessage, response: ServerResponse) => void;

/** How long requests that are already on their way are accepted after the end was asked for, in milliseconds. */
const UNDERWAY_MILLISECONDS = 500;

/** How often connections are checked for timeouts, in milliseconds. */
const CHECK_INTERVAL = 1_000;

/** The status line for bytes that are not a request, by the code of the parser. */
const PROTOCOL_ANSWERS: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
};

/**
 * Starts a listener.
 *
 * @throws {Error} When the address cannot be listened on
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { bounds, tls } = options;
  const interval = Math.min(CHECK_INTERVAL, bounds.headTime / 2);
  const connections = createConnections({
    connections: bounds.connections,
    readTime: bounds.requestTime,
    idleTime: bounds.idleTime,
    interval,
    refused: options.refused,
  });
  const state: State = { closing: false, connections };
  const handler: Handler = (message, response) => {
    const exchange = connections.begin(message, response);
    if (exchange === null) return;
    answer(options, state, exchange, response).catch((error) => {
      options.log("error", "Unexpected failure in the listener", { detail: String(error) });
      message.socket.destroy();
    });
  };
  const settings = {
    maxHeaderSize: bounds.headBytes,
    headersTimeout: bounds.headTime,
    requestTimeout: bounds.requestTime,
    // The table of connections ends idle ones.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: interval,
    requireHostHeader: false,
    noDelay: true,
  };
  const server = tls === null
    ? createServer(settings, handler)
    : tls.createServer({ ...settings, handshakeTimeout: bounds.headTime }, handler);
  server.maxHeadersCount = HEADER_FIELDS + 1;
  server.on("connection", connections.open);
  server.on(tls === null ? "connection" : "secureConnection", connections.watch);
  server.on("checkExpectation", handler);
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    options.refused("method_not_allowed", addressOf(socket));
    socket.destroy();
  });
  server.on("clientError", (error: Error & { readonly code?: string }, socket: Socket) => {
    const code = error.code ?? "unknown";
    if (!connections.has(socket)) return;
    readNoMore(socket);
    // The TLS server records a failed handshake.
    const isOpen = tls === null || tls.tlsOf(socket) !== null;
    if (isOpen && tls !== null && isTlsFault(error)) tls.failed(error, socket);
    else if (isOpen && code !== "ECONNRESET") options.refused(code, addressOf(socket));
    // A client that waits for an earlier answer would read the error as that answer.
    if (connections.owesAnswer(socket)) return void socket.destroy();
    if (socket.writable) {
      socket.end(`HTTP/1.1 ${PROTOCOL_ANSWERS[code] ?? "400 Bad Request"}\r\nconnection: close\r\n\r\n`);
    }
    // A client that does not read the error must not keep the connection open.
    setTimeout(() => socket.destroy(), CHECK_INTERVAL);
  });
  await bound(server, options);
  const { address, port } = server.address() as AddressInfo;
  return {
    address: { hostname: address, port },
    connections: connections.count,
    close: (patience) => {
      state.closing = true;
      return close(server, connections, patience);
    },
  };
}

/** Discards further input. Otherwise the runtime parses each later packet, and fails again. */
function readNoMore(socket: Socket): void {
  socket.removeAllListeners("data");
  socket.resume();
}

function bound(server: Server, options: ListenerOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ host: options.hostname, port: options.port, backlog: options.bounds.connections }, () => {
    server.off("error", reject);
    server.on("error", (error: Error) => options.log("error", "Failure of the listener", { detail: error.message }));
    resolve();
  });
  return promise;
}

async function close(server: Server, connections: Connections, patience: number): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  // Server.close() of HTTP would end idle connections at once, with requests that were just sent over them.
  SocketServer.prototype.close.call(server, () => resolve());
  const soon = delay(Math.min(UNDERWAY_MILLISECONDS, patience));
  const late = delay(patience);
  await Promise.race([closed, soon.passed]);
  server.close();
  await Promise.race([closed, late.passed]);
  soon.cancel();
  late.cancel();
  connections.close();
}

async function answer(
  options: ListenerOptions,
  state: State,
  exchange: Exchange,
  response: ServerResponse,
): Promise<void> {
  const { connections } = state;
  const { message } = exchange;
  const bytesBefore = message.socket.bytesRead;
  const peerAddress = addressOf(message.socket);
  const tls = options.tls === null ? null : options.tls.tlsOf(message.socket);
  if (peerAddress === "") return void message.socket.destroy();
  if (options.tls !== null && tls === null) return options.tls.end(message.socket);
  const fields = readFields(message.rawHeaders);
  const [status, reason] = unreadable(message, fields) ?? [];
  if (status !== undefined && reason !== undefined) {
    options.refused(reason, peerAddress);
    response.writeHead(status, { connection: "close" });
    response.end();
    return handedOver(connections, exchange);
  }
  const gone = new AbortController();
  connections.whenOver(exchange, () => {
    if (!response.writableFinished) gone.abort();
  });
  const target = originForm(message);
  const mark = target.indexOf("?");
  const reply = await options.handle({
    method: message.method ?? "",
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? "" : target.slice(mark + 1),
    headers: fields,
    peerAddress,
    connection: message.socket,
    tls,
    signal: gone.signal,
    readBody: (maximumBytes, hasRoom) => readBody(message, fields, maximumBytes, hasRoom, bytesBefore),
  });
  if (gone.signal.aborted) return;
  // The rest of an unread body blocks the connection. A closing listener accepts no more requests.
  if (!message.complete || state.closing) response.shouldKeepAlive = false;
  if (response.shouldKeepAlive) {
    response.setHeader("keep-alive", `timeout=${Math.floor(options.bounds.idleTime / 1000)}`);
  }
  const hold = (bytes: number): () => void => reply.caller === undefined ? () => {} : options.hold(reply.caller, bytes);
  if (reply.stream === undefined) {
    connections.whenOver(exchange, hold(write(message, response, reply)));
    return handedOver(connections, exchange);
  }
  connections.whenOver(exchange, () => connections.end(exchange));
  response.writeHead(reply.status, reply.fields);
  response.flushHeaders();
  reply.stream(sinkOf(connections, exchange, response, hold, gone.signal));
}

/** The path of a target in absolute form (RFC 9112, 3.2.2), if it names the host of the request. */
function originForm(message: IncomingMessage): string {
  const { url = "" } = message;
  if (url.startsWith("/")) return url;
  const [whole, host = ""] = /^https?:\/\/([^/?#]+)/i.exec(url) ?? [];
  if (whole === undefined || host.toLowerCase() !== message.headers.host?.toLowerCase()) return url;
  const rest = url.slice(whole.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The status and reason for rejecting a head that the parser accepted, or null. */
function unreadable(
  { httpVersion, httpVersionMajor, rawHeaders }: IncomingMessage,
  fields: HeaderFields,
): readonly [status: number, reason: string] | null {
  if (httpVersionMajor !== 1) return [505, "http_version_unsupported"];
  const coding = fields.get("transfer-encoding")?.trim().toLowerCase();
  // RFC 9112, 6.1: HTTP/1.0 has no transfer codings. This server supports only chunked.
  if (coding !== undefined && httpVersion === "1.0") return [400, "transfer_coding_unexpected"];
  if (coding !== undefined && coding !== "chunked") return [501, "transfer_coding_unknown"];
  return rawHeaders.length > 2 * HEADER_FIELDS ? [431, "too_many_header_fields"] : null;
}

/** Ends the work of a request whose answer is written: the client only has to read it. */
function handedOver(connections: Connections, exchange: Exchange): void {
  connections.answered(exchange);
  connections.end(exchange);
}

/** Answers up to so many bytes are given to the runtime as one text. */
const WHOLE_BYTES = 64 * 1024;

/** Writes a whole answer, and returns the bytes of its body. */
function write(message: IncomingMessage, response: ServerResponse, reply: HttpReply): number {
  if (reply.body === null) {
    const isBare = reply.status === 204 || reply.status === 304;
    response.writeHead(reply.status, isBare ? reply.fields : { ...reply.fields, "content-length": "0" });
    response.end();
    return 0;
  }
  const bytes = typeof reply.body === "string" ? Buffer.byteLength(reply.body) : reply.body.length;
  if (typeof reply.body === "string" && bytes <= WHOLE_BYTES && message.method !== "HEAD") {
    // Without `writeHead` the runtime writes head and body in one call. It adds no length to an answer of HTTP/1.0.
    response.statusCode = reply.status;
    for (const name in reply.fields) response.setHeader(name, reply.fields[name] ?? "");
    response.setHeader("content-length", String(bytes));
    // The text of ASCII has the same bytes in both, and takes a fifth less as Latin-1.
    response.end(reply.body, bytes === reply.body.length ? "latin1" : "utf8");
    return bytes;
  }
  response.writeHead(reply.status, { ...reply.fields, "content-length": String(bytes) });
  response.end(message.method === "HEAD" ? undefined : reply.body);
  return bytes;
}

const encoder = new TextEncoder();

function sinkOf(
  connections: Connections,
  exchange: Exchange,
  response: ServerResponse,
  hold: (bytes: number) => () => void,
  gone: AbortSignal,
): StreamSink {
  const held = new Set<() => void>();
  connections.whenOver(exchange, () => held.forEach((release) => release()));
  return {
    gone,
    write: (text) => {
      const bytes = encoder.encode(text);
      const release = hold(bytes.length);
      held.add(release);
      return response.write(bytes, () => {
        held.delete(release);
        release();
      });
    },
    waiting: () => response.writableLength,
    end: () => {
      response.end();
      connections.answered(exchange);
    },
    drop: () => void exchange.message.socket.destroy(),
  };
}
