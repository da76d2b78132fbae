import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { createLineReader } from "./lines.ts";

const encoder = new TextEncoder();

/** The lines and faults that a reader with a limit reports for bytes in the given pieces. */
async function readLines(maximumBytes: number, pieces: readonly Uint8Array[]): Promise<string[]> {
  const seen: string[] = [];
  let excess = "";
  const decoder = new TextDecoder();
  const reader = createLineReader(maximumBytes, {
    line: (text) => void seen.push(text),
    excess: (bytes) => excess += decoder.decode(bytes, { stream: true }),
    fault: (fault) => {
      seen.push(`!${fault}${excess === "" ? "" : ` ${excess.trimEnd()}`}`);
      excess = "";
    },
  });
  for (const piece of pieces) await reader.push(piece);
  await reader.end();
  return seen;
}

const ROWS: readonly (readonly [what: string, input: string | Uint8Array, lines: readonly string[]])[] = [
  ["lines", "a\nb\n", ["a", "b"]],
  ["lines that end with CRLF", "a\r\nb\r\n", ["a", "b"]],
  ["blank lines", "\n \t\n\r\n\na\n\n", ["", " \t", "", "", "a", ""]],
  ["no end of the last line", "a\nb", ["a", "b"]],
  ["one byte less than the limit", "1234567\n", ["1234567"]],
  ["the limit", "12345678\n", ["12345678"]],
  ["the limit and CRLF", "12345678\r\n", ["12345678"]],
  ["the limit without an end", "12345678", ["12345678"]],
  ["one byte more", "123456789\n", ["!too_long 123456789"]],
  ["one byte more without an end", "123456789", ["!too_long 123456789"]],
  ["two CR at the limit", "12345678\r\r\n", ["!too_long 12345678"]],
  ["far more, and then a line", `${"x".repeat(100)}\nok\n`, [`!too_long ${"x".repeat(100)}`, "ok"]],
  ["bytes, not characters", "äöü\n", ["äöü"]],
  ["too many bytes in few characters", "äöüäö\n", ["!too_long äöüäö"]],
  ["a byte order mark", "\uFEFFa\n", ["\uFEFFa"]],
  ["a byte order mark alone", "\uFEFF\n", ["\uFEFF"]],
  ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22, 0x0a, 0x61, 0x0a]), ["!not_utf8", "a"]],
  ["an encoded surrogate", new Uint8Array([0xed, 0xa0, 0x80, 0x0a]), ["!not_utf8"]],
  ["an overlong form", new Uint8Array([0xc0, 0x80, 0x0a]), ["!not_utf8"]],
  ["a cut character", new Uint8Array([0xc3]), ["!not_utf8"]],
];

for (const [what, input, lines] of ROWS) {
  Deno.test(`createLineReader() reads ${what}`, async () => {
    const bytes = typeof input === "string" ? encoder.encode(input) : input;
    assert.deepEqual(await readLines(8, [bytes]), lines);
    assert.deepEqual(await readLines(8, [...bytes].map((byte) => new Uint8Array([byte]))), lines);
  });
}

Deno.test("createLineReader() reads the same lines for any division of the bytes", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "ä", "\n", "\r", " ", "€"), maxLength: 60 });
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 8 });
  await fc.assert(fc.asyncProperty(text, cuts, fc.integer({ min: 1, max: 12 }), async (input, at, maximum) => {
    const bytes = encoder.encode(input);
    const edges = [0, ...at.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
    const pieces = edges.slice(1).map((edge, index) => bytes.slice(edges[index], edge));
    assert.deepEqual(await readLines(maximum, pieces), await readLines(maximum, [bytes]));
  }));
});

Deno.test("createLineReader() reports a line only after the sink has handled the previous one", async () => {
  const seen: string[] = [];
  const reader = createLineReader(8, {
    line: async (text) => {
      seen.push(`${text}(`);
      await Promise.resolve();
      seen.push(`${text})`);
    },
    fault: () => undefined,
  });
  await reader.push(encoder.encode("a\nb\n"));
  assert.deepEqual(seen, ["a(", "a)", "b(", "b)"]);
});
