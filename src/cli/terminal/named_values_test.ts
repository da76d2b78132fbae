import assert from "node:assert/strict";
import { namedTexts, namedValues } from "./named_values.ts";

/** The pairs, then the parsed members or the start of the error. */
const ROWS: readonly (readonly [pairs: readonly string[], outcome: string])[] = [
  [[], "{}"],
  [["a=1", "b=two", "c="], '{"a":1,"b":"two","c":""}'],
  [["a=b=c"], '{"a":"b=c"}'],
  [['a={"b":[null]}'], '{"a":{"b":[null]}}'],
  [["id=9007199254740993f"], '{"id":"9007199254740993f"}'],
  [["a=9007199254740993"], 'Cannot read --arg "a=9007199254740993": '],
  [["a"], 'Cannot read --arg "a": expected NAME=VALUE'],
  [["=a"], 'Cannot read --arg "=a": expected NAME=VALUE'],
  [["a=1", "a=1"], 'Cannot use --arg "a=1": "a" is repeated'],
];

for (const [pairs, outcome] of ROWS) {
  Deno.test(`namedValues() ${JSON.stringify(pairs)}: ${outcome}`, () => {
    if (outcome.startsWith("{")) return assert.equal(JSON.stringify(namedValues("--arg", pairs)), outcome);
    assert.throws(() => namedValues("--arg", pairs), ({ message }: Error) => message.startsWith(outcome));
  });
}

/** The pair, then its name and its text, where the names "a", "a=b" and "c=" are declared. */
const DECLARED_ROWS: readonly (readonly [pair: string, name: string, text: string])[] = [
  ["a=1", "a", "1"],
  ["a=b=1", "a=b", "1"],
  ["a=b", "a", "b"],
  ["c==", "c=", ""],
  ["c=", "c", ""],
  ["d=b=1", "d", "b=1"],
];

for (const [pair, name, text] of DECLARED_ROWS) {
  Deno.test(`namedTexts() ${pair}: ${name}`, () =>
    assert.deepEqual([...namedTexts("--parameter", [pair], ["a", "a=b", "c="])], [[name, text]]));
}
