import assert from "node:assert/strict";
import { terminalSafe } from "./terminal_safe.ts";

/** First and last of what is escaped, with their neighbours, and whether it is. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
];

for (const [first, last] of RANGES) {
  Deno.test(`terminalSafe() escapes U+${first.toString(16)} to U+${last.toString(16)} and not their neighbours`, () => {
    for (let code = first - 1; code <= last + 1; code++) {
      const json = `{"a":"${String.fromCharCode(code)}"}`;
      const safe = terminalSafe(json);
      assert.equal(safe !== json, code >= first && code <= last, code.toString(16));
      assert.deepEqual(JSON.parse(safe), JSON.parse(json));
    }
  });
}
