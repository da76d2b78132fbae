import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { INSTRUCTIONS_MAXIMUM, PatternTooLarge, programOf } from "./program.ts";
import { compileSearch } from "./search.ts";

const FREE = (): void => undefined;

/** Patterns of which the runtime's engine gives the expected result. */
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
// No surrogate pairs: the runtime also starts a search between the halves of one, contrary to ECMAScript (22.2.7.2).
const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é"), maxLength: 6 });

Deno.test("compileSearch() finds what the runtime finds, over random patterns", () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (drawn, texts) => {
      const search = compileSearch(drawn);
      const native = new RegExp(drawn, "u");
      for (const one of texts) assert.equal(search(one, FREE), native.test(one), JSON.stringify([drawn, one]));
    }),
    { numRuns: 2_000 },
  );
});

/** Patterns that take the runtime's engine exponential time, and whether they match 500 letters and an exclamation mark. */
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

Deno.test("compileSearch() counts the start of each look-ahead", () => {
  let steps = 0;
  compileSearch(`(?=a{5000})b`)("b".repeat(1_000), (more) => void (steps += more));
  assert.ok(steps > 1_000 * 5_000 / 16, `${steps}`);
});

Deno.test("compileSearch() counts its steps and stops at the limit of the caller", () => {
  const stop = new Error("enough");
  let left = 1_000;
  const spend = (steps: number): void => {
    if ((left -= steps) < 0) throw stop;
  };
  assert.throws(() => compileSearch("(?:a|b)*c")("ab".repeat(1_000), spend), (error) => error === stop);
});

/** Pattern, message of the refusal. */
const REFUSED: readonly (readonly [pattern: string, message: RegExp])[] = [
  ["(", /^Invalid regular expression: \/\(\/u: Unterminated group$/],
  ["\\a", /Invalid escape/],
  ["(a)\\1", /^"\\1" is a backreference, which can take exponential time$/],
  ["(?<n>a)\\k<n>", /^"\\k<n>" is a backreference/],
  [`a{${INSTRUCTIONS_MAXIMUM}}`, /^pattern is too large with its repeats expanded$/],
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

/** Nested groups, with brackets in classes and escaped ones that do not count. */
function nestedGroups(depth: number): string {
  return `${"([(]\\((?:)".repeat(depth)}${")".repeat(depth)}`;
}

Deno.test("compileSearch() accepts 999 nested groups and refuses more than 1000", () => {
  assert.equal(compileSearch(nestedGroups(999))("", FREE), false);
  for (const depth of [1_000, 5_000, 100_000]) {
    assert.throws(() => compileSearch(nestedGroups(depth)), (error) => {
      assert.ok(error instanceof PatternTooLarge);
      assert.equal(error.message, "pattern is nested too deep: more than 1000 nested groups");
      return true;
    });
  }
});

Deno.test("compileSearch() compiles the test of each distinct part once", () => {
  const tests = (pattern: string): number => {
    const all = programOf(pattern, FREE).instructions.flatMap((one) => one.does === "consume" ? [one.test] : []);
    assert.ok(all.length > 2);
    return new Set(all).size;
  };
  assert.equal(tests("\\p{L}{19000}"), 1);
  assert.equal(tests("(?:[a-z]a){2,9}[a-z]a"), 2);
  // The flags make equal sources different tests.
  assert.equal(tests("(?i:[a-z])[a-z](?s:.).a(?i:a)"), 6);
});

Deno.test("compileSearch() keeps cached results apart for code points that share a slot", () => {
  const search = compileSearch("^(?:\\p{Lu}\\p{Ll})+$");
  const texts = ["Aa", "\0a", "\u0141\u0142", "AaŁł", "A\u0162", "\u{10400}\u{10428}Aa", "A\0", "Aa\u0241\u0242"];
  for (const text of [...texts, ...texts]) {
    assert.equal(search(text, FREE), /^(?:\p{Lu}\p{Ll})+$/u.test(text), JSON.stringify(text));
  }
});

const CLASS_PARTS = [
  "a",
  "\\^",
  "\\]",
  "a-c",
  "B-Z",
  "é",
  "À-ö",
  "\\d",
  "\\W",
  "\\s",
  "\\p{Lu}",
  "\\P{L}",
  "\\p{Script=Greek}",
];
const MORE_PARTS = [
  "\\u{10400}-\\u{10410}",
  "\\u212a",
  "ſ",
  "\\ud800-\\udbff",
  "b-x",
  "\\x00",
  "\\cJ",
  "[",
  "\\b",
  "ß",
  "ς",
];
const CODES = [
  ...[
    "a",
    "b",
    "B",
    "Z",
    "z",
    "-",
    "^",
    "]",
    "[",
    "\\",
    "é",
    "É",
    "÷",
    "1",
    " ",
    "\n",
    "\0",
    "\b",
    "K",
    "k",
    "\u212a",
    "ſ",
    "s",
    "S",
  ],
  ...[
    "ß",
    "ẞ",
    "σ",
    "ς",
    "Σ",
    "漢",
    "\u{10400}",
    "\u{10428}",
    "\ud801",
    "\udfff",
    "\u2028",
    "ǅ",
    "µ",
    "μ",
    "\uffff",
    "\u{10ffff}",
  ],
];

Deno.test("compileSearch() matches the code points that the runtime matches, over random classes", () => {
  const parts = fc.array(fc.constantFrom(...CLASS_PARTS, ...MORE_PARTS), { maxLength: 5 });
  fc.assert(
    fc.property(parts, fc.boolean(), fc.boolean(), fc.boolean(), (drawn, isNegated, isAnyCase, hasDash) => {
      const inner = `[${isNegated ? "^" : ""}${drawn.join("")}${hasDash ? "-" : ""}]`;
      const pattern = isAnyCase ? `^(?i:${inner})$` : `^${inner}$`;
      const search = compileSearch(pattern);
      const native = new RegExp(pattern, "u");
      for (const one of CODES) assert.equal(search(one, FREE), native.test(one), JSON.stringify([pattern, one]));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("compileSearch() counts properties, which are slow to compile", () => {
  let steps = 0;
  compileSearch(`[${"\\p{L}".repeat(100)}]`, (more) => void (steps += more));
  assert.ok(steps >= 3_200, `${steps}`);
});

Deno.test("compileSearch() accepts a pattern of exactly the maximum of instructions", () => {
  // Two instructions frame the alternatives, and one ends the program.
  assert.equal(compileSearch(`a{${INSTRUCTIONS_MAXIMUM - 3}}`)("a", FREE), false);
  assert.throws(() => compileSearch(`a{${INSTRUCTIONS_MAXIMUM - 2}}`), SyntaxError);
});
