/**
 * One request and its response over HTTP/2 (RFC 9113), as the client, on bytes: it does no input and no output. It
 * speaks as much of the protocol as one stream needs, and every fault of the server ends it.
 */

import { createHeaderDecoder, encodeHeaders, type HeaderDecoder, type HeaderField } from "./hpack.ts";

/** Limits of a response. */
export interface ExchangeLimits {
  /** Bytes of its headers, and of its trailers. */
  readonly headerBytes: number;
  /** Fields of its headers, and of its trailers. */
  readonly headerFields: number;
}

/** Why an exchange ended without a response. */
export type ExchangeFault = "protocol" | "goaway" | "reset" | "headers_too_large" | "headers_too_many";

/** What an exchange reports. It reports nothing more after `end` or `fail`. */
export interface ExchangeEvents {
  /** Bytes for the server. */
  readonly write: (bytes: Uint8Array) => void;
  /** The headers of the response, or its trailers; names are in lower case. `isLast`: the response ends with them. */
  readonly fields: (fields: readonly HeaderField[], isLast: boolean) => void;
  /** A piece of the body. */
  readonly data: (piece: Uint8Array) => void;
  /** The response is complete. */
  readonly end: () => void;
  readonly fail: (fault: ExchangeFault) => void;
}

/** An exchange. */
export interface Exchange {
  /** Takes bytes of the server. */
  readonly receive: (bytes: Uint8Array) => void;
  /** Takes no more bytes, and reports nothing more. */
  readonly stop: () => void;
}

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PUSH_PROMISE = 5;
const PING = 6;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;

const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const PADDED = 8;
const PRIORITY = 0x20;

const ENABLE_PUSH = 2;
const INITIAL_WINDOW_SIZE = 4;
const MAX_FRAME_SIZE = 5;
const MAX_HEADER_LIST_SIZE = 6;

/** The stream of the request. */
const STREAM = 1;
const FRAME_HEAD_BYTES = 9;
/** Bytes of a frame without its head, in both directions: the default of the protocol. */
const FRAME_BYTES = 16_384;
const LARGEST_FRAME_BYTES = 16_777_215;
const FIRST_WINDOW = 65_535;
/** The largest window: the caller bounds the bytes of a response, so flow control does not. */
const LARGEST_WINDOW = 2_147_483_647;
/** Frames that carry no part of the response. Each costs work, and a server could send them without end. */
const EMPTY_FRAMES = 10_000;
/** Bytes of the compressed fields for each byte that they may have: no code of a byte is four times as long. */
const COMPRESSED_FACTOR = 4;

const PREFACE = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The head of a frame, and the rest. */
interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** A fault of the server; ends the exchange. */
class Fault extends Error {
  readonly fault: ExchangeFault;

  constructor(fault: ExchangeFault) {
    super(fault);
    this.fault = fault;
  }
}

interface State {
  readonly limits: ExchangeLimits;
  readonly events: ExchangeEvents;
  readonly decode: HeaderDecoder;
  /** Bytes that were received and belong to no complete frame. */
  rest: Uint8Array;
  isOver: boolean;
  hasSettings: boolean;
  hasHeaders: boolean;
  emptyFrames: number;
  /** The block of fields that CONTINUATION frames continue, and whether the stream ends with it. */
  block: { readonly parts: Uint8Array[]; bytes: number; readonly isLast: boolean } | null;
  /** The part of the request's body that is not sent. */
  unsent: Uint8Array;
  /** Bytes that the server takes: of the stream, of the connection, and at first of each stream. */
  streamWindow: number;
  connectionWindow: number;
  initialWindow: number;
}

/**
 * Begins an exchange: writes the preface, the headers and as much of the body as the server takes before it answers.
 *
 * @param request Fields with the pseudo-header fields first, and a body of at least one byte
 */
export function beginExchange(
  request: { readonly fields: readonly HeaderField[]; readonly body: Uint8Array },
  limits: ExchangeLimits,
  events: ExchangeEvents,
): Exchange {
  const state: State = {
    limits,
    events,
    decode: createHeaderDecoder({ bytes: limits.headerBytes, fields: limits.headerFields }),
    rest: new Uint8Array(0),
    isOver: false,
    hasSettings: false,
    hasHeaders: false,
    emptyFrames: 0,
    block: null,
    unsent: request.body,
    streamWindow: FIRST_WINDOW,
    connectionWindow: FIRST_WINDOW,
    initialWindow: FIRST_WINDOW,
  };
  const settings = setting([[ENABLE_PUSH, 0], [INITIAL_WINDOW_SIZE, LARGEST_WINDOW], [
    MAX_HEADER_LIST_SIZE,
    limits.headerBytes,
  ]]);
  const window = uint32(LARGEST_WINDOW - FIRST_WINDOW);
  events.write(joined([PREFACE, frame(SETTINGS, 0, 0, settings), frame(WINDOW_UPDATE, 0, 0, window)]));
  writeHeaders(state, encodeHeaders(request.fields));
  writeBody(state);
  return {
    receive: (bytes) => {
      try {
        receive(state, bytes);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        state.isOver = true;
        events.fail(error.fault);
      }
    },
    stop: () => {
      state.isOver = true;
    },
  };
}

function writeHeaders({ events }: State, block: Uint8Array): void {
  for (let at = 0; at === 0 || at < block.length; at += FRAME_BYTES) {
    const isLast = at + FRAME_BYTES >= block.length;
    const type = at === 0 ? HEADERS : CONTINUATION;
    events.write(frame(type, isLast ? END_HEADERS : 0, STREAM, block.subarray(at, at + FRAME_BYTES)));
  }
}

/** Sends the part of the body that fits the windows of the server. */
function writeBody(state: State): void {
  while (state.unsent.length > 0) {
    const room = Math.min(FRAME_BYTES, state.streamWindow, state.connectionWindow, state.unsent.length);
    if (room <= 0) return;
    const piece = state.unsent.subarray(0, room);
    state.unsent = state.unsent.subarray(room);
    state.streamWindow -= room;
    state.connectionWindow -= room;
    state.events.write(frame(DATA, state.unsent.length === 0 ? END_STREAM : 0, STREAM, piece));
  }
}

function receive(state: State, bytes: Uint8Array): void {
  if (state.isOver) return;
  state.rest = state.rest.length === 0 ? bytes : joined([state.rest, bytes]);
  let at = 0;
  for (let next = readFrame(state.rest, at); next !== null; next = readFrame(state.rest, at)) {
    at += FRAME_HEAD_BYTES + next.payload.length;
    handle(state, next);
    if (state.isOver) return;
  }
  // A copy, which the slice of a Buffer is not: the buffer that was read may be reused or large.
  state.rest = new Uint8Array(state.rest.subarray(at));
}

/** The frame at a position; null where it is not complete. Its length is checked before it has arrived. */
function readFrame(bytes: Uint8Array, at: number): Frame | null {
  if (bytes.length < at + FRAME_HEAD_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_HEAD_BYTES);
  const length = view.getUint16(0) * 256 + view.getUint8(2);
  if (length > FRAME_BYTES) throw new Fault("protocol");
  const start = at + FRAME_HEAD_BYTES;
  if (bytes.length < start + length) return null;
  const stream = view.getUint32(5) & LARGEST_WINDOW;
  return { type: view.getUint8(3), flags: view.getUint8(4), stream, payload: bytes.subarray(start, start + length) };
}

function handle(state: State, received: Frame): void {
  const { type, flags, stream, payload } = received;
  if (!state.hasSettings && (type !== SETTINGS || (flags & ACK) !== 0)) throw new Fault("protocol");
  if ((state.block !== null) !== (type === CONTINUATION)) throw new Fault("protocol");
  if (type !== DATA) countEmpty(state);
  switch (type) {
    case DATA:
      return handleData(state, received);
    case HEADERS:
    case CONTINUATION:
      return handleHeaders(state, received);
    case SETTINGS:
      return handleSettings(state, received);
    case WINDOW_UPDATE:
      return handleWindow(state, received);
    case PING:
      expect(stream === 0 && payload.length === 8);
      if ((flags & ACK) === 0) state.events.write(frame(PING, ACK, 0, payload));
      return;
    case GOAWAY: {
      expect(stream === 0 && payload.length >= 8);
      const [last, code] = [uint32At(payload, 0) & LARGEST_WINDOW, uint32At(payload, 4)];
      // The server still answers streams up to the last one.
      if (last < STREAM || code !== 0) throw new Fault("goaway");
      return;
    }
    case RST_STREAM:
      expect(stream === STREAM && payload.length === 4);
      throw new Fault("reset");
    case PUSH_PROMISE:
      throw new Fault("protocol");
    default:
      // PRIORITY, and types of extensions.
  }
}

function countEmpty(state: State): void {
  if (++state.emptyFrames > EMPTY_FRAMES) throw new Fault("protocol");
}

function expect(holds: boolean): void {
  if (!holds) throw new Fault("protocol");
}

function handleData(state: State, received: Frame): void {
  expect(received.stream === STREAM && state.hasHeaders);
  const piece = unpadded(received);
  if (piece.length > 0) state.events.data(piece);
  else countEmpty(state);
  if ((received.flags & END_STREAM) !== 0) finish(state);
}

/** The payload without its padding. */
function unpadded({ flags, payload }: Frame): Uint8Array {
  if ((flags & PADDED) === 0) return payload;
  const padding = payload[0] ?? payload.length;
  expect(padding < payload.length);
  return payload.subarray(1, payload.length - padding);
}

function handleHeaders(state: State, received: Frame): void {
  expect(received.stream === STREAM);
  let part = received.payload;
  if (received.type === HEADERS) {
    part = unpadded(received);
    if ((received.flags & PRIORITY) !== 0) {
      expect(part.length >= 5);
      part = part.subarray(5);
    }
    state.block = { parts: [], bytes: 0, isLast: (received.flags & END_STREAM) !== 0 };
  }
  const { block } = state;
  if (block === null) throw new Fault("protocol");
  block.bytes += part.length;
  if (block.bytes > COMPRESSED_FACTOR * state.limits.headerBytes) throw new Fault("headers_too_large");
  block.parts.push(new Uint8Array(part));
  if ((received.flags & END_HEADERS) === 0) return;
  state.block = null;
  handleFields(state, state.decode(joined(block.parts)), block.isLast);
}

function handleFields(state: State, fields: ReturnType<HeaderDecoder>, isLast: boolean): void {
  if (fields === "malformed") throw new Fault("protocol");
  if (fields === "too_large") throw new Fault("headers_too_large");
  if (fields === "too_many") throw new Fault("headers_too_many");
  const pseudo = fields.filter(([name]) => name.startsWith(":"));
  const [first] = fields;
  if (state.hasHeaders) expect(isLast && pseudo.length === 0);
  else expect(pseudo.length === 1 && first?.[0] === ":status" && /^[1-9][0-9]{2}$/.test(first[1]));
  expect(fields.every(([name, value]) => FIELD_NAME.test(name) && !HIDDEN.test(value)));
  // HTTP/2 has no switch of protocols (RFC 9113, 8.6).
  if (!state.hasHeaders && first?.[1].startsWith("1") === true) return expect(!isLast && first[1] !== "101");
  state.hasHeaders = true;
  state.events.fields(fields, isLast);
  if (isLast) finish(state);
}

/** Bytes that end a field elsewhere. */
const HIDDEN = /[\0\r\n]/;

const FIELD_NAME = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The response is complete, unless an event before has ended the exchange. */
function finish(state: State): void {
  if (state.isOver) return;
  state.isOver = true;
  state.events.end();
}

function handleSettings(state: State, { flags, stream, payload }: Frame): void {
  expect(stream === 0 && payload.length % 6 === 0);
  if ((flags & ACK) !== 0) return expect(payload.length === 0);
  state.hasSettings = true;
  for (let at = 0; at < payload.length; at += 6) {
    const value = uint32At(payload, at + 2);
    switch ((payload[at] ?? 0) * 256 + (payload[at + 1] ?? 0)) {
      case ENABLE_PUSH:
        // A server may not enable it.
        expect(value === 0);
        break;
      case INITIAL_WINDOW_SIZE:
        expect(value <= LARGEST_WINDOW);
        state.streamWindow += value - state.initialWindow;
        state.initialWindow = value;
        expect(state.streamWindow <= LARGEST_WINDOW);
        break;
      case MAX_FRAME_SIZE:
        // Frames of the smallest limit fit every one.
        expect(value >= FRAME_BYTES && value <= LARGEST_FRAME_BYTES);
        break;
      default:
        // The encoder keeps no table, and one request needs no other setting.
    }
  }
  state.events.write(frame(SETTINGS, ACK, 0, new Uint8Array(0)));
  writeBody(state);
}

function handleWindow(state: State, { stream, payload }: Frame): void {
  expect((stream === 0 || stream === STREAM) && payload.length === 4);
  const more = uint32At(payload, 0) & LARGEST_WINDOW;
  expect(more > 0);
  if (stream === 0) state.connectionWindow += more;
  else state.streamWindow += more;
  expect(state.connectionWindow <= LARGEST_WINDOW && state.streamWindow <= LARGEST_WINDOW);
  writeBody(state);
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + payload.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, payload.length >> 16);
  view.setUint16(1, payload.length & 0xffff);
  view.setUint8(3, type);
  view.setUint8(4, flags);
  view.setUint32(5, stream);
  bytes.set(payload, FRAME_HEAD_BYTES);
  return bytes;
}

function setting(values: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const bytes = new Uint8Array(6 * values.length);
  const view = new DataView(bytes.buffer);
  for (const [index, [id, value]] of values.entries()) {
    view.setUint16(6 * index, id);
    view.setUint32(6 * index + 2, value);
  }
  return bytes;
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function uint32At(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
