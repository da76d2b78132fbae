import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { stringify } from "yaml";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import {
  readYamlDocument,
  YAML_NESTING_MAXIMUM,
  YAML_TEXT_BYTES_MAXIMUM,
  YAML_TOKENS_MAXIMUM,
  YAML_VALUES_MAXIMUM,
} from "./yaml_document.ts";

function read(text: string | Uint8Array): string {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const result = readYamlDocument(bytes, { file: "a.yaml" });
  if ("document" in result) return canonicalize(result.document);
  assert.equal(result.error.code, "invalid_yaml");
  const { reason, path, offset } = result.error.details as { reason: string; path?: string; offset?: number };
  return `! ${reason}${path === undefined ? "" : ` ${path}`}${offset === undefined ? "" : ` @${offset}`}`;
}

/** YAML, its canonical JSON, or reason and position of the error. */
const ROWS: readonly (readonly [text: string, result: string])[] = [
  ["", "null"],
  ["# nothing\n", "null"],
  ["a: 1\nb: [x, 'y', \"z\"]\n", '{"a":1,"b":["x","y","z"]}'],
  ["--- text\n...\n", '"text"'],
  ["|\n  a\n  b\n", '"a\\nb\\n"'],
  // the core schema of 1.2: strings that older versions read differently
  ["[yes, no, on, off, y, n]", '["yes","no","on","off","y","n"]'],
  ["[true, False, null, ~, NULL, ]", "[true,false,null,null,null]"],
  ["[012, 0o14, 0xC, +12, 1_000, 1:30, 2024-06-01]", '[12,12,12,12,"1_000","1:30","2024-06-01"]'],
  ["[.5, 1., 1e3, -0.0]", "[0.5,1,1000,0]"],
  ["<<: {a: 1}\nb: 2", '{"<<":{"a":1},"b":2}'],
  ["on: push", '{"on":"push"}'],
  // numbers are exact or refused
  ["[9007199254740991, 9007199254740992]", "[9007199254740991,9007199254740992]"],
  ["a: [1, 9007199254740993]", "! number_not_exact $.a[1]"],
  ["1e400", "! number_not_exact $"],
  ["0.1000000000000000000001", "! number_not_exact $"],
  ["0x20000000000001", "! number_not_exact $"],
  ["0x20000000000000", "9007199254740992"],
  ["0o400000000000000001", "! number_not_exact $"],
  [".inf", "! number_not_exact $"],
  [".nan", "! number_not_exact $"],
  // names
  ["1: a\ntrue: b", '{"1":"a","true":"b"}'],
  ["__proto__: 1\nconstructor: 2", '{"__proto__":1,"constructor":2}'],
  ["a: 1\na: 2", "! duplicate_name $.a"],
  ['{a: {x: 1, "x": 2}}', "! duplicate_name $.a.x"],
  ['1: a\n"1": b', '! duplicate_name $["1"]'],
  ["a: 1\n__proto__: 1\n__proto__: 2", "! duplicate_name $.__proto__"],
  ["? [a]\n: 1", "! name_not_scalar $"],
  ["? {a: 1}\n: 1", "! name_not_scalar $"],
  ["~: 1", "! name_not_scalar $"],
  // aliases
  ["a: &x [1]\nb: *x", '{"a":[1],"b":[1]}'],
  ["a: &x 1\nb: &x 2\nc: *x", '{"a":1,"b":2,"c":2}'],
  ["a: *x", "! alias_unresolved $.a"],
  ["a: *x\nb: &x 1", "! alias_unresolved $.a"],
  ["&a [*a]", "! alias_of_itself $[0]"],
  ["&a {b: {c: *a}}", "! alias_of_itself $.b.c"],
  ["&a a: 1\nb: *a", '{"a":1,"b":"a"}'],
  // not YAML 1.2, or not JSON
  ["a: b: c", "! block_as_implicit_key @3"],
  ["[1", "! missing_char @2"],
  ["\ta: 1", "! tab_as_indent @0"],
  ["a: 1\n---\nb: 2\n", "! multiple_docs @5"],
  ["%YAML 1.1\n---\na: yes\n", "! version_unsupported"],
  ["%YAML 1.2\n---\na: yes\n", '{"a":"yes"}'],
  ["a: !secret x", "! tag_resolve_failed @3"],
  ["a: !!binary aGk=", "! value_not_json $.a"],
  ["a: !!str 1", '{"a":"1"}'],
  ['"\\ud800"', "! lone_surrogate $"],
  [`${"[".repeat(64)}${"]".repeat(64)}`, `${"[".repeat(64)}${"]".repeat(64)}`],
  [`${"[".repeat(65)}${"]".repeat(65)}`, `! depth_exceeded $${"[0]".repeat(64)}`],
];

for (const [text, expected] of ROWS) {
  Deno.test(`readYamlDocument() ${JSON.stringify(text).slice(0, 60)}: ${expected.slice(0, 60)}`, () => {
    assert.equal(read(text), expected);
  });
}

/** A billion laughs: each line repeats the line before several times. */
function laughs(lines: number, times: number): string {
  let text = "l0: &l0 [lol]\n";
  for (let line = 1; line <= lines; line++) {
    text += `l${line}: &l${line} [${new Array(times).fill(`*l${line - 1}`).join(",")}]\n`;
  }
  return text;
}

/** Name, text, beginning of the outcome. */
const BOMBS: readonly (readonly [name: string, text: () => string, expected: string])[] = [
  ["a billion laughs", () => laughs(9, 10), "! too_many_values"],
  [
    "a quadratic bomb of text",
    () => `a: &a "${"x".repeat(200_000)}"\nb: [${"*a,".repeat(1000)}]`,
    "! too_much_text $.b[",
  ],
  ["brackets without end", () => "[".repeat(900_000), "! depth_exceeded"],
  ["brackets", () => "[".repeat(200_000), "! "],
  ["braces", () => "{a: ".repeat(100_000), "! "],
  ["dashes", () => "- ".repeat(200_000), "! depth_exceeded"],
  ["tiny items", () => "- a\n".repeat(260_000), "! too_many_tokens"],
  ["tiny flow items", () => `[${"1,".repeat(500_000)}]`, "! too_many_tokens"],
  ["tiny names", () => Array.from({ length: 70_000 }, (_, i) => `k${i}: 1`).join("\n"), '{"k0":1'],
  [
    "aliases in number",
    () => `x: &x 1\n${Array.from({ length: 40_000 }, (_, i) => `k${i}: *x`).join("\n")}`,
    '{"k0":1',
  ],
  ["anchors in number", () => Array.from({ length: 40_000 }, (_, i) => `k${i}: &a${i} 1`).join("\n"), '{"k0":1'],
  ["errors in number", () => "a: b: c: d\n".repeat(50_000), "! "],
  ["a comment", () => "#".repeat(1_000_000), "null"],
];

for (const [name, text, expected] of BOMBS) {
  Deno.test(`readYamlDocument() ${name}: ${expected} in linear time and 300 MB`, () => {
    const given = text();
    const started = performance.now();
    const before = Deno.memoryUsage().heapUsed;
    const result = read(given);
    assert.ok(result.startsWith(expected), result.slice(0, 80));
    // Linear work takes some seconds; quadratic work would take minutes.
    assert.ok(performance.now() - started < 60_000);
    assert.ok(Deno.memoryUsage().heapUsed - before < 300e6);
  });
}

for (const extra of [-1, 0, 1]) {
  Deno.test(`readYamlDocument() limits ${extra}`, () => {
    const values = `a: &a [${"1,".repeat(398)}]\nb: [${"*a,".repeat(499)}]`;
    // The map, a, its 398 items, b, and in b each alias with its target.
    const used = 1 + 1 + 398 + 1 + 499 * (1 + 1 + 398);
    const padded = `${values}\nc: [${"1,".repeat(YAML_VALUES_MAXIMUM - used - 1 + extra)}]`;
    assert.equal(read(padded).startsWith("! too_many_values"), extra === 1);
    const text = "x".repeat(1000);
    const times = YAML_TEXT_BYTES_MAXIMUM / 1000;
    const rest = "y".repeat(YAML_TEXT_BYTES_MAXIMUM - 1000 * Math.floor(times) - 2 + extra);
    const long = `? a\n: &a "${text}"\n? b\n: ["${rest}", ${"*a,".repeat(Math.floor(times) - 1)}]`;
    assert.equal(read(long).startsWith("! too_much_text"), extra === 1);
    // Each line is 2 tokens: a comment and a line break; the stream ends with one more.
    const tokens = "#\n".repeat(YAML_TOKENS_MAXIMUM / 2 - 1) + (extra < 0 ? "" : extra === 0 ? "#" : "#\n#");
    assert.equal(read(tokens).startsWith("! too_many_tokens"), extra === 1);
  });
}

const NESTED = YAML_NESTING_MAXIMUM;

/** Name, text that nests so many times, and the outcome where that is one time too many and where it is not. */
const NESTING: readonly (readonly [name: string, text: (times: number) => string, deep: string, other: string])[] = [
  ["brackets without end", (times) => "[".repeat(times), "! depth_exceeded", "@"],
  ["brackets over lines", (times) => "[\n".repeat(times), "! depth_exceeded", "@"],
  ["braces without end", (times) => "{".repeat(times), "! depth_exceeded", "@"],
  [
    "brackets with an end",
    (times) => `${"[".repeat(times)}${"]".repeat(times)}`,
    "! depth_exceeded",
    "! depth_exceeded $[0]",
  ],
  ["indicators of one line", (times) => "- ".repeat(times), "! depth_exceeded", "! depth_exceeded $[0]"],
  ["keys of one line", (times) => "? ".repeat(times), "! depth_exceeded", "! name_not_scalar $"],
];

for (const [name, text, deep, other] of NESTING) {
  for (const extra of [-1, 0, 1]) {
    Deno.test(`readYamlDocument() ${name}, ${NESTED + extra} times: ${extra === 1 ? deep : other}`, () => {
      const result = read(text(NESTED + extra));
      const expected = extra === 1 ? deep : other;
      if (expected === "@") assert.match(result, /^! .* @\d+$/);
      else if (expected.includes("$")) assert.ok(result.startsWith(expected), result.slice(0, 80));
      else assert.equal(result, expected);
    });
  }
}

/** Texts in which tokens that nest follow each other without nesting. */
const FLAT: readonly (readonly [name: string, text: string, members: number])[] = [
  ["sequences beside each other", `[${"[],".repeat(2 * NESTED)}]`, 2 * NESTED],
  ["mappings beside each other", `[${"{a: 1},".repeat(2 * NESTED)}]`, 2 * NESTED],
  ["keys beside each other", `[${"? a : 1,".repeat(2 * NESTED)}]`, 2 * NESTED],
  ["items of lines", "- - a\n".repeat(2 * NESTED), 2 * NESTED],
  ["texts that look like tokens", `${"- '['\n".repeat(NESTED)}${"- a[{-?\n".repeat(NESTED)}`, 2 * NESTED],
];

for (const [name, text, members] of FLAT) {
  Deno.test(`readYamlDocument() ${name}: ${members} items`, () => {
    assert.equal((JSON.parse(read(text)) as unknown[]).length, members);
  });
}

Deno.test("readYamlDocument() bytes that are not UTF-8: not_utf8", () => {
  assert.equal(read(new Uint8Array([0x61, 0xff])), "! not_utf8");
});

Deno.test("readYamlDocument() reads back written values", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = canonicalize(value as JsonValue);
      assert.equal(read(stringify(value, { version: "1.2" })), text);
      assert.equal(read(text), text);
    }),
    { numRuns: 500 },
  );
});

Deno.test("readYamlDocument() accepts any text without a crash", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab:-[]{},&*!|>'\"%#?@ \n\t01.~<"), maxLength: 60 });
  fc.assert(fc.property(text, (one) => void read(one)), { numRuns: 3000 });
});
