import assert from "node:assert/strict";
import { requirementText } from "./requirement_text.ts";
import type { Requirement } from "./types.ts";

const leaf = (id: string): Requirement => ({ Condition: id });

const ROWS: readonly (readonly [requirement: Requirement, text: string])[] = [
  [leaf("a"), "a"],
  [leaf("(a)"), "(a)"],
  [{ Not: leaf("a") }, "not a"],
  [{ Not: { And: [leaf("a"), leaf("b")] } }, "not (a and b)"],
  [{ And: [leaf("a")] }, "a"],
  [{ And: [leaf("a"), leaf("b")] }, "a and b"],
  [{ Or: [{ And: [leaf("a")] }, leaf("b")] }, "a or b"],
  [{ Or: [{ And: [leaf("a"), leaf("b")] }, { And: [leaf("c"), leaf("d")] }] }, "(a and b) or (c and d)"],
  [
    { And: [{ Or: [leaf("a"), { Not: leaf("b") }] }, { RequireGroup: { min: 2, reqs: [leaf("c"), leaf("d")] } }] },
    "(a or not b) and 2 of (c, d)",
  ],
];

for (const [requirement, text] of ROWS) {
  Deno.test(`requirementText() ${JSON.stringify(requirement)}: ${text}`, () => {
    assert.equal(requirementText(requirement), text);
  });
}

Deno.test("requirementText() passes every name through the function for names", () => {
  assert.equal(requirementText({ Or: [leaf("a"), leaf("b")] }, (id) => `<${id}>`), "<a> or <b>");
});
