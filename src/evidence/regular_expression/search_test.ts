import assert from "node:assert/strict";
import fc from "fast-check";
import { INSTRUCTIONS_MAXIMUM } from "./program.ts";
import { compileSearch } from "./search.ts";

const FREE = (): void => undefined;

/** Patterns that the runtime reads as well, so that it is asked what they find. */
const PATTERNS = [
  "",
  "a",
  "^a$",
  "a|b|",
  "^(?:a|ab)c$",
  "^(a(b)?)+$",
  "^a{2}$",
  "^a{1,2}b{2,}$",
  "^(?:a*)*b?$",
  "^(?:a??)+?b$",
  "(?=a)\\w",
  "^(?!ab)a",
  "(?<=a)b",
  "(?<!a)b",
  "(?<=^(?:ab?)+)c",
  "(?<=(?=b)b)c",
  "^(?=.*b)(?=.*c)[a-c]+$",
  "\\bb\\b",
  "\\Bb",
  "^.$",
  "^\\p{L}+$",
  "^\\P{L}$",
  "\\s",
  "^[\\d-]$",
  "^[^ab]$",
  "^\\u{1F600}$",
  "^\\ud83d\\ude00$",
  "^[\\u{1F600}-\\u{1F64F}]$",
  "\\ud83d",
  "\\/\\.",
  "^(?i:A)b$",
  "^(?m:^b$)",
  "(?m:^b$)",
  "^(?s:.)$",
  "^(?i:\\u212a)$",
  "(?<name>a)b",
  "\\cJ",
  "\\0",
  "^$",
];

const TEXTS = [
  ...["", "a", "b", "ab", "ba", "aab", "abc", "abbc", "abab", "aaaa", "a b", "A", "Ab", "k", "\u212a", "é", "1", "-"],
  ...["\n", "a\nb", "b\n", "\r", "\u2028", "\u00a0", "😀", "😀a", "a😀b", "\ud83d", "\ude00", "/.", "\0", " b "],
];

Deno.test("compileSearch() finds what the runtime finds", () => {
  for (const pattern of PATTERNS) {
    const search = compileSearch(pattern);
    const native = new RegExp(pattern, "u");
    for (const text of TEXTS) assert.equal(search(text, FREE), native.test(text), JSON.stringify([pattern, text]));
  }
});

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\b", "\\B", "^", "$", "é", ""),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => left + right),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{0}", "{2,}", "*?", "+?")).map(
      ([inner, times]) => `(?:${inner})${times}`,
    ),
    fc.tuple(fc.constantFrom("(", "(?=", "(?!", "(?<=", "(?<!"), tie("pattern")).map(([open, inner]) =>
      `${open}${inner})`
    ),
  ),
}));
// The runtime begins to search between the halves of a pair too, which ECMAScript (22.2.7.2) does not.
const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é"), maxLength: 6 });

Deno.test("compileSearch() finds what the runtime finds, whatever is drawn", () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (drawn, texts) => {
      const [search, native] = [compileSearch(drawn), new RegExp(drawn, "u")];
      for (const one of texts) assert.equal(search(one, FREE), native.test(one), JSON.stringify([drawn, one]));
    }),
    { numRuns: 2_000 },
  );
});

/** Patterns that the runtime's own engine does not end with, and what they say of many letters with something after them. */
const ENDLESS: readonly (readonly [pattern: string, found: boolean])[] = [
  ["^(a+)+$", false],
  ["^(a|a)*$", false],
  ["^(a|aa)+$", false],
  ["(.*a){20}b", false],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", false],
  ["^(?=(a+)+$).", false],
  ["(a*)*!", true],
];

for (const [pattern, found] of ENDLESS) {
  Deno.test(`compileSearch() ends with ${pattern}`, () => {
    let steps = 0;
    const search = compileSearch(pattern);
    assert.equal(search(`${"a".repeat(500)}!`, (more) => void (steps += more)), found);
    assert.ok(steps < 500_000, `${steps}`);
  });
}

Deno.test("compileSearch() counts what each look ahead takes to begin", () => {
  let steps = 0;
  compileSearch(`(?=a{5000})b`)("b".repeat(1_000), (more) => void (steps += more));
  assert.ok(steps > 1_000 * 5_000 / 16, `${steps}`);
});

Deno.test("compileSearch() tells its steps, and stops where there are too many", () => {
  const stop = new Error("enough");
  let left = 1_000;
  const spend = (steps: number): void => {
    if ((left -= steps) < 0) throw stop;
  };
  assert.throws(() => compileSearch("(?:a|b)*c")("ab".repeat(1_000), spend), (error) => error === stop);
});

/** Pattern, what is said of it. */
const REFUSED: readonly (readonly [pattern: string, message: RegExp])[] = [
  ["(", /^Invalid regular expression: \/\(\/u: Unterminated group$/],
  ["\\a", /Invalid escape/],
  ["(a)\\1", /^"\\1" refers back to a group, which can take beyond all measure$/],
  ["(?<n>a)\\k<n>", /^"\\k<n>" refers back to a group/],
  [`a{${INSTRUCTIONS_MAXIMUM}}`, /^pattern is too large once its repeats are written out$/],
  ["(?:a{200}){200}", /^pattern is too large/],
  ["(?=a{20000})", /^pattern is too large/],
];

for (const [pattern, message] of REFUSED) {
  Deno.test(`compileSearch() refuses ${pattern}`, () => {
    assert.throws(() => compileSearch(pattern), (error) => {
      assert.ok(error instanceof SyntaxError);
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("compileSearch() takes a pattern that is just not too large", () => {
  // The alternatives begin and end with one instruction each, and the pattern ends with one.
  assert.equal(compileSearch(`a{${INSTRUCTIONS_MAXIMUM - 3}}`)("a", FREE), false);
  assert.throws(() => compileSearch(`a{${INSTRUCTIONS_MAXIMUM - 2}}`), SyntaxError);
});
