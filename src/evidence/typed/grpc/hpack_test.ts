import assert from "node:assert/strict";
import fc from "../../../../tests/packages/fast_check.ts";
import { createHeaderDecoder, encodeHeaders, type HeaderField } from "./hpack.ts";

const LIMITS = { bytes: 16_384, fields: 64 };

function bytesOf(hex: string): Uint8Array {
  return new Uint8Array(hex.replaceAll(" ", "").match(/../g)?.map((byte) => parseInt(byte, 16)) ?? []);
}

const DATE = "Mon, 21 Oct 2013 20:13:";
const LOCATION: HeaderField = ["location", "https://www.example.com"];

/** The responses of RFC 7541, C.6, with Huffman codes and a table of 256 bytes. */
const RESPONSES: readonly (readonly [hex: string, fields: readonly HeaderField[]])[] = [
  [
    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b " +
    "97c8 e9ae 82ae 43d3",
    [[":status", "302"], ["cache-control", "private"], ["date", `${DATE}21 GMT`], LOCATION],
  ],
  ["4883 640e ffc1 c0bf", [[":status", "307"], ["cache-control", "private"], ["date", `${DATE}21 GMT`], LOCATION]],
  [
    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf " +
    "cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    [
      [":status", "200"],
      ["cache-control", "private"],
      ["date", `${DATE}22 GMT`],
      LOCATION,
      ["content-encoding", "gzip"],
      ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
    ],
  ],
];

Deno.test("a decoder reads the responses of the specification, whose table evicts entries", () => {
  const decode = createHeaderDecoder(LIMITS, 256);
  for (const [hex, fields] of RESPONSES) assert.deepEqual(decode(bytesOf(hex)), fields);
});

Deno.test("a decoder reads what the encoder writes, whatever the bytes", () => {
  const text = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
    maxLength: 300,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (fields) => {
      assert.deepEqual(createHeaderDecoder(LIMITS)(encodeHeaders(fields)), fields);
    }),
  );
});

Deno.test("a decoder reads the last Huffman code of each length", () => {
  // Codes continue from length to length, so a symbol that is missing or too many shifts all later ones.
  const rows: readonly (readonly [symbol: number, hex: string])[] = [
    [0x74, "4f"],
    [0x75, "b7"],
    [0x7a, "f7"],
    [0x5a, "fd"],
    [0x3f, "ff3f"],
    [0x7c, "ff9f"],
    [0x3e, "ffbf"],
    [0x7e, "ffef"],
    [0x7d, "fff7"],
    [0x7b, "fffd"],
    [0xd0, "fffe5f"],
    [0xe2, "fffedf"],
    [0xe6, "ffff47"],
    [0xe9, "ffffaf"],
    [0xef, "ffffe9"],
    [0xed, "fffff5"],
    [0xeb, "fffff7ff"],
    [0xff, "fffffbbf"],
    [0xfe, "fffffe1f"],
    [0xf9, "ffffffef"],
    [0x16, "fffffffb"],
  ];
  for (const [symbol, hex] of rows) {
    const code = bytesOf(hex);
    const block = Uint8Array.of(0x00, 0x01, 0x61, 0x80 | code.length, ...code);
    assert.deepEqual(createHeaderDecoder(LIMITS)(block), [["a", String.fromCharCode(symbol)]], `${symbol}`);
  }
});

/** A block, and what becomes of it. */
const BLOCKS: readonly (readonly [what: string, hex: string, outcome: unknown])[] = [
  ["nothing", "", []],
  ["an entry of the static table", "88", [[":status", "200"]]],
  ["the last entry of the static table", "bd", [["www-authenticate", ""]]],
  ["the entry 0", "80", "malformed"],
  ["an entry that the table does not have", "be", "malformed"],
  ["a table of 4096 bytes", "3fe11f88", [[":status", "200"]]],
  ["a table of 4097 bytes", "3fe21f88", "malformed"],
  ["a table size after a field", "8820", "malformed"],
  ["a string that ends early", "000161", "malformed"],
  ["a string that is longer than the block", "000561", "malformed"],
  ["an integer of five bytes more", "ffffffffff0f", "malformed"],
  ["an integer that ends early", "ff80", "malformed"],
  ["a Huffman code that is filled with zeros", "00016181 00", "malformed"],
  ["a Huffman code that is filled with a byte of ones", "00016182 07ff", "malformed"],
  ["the end of a string in a Huffman code", "00016184 ffffffff", "malformed"],
];

for (const [what, hex, outcome] of BLOCKS) {
  Deno.test(`a block with ${what}: ${typeof outcome === "string" ? outcome : "fields"}`, () => {
    assert.deepEqual(createHeaderDecoder(LIMITS)(bytesOf(hex)), outcome);
  });
}

Deno.test("a decoder takes n - 1 and n bytes and fields, and refuses n + 1", () => {
  for (const [length, outcome] of [[99, "fields"], [100, "fields"], [101, "too_large"]] as const) {
    const decoded = createHeaderDecoder({ bytes: 133, fields: 1 })(encodeHeaders([["a", "b".repeat(length)]]));
    assert.equal(typeof decoded === "string" ? decoded : "fields", outcome);
  }
  for (const [count, outcome] of [[63, "fields"], [64, "fields"], [65, "too_many"]] as const) {
    const decoded = createHeaderDecoder(LIMITS)(new Uint8Array(count).fill(0x88));
    assert.equal(typeof decoded === "string" ? decoded : "fields", outcome);
  }
});

Deno.test("a decoder ends at its limit where a block repeats a large entry of the table", () => {
  const decode = createHeaderDecoder({ bytes: 16_384, fields: 100_000 });
  const large = [0x40, 0x01, 0x61, 0x7f, 0x81, 0x1e, ...new Array<number>(4000 - 32).fill(0x61)];
  assert.equal(decode(Uint8Array.from([...large, ...new Array<number>(50_000).fill(0xbe)])), "too_large");
});

Deno.test("a decoder gives an outcome for every block of bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 50 }), (one, two) => {
      const decode = createHeaderDecoder(LIMITS);
      for (const block of [one, two]) {
        const decoded = decode(block);
        assert.ok(Array.isArray(decoded) || ["malformed", "too_large", "too_many"].includes(decoded as string));
      }
    }),
    { numRuns: 5000 },
  );
});
