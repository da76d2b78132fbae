import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type Diagnostic, type ReadScenario, withScenario } from "./law.ts";
import { scenarioSchema } from "./schema.ts";
import { runScenarioWrite } from "./write.ts";
import { expandShortForm } from "../../scenario/short_form.ts";
import { readYamlSource } from "../../scenario/source_yaml.ts";

const SHORT = `spec_version: dag-v3
scenario_id: short
namespace_id: 2
conditions:
  - condition_id: exit_code
    observation_domain: { domain: Integer, minimum: 0 }
    predicate: { predicate: Equals, expected: 0 }
    from: { provider: json, check: path, params: { file: r.json, jsonpath: $.a } }
  - condition_id: region
    observation_domain: { domain: String, minimum_bytes: 0, maximum_bytes: 9 }
    predicate: { predicate: InSet, expected: [eu, { value: ap, value_type: String }] }
    from:
      - { provider: env, check: get, params: { key: A } }
      - { provider: tickets, check: region }
      - { provider: env, check: get, params: { key: B } }
  - condition_id: backup
    observation_domain: { domain: Timestamp }
    predicate:
      predicate: GreaterThanOrEqual
      expected: { relative_to: evaluation_time, offset_milliseconds: -86400000 }
stages:
  - stage_id: t
    prerequisite: { kind: root }
    completion_requirement: { And: [{ Condition: exit_code }, { Condition: region }, { Condition: backup }] }
completion_requirement: { Condition: t }
`;

async function read(text: string, config?: string): Promise<ReadScenario> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/s.yaml`, text);
    if (config !== undefined) await Deno.writeTextFile(`${folder}/named.toml`, config);
    return await withScenario(
      `${folder}/s.yaml`,
      config === undefined ? undefined : `${folder}/named.toml`,
      ({ scenario }) => Promise.resolve(scenario),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function lines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ line, column, severity, code, path }) => `${line}:${column} ${severity} ${code} ${path}`);
}

Deno.test("the short form has the bindings and types of its long form", () => {
  const typed = (value: JsonValue, value_type: string): JsonValue => ({ value, value_type });
  const rows: readonly (readonly [domain: string, predicate: string, short: JsonValue, long: JsonValue])[] = [
    ["Integer", "Equals", 0, typed(0, "Integer")],
    ["Boolean", "Equals", true, typed(true, "Boolean")],
    ["Decimal", "LessThan", "0.10", typed("0.10", "Decimal")],
    ["Decimal", "LessThan", 0.1, typed("0.1", "Decimal")],
    ["Timestamp", "LessThan", "2026-01-01T00:00:00Z", typed("2026-01-01T00:00:00Z", "Timestamp")],
    ["String", "InSet", ["a", typed("b", "String")], [typed("a", "String"), typed("b", "String")]],
    ["String", "Equals", typed("a", "String"), typed("a", "String")],
    ["String", "Equals", { parameter: "version" }, { parameter: "version" }],
    ["String", "InSet", [{ parameter: "version" }, "a"], [{ parameter: "version" }, typed("a", "String")]],
    [
      "Timestamp",
      "LessThan",
      { relative_to: "evaluation_time", offset_milliseconds: 0 },
      { relative_to: "evaluation_time", offset_milliseconds: 0 },
    ],
    ["Json", "DeepEquals", { a: [1] }, typed({ a: [1] }, "Json")],
    ["Json", "DeepEquals", [1], typed([1], "Json")],
    ["Json", "Equals", null, typed(null, "Json")],
    // Not a value of the domain in any form: the proofs of the law refuse it.
    ["String", "Equals", { value: "a" }, { value: "a" }],
    ["String", "Equals", ["a"], ["a"]],
  ];
  for (const [domain, predicate, short, long] of rows) {
    const condition = { condition_id: "c", observation_domain: { domain } };
    const spec = { conditions: [{ ...condition, predicate: { predicate, expected: short } }] };
    const found = expandShortForm(spec);
    assert.deepEqual(found.value, { conditions: [{ ...condition, predicate: { predicate, expected: long } }] });
    const isLong = JSON.stringify(short) === JSON.stringify(long);
    assert.deepEqual(found.short, isLong ? null : ["conditions", 0, "predicate", "expected"]);
    assert.deepEqual(expandShortForm(found.value), { value: found.value, short: null }, "a long form stays as it is");
  }
});

/** The law of what `gate scenario write` prints for a file. */
async function converted(name: string, text: string): Promise<ReadScenario> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/${name}`, text);
    const [code, law] = await written(() => runScenarioWrite(`${folder}/${name}`, {}));
    assert.equal(code, EXIT.ok, law);
    return await read(law);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const TOML = `spec_version = "dag-v3"
scenario_id = "short"
namespace_id = 2
completion_requirement.Condition = "t"
[[conditions]]
condition_id = "exit_code"
observation_domain = { domain = "Integer" }
predicate = { predicate = "Equals", expected = 0 }
from = { provider = "json", check = "path", params = { file = "r.json" } }
[[stages]]
stage_id = "t"
prerequisite.kind = "root"
completion_requirement.Condition = "exit_code"
`;

Deno.test("gate scenario write converts the short form: ids, channels and policies follow from the condition", async () => {
  const { law } = await converted("s.yaml", SHORT);
  const bindings = (found: ReadScenario["law"]): readonly string[] | undefined =>
    found?.acquisition_bindings.map(({ binding_id, condition_id, channel, params }) =>
      [binding_id, condition_id, channel, JSON.stringify(params)].join(" ")
    );
  assert.deepEqual(bindings(law), [
    'env.region region local_acquisition {"key":"A"}',
    'env.region.2 region local_acquisition {"key":"B"}',
    'json.exit_code exit_code local_acquisition {"file":"r.json","jsonpath":"$.a"}',
    "tickets.region region provider_acquisition ",
  ]);
  const policies = law?.conditions.map(({ condition_id, evidence_use_policy: policy }) =>
    `${condition_id} ${policy.allowed_channels} ${policy.requires_all_bindings}`
  );
  assert.deepEqual(policies, [
    "backup caller_submission undefined",
    "exit_code local_acquisition true",
    "region local_acquisition,provider_acquisition true",
  ]);
  const { parse } = await import("smol-toml");
  const ofToml = await converted("s.toml", TOML);
  assert.deepEqual(bindings(ofToml.law), ['json.exit_code exit_code local_acquisition {"file":"r.json"}']);
  const ofJson = await converted("s.json", JSON.stringify({ spec: parse(TOML) }, null, 1));
  assert.deepEqual(ofJson.law, ofToml.law);
});

Deno.test("gate scenario write refuses what is wrong in the short form", async () => {
  const rows: readonly (readonly [from: string, to: string, fault: RegExp])[] = [
    ["expected: 0", "expected: zero", /: \$\.conditions\[0\]\.predicate\.expected\.value: Expected an integer/],
    ["[eu, {", "[eu, eu, {", /: \$\.conditions\[1\]\.predicate\.expected\[1\]: .*\[duplicate\]/],
    ["check: path", "chek: path", /: \$\.acquisition_bindings\[0\]\.chek: .*\[member_unknown\]/],
    ["{ provider: env, check: get, params: { key: A } }", "env", /: \$\.acquisition_bindings\[1\]: .*\[type_invalid\]/],
    ["provider: tickets", 'provider: ""', /\.provider_id: .*\[identifier_invalid\]/],
    ["{ provider: json, check: path, params: { file: r.json, jsonpath: $.a } }", "[]", /\.from: .*\[member_unknown\]/],
    ["condition_id: region", `condition_id: ${"x".repeat(253)}`, /\.binding_id: .*\[identifier_invalid\]/],
    ["condition_id: backup", "condition_id: region.2\n    from: { provider: env, check: get }", /\[duplicate\]/],
  ];
  const folder = await Deno.makeTempDir();
  try {
    for (const [from, to, fault] of rows) {
      assert.ok(SHORT.includes(from), from);
      await Deno.writeTextFile(`${folder}/s.yaml`, SHORT.replace(from, to));
      const [code, text] = await written(() => runScenarioWrite(`${folder}/s.yaml`, {}));
      assert.equal(code, EXIT.usage, to);
      assert.match(text, fault);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("readers of a spec refuse the short form with one error at its first place", async () => {
  const found = async (text: string): Promise<string[]> => lines((await read(text)).diagnostics);
  const { law, diagnostics } = await read(SHORT);
  assert.equal(law, null);
  assert.match(diagnostics[0]?.message ?? "", /; convert the file: gate scenario write .*s\.yaml$/);
  const bare = SHORT.replaceAll(/^ {4}from:.*\n(?: {6}- \{ provider.*\n)*/gm, "");
  const rows: readonly (readonly [text: string, fault: string])[] = [
    [SHORT, "8:5 error short_form $"],
    [SHORT.replace("check: path", "chek: path"), "8:5 error short_form $"],
    [bare, "7:37 error short_form $"],
    [bare.replace("expected: 0", "expected: { value: 0, value_type: Integer }"), "10:36 error short_form $"],
  ];
  for (const [text, fault] of rows) assert.deepEqual(await found(text), [fault], text);
});

const LAW = `law: short
evidence:
  exit_code:
    type: count
    from: json r.json $.a
  region:
    type: text(..9)
    from: { tickets.region: {} }
stages:
  t: exit_code == 0 && region in ["eu", "ap"]
`;

const CONFIG = `[[providers]]
name = "json"
type = "builtin"
config = { root = ".", root_id = "r" }
`;

Deno.test("without --config a file is a law by itself: what needs the configuration is a warning", async () => {
  const rows: readonly (readonly [from: string, to: string, added: string, alone: "warning" | "error"])[] = [
    ["", "", "", "warning"],
    ["exit_code == 0", "lex(exit_code) < 0", "predicate_not_allowed", "error"],
    ['region in ["eu", "ap"]', 'lex(region) < "eu"', "predicate_not_enabled", "warning"],
    // The proofs look at the expected value only where the predicate is enabled.
    ['region in ["eu", "ap"]', "lex(region) < 7", "expected_invalid", "error"],
    ["text(..9)", "text(..9000000000)", "domain_bounds_invalid", "warning"],
  ];
  for (const [from, to, added, severity] of rows) {
    const { diagnostics, law } = await read(LAW.replace(from, to));
    const found = diagnostics.filter(({ code }) => code === added);
    assert.deepEqual(found.map((one) => one.severity), added === "" ? [] : [severity], added);
    assert.equal(law === null, severity === "error", added);
    const named = await read(LAW.replace(from, to), CONFIG);
    assert.equal(named.law, null);
    assert.ok(named.diagnostics.some((one) => one.severity === "error"), added);
  }
});

/** Runs a body, and returns what it writes to standard output. */
async function written(body: () => Promise<number>): Promise<readonly [code: number, text: string]> {
  const { writeSync } = Deno.stdout;
  let text = "";
  Deno.stdout.writeSync = (bytes) => {
    text += new TextDecoder().decode(bytes);
    return bytes.length;
  };
  try {
    return [await body(), text];
  } finally {
    Deno.stdout.writeSync = writeSync;
  }
}

Deno.test("scenarioSchema() accepts the long form of a spec, and not the short one", async () => {
  const { parse } = await import("yaml");
  const validate = new Ajv2020({ strict: false }).compile(scenarioSchema());
  const short = parse(SHORT) as JsonValue;
  assert.equal(validate(short), false);
  assert.ok(validate(expandShortForm(short).value), JSON.stringify(validate.errors));
});

Deno.test("scenarioSchema() accepts law files, and rejects their misspelt members", async () => {
  const validate = new Ajv2020({ strict: false }).compile(scenarioSchema());
  const folder = new URL("../../../tests/vectors/law_file/", import.meta.url);
  let count = 0;
  for await (const { name } of Deno.readDir(folder)) {
    const read = readYamlSource(await Deno.readFile(new URL(name, folder)));
    assert.ok(read.ok && isJsonObject(read.value));
    assert.ok(validate(read.value), `${name}: ${JSON.stringify(validate.errors)}`);
    assert.equal(validate({ ...read.value, evidense: {} }), false);
    assert.equal(validate({ ...read.value, stages: { ship: { wen: "a" } } }), false);
    count++;
  }
  assert.ok(count >= 6);
});
