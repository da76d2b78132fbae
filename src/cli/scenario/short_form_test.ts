import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { runScenarioBuild } from "./build.ts";
import { type Diagnostic, type ReadScenario, withScenario } from "./law.ts";
import { scenarioSchema } from "./schema.ts";
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

const UNCONFIGURED = [
  "8:23 warning provider_not_found $.conditions[0].from.provider",
  "13:21 warning provider_not_found $.conditions[1].from[0].provider",
  "14:21 warning provider_not_found $.conditions[1].from[1].provider",
  "15:21 warning provider_not_found $.conditions[1].from[2].provider",
  "16:5 warning caller_asserted $.conditions[2]",
];

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
    const { value, faults } = expandShortForm(spec);
    assert.deepEqual(faults, []);
    assert.deepEqual(value, { conditions: [{ ...condition, predicate: { predicate, expected: long } }] });
    assert.deepEqual(expandShortForm(value).value, value, "a long form stays as it is");
  }
});

Deno.test("ids and channels of bindings follow from the condition and the provider", async () => {
  const { law, diagnostics } = await read(SHORT);
  assert.deepEqual(lines(diagnostics), UNCONFIGURED);
  assert.deepEqual(
    law?.acquisition_bindings.map(({ binding_id, condition_id, channel, params }) =>
      [binding_id, condition_id, channel, JSON.stringify(params)].join(" ")
    ),
    [
      'env.region region local_acquisition {"key":"A"}',
      'env.region.2 region local_acquisition {"key":"B"}',
      'json.exit_code exit_code local_acquisition {"file":"r.json","jsonpath":"$.a"}',
      "tickets.region region provider_acquisition ",
    ],
  );
  const policies = law?.conditions.map(({ condition_id, evidence_use_policy: policy }) =>
    `${condition_id} ${policy.allowed_channels} ${policy.requires_all_bindings}`
  );
  assert.deepEqual(policies, [
    "backup caller_submission undefined",
    "exit_code local_acquisition true",
    "region local_acquisition,provider_acquisition true",
  ]);
});

const IN_SET = "predicate: InSet, expected: [eu, { value: ap, value_type: String }]";

const CONFIG = `[[providers]]
name = "json"
type = "builtin"
config = { root = ".", root_id = "r" }
[[providers]]
name = "env"
type = "builtin"
config = { allowlist = ["A", "B"] }
`;

Deno.test("faults of the short form have their position and path in the file", async () => {
  const rows: readonly (readonly [from: string, to: string, expected: readonly string[]])[] = [
    ["provider: json", "provider: jsn", [
      "8:23 error provider_not_found $.conditions[0].from.provider",
      "14:21 error provider_not_found $.conditions[1].from[1].provider",
    ]],
    ["check: get, params: { key: B }", "check: got", [
      "14:21 error provider_not_found $.conditions[1].from[1].provider",
      "15:33 error check_not_found $.conditions[1].from[2].check",
    ]],
    ["key: B", "kye: B", [
      "14:21 error provider_not_found $.conditions[1].from[1].provider",
      "15:46 error params_invalid $.conditions[1].from[2].params",
    ]],
    ["expected: 0", "expected: zero", [
      "7:47 error expected_invalid $.conditions[0].predicate.expected",
      "14:21 error provider_not_found $.conditions[1].from[1].provider",
    ]],
    ["[eu, {", "[eu, eu, {", [
      "11:51 error duplicate $.conditions[1].predicate.expected[1]",
      "14:21 error provider_not_found $.conditions[1].from[1].provider",
    ]],
    ["check: path", "chek: path", [
      "8:11 error member_missing $.conditions[0].from.check",
      "8:29 error member_unknown $.conditions[0].from.chek",
    ]],
    ["{ provider: env, check: get, params: { key: A } }", "env", ["13:9 error type_invalid $.conditions[1].from[0]"]],
    ["provider: tickets", 'provider: ""', ["14:21 error identifier_invalid $.conditions[1].from[1].provider"]],
    ["{ provider: json, check: path, params: { file: r.json, jsonpath: $.a } }", "[]", [
      "8:11 error too_few $.conditions[0].from",
    ]],
  ];
  for (const [from, to, expected] of rows) {
    assert.ok(SHORT.includes(from), from);
    assert.deepEqual(lines((await read(SHORT.replace(from, to), CONFIG)).diagnostics), expected, to);
  }
});

Deno.test("derived ids of bindings that are too long or not distinct are named", () => {
  const from = { provider: "env", check: "get", params: { key: "A" } };
  const condition = (condition_id: string, count = 1): JsonValue => ({
    condition_id,
    from: Array.from({ length: count }, () => from),
  });
  const own = { binding_id: "env.a", condition_id: "b" };
  const rows: readonly (readonly [conditions: JsonValue[], own: JsonValue[], faults: readonly RegExp[]])[] = [
    [[condition("x".repeat(252))], [], []],
    [[condition("é".repeat(126))], [], []],
    [[condition("x".repeat(253))], [], [/^\$\.conditions\[0\]\.from\[0\] identifier_invalid .*got 257: env\.x{253};/]],
    [[condition("x".repeat(251), 2)], [], [
      /^\$\.conditions\[0\]\.from\[1\] identifier_invalid .*got 257: env\.x{251}\.2;/,
    ]],
    [[condition("x".repeat(257))], [], []],
    [[condition("a", 2), condition("b")], [], []],
    [[condition("a", 2), condition("a.2")], [], [
      /^\$\.conditions\[1\]\.from\[0\] duplicate Derived binding id "env\.a\.2" .* of condition "a";/,
    ]],
    [[condition("a")], [own], [
      /^\$\.conditions\[0\]\.from\[0\] duplicate Derived binding id "env\.a" is that of another binding;/,
    ]],
    // The law refuses the second condition.
    [[condition("a"), condition("a")], [], []],
  ];
  for (const [conditions, acquisition_bindings, faults] of rows) {
    const found = expandShortForm({ conditions, acquisition_bindings }).faults;
    assert.equal(found.length, faults.length, JSON.stringify(found));
    found.forEach(({ code, path, message }, at) => assert.match(`${path} ${code} ${message}`, faults[at] ?? /^$/));
  }
});

Deno.test("without --config a file is a law by itself: what needs the configuration is a warning", async () => {
  const rows: readonly (readonly [from: string, to: string, added: string, alone: "warning" | "error"])[] = [
    ["", "", "", "warning"],
    ["predicate: Equals, expected: 0", "predicate: LexLessThan, expected: 0", "predicate_not_allowed", "error"],
    [IN_SET, "predicate: LexLessThan, expected: eu", "predicate_not_enabled", "warning"],
    // The proofs look at the expected value only where the predicate is enabled.
    [IN_SET, "predicate: LexLessThan, expected: 7", "expected_invalid", "error"],
    ["maximum_bytes: 9", "maximum_bytes: 9000000000", "domain_bounds_invalid", "warning"],
  ];
  for (const [from, to, added, severity] of rows) {
    const { diagnostics, law } = await read(SHORT.replace(from, to));
    const found = diagnostics.filter(({ code }) => code === added);
    assert.deepEqual(found.map((one) => one.severity), added === "" ? [] : [severity], added);
    assert.equal(law === null, severity === "error", added);
    const named = await read(SHORT.replace(from, to), CONFIG);
    assert.equal(named.law, null);
    assert.ok(named.diagnostics.every((one) => one.severity === "error"), added);
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

Deno.test("gate scenario build prints the long form: the same law, without anything left to expand", async () => {
  const { law } = await read(SHORT);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/s.yaml`, SHORT);
    const [code, text] = await written(() => runScenarioBuild(`${folder}/s.yaml`, {}));
    assert.equal(code, EXIT.ok);
    const long = JSON.parse(text) as JsonValue;
    assert.deepEqual(long, law);
    assert.deepEqual(expandShortForm(long).value, long);
    await Deno.writeTextFile(`${folder}/s.yaml`, SHORT.replace("expected: 0", "expected: zero"));
    const [refused, faults] = await written(() => runScenarioBuild(`${folder}/s.yaml`, {}));
    assert.equal(refused, EXIT.usage);
    assert.match(faults, /s\.yaml:7:47: error: \$\.conditions\[0\]\.predicate\.expected: Expected an integer/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the short form is read in TOML and JSON too, with positions in the file", async () => {
  const toml = `spec_version = "dag-v3"
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
  const folder = await Deno.makeTempDir();
  try {
    const scenarioOf = async (name: string, text: string): Promise<ReadScenario> => {
      await Deno.writeTextFile(`${folder}/${name}`, text);
      return await withScenario(`${folder}/${name}`, undefined, ({ scenario }) => Promise.resolve(scenario));
    };
    const { law, diagnostics } = await scenarioOf("s.toml", toml);
    assert.deepEqual(lines(diagnostics), ["9:21 warning provider_not_found $.conditions[0].from.provider"]);
    const { parse } = await import("smol-toml");
    const asJson = await scenarioOf("s.json", JSON.stringify({ spec: parse(toml) }, null, 1));
    assert.deepEqual(asJson.law, law);
    const wrong = await scenarioOf("s.toml", toml.replace("check = ", "chek = "));
    assert.deepEqual(lines(wrong.diagnostics), [
      "9:8 error member_missing $.conditions[0].from.check",
      "9:29 error member_unknown $.conditions[0].from.chek",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("scenarioSchema() accepts the short and the long form of a file", async () => {
  const { parse } = await import("yaml");
  const validate = new Ajv2020({ strict: false }).compile(scenarioSchema());
  const short = parse(SHORT) as JsonValue;
  assert.ok(validate(short), JSON.stringify(validate.errors));
  assert.ok(validate(expandShortForm(short).value), JSON.stringify(validate.errors));
  for (const [from, to] of [["check: path", "chek: path"], ["relative_to: evaluation_time", "relative_to: now"]]) {
    assert.equal(validate(parse(SHORT.replace(from ?? "", to ?? ""))), false, to);
  }
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
