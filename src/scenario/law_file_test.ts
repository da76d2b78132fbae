import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { constructLaw, lawIdentity } from "../law/law.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { lawWords } from "../law/words.ts";
import { permissiveEnvironment } from "../runpack/verify/claims/scenario_law_construction.ts";
import { type AskedExpression, askedExpression, compileLaw, type LawFile, readLawText } from "./law_file.ts";
import { readJsonSource } from "./source_json.ts";
import { PlacedText, type ReadSource, type SourceFault } from "./source_position.ts";
import { readTomlSource } from "./source_toml.ts";
import { readYamlSource } from "./source_yaml.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const READERS = { yaml: readYamlSource, toml: readTomlSource, json: readJsonSource };

function read(text: string, format: keyof typeof READERS = "yaml"): Extract<ReadSource, { ok: true }> {
  const source = READERS[format](new TextEncoder().encode(text));
  assert.ok(source.ok, source.ok ? "" : source.fault.message);
  return source;
}

function fileOf(text: string, format: keyof typeof READERS = "yaml"): LawFile {
  const result = compileLaw(read(text, format));
  assert.ok(result.ok, result.ok ? "" : JSON.stringify(result.faults, null, 1));
  return result.file;
}

function lawOf(text: string, format: keyof typeof READERS = "yaml"): ScenarioLaw {
  const { spec } = fileOf(text, format);
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  assert.ok(built.ok, built.ok ? "" : JSON.stringify(built.refusals, null, 1));
  return built.law;
}

/** Each fault of a law file as `LINE:COLUMN message`, those of the compiler or those of the kernel. */
function faultsOf(text: string, format: keyof typeof READERS = "yaml"): readonly string[] {
  const result = compileLaw(read(text, format));
  if (!result.ok) return result.faults.map(({ position, message }) => `${position.line}:${position.column} ${message}`);
  const { spec, locate } = result.file;
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  if (built.ok) return [];
  return built.refusals.map(({ path, message }) => {
    const steps = path.slice(1).match(/[A-Za-z_]+|\d+/g)?.map((step) => /^\d/.test(step) ? Number(step) : step) ?? [];
    const { line, column } = locate(steps, "value");
    return `${line}:${column} ${message}`;
  });
}

const EXAMPLES = [
  ["first_gate", "d42dc8e8dbf805cd5501bdafd42d01d0b4d41f98997ddf450a14280db003a800"],
  ["change_approval", "435ac3afe924f294b27c7ea5867ee38e1fd8de1cc1a8e473c945cd4c1b8998f4"],
  ["database_migration", "000578eb681330338ec9c6df0ab879c2ca77dee511651524d6abd585c2b1d5e3"],
  ["release_gate", "b9474bb3419cfc0346f5dba7cf7edc3bd3a39b720e16e7b286032e4a7e18eb0e"],
  ["agent_task", "5612f842052f8245bc9d4b98880d202cf0db6574122010305f666f506c21f7f7"],
  ["pipelines", "d2998c9da41d88d519699edb86e39f2a0d56cbf6e788e5942087d090af18621a"],
] as const;

for (const [name, identity] of EXAMPLES) {
  Deno.test(`compileLaw() ${name}: the identity of its long form`, async () => {
    const text = await Deno.readTextFile(new URL(`../../tests/vectors/law_file/${name}.yaml`, import.meta.url));
    assert.equal(lawIdentity(sha256, lawOf(text)), identity);
  });
}

/**
 * The shipped examples: at most so many lines without comments and blanks, and the identity that the law had in the long
 * form.
 */
const SHIPPED = [
  ["first_gate/release.yaml", 8, "d42dc8e8dbf805cd5501bdafd42d01d0b4d41f98997ddf450a14280db003a800"],
  ["change_approval/scenario.yaml", 13, "435ac3afe924f294b27c7ea5867ee38e1fd8de1cc1a8e473c945cd4c1b8998f4"],
  ["database_migration/scenario.yaml", 17, "000578eb681330338ec9c6df0ab879c2ca77dee511651524d6abd585c2b1d5e3"],
  ["release_gate/scenario.yaml", 32, "b9474bb3419cfc0346f5dba7cf7edc3bd3a39b720e16e7b286032e4a7e18eb0e"],
  ["pipelines/release.yaml", 9, "d2998c9da41d88d519699edb86e39f2a0d56cbf6e788e5942087d090af18621a"],
  ["agent_task/scenario.yaml", 29, "5612f842052f8245bc9d4b98880d202cf0db6574122010305f666f506c21f7f7"],
  ["data_disclosure/scenario.yaml", 41, "811001455be714ce8aeaa85a1d5651bacadf68c74b3d78c686010aa6dc399074"],
  ["model_promotion/scenario.json", 61, "7fec3e690f2090c7746ff69275c1eae234b23cb1d776c7811c76aa9b6d51d4b3"],
  ["typed_service/scenario.yaml", 32, "c363974f85684ac058b459a177cdbd4eadcb5d7dbda6f05c6c34f3132924a737"],
] as const;

for (const [file, most, identity] of SHIPPED) {
  Deno.test(`compileLaw() docs/examples/${file}: at most ${most} lines, with the identity of its long form`, async () => {
    const text = await Deno.readTextFile(new URL(`../../docs/examples/${file}`, import.meta.url));
    const lines = text.split("\n").filter((line) => /^\s*[^#\s]/.test(line));
    assert.ok(lines.length <= most, String(lines.length));
    assert.equal(lawIdentity(sha256, lawOf(text, file.endsWith(".json") ? "json" : "yaml")), identity);
  });
}

Deno.test("compileLaw() reads the same law from YAML, TOML and JSON", () => {
  const yaml = 'law: a\nevidence:\n  x: count\nstages:\n  s: x > 1\n  t: {after: s, when: ["x > 1", "x < 9"]}\n';
  const toml =
    'law = "a"\n[evidence]\nx = "count"\n[stages]\ns = "x > 1"\nt = { after = "s", when = ["x > 1", "x < 9"] }\n';
  const json = '{"law":"a","evidence":{"x":"count"},"stages":{"s":"x > 1","t":{"after":"s","when":["x > 1","x < 9"]}}}';
  const identity = lawIdentity(sha256, lawOf(yaml));
  assert.equal(lawIdentity(sha256, lawOf(toml, "toml")), identity);
  assert.equal(lawIdentity(sha256, lawOf(json, "json")), identity);
});

/** A law with one stage of this expression. */
function lawWith(expression: string, evidence = "a: caller\n  b: caller\n  c: caller\n  n: count"): ScenarioLaw {
  const unused = ["a", "b", "c", "n > 0"].map((one) => `  - ${one}\n`).join("");
  const spare = evidence.startsWith("a:") ? `unused:\n${unused}` : "";
  return lawOf(
    `law: x\nparameters:\n  p: integer(0..9)\nevidence:\n  ${evidence}\nstages:\n  s: ${
      JSON.stringify(expression)
    }\n${spare}`,
  );
}

const [A, B, C, N] = ["a", "b", "c", "n"].map((Condition) => ({ Condition }));
const EXPRESSIONS = [
  ["a && b && c", { And: [A, B, C] }],
  ["a && (b && c)", { And: [A, B, C] }],
  ["(a && b) && a", { And: [A, B] }],
  ["a && a", A],
  ["a || (a || a)", A],
  ["(a || b) && (b || a) && c", { And: [C, { Or: [A, B] }] }],
  ["all(a, b) && c", { And: [{ And: [A, B] }, C] }],
  ["all(a)", { And: [A] }],
  ["any(a, any(b))", { Or: [A, { Or: [B] }] }],
  ["a || b && !c", { Or: [{ And: [B, { Not: C }] }, A] }],
  ["at_least(2, a, b, c)", { RequireGroup: { min: 2, reqs: [A, B, C] } }],
  ["n > 0 || 0 < n", N],
] as const;

for (const [expression, requirement] of EXPRESSIONS) {
  Deno.test(`compileLaw() ${expression}`, () => {
    const [stage] = lawWith(expression).stages;
    assert.equal(
      canonicalize(stage?.completion_requirement as unknown as JsonValue),
      canonicalize(requirement as JsonValue),
    );
  });
}

const TYPES = [
  ["x == 80", { domain: "Decimal" }, "80", "x"],
  ["x == -91.50", { domain: "Decimal" }, "-91.50", "x"],
  ['x == "main"', { domain: "String", minimum_bytes: 0, maximum_bytes: 4096 }, "main", "x"],
  ["x", { domain: "Boolean" }, true, "x"],
  ["x != false", { domain: "Boolean" }, false, "x"],
  ['x < timestamp("2026-01-01")', { domain: "Timestamp" }, "2026-01-01", "x"],
  ["x < 3 && x > 1", { domain: "Decimal" }, "3", "x < 3"],
  ["x < 3 && present(x)", { domain: "Decimal" }, "3", "x < 3"],
] as const;

for (const [expression, domain, value, id] of TYPES) {
  Deno.test(`compileLaw() infers the type of ${expression}`, () => {
    const { conditions } = lawWith(expression, "x: caller");
    const condition = conditions.find((one) => one.condition_id === id);
    assert.deepEqual(condition?.observation_domain, domain);
    const predicate = condition?.predicate as { readonly expected: { readonly value: JsonValue } };
    assert.equal(predicate.expected.value, value);
  });
}

Deno.test("compileLaw() infers the type of a parameter, and of the check that a line names", () => {
  assert.deepEqual(lawWith("x == p", "x: caller").conditions[0]?.observation_domain, {
    domain: "Integer",
    minimum: 0,
    maximum: 9,
  });
  assert.deepEqual(lawWith("x == 200", "x: http https://a.example/").conditions[0]?.observation_domain, {
    domain: "Integer",
  });
});

const FAULTS: readonly (readonly [string, readonly string[]])[] = [
  ["stages: {s: a}\nevidence: {a: caller}\nlaw: 5", ["3:6 Expected a string, got 5"]],
  ["law: x\nevidence: {a: caller}", ['1:1 Member "stages" is required']],
  ["law: x\nevidense: {a: caller}\nstages: {s: a}", [
    '2:1 Member "evidense" is unknown; did you mean "evidence"?',
    '3:13 Name "a" is not declared; declare it in "evidence" or "parameters"',
  ]],
  ["law: x\nevidence: {now: caller}\nstages: {s: now}", [
    '2:12 Expected a name of letters, digits and "_" that is not reserved, got "now"; give any other id by "id"',
    '3:13 Word "now" is reserved: it is no name',
  ]],
  ["law: x\nevidence: {a: caller}\nstages:\n  s: a >= 2026-11-28T10:00:00Z", [
    '4:21 Expected timestamp("2026-11-28T10:00:00Z"); where the clock is meant, give it a name in evidence: ' +
    "NAME: after 2026-11-28T10:00:00Z, or before",
  ]],
  ["law: x\nevidence: {a: caller}\nstages:\n  s: (a <= 2026-11-28T10:00:00+01:00)", [
    '4:22 Expected timestamp("2026-11-28T10:00:00+01:00"); where the clock is meant, give it a name in evidence: ' +
    "NAME: after 2026-11-28T10:00:00+01:00, or before",
  ]],
  ["law: x\nevidence: {a: caller}\nstages:\n  s: a && now <= timestamp('2026-12-01T00:00:00Z')", [
    "4:11 Expected the name of evidence on one side of the comparison; where the clock is meant, give it a name in " +
    "evidence: NAME: after 2026-12-01T00:00:00Z, or before",
  ]],
  ["law: x\nevidence: {a: caller}\nstages:\n  s: a && now <= timestamp('2026-12-01')", [
    "4:11 Expected the name of evidence on one side of the comparison; where the clock is meant, give it a name in " +
    "evidence: NAME: after 2026-12-01T00:00:00Z, or before",
  ]],
  ["law: x\nevidence: {a: time}\nstages:\n  s: a < 2026-12-01T10:00", [
    '4:20 Expected timestamp("2026-12-01T10:00:00Z"); where the clock is meant, give it a name in evidence: ' +
    "NAME: after 2026-12-01T10:00:00Z, or before",
  ]],
  ["law: x\nevidence:\n  a: after 2026-12-01\nstages: {s: a}", [
    '3:12 Expected an instant such as 2026-12-01T09:00:00Z, got "2026-12-01"',
  ]],
  ["law: x\nevidence:\n  a: { from: before  2026-02-30T00:00:00Z }\nstages: {s: a}", [
    '3:22 Expected an instant such as 2026-12-01T09:00:00Z, got "2026-02-30T00:00:00Z"',
  ]],
  ["law: x\nevidence: {a: caller, b: caller}\nstages: {s: a}", [
    '2:23 Evidence "b" is not compared by any stage: compare it, or list it under "unused"',
  ]],
  ["law: x\nevidence: {a: caller}\nstages: {s: present(a)}", [
    '3:21 Type of "a" is unknown: declare it, as a: integer',
  ]],
  ["law: x\nevidence: {a: caller}\nstages: {s: 'a > 1', t: 'a == \"b\"'}", [
    '3:26 Evidence "a" is compared as "decimal" and as "text": declare its type',
  ]],
  ["law: x\nparameters: {a: text}\nevidence: {a: caller}\nstages: {s: a}", [
    '3:12 Name "a" is that of a parameter',
    '4:13 Parameter "a" is no evidence: compare evidence with it',
  ]],
  ["law: x\nevidence: {a: count, b: count}\nstages: {s: a == b}", [
    '3:13 Evidence "a" and "b" cannot be compared with each other: compare each with a literal, a parameter or now',
  ]],
  ["law: x\nevidence: {a: 3 of dba}\npeople: {dbas: [k]}\nstages: {s: a}", [
    '2:20 Group "dba" is not in "people"; did you mean "dbas"?',
  ]],
  ["law: x\nevidence: {a: count form json a.json}\nstages: {s: a > 0}", [
    '2:15 Line "count form json a.json" is unknown; did you mean "count"?',
  ]],
  ["law: x\nevidence: {a: within 2h from json r.json $.at}\nstages: {s: a}", [
    '2:15 Line "within 2h from json r.json $.at" is unknown; the age of a value of type time is compared in a stage, ' +
    'as NAME >= now - duration("2h")',
  ]],
  ["law: x\nevidence: {a: within reason}\nstages: {s: a}", [
    '2:15 Line "within reason" is unknown; the age of a value of type time is compared in a stage, ' +
    'as NAME >= now - duration("2h")',
  ]],
  ...["now - 2h", "2h", "now - 90s && a", "now - 5ms"].map((age): readonly [string, readonly string[]] => {
    const [, before = "", number = "", unit = ""] = /^(\D*)(\d+)([a-z]+)/.exec(age) ?? [];
    const message = `Expected a duration before "${unit}": write duration("${number}${unit}")`;
    return [
      `law: x\nevidence: {a: time}\nstages: {s: a >= ${age}}`,
      [`3:${18 + before.length + number.length} ${message}`],
    ];
  }),
  ["law: x\nevidence: {a: time}\nstages: {s: a >= now - 2 h}", [
    '3:26 Expected a duration before "h": write duration("2h")',
  ]],
  ["law: x\nevidence: {a: count}\nstages: {s: a >= 2 apples}", [
    '3:20 Expected an operator such as "&&" or "==" before "apples"',
  ]],
  ["law: x\nevidence: {a: {from: json r.json, within: 10}}\nstages: {s: a > 0}", [
    '2:43 Expected a duration such as "90s", "10m", "24h" or "7d"',
  ]],
  ["law: x\nevidence: {a: 'rest https://a.example/{b} $'}\nstages: {s: a}", ['2:40 Parameter "b" is not declared']],
  ["law: x\nevidence: {a: 'rest https://a/{b}/{c}/{b} $'}\nstages: {s: a}", [
    '2:32 Parameter "b" is not declared',
    '2:36 Parameter "c" is not declared',
    '2:40 Parameter "b" is not declared',
  ]],
  ["law: x\nevidence: {a: 'json x{q} {q}'}\nstages: {s: a}", ['2:27 Parameter "q" is not declared']],
  ["law: x\nevidence: {a: integer(0..5)}\nstages:\n  s: a <= 9", ["4:11 Expected at most 5, got 9"]],
  ['law: x\nevidence: {a: caller}\nstages:\n  s: a\n  t: {after: "!s", when: a}', [
    '5:15 Stages have no "!": a stage is complete for good',
  ]],
  ["law: x\nevidence: {a: caller}\nstages:\n  s: {after: t, when: a}", ['4:14 Stage "t" is not declared']],
  ["law: x\nevidence: &e {a: caller}\nstages:\n  s: a", ['2:11 A law file has no anchors: remove "&e"']],
  ["law: x\nevidence: {a: !!str caller}\nstages:\n  s: a", [
    "2:15 A law file has no tags: remove tag:yaml.org,2002:str",
  ]],
];

for (const [text, expected] of FAULTS) {
  Deno.test(`compileLaw() reports ${expected[0]}`, () => assert.deepEqual(faultsOf(text), expected));
}

// The fault is the last name, which every style writes differently.
const STYLES = [
  ["yaml", "s: a && xx", "5:10"],
  ["yaml", "s: a &&\n    xx", "6:5"],
  ["yaml", 's: "a && xx"', "5:11"],
  ["yaml", 's: "\\u0061 \\\n    && xx"', "6:8"],
  ["yaml", 's: "a &&\n\n   \\x78x"', "7:4"],
  ["yaml", "s: 't == ''q'' && xx'", "5:20"],
  ["yaml", "s: |\n    a &&\n      xx", "7:7"],
  ["yaml", "s: >-  # folded\n    a &&\n\n      xx", "8:7"],
  ["yaml", "s:\n   - a\n   - t == 'q' && xx", "7:18"],
] as const;

for (const [format, stage, expected] of STYLES) {
  Deno.test(`compileLaw() places a fault inside ${JSON.stringify(stage)}`, () => {
    const [fault] = faultsOf(
      `law: x\nunused: [a, t == 'q']\nevidence: {a: caller, t: caller}\nstages:\n ${stage}\n`,
      format,
    );
    assert.equal(fault, `${expected} Name "xx" is not declared; declare it in "evidence" or "parameters"`);
  });
}

/** What declares 300 names, and what names each of them wrongly. A hint compares with all 300, and a report 16,384 names. */
const MISSPELT: readonly (readonly [what: string, text: (names: readonly string[]) => string])[] = [
  [
    "evidence in expressions",
    (names) =>
      `law: x\nevidence: { ${names.map((name) => `${name}: boolean`)} }\nstages: { s: { when: [${
        names.map((name) => `x${name}`)
      }] } }`,
  ],
  [
    "parameters in a line",
    (names) =>
      `law: x\nparameters: { ${
        names.map((name) => `${name}: boolean`)
      } }\nevidence: { e: { type: boolean, from: 'http https://a/${
        names.map((name) => `{x${name}}`).join("")
      } $' } }\nstages: { s: e }`,
  ],
  [
    "groups of people",
    (names) =>
      `law: x\npeople: { ${names.map((name) => `${name}: [a]`)} }\nevidence: { ${
        names.map((name) => `e${name}: 1 of x${name}`)
      } }\nstages: { s: ${names.map((name) => `e${name}`).join(" && ")} }`,
  ],
];

for (const [what, text] of MISSPELT) {
  Deno.test(`the hints of a report compare a bounded number of names: ${what}`, () => {
    const read = readLawText(text(Array.from({ length: 300 }, (_, at) => `name_${at + 1000}`)));
    assert.ok(!read.ok);
    assert.equal(read.faults.filter(({ message }) => message.includes("did you mean")).length, 55);
  });
}

Deno.test("compileLaw() places a fault inside the texts of TOML and JSON", () => {
  const rows = [
    ["toml", 's = "\\u0061 && \\"q\\" == t && xx"', "4:30"],
    ["toml", "s = 'a && xx'", "4:11"],
    ["toml", 's = """\na && \\\n   xx"""', "6:4"],
    ["toml", "s = '''\na &&\n  xx'''", "6:3"],
    ["json", '"\\u0061 &&\\n xx"', "1:78"],
  ] as const;
  for (const [format, text, expected] of rows) {
    const file = format === "toml"
      ? `law = "x"\nevidence = { a = "caller", t = "caller" }\n[stages]\n${text}\n`
      : `{"law":"x","evidence":{"a":"caller","t":"caller"},"stages":{"s":${text}}}`;
    assert.equal(faultsOf(file, format)[0]?.split(" ")[0], expected, text);
  }
});

Deno.test("compileLaw() warns that a second comparison renames the first", () => {
  const { warnings } = fileOf("law: x\nevidence: {a: count}\nstages: {s: 'a > 1', t: 'a < 9'}");
  assert.deepEqual(warnings.map(({ code, message }) => [code, message]), [
    [
      "condition_renamed",
      '"a" is compared in 2 ways: its conditions are "a > 1" and "a < 9", so runs name these in place of "a"; ' +
      'name these where a program names the condition, while --set and cases still take "a"',
    ],
  ]);
});

const UNQUOTED = [
  ["  s: !a && b", '5:6 ; YAML reads "!" as its own in a text without quotes, so quote it: s: "!a && b"'],
  [
    '  s: t.contains("a: b")',
    `5:6 ; YAML reads ": " as its own in a text without quotes, so quote it: s: 't.contains("a: b")'`,
  ],
  [
    '  s: t.contains("a #b")',
    `5:17 ; YAML reads " #" as its own in a text without quotes, so quote it: s: 't.contains("a #b")'`,
  ],
  ['  s:\n    after: r\n    - t == "a"', '7:5 ; a stage with "after:" lists its lines under "when:"'],
  ['  {s: t in ["a"]}', '5:12 ; YAML reads "[" as its own in a text without quotes: quote that text'],
  ['  {s: t.contains("a,b")}', '5:18 ; YAML reads "," as its own in a text without quotes: quote that text'],
] as const;

for (const [line, expected] of UNQUOTED) {
  Deno.test(`readLawText() shows what to quote in ${line.trim()}`, () => {
    const result = readLawText(`law: x\nevidence:\n  t: text\nstages:\n${line}\n`);
    assert.ok(!result.ok);
    const [fault] = result.faults;
    const { line: at, column } = fault?.position ?? { line: 0, column: 0 };
    assert.equal(`${at}:${column} ${fault?.message.replace(/^[^;]*/, "")}`, expected);
  });
}

const INSIDE = (mark: string): string => `This line is inside the "${mark}" of line 3, so indent it`;
const BRACKETS = [
  ["people:\n  dbas: [alice,\nbob]\n", `4:1 ${INSIDE("[")}`],
  ["people:\n  dbas: [\n\nalice,\n  bob\n]\n", `5:1 ${INSIDE("[")}`],
  ["evidence:\n  a: {from: caller,\ntype: count}\n", `4:1 ${INSIDE("{")}`],
  ["people:\n  dbas: [alice\nevidence: {a: caller}\n", '3:9 Expected "]", which closes what begins here'],
  ["people:\n  dbas: [alice,\n", '3:9 Expected "]", which closes what begins here'],
  ["people: { bosses: [alice,{bob] }\n", '2:26 Expected "}", which closes what begins here'],
  ["parameters: { v]ersion: text }\n", '2:13 Expected "}", which closes what begins here'],
  ["evidence:\n  a: {from: ]caller }\n", '3:6 Expected "}", which closes what begins here'],
] as const;

for (const [text, expected] of BRACKETS) {
  Deno.test(`readLawText() places the brackets of ${JSON.stringify(text)}`, () => {
    const result = readLawText(`law: x\n${text}`);
    const { position, message } = result.ok ? { position: null, message: "" } : result.faults[0] ?? {};
    assert.equal(`${position?.line}:${position?.column} ${message}`, expected);
  });
}

Deno.test("the lines of a file, and each text in it, are read once for all faults", () => {
  const value = "a && ".repeat(20_000);
  const text = `x\n"${value}"\n`;
  const placed = new PlacedText(text);
  const source = { start: 2, end: 4 + value.length, style: "escaped" } as const;
  for (let offset = 0; offset < value.length; offset += 100) {
    const at = placed.offsetInside(source, value, offset);
    assert.deepEqual([at, placed.positionAt(at)], [3 + offset, { line: 2, column: 2 + offset }]);
    assert.equal(placed.line(2), `"${value}"`);
  }
  assert.ok(placed.visited <= 3 * text.length, String(placed.visited));
});

Deno.test("compileLaw() shows the line of a fault with a mark below it", () => {
  const result = compileLaw(read("law: x\nevidence: {a: caller}\nstages:\n\ts: a".replace("\t", "  ") + " && bb"));
  assert.ok(!result.ok);
  assert.equal(result.faults[0]?.excerpt, "  s: a && bb\n          ^");
});

const ASKED = [
  ["coverage >= 80", { Compared: "coverage" }],
  ["coverage >= 81", { Compared: null }],
  ['!approved || key("alice")', {
    Or: [{ Not: { Compared: "approved" } }, { Called: { call: "key", argument: "alice" } }],
  }],
  ["caller()", { Called: { call: "caller", argument: null } }],
] as const;

for (const [text, expected] of ASKED) {
  Deno.test(`askedExpression() ${text}`, () => {
    const law = lawOf(
      "law: x\nevidence: {coverage: percent, approved: caller}\nstages: {s: coverage >= 80 && approved}",
    );
    const calls = new Map([["key", true], ["caller", false]]);
    const asked = askedExpression(text, law, lawWords(law), calls);
    const plain = (one: AskedExpression): unknown =>
      JSON.parse(JSON.stringify(one, (name, value) => name === "Compared" ? value.condition_id : value));
    assert.deepEqual(asked.ok ? plain(asked.expression) : asked.faults, expected);
  });
}

Deno.test("askedExpression() reports a name that the law lacks", () => {
  const law = lawOf("law: x\nevidence: {coverage: percent}\nstages: {s: coverage >= 80}");
  assert.deepEqual(askedExpression("covrage >= 80", law), {
    ok: false,
    faults: [{
      code: "name_unknown",
      message: 'Name "covrage" is not declared; did you mean "coverage"?',
      start: 0,
      end: 7,
    }],
  });
});

Deno.test("the line of a window has days, hours and a time zone", () => {
  const params = { schedule: "Tue-Thu 22:00-02:00", time_zone: "Europe/Berlin" };
  const rows: readonly (readonly [line: string, found: unknown])[] = [
    ["window Tue-Thu 22:00-02:00 Europe/Berlin", params],
    ["boolean from window Tue-Thu 22:00-02:00 Europe/Berlin", params],
    ["window  Tue 22:00-25:00 UTC", '3:17 Expected days and hours such as Tue-Thu 22:00-02:00, got "Tue 22:00-25:00"'],
    ["window Tue 22:00-23:00 Nowhere", '3:32 Expected a time zone such as Europe/Berlin, got "Nowhere"'],
    ["window Tue-Thu 22:00-02:00", 'Expected "window SCHEDULE TIME_ZONE", got "window Tue-Thu 22:00-02:00"'],
    ["window", 'Expected "window SCHEDULE TIME_ZONE", got "window"'],
  ];
  for (const [line, found] of rows) {
    const read = readLawText(`law: n\nevidence:\n  open: ${line}\nstages:\n  s: open\n`);
    const { acquisition_bindings: [binding] = [] } = (read.ok ? read.file.spec : {}) as {
      readonly acquisition_bindings?: readonly { readonly params: unknown }[];
    };
    const { position, message = "" } = read.ok ? {} as SourceFault : read.faults[0] as SourceFault;
    const isPlaced = typeof found === "string" && /^\d/.test(found);
    const fault = `${isPlaced ? `${position.line}:${position.column} ` : ""}${message}`;
    assert.deepEqual(read.ok ? binding?.params : fault, found, line);
  }
});
