import assert from "node:assert/strict";
import { stateKeys } from "../../tools/services/state_keys.ts";
import { readState, type RoundOf, STATE_CHARACTERS, STATE_MILLISECONDS, writeState } from "./request_state.ts";

const [KEYS, OTHERS] = [1, 2].map((byte) => stateKeys([new Uint8Array(32).fill(byte)])) as [
  ReturnType<typeof stateKeys>,
  ReturnType<typeof stateKeys>,
];

const NOW = 1_000_000;
const ALICE: RoundOf = {
  subject: "token:alice",
  tool: "scenario_next",
  input: { run_id: "a", expected_head: { record_id: "b", revision: 2 } },
};
const STATE = { asked: "release" };
const GOOD = writeState(KEYS, ALICE, STATE, NOW);
const BODY = GOOD.split(".")[0] ?? "";

type Row = readonly [what: string, text: string, of: RoundOf, now: number, found: boolean];

const ROWS: readonly Row[] = [
  ["the same call", GOOD, ALICE, NOW, true],
  ["the same members in another order", GOOD, { ...ALICE, input: reversed(ALICE.input) }, NOW, true],
  ["the last moment", GOOD, ALICE, NOW + STATE_MILLISECONDS - 1, true],
  ["expired", GOOD, ALICE, NOW + STATE_MILLISECONDS, false],
  ["another caller", GOOD, { ...ALICE, subject: "token:bob" }, NOW, false],
  ["another tool", GOOD, { ...ALICE, tool: "scenario_trigger" }, NOW, false],
  ["another argument", GOOD, { ...ALICE, input: { ...ALICE.input, run_id: "c" } }, NOW, false],
  [
    "another head",
    GOOD,
    { ...ALICE, input: { ...ALICE.input, expected_head: { record_id: "b", revision: 3 } } },
    NOW,
    false,
  ],
  ["one argument more", GOOD, { ...ALICE, input: { ...ALICE.input, stage_id: "x" } }, NOW, false],
  ["signed with another key", writeState(OTHERS, ALICE, STATE, NOW), ALICE, NOW, false],
  ["signed for another purpose", KEYS.sign("cursor", BODY), ALICE, NOW, false],
  ["signed, and no state", KEYS.sign("request_state", "bm90IEpTT04"), ALICE, NOW, false],
  ["unsigned", BODY, ALICE, NOW, false],
  ["changed", `${GOOD.slice(0, -1)}${GOOD.endsWith("A") ? "B" : "A"}`, ALICE, NOW, false],
  ["cut", GOOD.slice(0, -1), ALICE, NOW, false],
  ["longer", `${GOOD}A`, ALICE, NOW, false],
  ["empty", "", ALICE, NOW, false],
];

function reversed(input: RoundOf["input"]): RoundOf["input"] {
  return Object.fromEntries(Object.entries(input).toReversed());
}

for (const [what, text, of, now, found] of ROWS) {
  Deno.test(`a state of a round, ${what}: ${found ? "read" : "refused"}`, () =>
    assert.deepEqual(readState(KEYS, of, text, now), found ? STATE : null));
}

Deno.test("a state is read up to its greatest length", () => {
  const withLength = (length: number): string => {
    const empty = writeState(KEYS, ALICE, { text: "" }, NOW).length;
    // Three bytes are four characters; the rest is found by trying.
    const start = Math.floor((length - empty) * 3 / 4) - 3;
    const texts = Array.from(
      { length: 8 },
      (_, more) => writeState(KEYS, ALICE, { text: "x".repeat(start + more) }, NOW),
    );
    return texts.find((text) => text.length === length) ?? "";
  };
  const lengths = [STATE_CHARACTERS - 1, STATE_CHARACTERS, STATE_CHARACTERS + 1].map(withLength).filter((text) =>
    text !== ""
  );
  assert.ok(lengths.length >= 2);
  for (const text of lengths) assert.equal(readState(KEYS, ALICE, text, NOW) !== null, text.length <= STATE_CHARACTERS);
});
