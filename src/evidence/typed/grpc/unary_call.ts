/** One unary gRPC call over HTTP/2 to a checked address, sent by the worker that was granted exactly that address. */

import net, { type Socket } from "node:net";
import tls from "node:tls";
import { urlHost } from "../../../config/host_name.ts";
import { byAlternativeNames } from "../../../config/server_identity.ts";
import { collectBytes } from "../../../canonical/collect_bytes.ts";
import { errorCode, type PinnedFailure } from "../../egress/pinned_request.ts";
import { tlsCode } from "../../egress/tls_code.ts";
import type { OperationalCode } from "../../types.ts";
import type { HeaderField } from "./hpack.ts";
import { beginExchange, type Exchange, type ExchangeEvents, type ExchangeFault } from "./http2_exchange.ts";
import { GRPC_LIMITS } from "./limits.ts";

/** One call. */
export interface UnaryCall {
  /** The checked address. */
  readonly address: string;
  readonly port: number;
  /** The name that the certificate must have, for SNI too. */
  readonly host: string;
  /** Value of `:authority`. */
  readonly authority: string;
  /** Null connects without TLS. */
  readonly tls: {
    /** PEM certificates to trust in place of the system's; null for those of the system. */
    readonly authorities: readonly string[] | null;
    /** PEM certificate chain and key of the client. */
    readonly client: { readonly certificate: string; readonly key: string } | null;
  } | null;
  /** `/package.Service/Method`. */
  readonly path: string;
  /** Names in lower case, with their values. */
  readonly metadata: readonly (readonly [name: string, value: string])[];
  readonly message: Uint8Array;
  /** Milliseconds to connect, TLS included. */
  readonly connectMillis: number;
  /** Milliseconds until the call is over, the connection included. */
  readonly timeoutMillis: number;
  /** Bytes of the response message. */
  readonly maximumBytes: number;
}

/** What a server sent, before it is judged. */
export interface UnaryResponse {
  readonly httpStatus: number;
  readonly contentType: string;
  /** `grpc-status` and `grpc-message` as sent; null where the response has no status. */
  readonly status: string | null;
  readonly statusMessage: string;
  /** The frames of the body: zero or more messages, each with a flag and its length before it. */
  readonly body: Uint8Array;
}

/** A response, or the failure. */
export type UnaryAnswer = { readonly ok: true; readonly response: UnaryResponse } | PinnedFailure;

/** Bytes before each message of a body: a flag and a length of 32 bits. */
export const FRAME_BYTES = 5;

/** Fields of the headers of a response, and of its trailers. */
const HEADER_LINES = 64;

/** How far a call has progressed; the meaning of an error depends on it. */
type Stage = "connecting" | "securing" | "sent" | "answered";

interface Calling {
  readonly call: UnaryCall;
  readonly settle: (answer: UnaryAnswer) => void;
  stage: Stage;
  socket: Socket | null;
  exchange: Exchange | null;
  connectTimer: ReturnType<typeof setTimeout> | undefined;
}

/** Sends the call. Never rejects; every handle is closed when it resolves. */
export function callUnary(call: UnaryCall, signal: AbortSignal): Promise<UnaryAnswer> {
  // An error of the runtime on a permission that is missing would end the worker, so it is asked for first.
  if (!isGranted(call)) {
    const message = `Cannot call "${call.host}": the address is not granted`;
    return Promise.resolve({ ok: false, code: "destination_blocked", message, unsent: false });
  }
  return new Promise((resolve) => {
    let settled = false;
    const abort = (): void => fail(calling, "cancelled", "the query was cancelled");
    const calling: Calling = {
      call,
      stage: "connecting",
      socket: null,
      exchange: null,
      connectTimer: undefined,
      settle(answer): void {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        clearTimeout(calling.connectTimer);
        signal.removeEventListener("abort", abort);
        calling.exchange?.stop();
        calling.socket?.destroy();
        resolve(answer);
      },
    };
    const timer = setTimeout(
      () => fail(calling, "timeout", `no answer within ${call.timeoutMillis} ms`),
      call.timeoutMillis,
    );
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) return abort();
    connect(calling);
  });
}

function isGranted({ address, port }: UnaryCall): boolean {
  return Deno.permissions.querySync({ name: "net", host: `${urlHost(address)}:${port}` }).state === "granted";
}

function fail({ call, stage, settle }: Calling, code: OperationalCode, reason: string): void {
  settle({ ok: false, code, message: `Cannot call "${call.host}": ${reason}`, unsent: stage === "connecting" });
}

function connect(calling: Calling): void {
  const { address, port, tls: secure, connectMillis } = calling.call;
  const socket = net.connect({ host: address, port, noDelay: true });
  calling.socket = socket;
  calling.connectTimer = setTimeout(
    () => fail(calling, "timeout", `no connection within ${connectMillis} ms`),
    connectMillis,
  );
  socket.on("error", (error) => failAt(calling, error));
  socket.on("close", () => failAt(calling, null));
  socket.once("connect", () => {
    if (secure === null) return request(calling, socket);
    calling.stage = "securing";
    startTls(calling, socket, secure);
  });
}

function startTls(calling: Calling, plain: Socket, { authorities, client }: NonNullable<UnaryCall["tls"]>): void {
  const { host } = calling.call;
  const socket = tls.connect({
    socket: plain,
    host,
    // RFC 6066 has no addresses in SNI.
    ...net.isIP(host) === 0 ? { servername: host } : {},
    ALPNProtocols: ["h2"],
    checkServerIdentity: byAlternativeNames(tls.checkServerIdentity),
    ...authorities === null ? {} : { ca: [...authorities] },
    ...client === null ? {} : { cert: client.certificate, key: client.key },
  });
  calling.socket = socket;
  socket.on("error", (error) => failAt(calling, error));
  socket.on("close", () => failAt(calling, null));
  socket.once("secureConnect", () => {
    if (socket.alpnProtocol === "h2") return request(calling, socket);
    fail(calling, "provider_protocol_error", "the server does not offer HTTP/2");
  });
}

function request(calling: Calling, socket: Socket): void {
  const { call } = calling;
  calling.stage = "sent";
  clearTimeout(calling.connectTimer);
  const frame = new Uint8Array(FRAME_BYTES + call.message.length);
  new DataView(frame.buffer).setUint32(1, call.message.length);
  frame.set(call.message, FRAME_BYTES);
  const fields: readonly HeaderField[] = [
    [":method", "POST"],
    [":scheme", call.tls === null ? "http" : "https"],
    [":path", call.path],
    [":authority", call.authority],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
    ["grpc-timeout", `${call.timeoutMillis}m`],
    ["grpc-accept-encoding", "identity"],
    ["user-agent", "gate/0.1"],
    ...call.metadata,
  ];
  const limits = { headerBytes: GRPC_LIMITS.headerBytes, headerFields: HEADER_LINES };
  const response = collectResponse(calling);
  const exchange = beginExchange({ fields, body: frame }, limits, {
    write: (bytes) => void socket.write(bytes),
    ...response,
    fail: (fault) => failExchange(calling, fault),
  });
  calling.exchange = exchange;
  socket.on("data", exchange.receive);
}

/** Collects headers, body and trailers within their limits. */
function collectResponse(calling: Calling): Pick<ExchangeEvents, "fields" | "data" | "end"> {
  const { maximumBytes } = calling.call;
  const body = collectBytes(FRAME_BYTES + maximumBytes);
  let headers: ReadonlyMap<string, string> = new Map();
  let trailers: ReadonlyMap<string, string> = new Map();
  const tooLarge = (): void => fail(calling, "response_too_large", `the message has more than ${maximumBytes} bytes`);
  const head: number[] = [];
  return {
    fields: (fields, isLast) => {
      const own = new Map<string, string>();
      for (const [name, value] of fields) own.set(name, own.has(name) ? `${own.get(name)}, ${value}` : value);
      if (calling.stage !== "answered") headers = own;
      if (isLast) trailers = own;
      calling.stage = "answered";
    },
    data: (piece) => {
      // Other content has no length before it.
      if (isGrpc(headers) && head.length < FRAME_BYTES) {
        head.push(...piece.subarray(0, FRAME_BYTES - head.length));
        if (head.length === FRAME_BYTES && declaredLength(head) > maximumBytes) return tooLarge();
      }
      if (!body.add(piece)) tooLarge();
    },
    end: () => {
      const bytes = body.bytes();
      const length = headers.get("content-length") ?? `${bytes.length}`;
      if (length !== `${bytes.length}`) {
        return fail(calling, "provider_protocol_error", "the body has another length than its header says");
      }
      calling.settle({ ok: true, response: responseOf(headers, trailers, bytes) });
    },
  };
}

/** Whether the headers announce messages of gRPC. */
function isGrpc(headers: ReadonlyMap<string, string>): boolean {
  return headers.get(":status") === "200" && isGrpcType(headers.get("content-type") ?? "");
}

/** Whether a content type is that of gRPC with messages of Protocol Buffers. */
export function isGrpcType(contentType: string): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/i.test(contentType.trim());
}

function failExchange(calling: Calling, fault: ExchangeFault): void {
  switch (fault) {
    case "protocol":
      return fail(calling, "provider_protocol_error", "the response is not HTTP/2");
    case "goaway":
      return fail(calling, "connection_failed", "the server closes the connection");
    case "reset":
      return failAt(calling, null);
    case "headers_too_large":
      return fail(calling, "response_too_large", `the headers have more than ${GRPC_LIMITS.headerBytes} bytes`);
    case "headers_too_many":
      return fail(calling, "response_too_large", `the response has more than ${HEADER_LINES} headers`);
  }
}

/** The length that the bytes before a message declare. */
export function declaredLength(frame: ArrayLike<number>): number {
  const [, a = 0, b = 0, c = 0, d = 0] = Array.from({ length: FRAME_BYTES }, (_, index) => frame[index] ?? 0);
  return ((a * 256 + b) * 256 + c) * 256 + d;
}

/**
 * A status counts only where a response ends: before that, the server has not said whether it is complete. Another one
 * in the headers contradicts it, and both together are no status.
 */
function responseOf(
  headers: ReadonlyMap<string, string>,
  trailers: ReadonlyMap<string, string>,
  body: Uint8Array,
): UnaryResponse {
  const status = trailers.get("grpc-status") ?? null;
  const first = headers.get("grpc-status") ?? status;
  return {
    httpStatus: Number(headers.get(":status") ?? 0),
    contentType: headers.get("content-type") ?? "",
    status: status === null || first === status ? status : `${first}, ${status}`,
    statusMessage: trailers.get("grpc-message") ?? "",
    body,
  };
}

/** Fails with the code that follows from the progress, because the text of the error may name addresses. */
function failAt(calling: Calling, error: Error | null): void {
  const { stage } = calling;
  const code = error === null ? "closed" : errorCode(error);
  // A server that wants another certificate says so after the client's part of the handshake is over.
  if (stage === "securing" || (stage === "sent" && code.startsWith("ERR_SSL_"))) {
    return fail(calling, tlsCode(error), `no secure connection (${code})`);
  }
  const ended = `the connection ended (${code})`;
  return fail(calling, stage === "answered" ? "response_truncated" : "connection_failed", ended);
}
