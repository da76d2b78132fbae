/**
 * One GET request to an address that was checked before, as the worker that was granted exactly that address sends it:
 * the connection goes there and nowhere else, while Host header, SNI and the certificate's name stay those of the URL.
 *
 * @module
 */

import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { parseAddress } from "./address.ts";
import type { OperationalCode } from "../types.ts";

/** What the worker is asked. */
export interface PinnedQuestion {
  readonly secure: boolean;
  /** The host of the URL: certificate and SNI are checked against it. */
  readonly host: string;
  readonly authority: string;
  readonly port: number;
  /** Path and query. */
  readonly target: string;
  /** The checked address. */
  readonly address: string;
  /** Everything beside Host, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Read the body; without it the answer is there with the headers. */
  readonly wantsBody: boolean;
  readonly maximumBytes: number;
  /** Milliseconds until the connection stands. */
  readonly connectMillis: number;
  /** PEM certificates to trust in place of the runtime's. */
  readonly authorities: readonly string[] | null;
}

/** What came back. */
export interface PinnedResponse {
  readonly status: number;
  /** Names as sent, in order, repeated where they were. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Empty where it was not wanted. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A response, or why there is none. `tried` says that nothing was sent: another address may do. */
export type PinnedAnswer =
  | { readonly ok: true; readonly response: PinnedResponse }
  | { readonly ok: false; readonly code: OperationalCode; readonly message: string; readonly unsent: boolean };

/** Bytes of all headers of a response. */
export const HEADER_BYTES_MAXIMUM = 16_384;

/** Ends the exchange with a code. */
class RequestFailure extends Error {
  readonly code: OperationalCode;

  constructor(code: OperationalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** How far a request came; what an error means depends on it. */
interface Progress {
  stage: "connecting" | "securing" | "sent" | "answered";
}

/** Sends the request. Never rejects. */
export async function requestPinned(question: PinnedQuestion, signal: AbortSignal): Promise<PinnedAnswer> {
  const progress: Progress = { stage: "connecting" };
  try {
    requirePermission(question);
    return { ok: true, response: await exchange(question, signal, progress) };
  } catch (error) {
    const { code, message } = signal.aborted
      ? new RequestFailure("cancelled", "nobody waits for it")
      : explain(error, progress);
    return {
      ok: false,
      code,
      message: `Cannot ask "${question.host}": ${message}`,
      unsent: progress.stage === "connecting",
    };
  }
}

/** A missing permission would be thrown where nothing can catch it, inside the connection. */
function requirePermission({ address, port }: PinnedQuestion): void {
  const host = `${address.includes(":") ? `[${address}]` : address}:${port}`;
  if (Deno.permissions.querySync({ name: "net", host }).state === "granted") return;
  throw new RequestFailure("destination_blocked", "the address is not granted");
}

function exchange(question: PinnedQuestion, signal: AbortSignal, progress: Progress): Promise<PinnedResponse> {
  const { secure, address, host, port, target } = question;
  const family = address.includes(":") ? 6 : 4;
  // In place of a second resolution: whatever the name means by now, the connection goes to the checked address.
  const lookup = ((_host: string, options: { readonly all?: boolean }, done: (...found: unknown[]) => void) => {
    queueMicrotask(() => options.all === true ? done(null, [{ address, family }]) : done(null, address, family));
  }) as unknown as LookupFunction;
  return new Promise((resolve, reject) => {
    const request = (secure ? https : http).request({
      host,
      port,
      path: target,
      method: "GET",
      headers: ["Host", question.authority, ...question.headers.flat()],
      setHost: false,
      lookup,
      agent: false,
      maxHeaderSize: HEADER_BYTES_MAXIMUM,
      signal,
      ...secure ? { servername: parseAddress(host) === null ? host : "" } : {},
      ...question.authorities === null ? {} : { ca: [...question.authorities] },
    }, (message) => {
      progress.stage = "answered";
      readResponse(message, question).then(resolve, reject).finally(() => request.destroy());
    });
    const timer = setTimeout(() => {
      reject(new RequestFailure("timeout", `no connection within ${question.connectMillis} ms`));
      request.destroy();
    }, question.connectMillis);
    request.on("socket", (socket) => {
      socket.once("connect", () => progress.stage = secure ? "securing" : "sent");
      socket.once("secureConnect", () => progress.stage = "sent");
      socket.once(secure ? "secureConnect" : "connect", () => clearTimeout(timer));
    });
    request.on("upgrade", (_message, socket) => {
      socket.destroy();
      reject(new RequestFailure("provider_protocol_error", "the answer switches protocols"));
    });
    request.on("error", reject);
    request.on("close", () => {
      clearTimeout(timer);
      reject(
        new RequestFailure(progress.stage === "answered" ? "response_truncated" : "connection_failed", "it hung up"),
      );
    });
    request.end();
  });
}

/** Collects the body, counted as it arrives. */
function readResponse(message: IncomingMessage, question: PinnedQuestion): Promise<PinnedResponse> {
  const status = message.statusCode ?? 0;
  const headers = pairs(message.rawHeaders);
  if (!question.wantsBody) return Promise.resolve({ status, headers, body: new Uint8Array(0) });
  const { maximumBytes } = question;
  return new Promise((resolve, reject) => {
    const tooLarge = (): void =>
      reject(new RequestFailure("response_too_large", `the body has more than ${maximumBytes} bytes`));
    if (Number(message.headers["content-length"] ?? 0) > maximumBytes) return tooLarge();
    const chunks: Uint8Array[] = [];
    let length = 0;
    message.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length > maximumBytes) return tooLarge();
      chunks.push(chunk);
    });
    const truncated = (): void => reject(new RequestFailure("response_truncated", "the body ends too early"));
    message.on("end", () => {
      if (!message.complete) return truncated();
      resolve({ status, headers, body: join(chunks, length) });
    });
    message.on("aborted", truncated);
    message.on("error", truncated);
  });
}

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([raw[at] ?? "", raw[at + 1] ?? ""]);
  return found;
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** What an error means, by its code and by how far the request had come. */
function explain(error: unknown, { stage }: Progress): RequestFailure {
  if (error instanceof RequestFailure) return error;
  if (error instanceof Deno.errors.NotCapable) {
    return new RequestFailure("destination_blocked", "the address is not granted");
  }
  const code = codeOf(error);
  if (code === "HPE_HEADER_OVERFLOW") {
    return new RequestFailure("response_too_large", `the headers have more than ${HEADER_BYTES_MAXIMUM} bytes`);
  }
  if (code.startsWith("HPE_")) return new RequestFailure("provider_protocol_error", `the answer is no HTTP (${code})`);
  if (stage === "securing" || /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO)/.test(code)) {
    return new RequestFailure("tls_failed", `no secure connection (${code})`);
  }
  if (stage === "answered") return new RequestFailure("response_truncated", `the connection ended (${code})`);
  return new RequestFailure("connection_failed", `the connection failed (${code})`);
}

/** The code of an error of the runtime; its message can hold what nobody should read. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? code : "unknown";
}
