import assert from "node:assert/strict";
import { shown } from "./shown.ts";

/** Text, and how it is shown. */
const ROWS: readonly [string, string][] = [
  ["plain é \u{1f600}", "plain é \u{1f600}"],
  ["a\u0000b\n\u001b[31m", "a\ufffdb\ufffd\ufffd[31m"],
  ["\u007f\u009b\u061c\u200e\u2028\u2029\u202e\u2066\u2069", "\ufffd".repeat(9)],
  ["\u00a0\u2065\u206a\u202f", "\u00a0\u2065\u206a\u202f"],
];

for (const [text, expected] of ROWS) {
  Deno.test(`shown() of ${JSON.stringify(text)}`, () => assert.equal(shown(text), expected));
}
