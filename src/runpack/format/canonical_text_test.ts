import assert from "node:assert/strict";
import { readText } from "./canonical_text.ts";
import { PACK_DEPTH } from "./types.ts";

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

/** Texts, and whether they are read; whether they are canonical is another question. */
const TEXTS: readonly [name: string, text: string, outcome: "read" | "refused"][] = [
  ["canonical text", '{"a":[1,"b"],"c":null}', "read"],
  ["names that the runtime orders otherwise", '{"10":1,"2":2}', "read"],
  ["a number that the runtime writes otherwise", '{"a":1e2}', "read"],
  ["spaces", '{ "a": 1 }', "read"],
  ["an escape", '{"a":"\\n"}', "read"],
  ["containers as deep as they may be", nested(PACK_DEPTH), "read"],
  ["containers one deeper", nested(PACK_DEPTH + 1), "refused"],
  ["containers far deeper", nested(100_000), "refused"],
  ["a member twice", '{"a":1,"a":1}', "refused"],
  ["a member twice, in as many bytes as one", '{"a":1000000,"a":1e5}', "refused"],
  ["a member twice, once with an escape", '{"a":1,"\\u0061":1}', "refused"],
  ["a number that is not exact", '{"a":9007199254740993}', "refused"],
  ["a number beyond all doubles", '{"a":1e400}', "refused"],
  ["half a surrogate pair", '{"a":"\\ud83d"}', "refused"],
  ["a comma behind the last member", '{"a":1,}', "refused"],
  ["a byte order mark", "\ufeff{}", "refused"],
  ["nothing", "", "refused"],
];

for (const [name, text, outcome] of TEXTS) {
  Deno.test(`readText() ${name}: ${outcome}`, () => {
    assert.equal(readText(text) === undefined ? "refused" : "read", outcome);
  });
}
