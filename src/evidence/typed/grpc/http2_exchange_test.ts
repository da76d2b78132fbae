import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "../../../../tests/packages/fast_check.ts";
import { data, frame, headers, join, OK_HEADERS, SETTINGS } from "../../../../tests/e2e/typed/grpc_peers.ts";
import { beginExchange, type Exchange, type ExchangeFault } from "./http2_exchange.ts";

const LIMITS = { headerBytes: 16_384, headerFields: 64 };
const OK = headers(OK_HEADERS);
const DONE = headers([["grpc-status", "0"]], true);
const BODY = Uint8Array.of(1, 2, 3);
const CONTINUED = headers([["a", "b"]]).subarray(9);

/** What an exchange reported, one line for each event. */
interface Played {
  readonly events: readonly string[];
  /** Frames that the client sent after the preface: type, flags and stream, then the length of the payload. */
  readonly sent: readonly string[];
}

/** An exchange, and what it reports and sends. */
function observe(body: Uint8Array = BODY): { exchange: Exchange; events: string[]; written: Uint8Array[] } {
  const events: string[] = [];
  const written: Uint8Array[] = [];
  const exchange = beginExchange({ fields: [[":method", "POST"]], body }, LIMITS, {
    write: (bytes) => void written.push(bytes),
    fields: (fields) => void events.push(fields.map(([name, value]) => `${name}=${value}`).join(" ")),
    data: (piece) => void events.push(`data ${piece.length}`),
    end: () => void events.push("end"),
    fail: (fault: ExchangeFault) => void events.push(`fail ${fault}`),
  });
  return { exchange, events, written };
}

/** Plays what a server sends, piece by piece. */
function play(pieces: readonly Uint8Array[], body: Uint8Array = BODY): Played {
  const { exchange, events, written } = observe(body);
  for (const piece of pieces) exchange.receive(piece);
  return { events, sent: framesOf(join(written).subarray(24)) };
}

function framesOf(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = view.getUint16(at) * 256 + view.getUint8(at + 2);
    found.push(`${view.getUint8(at + 3)}/${view.getUint8(at + 4)}/${view.getUint32(at + 5)} ${length}`);
    at += 9 + length;
  }
  return found;
}

const BEGIN = ["4/0/0 18", "8/0/0 4", "1/4/1 14"];
const RESPONSE = [":status=200 content-type=application/grpc", "data 2", "grpc-status=0", "end"];

Deno.test("an exchange sends settings, window, headers and body, and reports the response", () => {
  const { events, sent } = play([SETTINGS, OK, data(Uint8Array.of(8, 3)), DONE]);
  assert.deepEqual(events, RESPONSE);
  assert.deepEqual(sent, [...BEGIN, "0/1/1 3", "4/1/0 0"]);
});

Deno.test("an exchange reports the same, however the bytes of the server are cut", () => {
  const all = join([SETTINGS, OK, data(Uint8Array.of(8, 3)), DONE]);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: all.length }), { maxLength: 20 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), all.length];
      const pieces = places.slice(1).map((place, index) => all.slice(places[index], place));
      assert.deepEqual(play(pieces).events, RESPONSE);
    }),
  );
});

Deno.test("an exchange keeps no part of a buffer that its caller writes again", () => {
  const parts = join([SETTINGS, frame(1, 0, 1, Uint8Array.of(0x88)), frame(9, 4, 1, CONTINUED), data(BODY), DONE]);
  const { events, exchange } = observe();
  const buffer = Buffer.alloc(7);
  for (let at = 0; at < parts.length; at += buffer.length) {
    const length = Math.min(buffer.length, parts.length - at);
    buffer.set(parts.subarray(at, at + length));
    exchange.receive(buffer.subarray(0, length));
    buffer.fill(0);
  }
  assert.deepEqual(events, [":status=200 a=b", "data 3", "grpc-status=0", "end"]);
});

function window(stream: number, increment: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, increment);
  return frame(8, 0, stream, payload);
}

function settings(id: number, value: number): Uint8Array {
  const payload = new Uint8Array(6);
  const view = new DataView(payload.buffer);
  view.setUint16(0, id);
  view.setUint32(2, value);
  return frame(4, 0, 0, payload);
}

/** What a server allows of a request of 100,000 bytes, and the lengths of the DATA frames that are then sent. */
const WINDOWS: readonly (readonly [what: string, pieces: readonly Uint8Array[], sent: readonly string[]])[] = [
  ["nothing more", [SETTINGS], ["16384", "16384", "16384", "16383"]],
  ["more on the connection alone", [SETTINGS, window(0, 1000)], ["16384", "16384", "16384", "16383"]],
  ["more on the stream alone", [SETTINGS, window(1, 1000)], ["16384", "16384", "16384", "16383"]],
  ["more on both", [SETTINGS, window(0, 1000), window(1, 999)], ["16384", "16384", "16384", "16383", "999"]],
  [
    "a larger window of streams",
    [settings(4, 65_545), window(0, 10)],
    ["16384", "16384", "16384", "16383", "10"],
  ],
  [
    "a smaller window of streams, and then more",
    [settings(4, 0), window(0, 100_000), window(1, 65_535), window(1, 5)],
    ["16384", "16384", "16384", "16383", "5"],
  ],
  [
    "all of it",
    [SETTINGS, window(0, 100_000), window(1, 100_000)],
    ["16384", "16384", "16384", "16383", "16384", "16384", "1697 END"],
  ],
];

for (const [what, pieces, expected] of WINDOWS) {
  Deno.test(`a server that allows ${what} gets no byte more`, () => {
    const { events, sent } = play(pieces, new Uint8Array(100_000));
    const bodies = sent.filter((one) => one.startsWith("0/")).map((one) => one.replace(/^0\/0\/1 /, ""));
    assert.deepEqual(bodies.map((one) => one.replace(/^0\/1\/1 (.*)$/, "$1 END")), expected);
    assert.deepEqual(events, []);
  });
}

const STATUS_200: readonly [string, string][] = [[":status", "200"]];

/** What a server sends after its settings, and what the exchange reports. */
const SERVERS: readonly (readonly [what: string, pieces: readonly Uint8Array[], events: readonly string[]])[] = [
  ["a padded frame", [OK, frame(0, 8, 1, Uint8Array.of(2, 7, 0, 0))], [RESPONSE[0] ?? "", "data 1"]],
  ["more padding than there is", [OK, frame(0, 8, 1, Uint8Array.of(4, 7, 0, 0))], [RESPONSE[0] ?? "", "fail protocol"]],
  ["fields with a priority", [frame(1, 0x25, 1, join([new Uint8Array(5), Uint8Array.of(0x88)]))], [
    ":status=200",
    "end",
  ]],
  ["fields in two frames", [
    frame(1, 0, 1, Uint8Array.of(0x88)),
    frame(9, 4, 1, CONTINUED),
  ], [":status=200 a=b"]],
  ["a frame between the parts of fields", [frame(1, 0, 1, Uint8Array.of(0x88)), SETTINGS], ["fail protocol"]],
  ["the second part of fields alone", [frame(9, 4, 1, CONTINUED)], ["fail protocol"]],
  ["informational headers first", [headers([[":status", "103"]]), OK], [RESPONSE[0] ?? ""]],
  ["a switch of protocols", [headers([[":status", "101"]]), OK], ["fail protocol"]],
  ["informational headers as the end", [headers([[":status", "103"]], true)], ["fail protocol"]],
  ["data before the headers", [data(BODY)], ["fail protocol"]],
  ["trailers that do not end the stream", [OK, OK], [RESPONSE[0] ?? "", "fail protocol"]],
  ["trailers with a status", [OK, headers(STATUS_200, true)], [RESPONSE[0] ?? "", "fail protocol"]],
  ["no status", [headers([["a", "b"]])], ["fail protocol"]],
  ["a status of two digits", [headers([[":status", "20"]])], ["fail protocol"]],
  ["two statuses", [headers([...STATUS_200, ...STATUS_200])], ["fail protocol"]],
  ["another pseudo-header", [headers([...STATUS_200, [":path", "/"]])], ["fail protocol"]],
  ["a name in upper case", [headers([...STATUS_200, ["A", "b"]])], ["fail protocol"]],
  ["a value of two lines", [headers([...STATUS_200, ["a", "b\r\nc: d"]])], ["fail protocol"]],
  ["fields that cannot be decoded", [frame(1, 4, 1, Uint8Array.of(0x80))], ["fail protocol"]],
  ["fields of another stream", [frame(1, 4, 3, Uint8Array.of(0x88))], ["fail protocol"]],
  ["a push", [frame(5, 4, 1, new Uint8Array(5))], ["fail protocol"]],
  ["the end of a stream that is not open", [frame(3, 0, 3, new Uint8Array(4))], ["fail protocol"]],
  ["the end of the stream", [frame(3, 0, 1, new Uint8Array(4))], ["fail reset"]],
  ["GOAWAY before the stream", [frame(7, 0, 0, new Uint8Array(8))], ["fail goaway"]],
  ["GOAWAY with an error", [frame(7, 0, 0, Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 2))], ["fail goaway"]],
  ["GOAWAY after the stream, then the response", [
    frame(7, 0, 0, Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 0)),
    OK,
    DONE,
  ], [RESPONSE[0] ?? "", "grpc-status=0", "end"]],
  ["a window that grows by nothing", [window(1, 0)], ["fail protocol"]],
  // Three bytes of the first window are taken.
  ["the largest window", [window(0, 2 ** 31 - 65_533), OK], [RESPONSE[0] ?? ""]],
  ["a window beyond the largest", [window(0, 2 ** 31 - 65_532), OK], ["fail protocol"]],
  ["a first window beyond the largest", [settings(4, 2 ** 31)], ["fail protocol"]],
  ["settings without a push", [settings(2, 0), OK], [RESPONSE[0] ?? ""]],
  ["settings with a push", [settings(2, 1)], ["fail protocol"]],
  ["a frame size below the smallest", [settings(5, 16_383)], ["fail protocol"]],
  ["settings of 5 bytes", [frame(4, 0, 0, new Uint8Array(5))], ["fail protocol"]],
  ["an acknowledgement with settings", [frame(4, 1, 0, new Uint8Array(6))], ["fail protocol"]],
  ["a ping of 7 bytes", [frame(6, 0, 0, new Uint8Array(7))], ["fail protocol"]],
  ["a frame of an unknown type", [frame(200, 0, 9, BODY), OK], [RESPONSE[0] ?? ""]],
  ["a frame of 16,384 bytes", [OK, data(new Uint8Array(16_384))], [RESPONSE[0] ?? "", "data 16384"]],
  ["the head of a frame of 16,385 bytes", [OK, data(new Uint8Array(16_385)).subarray(0, 9)], [
    RESPONSE[0] ?? "",
    "fail protocol",
  ]],
  ["fields without end", Array.from({ length: 6 }, (_, at) => frame(at === 0 ? 1 : 9, 0, 1, new Uint8Array(16_384))), [
    "fail headers_too_large",
  ]],
  ["more after the end", [headers(STATUS_200, true), data(BODY), SETTINGS], [":status=200", "end"]],
];

for (const [what, pieces, expected] of SERVERS) {
  Deno.test(`a server that sends ${what}: ${expected.at(-1)}`, () => {
    assert.deepEqual(play([SETTINGS, ...pieces]).events, expected);
  });
}

Deno.test("a ping is answered with its content, and its answer is not", () => {
  const { sent } = play([SETTINGS, frame(6, 0, 0, new Uint8Array(8)), frame(6, 1, 0, new Uint8Array(8))]);
  assert.deepEqual(sent.slice(4), ["4/1/0 0", "6/1/0 8"]);
});

Deno.test("a server begins with its settings", () => {
  for (const first of [OK, frame(4, 1, 0, new Uint8Array(0)), frame(6, 0, 0, new Uint8Array(8))]) {
    assert.deepEqual(play([first]).events, ["fail protocol"]);
  }
});

/** Frames that carry no part of the response. */
const EMPTY: readonly (readonly [what: string, frame: Uint8Array])[] = [
  ["empty frames", frame(0, 0, 1, new Uint8Array(0))],
  ["frames of padding alone", frame(0, 8, 1, Uint8Array.of(2, 0, 0))],
  ["pings", frame(6, 0, 0, new Uint8Array(8))],
  ["frames of an unknown type", frame(200, 0, 9, BODY)],
];

for (const [what, empty] of EMPTY) {
  Deno.test(`a server may send n - 1 and n ${what}, and not n + 1`, () => {
    // The settings and the headers count too.
    for (const [count, last] of [[9997, "end"], [9998, "end"], [9999, "fail protocol"]] as const) {
      const all = [SETTINGS, OK, ...Array.from({ length: count }, () => empty)];
      assert.equal(play([join(all), data(BODY, true)]).events.at(-1), last);
    }
  });
}

Deno.test("request headers of more than a frame continue in another one", () => {
  const written: Uint8Array[] = [];
  beginExchange({ fields: [["a", "b".repeat(20_000)]], body: BODY }, LIMITS, {
    write: (bytes) => void written.push(bytes),
    fields: () => {},
    data: () => {},
    end: () => {},
    fail: () => {},
  });
  assert.deepEqual(framesOf(join(written).subarray(24)).slice(2), ["1/0/1 16384", "9/4/1 3623", "0/1/1 3"]);
});
