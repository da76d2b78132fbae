import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "../../tests/packages/fast_check.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { decodeHex, encodeHex } from "./hex.ts";
import { formatPath } from "./path.ts";
import { decodeUtf8Strict, utf8Length } from "./utf8.ts";

const bytes = fc.uint8Array({ maxLength: 40 });

Deno.test("utf8Length() is the length of the encoded bytes", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.nat(0xffff)).map((all) => String.fromCharCode(...all)),
  );
  fc.assert(
    fc.property(texts, (text) => assert.equal(utf8Length(text), new TextEncoder().encode(text).length)),
    { numRuns: 2000 },
  );
});

Deno.test("decodeUtf8Strict() reads UTF-8 and nothing else", () => {
  const table: readonly [string, number[], string | null][] = [
    ["empty", [], ""],
    ["two bytes", [0xc3, 0xa9], "\u00e9"],
    ["four bytes", [0xf0, 0x9f, 0x98, 0x80], "\u{1f600}"],
    ["a byte order mark stays", [0xef, 0xbb, 0xbf, 0x31], "\ufeff1"],
    ["overlong", [0xc0, 0x80], null],
    ["surrogate", [0xed, 0xa0, 0x80], null],
    ["past U+10FFFF", [0xf4, 0x90, 0x80, 0x80], null],
    ["cut short", [0xe2, 0x82], null],
    ["continuation alone", [0x80], null],
    ["Latin-1", [0x61, 0xe9], null],
    ["a replacement character", [0xef, 0xbf, 0xbd], "\ufffd"],
    ["a replacement character, and a fault", [0xef, 0xbf, 0xbd, 0x80], null],
  ];
  for (const [title, input, output] of table) assert.equal(decodeUtf8Strict(new Uint8Array(input)), output, title);
});

Deno.test("decodeUtf8Strict() agrees with the runtime's strict decoder on every sequence of bytes", () => {
  const parts = fc.array(
    fc.constantFrom(0x00, 0x61, 0x80, 0xbd, 0xbf, 0xc2, 0xc3, 0xe0, 0xef, 0xed, 0xf0, 0xf4, 0xff),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(parts, (all) => {
      const input = new Uint8Array(all);
      let expected: string | null = null;
      try {
        expected = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
      } catch {
        // Not UTF-8.
      }
      assert.equal(decodeUtf8Strict(input), expected);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("decodeBase64() reverses encodeBase64(), which follows RFC 4648", () => {
  fc.assert(fc.property(bytes, (input) => {
    const text = encodeBase64(input);
    assert.equal(text, Buffer.from(input).toString("base64"));
    assert.deepEqual(decodeBase64(text), new Uint8Array(input));
  }));
});

Deno.test("decodeBase64() accepts the canonical text only", () => {
  const refused = [
    "Zg",
    "Zg=",
    "Zg===",
    "Zh==",
    "Zm9=",
    "Z",
    "=",
    "====",
    "Zg==Zg==",
    "Zm9v\n",
    " Zm9v",
    "Zm 9v",
    "-_8=",
    "Zm9v=",
    "\u00e9",
  ];
  for (const text of refused) assert.equal(decodeBase64(text), null, text);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."AQgwZ/+=- \n"), maxLength: 8 }), (text) => {
      const decoded = decodeBase64(text);
      if (decoded !== null) assert.equal(encodeBase64(decoded), text);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("decodeHex() reverses encodeHex() and accepts lower case only", () => {
  fc.assert(fc.property(bytes, (input) => {
    assert.equal(encodeHex(input), Buffer.from(input).toString("hex"));
    assert.deepEqual(decodeHex(encodeHex(input)), new Uint8Array(input));
  }));
  for (const text of ["0", "0g", "AB", "aB", " ab", "ab\n", "0x", "+1"]) assert.equal(decodeHex(text), null, text);
});

Deno.test("formatPath() writes names other than identifiers as JSON", () => {
  const table: readonly [(string | number)[], string][] = [
    [[], "$"],
    [["stages", 0, "stage_id"], "$.stages[0].stage_id"],
    [["_a$1"], "$._a$1"],
    [["a b"], '$["a b"]'],
    [["1a"], '$["1a"]'],
    [["0"], '$["0"]'],
    [[0], "$[0]"],
    [[""], '$[""]'],
    [['"\\\n'], '$["\\"\\\\\\n"]'],
    [["\u00e9"], '$["\u00e9"]'],
    [["\ud800"], '$["\\ud800"]'],
    [["a\n"], '$["a\\n"]'],
  ];
  for (const [segments, path] of table) assert.equal(formatPath(segments), path);
});
