/**
 * gRPC servers for tests, written on bare sockets: each plays a script of HTTP/2 frames, so that it can do what no library
 * would send.
 *
 * @module
 */

import net, { type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import type { Buffer } from "node:buffer";

/** What a peer does with a connection on which a request has arrived. `received` is all that the client sent. */
export type Play = (socket: Socket, received: Uint8Array) => void | Promise<void>;

/** When a script begins: with the connection, or when the request is complete. */
export interface Script {
  readonly at: "connection" | "request";
  readonly play: Play;
}

/** Certificates of a server. */
export interface ServerTls {
  readonly cert: string;
  readonly key: string;
  /** Asks for a certificate of the client that this authority signed. */
  readonly clientAuthority?: string;
  readonly protocols?: readonly string[];
}

/** A server that listens. */
export interface Peer {
  readonly port: number;
  /** All bytes that clients sent, of every connection. */
  readonly received: () => Uint8Array;
  /** Connections that are open. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const HEADERS = 1;

/** Starts a server that plays a script on every connection. */
export async function startPeer(script: Script, secure: ServerTls | null = null): Promise<Peer> {
  const sockets = new Set<Socket>();
  const chunks: Uint8Array[] = [];
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    let received = new Uint8Array(0);
    let played = false;
    const play = (): void => {
      if (played) return;
      played = true;
      void script.play(socket, received);
    };
    // Clients end connections in every way; the tests look at the client.
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(new Uint8Array(chunk));
      received = join([received, chunk]);
      if (script.at === "request" && requestIsComplete(received)) play();
    });
    if (script.at === "connection") play();
  };
  const server = secure === null ? net.createServer(accept) : tls.createServer({
    cert: secure.cert,
    key: secure.key,
    ALPNProtocols: [...secure.protocols ?? ["h2"]],
    ...secure.clientAuthority === undefined
      ? {}
      : { ca: secure.clientAuthority, requestCert: true, rejectUnauthorized: true },
  }, accept);
  server.on("tlsClientError", () => {});
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received: () => join(chunks),
    open: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Joins byte arrays. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** A frame with the end-of-stream flag after the request's headers. */
function requestIsComplete(received: Uint8Array): boolean {
  const view = new DataView(received.buffer, received.byteOffset, received.byteLength);
  for (let at = PREFACE_BYTES; at + FRAME_HEAD_BYTES <= received.length;) {
    const length = (view.getUint16(at) << 8) | view.getUint8(at + 2);
    const [type, flags] = [view.getUint8(at + 3), view.getUint8(at + 4)];
    if (at + FRAME_HEAD_BYTES + length > received.length) return false;
    if ((type === 0 || type === HEADERS) && (flags & 1) === 1) return true;
    at += FRAME_HEAD_BYTES + length;
  }
  return false;
}

/** A frame of HTTP/2. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const head = new Uint8Array(FRAME_HEAD_BYTES);
  const view = new DataView(head.buffer);
  view.setUint8(0, payload.length >> 16);
  view.setUint16(1, payload.length & 0xffff);
  view.setUint8(3, type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  return join([head, payload]);
}

/** The server's settings, which every connection begins with. */
export const SETTINGS: Uint8Array = frame(4, 0, 0, new Uint8Array(0));

/** The acknowledgement of the client's settings. */
export const ACKNOWLEDGED: Uint8Array = frame(4, 1, 0, new Uint8Array(0));

/** Headers of stream 1, each as a literal without indexing. */
export function headers(list: readonly (readonly [string, string])[], end = false): Uint8Array {
  const payload = join(list.flatMap(([name, value]) => [new Uint8Array([0]), literal(name), literal(value)]));
  const limit = 16_384;
  if (payload.length <= limit) return frame(HEADERS, end ? 5 : 4, 1, payload);
  const parts = [frame(HEADERS, end ? 1 : 0, 1, payload.subarray(0, limit))];
  for (let at = limit; at < payload.length; at += limit) {
    const isLast = at + limit >= payload.length;
    parts.push(frame(9, isLast ? 4 : 0, 1, payload.subarray(at, at + limit)));
  }
  return join(parts);
}

/** A string of HPACK without Huffman coding. */
function literal(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return join([new Uint8Array(length), bytes]);
}

/** Data of stream 1. */
export function data(payload: Uint8Array, end = false): Uint8Array {
  return frame(0, end ? 1 : 0, 1, payload);
}

/** A message with the flag and the length that gRPC writes before it; `length` lies where it is given. */
export function message(payload: Uint8Array, { flag = 0, length = payload.length } = {}): Uint8Array {
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint8(0, flag);
  new DataView(head.buffer).setUint32(1, length);
  return join([head, payload]);
}

/** The headers of a response. */
export const OK_HEADERS: readonly (readonly [string, string])[] = [
  [":status", "200"],
  ["content-type", "application/grpc"],
];

/** An honest response. */
export function honest(payload: Uint8Array): Uint8Array {
  return join([
    SETTINGS,
    ACKNOWLEDGED,
    headers(OK_HEADERS),
    data(message(payload)),
    headers([["grpc-status", "0"]], true),
  ]);
}
