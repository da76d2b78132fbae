import assert from "node:assert/strict";
import { EXIT } from "../terminal/exit_codes.ts";
import { type Diagnostic, type ReadScenario, withScenario } from "./law.ts";
import { stepsOfPath } from "../../scenario/source_position.ts";
import { readSource, type Source } from "./source.ts";
import { explainLaw } from "../../tools/law_words/explain_law.ts";
import { mermaidGraph, terminalGraph } from "./graph.ts";
import { layersOf } from "../../law/stage_layers.ts";
import { drawLaw } from "../../runpack/picture/draw_law.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { AcquisitionBinding, Condition, ScenarioLaw } from "../../law/types.ts";
import { compileLaw } from "../../run/compile.ts";
import { lawWords } from "../../law/words.ts";
import { readCases } from "./cases.ts";
import { scenarioSchema } from "./schema.ts";

async function withFile<Result>(name: string, text: string, body: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/${name}`, text);
    return await body(`${folder}/${name}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function check(name: string, text: string): Promise<ReadScenario> {
  return withFile(name, text, (file) => withScenario(file, undefined, ({ scenario }) => Promise.resolve(scenario)));
}

function lines(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ line, column, severity, code, path }) => `${line}:${column} ${severity} ${code} ${path}`);
}

const POLICY = `{ allowed_channels: [caller_submission], authorization: embedding_authority,
      combination: { combination: AllQualifyingAgree }, freshness: { freshness: NotRequired },
      independence: distinct_acquisition, integrity: canonical_content_only, replay: full_semantic,
      required_assurance: [content_integrity], retention: retain_canonical_value, scope: exact_condition }`;

const YAML = `spec_version: dag-v3
namespace_id: 2
scenario_id: small
conditions:
  - condition_id: z
    observation_domain: { domain: Integer, minimum: 0 }
    predicate: { predicate: Equals, expected: { value: 0, value_type: Integer } }
    evidence_use_policy: &policy ${POLICY.replaceAll(/\n */g, " ")}
  - condition_id: a
    observation_domain: { domain: Boolean }
    predicate: { predicate: Equals, expected: { value: true, value_type: Boolean } }
    evidence_use_policy: *policy
stages:
  - stage_id: second
    prerequisite: { kind: requires, requirement: { Or: [{ Condition: first }, { Condition: other }] } }
    completion_requirement: { Condition: z }
  - stage_id: first
    prerequisite: { kind: root }
    completion_requirement: { Condition: z }
  - stage_id: other
    prerequisite: { kind: root }
    completion_requirement: { Condition: z }
completion_requirement: { Condition: second }
`;

Deno.test("diagnostics of a scenario have the position in its file, in every format", async () => {
  const rows: readonly [file: string, text: string, expected: readonly string[]][] = [
    // The law is sorted: its first condition is the second of the file.
    ["fine.yaml", YAML, ["1:1 warning caller_alone $", "9:5 warning condition_unused $.conditions[1]"]],
    ["s.yaml", YAML.replace("stage_id: first", "stage_idd: first"), [
      "15:70 error stage_not_found $.stages[0].prerequisite.requirement.Or[0].Condition",
      "17:5 error member_missing $.stages[1].stage_id",
      "17:5 error member_unknown $.stages[1].stage_idd",
    ]],
    ["twice.yaml", `${YAML}namespace_id: 3\n`, ["24:1 error duplicate_name $.namespace_id"]],
    ["syntax.yaml", "a: [1,\nb: 2\n", ["1:4 error bad_indent $"]],
    ["number.yaml", "namespace_id: 9007199254740993\n", ["1:15 error number_not_exact $.namespace_id"]],
    ["closed.yaml", YAML.replace("namespace_id: 2", "namespace_id: 1"), [
      "1:1 warning caller_alone $",
      "2:15 warning namespace_closed $.namespace_id",
      "9:5 warning condition_unused $.conditions[1]",
    ]],
    ["decimal.yaml", "a:\n  - 1\n  - 0.1000000000000000000001\n", ["3:5 error number_not_exact $.a[1]"]],
    ["alias.yaml", "a: &a\n  b: *a\n", ["2:6 error alias_of_itself $.a.b"]],
    ["key.yaml", "a:\n  ? [1]\n  : 2\n", ["2:3 error name_not_scalar $.a"]],
    ["twice.json", '{\n  "a": 1,\n  "\\u0061": 2\n}', ["3:3 error duplicate_name $.a"]],
    ["syntax.json", '{\n  "a": nope\n}', ["2:8 error syntax $.a"]],
    ["call.json", '{"spec": {\n "stages": [\n  {"stage_id": 7}]}}', [
      "1:10 error member_missing $.completion_requirement",
      "1:10 error member_missing $.namespace_id",
      "1:10 error member_missing $.scenario_id",
      "1:10 error member_missing $.spec_version",
      "3:3 error member_missing $.stages[0].completion_requirement",
      "3:3 error member_missing $.stages[0].prerequisite",
      "3:16 error type_invalid $.stages[0].stage_id",
    ]],
    ["syntax.toml", "a = 1\nb = \n", ["2:5 error syntax $"]],
    ["date.toml", "a = 1\n[[stages]]\nstage_id = 2026-01-01\n", ["3:12 error value_not_json $.stages[0].stage_id"]],
  ];
  for (const [file, text, expected] of rows) {
    assert.deepEqual(lines((await check(file, text)).diagnostics), expected, file);
  }
});

Deno.test("an expired packet is a warning at its position", async () => {
  const packet = (id: string, expiry: string): string =>
    `{ packet_id: ${id}, schema_id: s, content_type: text/plain, payload: { kind: bytes, base64: "" }, expiry: ${expiry} }`;
  const times = ["1", "-8640000000000001", "8640000000000000"].map((value) => `{ kind: unix_millis, value: ${value} }`);
  const packets = [...times, "{ kind: logical, value: 1 }"].map((expiry, index) => packet(`p${index}`, expiry));
  const text = YAML.replace("stage_id: first\n", `stage_id: first\n    entry_packets: [${packets.join(", ")}]\n`) +
    'schemas: [{ schema_id: s, version: "1" }]\n';
  const { diagnostics } = await check("expired.yaml", text);
  assert.deepEqual(
    diagnostics.flatMap(({ code, path, message }) => code === "packet_expired" ? `${path} ${message}` : []),
    [
      '$.stages[1].entry_packets[0].expiry Packet "p0" expired at 1970-01-01T00:00:00.001Z, so its stage never opens',
      '$.stages[1].entry_packets[1].expiry Packet "p1" expired long ago, so its stage never opens',
    ],
  );
});

Deno.test("one scenario has one identity in YAML, TOML and JSON", async () => {
  const { law } = await check("a.yaml", YAML);
  assert.ok(law);
  const asJson = await check("a.json", JSON.stringify({ spec: law }));
  assert.deepEqual(asJson.law, law);
  const toml = [
    'spec_version = "dag-v3"\nnamespace_id = 2\nscenario_id = "small"\n',
    'completion_requirement.Condition = "second"\n',
    `conditions = ${tomlValue(law.conditions)}\nstages = ${tomlValue(law.stages)}\n`,
  ];
  assert.deepEqual((await check("a.toml", toml.join(""))).law, law);
});

/** JSON as an inline value of TOML, without null members, which is their default. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== null);
  return `{ ${members.map(([name, inner]) => `${name} = ${tomlValue(inner)}`).join(", ")} }`;
}

Deno.test("stepsOfPath() undoes formatPath()", () => {
  assert.deepEqual(stepsOfPath("$"), []);
  assert.deepEqual(stepsOfPath('$["a.b"][3].c["\\u0000]"]'), ["a.b", 3, "c", "\u0000]"]);
});

Deno.test("readSource() rejects a file of another format or encoding", async () => {
  const rows: readonly [name: string, expected: RegExp][] = [
    ["a.txt", /Unknown format of "a.txt"/],
    ["missing/a.json", /it does not exist$/],
  ];
  for (const [name, expected] of rows) {
    const folder = await Deno.makeTempDir();
    await Deno.writeTextFile(`${folder}/a.txt`, "");
    await assert.rejects(readSource(`${folder}/${name}`), (error: Error & { exitCode?: number }) => {
      assert.match(error.message, expected);
      return error.exitCode === EXIT.usage;
    });
    await Deno.remove(folder, { recursive: true });
  }
  await assert.rejects(readSource("missing/a.json"), {
    message: `Cannot read "missing/a.json": it does not exist in "${Deno.cwd()}"`,
  });
  const notUtf8 = await Deno.makeTempDir();
  await Deno.writeFile(`${notUtf8}/a.toml`, new Uint8Array([0xff]));
  const read = await readSource(`${notUtf8}/a.toml`);
  assert.equal(read.ok ? null : read.fault.code, "not_utf8");
  await Deno.remove(notUtf8, { recursive: true });
});

Deno.test("a scenario is drawn in layers, and explained in an order in which it can be passed", async () => {
  const { law } = await check("a.yaml", YAML);
  assert.ok(law);
  assert.deepEqual(layersOf(law.stages).map((layer) => layer.map(({ stage_id }) => stage_id)), [["first", "other"], [
    "second",
  ]]);
  assert.equal(
    terminalGraph(law),
    "small\n ○ first    immediately\n ○ other    immediately\n └○ second  after first || other\n ● complete when second\n",
  );
  assert.match(mermaidGraph(law), /r2\{"first \|\| other"\}\n {2}s0 -\.-> r2\n {2}s1 -\.-> r2\n {2}r2 --> s2\n/);
  const words = explainLaw(law);
  assert.ok(words.indexOf("1. first") < words.indexOf("3. second: can be opened when complete: first || other"));
  assert.match(words, /- z == 0\n {7}evidence: count, sent by the caller/);
});

Deno.test("every line of a drawing leads to a stage that waits for its start", async () => {
  const file = new URL("../../../docs/examples/data_disclosure/scenario.yaml", import.meta.url).pathname;
  const law = await withScenario(file, undefined, ({ scenario }) => Promise.resolve(scenario.law));
  assert.ok(law);
  const stems = terminalGraph(law).split("\n").map((line) => line.replace(/ +(immediately|after .*)$/, ""));
  assert.deepEqual(stems.slice(1, -2), [" ○ request", " ├○ analysis", " │ └○ share-extract", " └○ share-raw"]);
});

Deno.test("explainLaw() describes the query of a binding, and evidence that is not possible", async () => {
  const { law } = await check("a.yaml", YAML);
  const first = law?.conditions.find(({ condition_id }) => condition_id === "z");
  assert.ok(first);
  const bound = (provider_id: string, check_id: string, params: JsonObject): AcquisitionBinding => ({
    binding_id: "b",
    condition_id: first.condition_id,
    channel: "local_acquisition",
    provider_id,
    check_id,
    params,
  });
  const rows: readonly [string, AcquisitionBinding | null, Partial<Condition>][] = [
    ['check get of env: variable "FREEZE" (binding b)', bound("env", "get", { key: "FREEZE" }), {}],
    ['path of json: file "a.json", query "$.b" (', bound("json", "path", { file: "a.json", jsonpath: "$.b" }), {}],
    ['status of http: url "https://a.b/c" (', bound("http", "status", { url: "https://a.b/c" }), {}],
    [
      'check after of time: time "2026-01-01T00:00:00Z" (',
      bound("time", "after", { timestamp: "2026-01-01T00:00:00Z" }),
      {},
    ],
    [
      'check count of tickets: open only true, labels ["a"] (',
      bound("tickets", "count", { open_only: true, labels: ["a"] }),
      {},
    ],
    ["check now of time (binding b)", bound("time", "now", {}), {}],
    ["not possible: no binding, and callers cannot show absence", null, { predicate: { predicate: "NotExists" } }],
  ];
  for (const [words, binding, change] of rows) {
    const changed = {
      conditions: [{ ...first, ...change }],
      acquisition_bindings: binding === null ? [] : [binding],
    };
    assert.ok(explainLaw({ ...law, ...changed } as ScenarioLaw).includes(words), words);
  }
});

Deno.test("drawings escape names", async () => {
  const { law } = await check("a.yaml", YAML.replaceAll("first", "'</text><script>\"&'"));
  assert.ok(law);
  assert.ok(!drawLaw(law, null).markup.includes("<script>"));
  assert.ok(drawLaw(law, null).markup.includes("&lt;/text&gt;&lt;script&gt;&quot;&amp;"));
  assert.ok(mermaidGraph(law).includes("&lt;/text&gt;&lt;script&gt;&quot;&amp;"));
});

Deno.test("cases with names that the law lacks, and cases without a test, are rejected", async () => {
  const { law } = await check("a.yaml", YAML);
  assert.ok(law);
  const compiled = compileLaw(law, "0".repeat(64), "0".repeat(64));
  const read = async (text: string): Promise<string[]> => {
    const source = await withFile("c.yaml", text, readSource);
    assert.ok(source.ok);
    const read = readCases(source.source as Source, compiled, lawWords(law));
    return read.diagnostics.map(({ line, message }) => `${line} ${message}`);
  };
  const forms = '"complete", "active", "held: EXPR", "unknown: EXPR", "waits for N of NAMES", "error CODE", ' +
    '"ready: STAGES" or "STAGE is OUTCOME"';
  const rows: readonly [text: string, expected: readonly string[]][] = [
    ["given: {}", ["1 Expected at least one case"]],
    ["n: {}", ['1 Expected a member "then": how the run ends']],
    ["n: { steps: [], then: active }", ["1 Expected a list of at least one step"]],
    ["n: { steps: [{ z: 1 }] }", ['1 Expected a member "then": how the run ends']],
    ["n:\n  stage: frst\n  then: complete", ['2 Stage "frst" is not in the law; did you mean "first"?']],
    ["n:\n  then: frst is true", ['2 Stage "frst" is not in the law; did you mean "first"?']],
    ["n:\n  then: first is maybe", [`2 Expected ${forms}, got "first is maybe"`]],
    ["n:\n  then: [complete, 1]", [`2 Expected ${forms}`]],
    ["n:\n  then: []", [`2 Expected ${forms}`]],
    ["n:\n  zz: 1\n  then: active", ['2 Name "zz" is not in the law; did you mean "z"?']],
    ["n: { thn: active }", [
      '1 Name "thn" is not in the law; did you mean "then"?',
      '1 Expected a member "then": how the run ends',
    ]],
    ["given: { then: complete }\nn: { then: complete }", ['1 Name "then" is not in the law']],
    ["n: { items: { z: 1 }, then: active }", ["1 Expected a list of values"]],
    ["n: { sign: [alice], then: active }", ['1 Person "alice" is not in the law']],
    ["n: { answers: { ci: 1 }, then: active }", ["1 Expected an absolute URL"]],
    ["n: { answers: { 'https://a.example/': { status: 99 } }, then: active }", ["1 Expected a status from 100 to 999"]],
    ["n: { files: [], then: active }", ["1 Expected CONTENT for each FILE"]],
  ];
  for (const [text, expected] of rows) {
    assert.deepEqual((await read(text)).sort(), [...expected].sort(), text);
  }
});

Deno.test("scenarioSchema() is a schema of files", () => {
  assert.equal(scenarioSchema()["title"], "gate scenario");
  assert.ok(Object.hasOwn(scenarioSchema(), "$defs"));
});
