import assert from "node:assert/strict";
import { counted, cut } from "./words.ts";

Deno.test("cut() and counted() keep characters whole, and nouns in number", () => {
  assert.equal(cut("\u{1f600}\u{1f600}\u{1f600}", 2), "\u{1f600}\u{1f600}…");
  assert.equal(cut("ab", 2), "ab");
  assert.equal(`${counted(1, "record")}, ${counted(0, "record")}`, "1 record, 0 records");
});
