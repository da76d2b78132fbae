import assert from "node:assert/strict";
import {
  CORRELATION_CHARACTERS,
  createServerIds,
  messageTraceparent,
  readCorrelation,
  readTraceparent,
} from "./trace.ts";

const CORRELATIONS: readonly (readonly [value: string | null, outcome: string | null])[] = [
  [null, null],
  ["abc-1.2_3~!#$%&'*+^`|", "abc-1.2_3~!#$%&'*+^`|"],
  ["  padded\t", "padded"],
  ["x".repeat(CORRELATION_CHARACTERS - 1), "x".repeat(CORRELATION_CHARACTERS - 1)],
  ["x".repeat(CORRELATION_CHARACTERS), "x".repeat(CORRELATION_CHARACTERS)],
  ["x".repeat(CORRELATION_CHARACTERS + 1), "refused: too_long"],
  ["", "refused: empty"],
  ["   ", "refused: empty"],
  ["a b", "refused: disallowed_character"],
  ["a\tb", "refused: disallowed_character"],
  ["é", "refused: disallowed_character"],
  ["a, b", "refused: disallowed_character"],
  ['"a"', "refused: disallowed_character"],
  ["a/b", "refused: disallowed_character"],
];

for (const [value, outcome] of CORRELATIONS) {
  Deno.test(`readCorrelation() ${JSON.stringify(value)?.slice(0, 40)}: ${outcome?.slice(0, 40)}`, () => {
    const reading = readCorrelation(value);
    assert.equal(reading.ok ? reading.id : `refused: ${reading.reason}`, outcome);
  });
}

Deno.test("createServerIds() never repeats an id, and separates processes", () => {
  const next = createServerIds(Uint8Array.of(0, 1, 2, 253, 254, 255, 16, 32));
  assert.deepEqual([next(), next()], [
    "gate-000102fdfeff1020-0000000000000001",
    "gate-000102fdfeff1020-0000000000000002",
  ]);
});

const ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const VALID = `00-${ID}-${SPAN}-01`;

const TRACES: readonly (readonly [value: unknown, read: string | null])[] = [
  [VALID, VALID],
  [` ${VALID} `, VALID],
  [`cc-${ID}-${SPAN}-01-what-comes-later`, VALID],
  [`ff-${ID}-${SPAN}-01`, null],
  [`00-${ID}-${SPAN}-01-more`, null],
  [`00-${"0".repeat(32)}-${SPAN}-01`, null],
  [`00-${ID}-${"0".repeat(16)}-01`, null],
  [VALID.toUpperCase(), null],
  [`${VALID}, ${VALID}`, null],
  ["", null],
  [null, null],
  [7, null],
];

for (const [value, read] of TRACES) {
  Deno.test(`readTraceparent() ${JSON.stringify(value)}: ${read === null ? "none" : "read"}`, () => {
    assert.equal(readTraceparent(value), read);
  });
}

Deno.test("messageTraceparent() reads it from the _meta of a message", () => {
  assert.equal(messageTraceparent({ _meta: { traceparent: VALID } }), VALID);
  assert.deepEqual([messageTraceparent({}), messageTraceparent({ _meta: [] })], [null, null]);
});
