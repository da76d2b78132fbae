import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import type { JsonValue } from "./json.ts";
import { readPlain } from "./plain_text.ts";
import { parseScanned } from "./reader.ts";
import { scanReport } from "./scanner.ts";

/** What the scanner and the reader make of a text: the value, or undefined for a fault. */
function scanned(text: string, maximumDepth: number): JsonValue | undefined {
  const report = scanReport(text, { maximumDepth });
  return report.fault === null ? parseScanned(text, report) : undefined;
}

/** Asserts that a text read without the scanner has the value that the scanner and the reader give. */
function assertSame(text: string, maximumDepth: number): void {
  const plain = readPlain(text, maximumDepth);
  // Neither is undefined for a fault alone: the scanner decides what this reader does not.
  if (plain !== undefined) assert.deepEqual(plain, scanned(text, maximumDepth), text);
}

/** Texts of values, as serializers of several languages write them. */
const TEXTS = fc.tuple(
  fc.jsonValue({ stringUnit: "binary", maxDepth: 5 }),
  fc.constantFrom("", " ", "\t\n", "    "),
  fc.boolean(),
).map(([value, indent, isSpaced]) => {
  const text = JSON.stringify(value, null, indent);
  return isSpaced ? ` ${text.replaceAll(",", " , ").replaceAll(":", " : ")}\n` : text;
});

/** Pieces that decide whether a text has a fault, put into texts at any place. */
const PIECES = [
  ...["{", "}", "[", "]", ",", ":", '"', "\\", "\n", " ", "0", "-", ".", "e", "E+", "1e400", "-0", "1.0", "0.1"],
  ...["9007199254740993", "123456789012345", "1234567890123456", "0.1000000000000000000001", "1e21", "1E-7", "00"],
  ...["\\u", "\\ud800", "\\uD83D\\uDE00", "\\u0041", "\\n", '\\"', "\\\\", "\ud800", "\udc00", "\ufeff", "\u0000"],
  ...['"a":1,', '"a":1,"a":2,', '"\\u0061":1,', '"__proto__":{},', '"1":1,"1":2,', '"":0,', '"\\\\":1,', "null", "tru"],
];

Deno.test("readPlain() reads no text differently than the scanner, whatever is put into it", () => {
  const change = fc.record({ at: fc.nat(), piece: fc.constantFrom(...PIECES), removed: fc.nat({ max: 3 }) });
  fc.assert(
    fc.property(TEXTS, fc.array(change, { maxLength: 4 }), fc.integer({ min: 1, max: 8 }), (whole, changes, depth) => {
      let text = whole;
      for (const { at, piece, removed } of changes) {
        const place = at % (text.length + 1);
        text = text.slice(0, place) + piece + text.slice(place + removed);
      }
      assertSame(text, depth);
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("readPlain() reads no sequence of tokens differently than the scanner", () => {
  const names = ['"a"', '"b"', '"\\u0061"', '"a\\n"', '"1"', '"01"', '"__proto__"', '"constructor"', '""'];
  const tokens = fc.constantFrom(...names, ...["{", "}", "[", "]", ",", ":", " ", "1", "-0", "1e1", "null", "true"]);
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 12 }), fc.integer({ min: 1, max: 3 }), (all, depth) => {
      assertSame(all.join(""), depth);
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("readPlain() finds the second of two equal names at any position", () => {
  const names = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(names, fc.nat(), fc.nat(), (all, which, place) => {
      const members = all.map((name) => `${JSON.stringify(name)}:{"x":[1,{"y":2}]}`);
      const twice = JSON.stringify(all[which % all.length] ?? "");
      members.splice(place % (members.length + 1), 0, `${twice}:{"x":{}}`);
      assert.equal(readPlain(`[{${members.join(",")}}]`, 64), undefined);
    }),
  );
});

/** A text, and whether it is read without the scanner: only what the scanner decides the same way is. */
const DECIDED: readonly (readonly [what: string, text: string, isRead: boolean])[] = [
  ["a literal", " null ", true],
  ["members with one name in several objects", '[{"a":1},{"a":{"a":2}}]', true],
  ["names of prototypes", '{"__proto__":1,"constructor":2,"toString":3}', true],
  ["names that look like indices", '{"1":1,"0":2,"01":3}', true],
  ["an escape in a string", '{"a":"\\n\\"\\u00e9:,{"}', true],
  ["an escape in a name", '{"a\\n":1}', false],
  ["a name twice", '{"a":1,"b":2,"a":3}', false],
  ["a name twice, with an escape", '{"a":1,"\\u0061":2}', false],
  ["a name twice in an inner object", '[[{"b":{"a":1,"a":1}}]]', false],
  ["15 digits", "[123456789012345]", true],
  ["an integer that a double keeps", "[9007199254740992]", true],
  ["an integer that no double keeps", "[9007199254740993]", false],
  ["an exponent", "[1e3,-2.5E-3]", true],
  ["a number without a double", "[1e400]", false],
  ["an escaped pair of surrogates", '"\\ud83d\\ude00"', false],
  ["a lone surrogate, escaped", '"\\ud800"', false],
  ["a lone surrogate", '"\ud800"', false],
  ["a byte order mark", "\ufeff1", false],
  ["a leading zero", "[01]", false],
  ["an open string", '["a', false],
  ["nothing", "", false],
];

for (const [what, text, isRead] of DECIDED) {
  Deno.test(`readPlain() ${isRead ? "reads" : "leaves to the scanner"} ${what}`, () => {
    const value = readPlain(text, 64);
    assert.equal(value !== undefined, isRead);
    if (isRead) assert.deepEqual(value, scanned(text, 64));
  });
}

Deno.test("readPlain() reads n - 1 and n names, and leaves n + 1 to the scanner", () => {
  for (const [count, isRead] of [[262_143, true], [262_144, true], [262_145, false]] as const) {
    assert.equal(readPlain(`[${'{"a":1},'.repeat(count)}0]`, 64) !== undefined, isRead, `${count}`);
  }
});

Deno.test("readPlain() reads depth n - 1 and n, and leaves n + 1 to the scanner before it parses", () => {
  for (const limit of [1, 64, 128]) {
    for (const [depth, isRead] of [[limit - 1, true], [limit, true], [limit + 1, false]] as const) {
      const arrays = `${"[".repeat(depth)}${depth === 0 ? "1" : ""}${"]".repeat(depth)}`;
      const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
      for (const text of [arrays, objects]) assert.equal(readPlain(text, limit) !== undefined, isRead, text);
    }
  }
  assert.equal(readPlain("[".repeat(50_000_000), 128), undefined);
});
