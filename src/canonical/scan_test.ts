import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { canonicalize } from "./canonicalize.ts";
import type { JsonValue } from "./json.ts";
import { formatPath } from "./path.ts";
import { INPUT_DEPTH_LIMIT, parseJson, readJson, scanJson } from "./scan.ts";

function nested(depth: number, inner = ""): string {
  return "[".repeat(depth) + inner + "]".repeat(depth);
}

/** The code and path of a fault, or "passes". */
function verdict(text: string): string {
  const fault = scanJson(text);
  return fault === null ? "passes" : `${fault.code} ${fault.path} ${fault.offset}`;
}

Deno.test("scanJson() agrees with the native parser on the grammar", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b"',
    "1",
    "-0.5",
    "1e2",
    "true",
    "null",
    " ",
    "\n",
    "01",
    "+1",
  ];
  const broken = [".5", "1.", "-", "1e", "tru", '"', "'", "\\", '"\\x"', '"\u0001"', "\u00a0", "\ufeff", '"\\u12g4"'];
  const texts = fc.array(fc.constantFrom(...pieces, ...broken), { maxLength: 9 }).map((all) => all.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      const fault = scanJson(text);
      // Another fault may precede one of the grammar.
      if (fault === null) assert.ok(parses, text);
      else if (fault.code === "syntax") assert.ok(!parses, text);
      if (fault !== null) assert.ok(fault.offset >= 0 && fault.offset <= text.length);
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("scanJson() accepts everything that the native serializer writes for well-formed values", () => {
  const values = fc.jsonValue({ stringUnit: "grapheme-composite", maxDepth: 6 });
  fc.assert(
    fc.property(values, fc.nat(3), (value, indent) => {
      assert.equal(scanJson(JSON.stringify(value, null, indent)), null);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("scanJson() accepts a number exactly if its double's shortest form is the same decimal", () => {
  const literals = fc.tuple(
    fc.constantFrom("", "-"),
    fc.oneof(fc.constant("0"), fc.bigInt({ min: 1n, max: 10n ** 24n }).map(String)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,24}$/)),
    fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  ).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(literals, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)), (literal) => {
      const double = Number(literal);
      const exact = Number.isFinite(double) && sameDecimal(literal, String(double));
      assert.equal(scanJson(literal)?.code ?? "passes", exact ? "passes" : "number_not_exact", literal);
    }),
    { numRuns: 5000 },
  );
});

/** Compares two literals as fractions of integers, which differs from the tested method. */
function sameDecimal(a: string, b: string): boolean {
  const [n1, d1] = fraction(a);
  const [n2, d2] = fraction(b);
  return n1 * d2 === n2 * d1;
}

function fraction(literal: string): [bigint, bigint] {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [whole = "", places = ""] = mantissa.split(".");
  const power = Number(exponent) - places.length;
  const digits = BigInt(whole + places);
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)];
}

Deno.test("scanJson() accepts depth n - 1 and n, rejects n + 1", () => {
  const limit = INPUT_DEPTH_LIMIT;
  assert.equal(limit, 64);
  assert.equal(scanJson(nested(limit - 1)), null);
  assert.equal(scanJson(nested(limit, "1")), null);
  assert.equal(verdict(nested(limit + 1)), `depth_exceeded $${"[0]".repeat(limit)} ${limit}`);
  assert.equal(scanJson(nested(1), { maximumDepth: 1 }), null);
  assert.equal(scanJson(nested(2), { maximumDepth: 1 })?.code, "depth_exceeded");
  assert.equal(scanJson(nested(128), { maximumDepth: 128 }), null);
  for (const maximumDepth of [0, 129, 1.5, NaN]) {
    assert.throws(() => scanJson("1", { maximumDepth }), RangeError);
  }
  assert.equal(scanJson("[".repeat(5_000_000))?.code, "depth_exceeded");
});

Deno.test("scanJson() finds the second of two equal names at any position", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (names, a, b) => {
      const members = names.map((name) => `${JSON.stringify(name)}:{"x":[1,{"y":2}]}`);
      assert.equal(scanJson(`{${members.join(",")}}`), null);
      const twice = names[a % names.length] ?? "";
      const place = a % names.length + 1 + b % (names.length - a % names.length);
      const escaped = [...twice].map((character) =>
        Array.from({ length: character.length }, (_, unit) => escapeUnit(character.charCodeAt(unit))).join("")
      ).join("");
      members.splice(place, 0, `"${escaped}":0`);
      const fault = scanJson(`[{${members.join(",")}}]`);
      assert.equal(fault?.code, "duplicate_name");
      assert.equal(fault?.path, formatPath([0, twice]));
      assert.equal(fault?.offset, `[{${members.slice(0, place).join(",")},`.length);
    }),
  );
});

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

Deno.test("scanJson() needs linear time on adversarial texts", () => {
  const size = 1_000_000;
  const names = Array.from({ length: size / 2 }, (_, index) => `"name${index}":1`).join(",");
  const texts = [
    `{${names}}`,
    `"${'\\"'.repeat(size / 2)}"`,
    "9".repeat(size),
    `0.${"0".repeat(size)}1`,
    `1e${"9".repeat(size)}`,
    `1e-${"9".repeat(size)}`,
    `[${" ".repeat(size)}1]`,
  ];
  for (const text of texts) {
    const start = performance.now();
    scanJson(text);
    // Linear work takes far less than a second; quadratic work would take minutes.
    assert.ok(performance.now() - start < 60_000, text.slice(0, 20));
  }
});

Deno.test("scanJson() keeps a fault small for names of any length", () => {
  const name = "n".repeat(1_000_000);
  const fault = scanJson(`{"${name}":{"${name}":1,"${name}":2}}`);
  assert.equal(fault?.code, "duplicate_name");
  assert.ok((fault?.path.length ?? 0) < 600 && (fault?.message.length ?? 0) < 400);
  const number = scanJson("1".repeat(1_000_000));
  assert.ok((number?.message.length ?? 0) < 400);
});

Deno.test("scanJson() reports what was expected and found", () => {
  const table: readonly [string, string][] = [
    ["", "Expected a value, found end of text"],
    ["[1", 'Expected "," or "]", found end of text'],
    ["[1,]", 'Expected a value, found "]"'],
    ['{"a"}', 'Expected ":", found "}"'],
    ["{a:1}", 'Expected a member name, found "a"'],
    ["1 2", 'Expected end of text, found "2"'],
    ["-x", 'Expected a digit, found "x"'],
    ["01", 'Expected no leading zero, found "1"'],
    ['"a', "Expected the closing quote of a string, found end of text"],
    ['"\n"', "Expected \\u000a to be escaped within a string"],
    ['"\\x"', 'Expected an escape, found "\\\\x"'],
    ['"\\', "Expected an escape, found end of text"],
    ['"\\u12"', 'Expected four hex digits after "\\u"'],
    ['"\\ud800"', "Surrogate \\ud800 stands alone"],
    ['{"a":1,"a":2}', 'Member name "a" stands twice'],
    ["9007199254740993", "Number 9007199254740993 is not kept exactly by a double"],
  ];
  for (const [text, message] of table) assert.equal(scanJson(text)?.message, message);
});

Deno.test("parseJson() reads what was written, __proto__ and repeated shapes included", () => {
  const result = parseJson('{"__proto__":{"a":1},"constructor":2}');
  assert.ok(result.ok);
  assert.deepEqual(Object.keys(result.value as object), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(result.value), Object.prototype);
  const escaped = parseJson('{"\\u005f_proto__":{"a":1}}');
  assert.ok(escaped.ok);
  assert.deepEqual(Object.keys(escaped.value as object), ["__proto__"]);
  assert.deepEqual(parseJson("[1,]"), { ok: false, fault: scanJson("[1,]") });
});

Deno.test("parseJson() and readJson() read escaped names independently of earlier texts", () => {
  // After the first text of each pair the native parser confuses the name of the second with that of the first.
  const pairs: readonly [string, string, string][] = [
    ['{"k":0,"\\\\":1}', '{"k":0,"\\n":1}', "\n"],
    ['{"k":0,"\\\\":1}', '{"k":0,"\\u0041":1}', "A"],
    ['{"m":0,"\\\\\\\\":1}', '{"m":0,"\\\\n":1}', "\\n"],
    ['{"v":[],"\\\\":0}', '{"v":1,"\\"":2}', '"'],
  ];
  for (const [before, text, name] of pairs) {
    JSON.parse(before);
    const parsed = parseJson(text);
    assert.ok(parsed.ok);
    assert.equal(Object.keys(parsed.value as object)[1], name);
    JSON.parse(before);
    assert.equal(Object.keys(readJson(text) as object)[1], name);
  }
});

Deno.test("readJson() reads back every canonical text", () => {
  const names = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom("\\", "\n", "\\\\", "\\n", '"', ""),
  );
  const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, false),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      names,
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(names, tie("value")), { maxLength: 5 }).map((members) => Object.fromEntries(members)),
    ),
  }));
  fc.assert(
    fc.property(values, fc.constantFrom("", " ", "\t\n"), (value, indent) => {
      assert.equal(canonicalize(readJson(canonicalize(value))), canonicalize(value));
      const spaced = parseJson(JSON.stringify(value, null, indent));
      assert.ok(spaced.ok);
      assert.equal(canonicalize(spaced.value), canonicalize(value));
    }),
    { numRuns: 3000 },
  );
});

/** Text with a backslash, what readJson() reads; null where it has a fault. */
const ESCAPED: readonly (readonly [text: string, value: JsonValue | null])[] = [
  ['{"a":"\\n","b":"\\\\"}', { a: "\n", b: "\\" }],
  ['{"a":"\\"","b":1}', { a: '"', b: 1 }],
  ['{"a":["\\\\\\"",{"\\u0062":2}]}', { a: ['\\"', { b: 2 }] }],
  ['{"\\u0061" : 1}', { a: 1 }],
  ['{"a":1,"\\u0061":2}', null],
  ['{"x":"\\n","a":1,"\\u0061" :2}', null],
  ['["\\n","\\ud800"]', null],
  ['["\\n\\uD800"]', null],
  ['["\\ud83d\\ude00"]', ["\u{1f600}"]],
  ['{"x":"\\n","a":1,"a":2}', null],
  ['["\\n",1e400]', null],
  ['["\\n",123456789012345678901]', null],
  ['["\\n","\ud800"]', null],
  [`["\\n",${"[".repeat(128)}${"]".repeat(128)}]`, null],
  ['["\\', null],
  ['["\\n', null],
];

for (const [text, value] of ESCAPED) {
  Deno.test(`readJson() of ${text}: ${JSON.stringify(value)}`, () => {
    if (value === null) assert.throws(() => readJson(text), SyntaxError);
    else assert.deepEqual(readJson(text), value);
  });
}

Deno.test("readJson() rejects damaged text", () => {
  for (const text of ["", "{", '{"a\\n":1', '["\\n",]', '["\\ud800"]']) {
    assert.throws(() => readJson(text), SyntaxError);
  }
});
