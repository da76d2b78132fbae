/**
 * One request to a checked address, sent by a worker that may connect to checked addresses only. The connection uses
 * the address; Host header, SNI and certificate check use the name of the URL.
 */

import http, { type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { collectBytes } from "../../canonical/collect_bytes.ts";
import { urlHost } from "../../config/host_name.ts";
import { byAlternativeNames } from "../../config/server_identity.ts";
import type { OperationalCode } from "../types.ts";
import { parseAddress } from "./address.ts";
import { boundedStream, closeQuietly, type StreamBounds, streamOf } from "./connection_stream.ts";
import { HEAD_BYTES_MAXIMUM, isHeadTooLarge } from "./response_head.ts";
import { tlsCode } from "./tls_code.ts";
import { untilAborted } from "../../config/until_aborted.ts";

/** A question to the worker. */
export interface PinnedQuestion {
  readonly secure: boolean;
  /** The host of the URL, for SNI and certificate check. */
  readonly host: string;
  readonly authority: string;
  readonly port: number;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The checked address. */
  readonly address: string;
  /** All headers except Host, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body to send. */
  readonly body: Uint8Array<ArrayBuffer> | null;
  /**
   * Whether to read the response's body, or the statuses at which to read it; without it, the request ends with the
   * response's headers.
   */
  readonly wantsBody: boolean | readonly number[];
  readonly maximumBytes: number;
  /** Milliseconds to connect. */
  readonly connectMillis: number;
  /** PEM certificates to trust in place of the system's; null for those of the system. */
  readonly authorities: readonly string[] | null;
  /** PEM certificate and key of this client. */
  readonly client: ClientCertificate | null;
}

/** A response. */
export interface PinnedResponse {
  readonly status: number;
  /** Names as sent, in order, repetitions included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty where it was not requested. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A failure. `unsent`: no connection was made, so another address may be tried. */
export interface PinnedFailure {
  readonly ok: false;
  readonly code: OperationalCode;
  readonly message: string;
  readonly unsent: boolean;
}

/** A response, or the failure. */
export type PinnedAnswer = { readonly ok: true; readonly response: PinnedResponse } | PinnedFailure;

/**
 * Bytes that may arrive in addition to the body, and for each byte of it: chunks of one byte take six. This also bounds
 * informational responses, empty lines and chunk extensions.
 */
const WIRE_BYTES_BESIDE = 1_048_576;
const WIRE_BYTES_PER_BYTE = 8;

/** Ends the request with a code. */
class RequestFailure extends Error {
  readonly code: OperationalCode;

  constructor(code: OperationalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** How far a request has progressed; the meaning of an error depends on it. */
interface Progress {
  stage: "connecting" | "securing" | "sent" | "answered";
}

/** Sends the request. Never rejects. */
export async function requestPinned(question: PinnedQuestion, signal: AbortSignal): Promise<PinnedAnswer> {
  const progress: Progress = { stage: "connecting" };
  let stream: Duplex | null = null;
  try {
    const tooMany = new RequestFailure("response_too_large", "the response is too large outside of its body");
    const maximumBytes = WIRE_BYTES_BESIDE + WIRE_BYTES_PER_BYTE * question.maximumBytes;
    stream = await connect(question, signal, progress, { maximumBytes, tooMany });
    progress.stage = "sent";
    return { ok: true, response: await sendOver(question, stream, signal, progress) };
  } catch (error) {
    const { code, message } = signal.aborted
      ? new RequestFailure("cancelled", "the query was cancelled")
      : explain(error, progress);
    const unsent = progress.stage === "connecting";
    return { ok: false, code, message: `Cannot ask "${question.host}": ${message}`, unsent };
  } finally {
    stream?.destroy();
  }
}

/** A certificate of this client with its key, in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Connects to the checked address, with TLS for the name of the URL. */
async function connect(
  question: PinnedQuestion,
  signal: AbortSignal,
  progress: Progress,
  bounds: StreamBounds,
): Promise<Duplex> {
  const { address, port, host, secure, connectMillis } = question;
  const tooLate = new AbortController();
  const timer = setTimeout(() => {
    tooLate.abort(new RequestFailure("timeout", `no connection within ${connectMillis} ms`));
  }, connectMillis);
  const limit = AbortSignal.any([signal, tooLate.signal]);
  try {
    if (usesNodeTls(question)) {
      return await connectWithNode(question, limit, progress, bounds);
    }
    const tcp = await closedUnlessInTime(Deno.connect({ hostname: address, port }), limit);
    // The request is written in one piece, so Nagle's algorithm would only delay it.
    tcp.setNoDelay(true);
    if (!secure) return streamOf(tcp, bounds);
    progress.stage = "securing";
    const securing = Deno.startTls(tcp, { hostname: host, alpnProtocols: ["http/1.1"] });
    const tls = await closedUnlessInTime(securing, limit);
    await closedUnlessInTime(tls.handshake().then(() => tls), limit, tls);
    return streamOf(tls, bounds);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a request needs the TLS client of node. */
function usesNodeTls({ secure, authorities, client }: PinnedQuestion): boolean {
  return secure && (client !== null || authorities !== null);
}

/**
 * Connects with a client certificate, or with authorities in place of the system's: only the TLS client of node has
 * both. That of the runtime adds authorities to those of the system.
 */
async function connectWithNode(
  { address, port, host, authorities, client }: PinnedQuestion,
  limit: AbortSignal,
  progress: Progress,
  bounds: StreamBounds,
): Promise<Duplex> {
  // This client throws a permission error past every handler, so the permission is checked first.
  if (Deno.permissions.querySync({ name: "net", host: `${urlHost(address)}:${port}` }).state !== "granted") {
    throw new RequestFailure("destination_blocked", "the address is not granted");
  }
  const { checkServerIdentity, connect } = await import("node:tls");
  const check = { checkServerIdentity: byAlternativeNames(checkServerIdentity) };
  const trusted = authorities === null ? {} : { ca: [...authorities] };
  const own = client === null ? {} : { cert: client.certificate, key: client.key };
  const options = { host: address, port, ALPNProtocols: ["http/1.1"], ...check, ...own };
  // An address is no name to ask for (RFC 6066, 3); the certificate is then checked for the address.
  const name = parseAddress(host) === null ? { servername: host } : {};
  const socket = connect({ ...options, ...name, ...trusted });
  const secured = new Promise<Duplex>((resolve, reject) => {
    socket.once("connect", () => progress.stage = "securing");
    socket.once("secureConnect", () => resolve(boundedStream(socket, bounds)));
    // More than one error can follow; an unhandled one would end the worker.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
  try {
    return await untilAborted(secured, limit);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Awaits a connection, and closes it if the limit aborts first. */
async function closedUnlessInTime<Connection extends Deno.Conn>(
  connecting: Promise<Connection>,
  limit: AbortSignal,
  open?: Deno.Conn,
): Promise<Connection> {
  try {
    return await untilAborted(connecting, limit);
  } catch (error) {
    if (open !== undefined) closeQuietly(open);
    else connecting.then(closeQuietly, () => {});
    throw error;
  }
}

function sendOver(
  question: PinnedQuestion,
  stream: Duplex,
  signal: AbortSignal,
  progress: Progress,
): Promise<PinnedResponse> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: question.host,
      path: question.target,
      method: question.method,
      headers: ["Host", question.authority, ...question.headers.flat()],
      setHost: false,
      createConnection: () => stream,
      maxHeaderSize: HEAD_BYTES_MAXIMUM,
      signal,
    }, (message) => {
      progress.stage = "answered";
      if (isHeadTooLarge(message)) return reject(headTooLarge());
      readResponse(message, question).then(resolve, reject);
    });
    // The client would drop the headers beyond a count: a check would find that they are absent.
    request.maxHeadersCount = HEAD_BYTES_MAXIMUM;
    request.on(
      "upgrade",
      () => reject(new RequestFailure("provider_protocol_error", "the response switches protocols")),
    );
    request.on("error", reject);
    request.on("close", () => {
      // After a response, the end of its body decides.
      if (progress.stage === "answered") return;
      reject(new RequestFailure("connection_failed", "the connection ended before a response"));
    });
    if (question.body === null) request.end();
    else request.end(question.body);
  });
}

/** Reads the response; counts the body's bytes as they arrive. */
function readResponse(message: IncomingMessage, question: PinnedQuestion): Promise<PinnedResponse> {
  const status = message.statusCode ?? 0;
  const headers = pairs(message.rawHeaders);
  const { wantsBody } = question;
  const isWanted = typeof wantsBody === "boolean" ? wantsBody : wantsBody.includes(status);
  if (!isWanted) return Promise.resolve({ status, headers, body: new Uint8Array(0) });
  const { maximumBytes } = question;
  return new Promise((resolve, reject) => {
    const tooLarge = (): void =>
      reject(new RequestFailure("response_too_large", `the body has more than ${maximumBytes} bytes`));
    if (Number(message.headers["content-length"] ?? 0) > maximumBytes) return tooLarge();
    const { "transfer-encoding": coding, "content-length": length } = message.headers;
    if (coding !== undefined && coding.toLowerCase() !== "chunked") {
      return reject(new RequestFailure("provider_protocol_error", "the body has a transfer coding besides chunked"));
    }
    // The TLS client of node does not report whether the server has ended the connection, or somebody between.
    const isEndUnknown = usesNodeTls(question) && coding === undefined && length === undefined && hasBody(status);
    const body = collectBytes(maximumBytes);
    message.on("data", (chunk: Uint8Array) => {
      if (!body.add(chunk)) tooLarge();
    });
    const truncated = (): void => reject(new RequestFailure("response_truncated", "the body is truncated"));
    message.on("end", () => {
      if (!message.complete || isEndUnknown) return truncated();
      resolve({ status, headers, body: body.bytes() });
    });
    message.on("aborted", truncated);
    message.on("error", truncated);
    message.on("close", truncated);
  });
}

/** Whether responses of a status have a body (RFC 9110, 6.4.1). */
function hasBody(status: number): boolean {
  return status !== 204 && status !== 304;
}

function headTooLarge(): RequestFailure {
  return new RequestFailure("response_too_large", `the headers have more than ${HEAD_BYTES_MAXIMUM} bytes`);
}

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return found;
}

/** The failure for an error: it follows from the request's progress, because the text of the error may name addresses. */
function explain(error: unknown, { stage }: Progress): RequestFailure {
  if (error instanceof RequestFailure) return error;
  if (error instanceof Deno.errors.NotCapable) {
    return new RequestFailure("destination_blocked", "the address is not granted");
  }
  // A server refuses a client certificate, or its absence, after the client's handshake is complete.
  if (error instanceof Error && error.message.startsWith("received fatal alert")) {
    return new RequestFailure(tlsCode(error), "the server ended the secure connection");
  }
  const code = errorCode(error);
  if (code === "HPE_HEADER_OVERFLOW") return headTooLarge();
  if (code.startsWith("HPE_")) {
    return new RequestFailure("provider_protocol_error", `the response is not HTTP (${code})`);
  }
  if (stage === "securing") return new RequestFailure(tlsCode(error), `no secure connection (${code})`);
  if (stage === "answered") return new RequestFailure("response_truncated", `the connection ended (${code})`);
  return new RequestFailure("connection_failed", `the connection failed (${code})`);
}

/** The code of an error, else its name: its text may name addresses. */
export function errorCode(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code)) return code;
  return error instanceof Error ? error.name : "unknown";
}
