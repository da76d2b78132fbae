import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { ExternalFailure } from "./failure.ts";
import { createReplyLines } from "./reply_lines.ts";

const encoder = new TextEncoder();

/** Splits bytes in chunks into lines; ends with the code of a failure. */
function cut(pieces: readonly Uint8Array[], maximum = 8): string[] {
  const lines: string[] = [];
  const reader = createReplyLines((line) => void lines.push(line), maximum);
  try {
    for (const piece of pieces) void reader.push(piece);
  } catch (error) {
    assert.ok(error instanceof ExternalFailure);
    lines.push(`! ${error.code}`);
  }
  return lines;
}

const ROWS: readonly [string, Uint8Array, readonly string[]][] = [
  ["nothing", encoder.encode(""), []],
  ["a line", encoder.encode("abc\n"), ["abc"]],
  ["an end of CRLF", encoder.encode("abc\r\n"), ["abc"]],
  ["empty lines too", encoder.encode("\n\r\n"), ["", ""]],
  ["no end yet", encoder.encode("a\nb"), ["a"]],
  ["a byte less than the limit", encoder.encode("1234567\n"), ["1234567"]],
  ["as many as the limit", encoder.encode("12345678\n"), ["12345678"]],
  ["a byte more than the limit", encoder.encode("a\n123456789\n"), ["a", "! response_too_large"]],
  ["a byte more without an end", encoder.encode("123456789"), ["! response_too_large"]],
  ["no UTF-8", Uint8Array.of(0x61, 0x0a, 0xff, 0x0a), ["a", "! provider_protocol_error"]],
];

for (const [name, bytes, expected] of ROWS) {
  Deno.test(`createReplyLines() ${name}`, () => assert.deepEqual(cut([bytes]), expected));
}

Deno.test("createReplyLines() returns the same lines for any chunks", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 5 }).map((text) => text.replaceAll(/[\r\n]/g, "")), {
        maxLength: 5,
      }),
      fc.array(fc.nat(6), { minLength: 1 }),
      (lines, sizes) => {
        const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(""));
        const pieces: Uint8Array[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1;
          pieces.push(bytes.slice(at, at + size));
          at += size;
        }
        assert.deepEqual(cut(pieces, 1000), lines);
      },
    ),
  );
});
