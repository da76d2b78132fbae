import assert from "node:assert/strict";
import { countOf } from "../../canonical/count.ts";
import { cut } from "./words.ts";

Deno.test("cut() and countOf() keep characters whole, and nouns in number", () => {
  assert.equal(cut("\u{1f600}\u{1f600}\u{1f600}", 2), "\u{1f600}\u{1f600}…");
  assert.equal(cut("ab", 2), "ab");
  assert.equal(`${countOf(1, "record")}, ${countOf(0, "record")}`, "1 record, 0 records");
});
