import assert from "node:assert/strict";
import { LEAST_POLICY } from "../../../tests/least_policy.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { drawLaw } from "../../runpack/picture/draw_law.ts";
import { explainLaw } from "../../tools/law_words/explain_law.ts";
import { CASES_MAXIMUM } from "./cases.ts";
import { mermaidGraph, terminalGraph } from "./graph.ts";
import { withScenario } from "./law.ts";
import { runScenarioTest } from "./run_cases.ts";

function spec(condition: JsonObject, policy: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    spec_version: "dag-v3",
    namespace_id: 2,
    scenario_id: "small",
    conditions: [{
      condition_id: "a",
      observation_domain: { domain: "Integer" },
      predicate: { predicate: "Equals", expected: { value: 1, value_type: "Integer" } },
      evidence_use_policy: { ...LEAST_POLICY, ...policy },
      ...condition,
    }],
    stages: [{ stage_id: "one", prerequisite: { kind: "root" }, completion_requirement: { Condition: "a" } }],
    completion_requirement: { Condition: "one" },
    ...more,
  };
}

const NAMED = {
  acquisition_bindings: [{
    binding_id: "name",
    condition_id: "a",
    channel: "local_acquisition",
    provider_id: "env",
    check_id: "get",
    params: { key: "NAME" },
  }],
};

const TEXT = { observation_domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 9 } };
const ABSENT = { ...TEXT, predicate: { predicate: "NotExists" } };
const PRESENT = { ...TEXT, predicate: { predicate: "Exists" } };
const ACQUIRED = { allowed_channels: ["local_acquisition"] };
const SIGNED = { authorization: "signature", authorized_key_ids: ["k"], required_assurance: ["source_signature"] };
const FRESH = { freshness: { freshness: "MaximumAge", maximum_age_millis: 1 } };
const PACKET = {
  packet_id: "p",
  schema_id: "s",
  content_type: "application/json",
  visibility_labels: ["secret"],
  payload: { kind: "json", value: 1 },
};
const DISCLOSING = {
  stages: [{
    stage_id: "one",
    prerequisite: { kind: "root" },
    completion_requirement: { Condition: "a" },
    entry_packets: [PACKET],
  }],
};

const WAITS = {
  allowed_channels: ["accepted_submission"],
  authorization: "signature",
  authorized_key_ids: ["alice", "bob"],
  combination: { combination: "Quorum", minimum: 2 },
};

const YOUNG = {
  observation_domain: { domain: "Timestamp" },
  predicate: {
    predicate: "GreaterThanOrEqual",
    expected: { relative_to: "evaluation_time", offset_milliseconds: -86_400_000 },
  },
};
const AT = { now: "2026-03-02T10:00:00Z" };

/** A law of one condition, the evidence of a case, and the outcome. */
const ROWS: readonly [what: string, law: JsonObject, given: JsonObject, outcome: string][] = [
  ["nothing", spec({}), {}, "unknown"],
  ["the expected value", spec({}), { a: 1 }, "true"],
  ["another value", spec({}), { a: 2 }, "false"],
  ["a value of another domain", spec({}), { a: "1" }, "rejected"],
  ["values that differ", spec({}), { items: { a: [1, 2] } }, "unknown"],
  ["too many items", spec({}), { items: { a: Array.from({ length: 65 }, () => 1) } }, "rejected"],
  ["an unsigned item that must be signed", spec({}, SIGNED), { a: 1 }, "unknown"],
  ["a signed item", spec({}, SIGNED), { a: 1, sign: ["k"] }, "true"],
  ["a signed item of another value", spec({}, SIGNED), { a: 2, sign: ["k"] }, "false"],
  ["no statement", spec({}, WAITS), {}, "unknown"],
  ["a statement of one of two", spec({}, WAITS), { sign: [{ alice: 1 }] }, "unknown"],
  ["statements of two", spec({}, WAITS), { sign: [{ alice: 1 }, { bob: 1 }] }, "true"],
  ["a refusal beside an approval", spec({}, WAITS), { sign: [{ alice: 1 }, { bob: 2 }] }, "unknown"],
  ["two refusals", spec({}, WAITS), { sign: [{ alice: 2 }, { bob: 2 }] }, "false"],
  ["one who signs twice", spec({}, WAITS), { sign: [{ alice: 1 }, { alice: 1 }] }, "unknown"],
  ["a statement outside the domain", spec({}, WAITS), { sign: [{ alice: "1" }] }, "rejected"],
  ["an item of any age", spec({}, FRESH), { a: 1 }, "true"],
  ["a value that a binding finds", spec(PRESENT, ACQUIRED, NAMED), { a: "x" }, "true"],
  ["nothing that a binding finds, as required", spec(ABSENT, ACQUIRED, NAMED), { name: null }, "true"],
  [
    "a value that a binding finds against the requirement",
    spec(ABSENT, ACQUIRED, NAMED),
    { name: "x" },
    "false",
  ],
  ["an instant a day before the evaluation", spec(YOUNG), { ...AT, a: "2026-03-01T10:00:00Z" }, "true"],
  ["an instant before that", spec(YOUNG), { ...AT, a: "2026-03-01T09:59:59.999Z" }, "false"],
  [
    "the same instant, evaluated earlier",
    spec(YOUNG),
    { now: "2026-03-02T11:59:59.999+02:00", a: "2026-03-01T09:59:59.999Z" },
    "true",
  ],
  ["a day against a relative instant", spec(YOUNG), { ...AT, a: "2026-03-02" }, "unknown"],
  ["a packet that the policy denies", spec({}, {}, DISCLOSING), { a: 1 }, "denied"],
];

const CONFIG = `[[providers]]
name = "env"
type = "builtin"
[[providers]]
name = "time"
type = "builtin"
[[providers]]
name = "rest"
type = "builtin"
[[providers]]
name = "calendar"
type = "builtin"
[[providers]]
name = "json"
type = "builtin"
config = { root = ".", root_id = "cases" }
[policy]
engine = "deny_all"
`;

/** The code and the output of cases of one law, each a row. */
async function runRows(
  law: JsonObject,
  rows: readonly (readonly [file: JsonObject, code: number, message: RegExp])[],
): Promise<void> {
  for (const [file, code, message] of rows) {
    let text = "";
    assert.equal(await runCases(law, file, (written) => text += written), code, text);
    assert.match(text, message);
  }
}

Deno.test("gate scenario test needs an instant for a condition relative to the evaluation, of the step, the case or all", async () => {
  const step = { a: "2026-03-01T10:00:00Z", then: "complete" };
  const later = { now: "2026-04-01T10:00:00Z" };
  await runRows(spec(YOUNG), [
    [{ n: { steps: [{ ...step, ...AT }] } }, 0, /1 passed, 0 failed/],
    [{ n: { ...AT, steps: [step] } }, 0, /1 passed, 0 failed/],
    [{ given: AT, n: step }, 0, /1 passed, 0 failed/],
    [{ given: later, n: { ...later, steps: [{ ...step, ...AT }] } }, 0, /1 passed, 0 failed/],
    [{ n: { ...step, ...later } }, 3, /a .*: found timestamp\("2026-03-01T10:00:00Z"\) ✗/],
    [{ n: { ...AT, a: "now - 24h", then: "complete" } }, 0, /1 passed, 0 failed/],
    [{ n: { ...AT, a: "now - 25h", then: "complete" } }, 3, /a .*: found timestamp\(.* ✗/],
    [{ n: { ...AT, a: "now", then: "complete" } }, 0, /1 passed, 0 failed/],
    [{ n: step }, 2, /Expected a member "now": "a" is relative to the evaluation time/],
    [{ n: { ...step, now: "2026-03-02" } }, 2, /Expected an RFC 3339 date-time with offset/],
    [{ n: { ...step, now: "2026-03-02T10:00:00.0001Z" } }, 2, /exact to the millisecond/],
    [{ n: { ...step, now: 1 } }, 2, /Expected an RFC 3339 date-time/],
  ]);
});

const DECIMAL = {
  observation_domain: { domain: "Decimal" },
  predicate: { predicate: "LessThanOrEqual", expected: { value: "0.5", value_type: "Decimal" } },
};

Deno.test("gate scenario test takes plain numbers for decimals, of the caller and of those who sign", async () => {
  const rows = (sure: JsonObject): Parameters<typeof runRows>[1] => [
    [{ n: { ...sure, a: 0, then: "complete" } }, 0, /1 passed, 0 failed/],
    [{ n: { ...sure, a: 0.5, then: "complete" } }, 0, /1 passed, 0 failed/],
    [{ n: { ...sure, a: "0.5", then: "complete" } }, 0, /1 passed, 0 failed/],
    [{ n: { ...sure, a: 0.75, then: "complete" } }, 3, /a <= 0.5: found 0.75 ✗/],
    [{ n: { ...sure, a: true, then: "complete" } }, 3, /Expected a decimal number as a string, got a boolean/],
  ];
  await runRows(spec(DECIMAL), rows({}));
  await runRows(spec(DECIMAL, { ...SIGNED, allowed_channels: ["accepted_submission"] }), rows({ sign: ["k"] }));
});

const RELEASES = spec({ ...TEXT, predicate: { predicate: "InSet", expected: [{ parameter: "version" }] } }, {}, {
  parameters: [
    { parameter_id: "version", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 9 }, description: "Tag" },
    { parameter_id: "factor", domain: { domain: "Decimal", minimum: "0" } },
  ],
});

Deno.test("gate scenario test judges a case by its parameters, else by those of the file", async () => {
  const both = { version: "v1", factor: 1.5 };
  const then = { then: "complete" };
  await runRows(RELEASES, [
    [{ n: { ...both, a: "v1", ...then } }, 0, /1 passed, 0 failed/],
    [{ n: { ...both, a: "v2", ...then } }, 3, /a .*: found "v2" ✗/],
    [{ given: both, n: { a: "v1", ...then } }, 0, /1 passed, 0 failed/],
    [{ given: both, n: { a: "v2", version: "v2", ...then } }, 0, /1 passed, 0 failed/],
    [{ n: { a: "v1", ...then } }, 2, /Expected a value of parameter "factor"/],
    [{ n: { a: "v1", version: "v1", ...then } }, 2, /Expected a value of parameter "factor"/],
    [
      { n: { ...both, a: "v1", verison: "v1", ...then } },
      2,
      /Name "verison" is not in the law; did you mean "version"/,
    ],
    [{ n: { ...both, version: "", ...then } }, 2, /Expected a value of domain "String", within its bounds/],
    [{ n: { ...both, factor: "x", ...then } }, 2, /Expected a value of domain "Decimal"/],
    [{ given: [], n: { ...both, ...then } }, 2, /Expected an object/],
  ]);
  assert.equal(await runCases(spec({}), { n: { version: "v1", a: 1, ...then } }), 2, "a law without parameters");
});

Deno.test("gate scenario explain and graph show the parameters of a law", () => {
  const read = constructLaw(RELEASES, { limits: LAW_LIMITS, ...permissiveEnvironment(RELEASES) });
  assert.ok(read.ok);
  const words = explainLaw(read.law);
  assert.match(
    words,
    /gives these values\n- factor: decimal\(0\.\.\); not used, so .* no evidence to it\n- version: text\(1\.\.9\) \(Tag\)\n/,
  );
  assert.match(words, /- a in \[version\]\n {7}evidence: text\(\.\.9\), sent/);
  const params = { url: { $template: "https://ci.example/{version}/x?f={factor}" }, of: { $parameter: "version" } };
  const bindings = [{
    binding_id: "b",
    condition_id: "a",
    channel: "provider_acquisition",
    provider_id: "p",
    check_id: "c",
    params,
  }] as const;
  const bound = { ...read.law, acquisition_bindings: bindings };
  assert.match(explainLaw(bound), /gives these values\n- factor: decimal\(0\.\.\)\n- version/);
  assert.match(explainLaw(bound), /url "https:\/\/ci.example\/\{version\}\/x\?f=\{factor\}", of parameter version/);
  const { parameters: _declared, ...plain } = bound;
  assert.match(explainLaw(plain), /of \{"\$parameter":"version"\}/);
  assert.match(terminalGraph(read.law), /^small with factor, version\n/);
  const drawn = mermaidGraph(read.law);
  assert.match(drawn, /given\[\/"given at start: factor, version"\/\]/);
  assert.match(drawn, /given -\.-> s0/);
  assert.match(drawLaw(read.law, null).markup, /<title>Stages of small with factor, version<\/title>/);
  const { parameters: _parameters, ...rest } = read.law;
  assert.doesNotMatch(
    explainLaw(rest) + mermaidGraph(rest) + drawLaw(rest, null).markup,
    /start of a run gives|given at start| with factor/,
  );
});

Deno.test("gate scenario test reports which schema it cannot use", async () => {
  const domain = { domain: "Json", maximum_bytes: 9, schema: { schema_id: "s", version: "1" } };
  const law = spec({ observation_domain: domain, predicate: { predicate: "Exists" } }, {}, {
    schemas: [{ schema_id: "s", version: "1" }],
  });
  const of = (schema: JsonValue): JsonObject => ({
    schemas: [{ schema_id: "s", version: "1", schema }],
    n: { a: 1, then: "complete" },
  });
  assert.equal(await runCases(law, of({ type: "integer" })), 0);
  assert.equal(await runCases(law, of({ type: "string" })), 3);
  assert.equal(await runCases(law, { n: { a: 1, then: "complete" } }), 2, "the schema is missing");
  await assert.rejects(runCases(law, of({ type: "nonsense" })), /Cannot use schema "s" version "1"/);
});

/** Runs cases of a law; returns the exit code. */
async function runCases(
  law: JsonObject,
  cases: JsonObject,
  written?: (text: string) => void,
  set: readonly string[] = [],
): Promise<number> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/law.json`, JSON.stringify(law));
    await Deno.writeTextFile(`${folder}/law.cases.json`, JSON.stringify(cases));
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const config = `${folder}/gate.toml`;
    const errors = await withScenario(
      `${folder}/law.json`,
      config,
      ({ scenario }) => Promise.resolve(scenario.diagnostics.filter(({ severity }) => severity === "error")),
    );
    assert.deepEqual(errors, []);
    return await silently(() => runScenarioTest(`${folder}/law.json`, { config, set }), written);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a body, and calls back with each piece that it writes. */
async function silently(body: () => Promise<number>, written: (text: string) => void = () => {}): Promise<number> {
  const { writeSync } = Deno.stdout;
  Deno.stdout.writeSync = (bytes) => {
    written(new TextDecoder().decode(bytes));
    return bytes.length;
  };
  try {
    return await body();
  } finally {
    Deno.stdout.writeSync = writeSync;
  }
}

/** A failed case, and the reported truth value of its condition. */
const FAILURES: readonly [law: JsonObject, given: JsonObject, message: string][] = [
  [spec({}), {}, "a == 1: nothing known yet ?"],
  [spec({}), { items: { a: [1, 2] } }, "a == 1: found 1, 2, which differ ?"],
  [spec({}, SIGNED), { a: 1 }, "a == 1: found 1, which does not count (authorization) ?"],
  [
    spec(PRESENT, ACQUIRED, NAMED),
    { name: 1 },
    'Value does not fit domain "String" of condition "a"',
  ],
  [spec(PRESENT, ACQUIRED, NAMED), { name: 1 }, "present(a): no answer (domain mismatch) ?"],
];

for (const [law, given, message] of FAILURES) {
  Deno.test(`gate scenario test reports why a case fails: ${message}`, async () => {
    const texts: string[] = [];
    const cases = { n: { ...given, then: ["complete", 'held: condition("a")'] } };
    assert.equal(await runCases(law, cases, (text) => texts.push(text)), 3);
    assert.match(texts.join(""), new RegExp(`^ {4}${RegExp.escape(message)}$`, "m"));
    assert.match(texts.join(""), /^ {4}complete: the run is active$/m);
    assert.match(texts.join(""), /^ {4}held: condition\("a"\): it is unknown$/m);
  });
}

for (const [what, law, given, outcome] of ROWS) {
  Deno.test(`gate scenario test: ${what}: ${outcome}`, async () => {
    const isPassing = outcome === "true";
    const run = (then: readonly string[]): Promise<number> => runCases(law, { n: { ...given, then } });
    assert.equal(await run([`one is ${outcome}`, isPassing ? "complete" : "active"]), 0);
    assert.equal(await run([`one is ${isPassing ? "false" : "true"}`]), 3, "the expected outcome can fail");
    assert.equal(await run([isPassing ? "active" : "complete"]), 3, "the expected status of the run can fail");
  });
}

const PROBED = {
  acquisition_bindings: [{
    binding_id: "probe",
    condition_id: "a",
    channel: "local_acquisition",
    provider_id: "rest",
    check_id: "json_path",
    params: { url: "https://ci.example/tests", jsonpath: "$.failed" },
  }],
};
const FILED = {
  acquisition_bindings: [{
    binding_id: "file",
    condition_id: "a",
    channel: "local_acquisition",
    provider_id: "json",
    check_id: "path",
    params: { file: "results.json", jsonpath: "$.failed" },
  }],
};
const OPENED = {
  acquisition_bindings: [{
    binding_id: "window",
    condition_id: "a",
    channel: "local_acquisition",
    provider_id: "time",
    check_id: "now",
  }],
};
const WINDOW = {
  acquisition_bindings: [{
    binding_id: "window",
    condition_id: "a",
    channel: "local_acquisition",
    provider_id: "calendar",
    check_id: "open",
    params: { schedule: "Tue-Thu 22:00-02:00", time_zone: "Europe/Berlin" },
  }],
};
const URL_OF_TESTS = "https://ci.example/tests";

/** What a source of a condition is given, and the sentences that hold afterwards. Each also fails where it should. */
const SERVICES: readonly [what: string, bindings: JsonObject, given: JsonObject, holds: string, fails: string][] = [
  ["a body", PROBED, { answers: { [URL_OF_TESTS]: { failed: 1 } } }, "complete", "held: a == 1"],
  ["another value", PROBED, { answers: { [URL_OF_TESTS]: { failed: 2 } } }, "held: a == 1", "complete"],
  ["a text", PROBED, { answers: { [URL_OF_TESTS]: '{"failed":1}' } }, "complete", "unknown: a == 1"],
  [
    "a status",
    PROBED,
    { answers: { [URL_OF_TESTS]: { status: 500 } } },
    "error status_not_successful",
    "error timeout",
  ],
  [
    "a header",
    PROBED,
    { answers: { [URL_OF_TESTS]: { headers: { "Content-Type": "text/plain" }, body: { failed: 1 } } } },
    "error content_type_invalid",
    "complete",
  ],
  ["no such member", PROBED, { answers: { [URL_OF_TESTS]: {} } }, "error jsonpath_not_found", "error invalid_json"],
  ["another URL", PROBED, { answers: { "https://ci.example/": 1 } }, "error connection_failed", "complete"],
  ["no answers", PROBED, {}, "unknown: a == 1", "error connection_failed"],
  ["a value in place of an answer", PROBED, { a: 1, answers: { [URL_OF_TESTS]: {} } }, "complete", "unknown: a == 1"],
  ["a file", FILED, { files: { "results.json": { failed: 1 } } }, "complete", "active"],
  ["a file of text", FILED, { files: { "results.json": '{"failed": 2}' } }, "held: a == 1", "unknown: a == 1"],
  ["a file that is no JSON", FILED, { files: { "results.json": "{" } }, "error invalid_json", "complete"],
  ["another file", FILED, { files: { "other.json": {} } }, "error file_not_found", "complete"],
  ["a clock", OPENED, { now: "1970-01-01T00:00:00.001Z" }, "complete", "active"],
  ["a later clock", OPENED, { now: "1970-01-01T00:00:00.002Z" }, "held: a == 1", "complete"],
];

Deno.test("gate scenario test runs the calendar at the time of a case", async () => {
  const law = spec(
    {
      observation_domain: { domain: "Boolean" },
      predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
    },
    ACQUIRED,
    WINDOW,
  );
  await runRows(law, [
    [{ n: { now: "2026-11-24T21:00:00Z", then: "complete" } }, 0, /1 passed/],
    [{ n: { now: "2026-11-24T20:59:00Z", then: "held: a" } }, 0, /1 passed/],
    [{ n: { then: "unknown: a" } }, 0, /1 passed/],
  ]);
});

for (const [what, bindings, given, holds, fails] of SERVICES) {
  Deno.test(`gate scenario test runs providers on what a case gives: ${what}`, async () => {
    const law = spec({}, ACQUIRED, bindings);
    assert.equal(await runCases(law, { n: { ...given, then: holds } }), 0);
    assert.equal(await runCases(law, { given, n: { then: holds } }), 0, "given for all cases");
    assert.equal(await runCases(law, { n: { ...given, then: fails } }), 3);
  });
}

const DAILY = { ...WAITS, freshness: { freshness: "MaximumAge", maximum_age_millis: 3_600_000 } };
const PINS = {
  ...WAITS,
  authorized_public_keys: {
    alice: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
    bob: "ebVWLo/mVPlAeLES6KmLp5AfhTrmlb7X4OORC60ElmQ=",
  },
};

Deno.test("gate scenario test counts people, once each and while their word is fresh", async () => {
  const noon = "2026-03-02T12:00:00Z";
  await runRows(spec({}, DAILY), [
    [{ n: { sign: [{ alice: 1 }], then: "waits for 1 of bob" } }, 0, /1 passed/],
    [{ n: { sign: [{ alice: 1 }], then: "waits for 1 of alice" } }, 3, /it waits for 1 of bob/],
    [{ n: { a: 1, sign: ["alice", "alice"], then: "waits for 1 of bob" } }, 0, /1 passed/],
    [{ n: { a: 1, then: "waits for 2 of alice, bob" } }, 0, /1 passed/],
    [{ n: { a: 1, sign: ["alice", { bob: { a: 2 } }], then: "waits for 1 of bob" } }, 0, /1 passed/],
    [
      { n: { a: 1, sign: ["alice", "bbo"], then: "complete" } },
      2,
      /Person "bbo" is not in the law; did you mean "bob"/,
    ],
    [{ n: { a: 1, sign: "alice", then: "complete" } }, 2, /Expected a list of people/],
    [
      {
        n: {
          a: 1,
          steps: [{ now: noon, sign: ["alice"] }, { now: "2026-03-02T13:00:00Z", sign: ["bob"], then: "complete" }],
        },
      },
      0,
      /1 passed/,
    ],
    [
      {
        n: {
          a: 1,
          steps: [
            { now: noon, sign: ["alice"] },
            { now: "2026-03-02T13:00:00.001Z", sign: ["bob"], then: "waits for 1 of alice" },
          ],
        },
      },
      0,
      /1 passed/,
    ],
  ]);
  await runRows(spec({}, PINS), [
    [
      { n: { a: 1, sign: ["alice", "bob"], then: "complete" } },
      0,
      /^keys of the cases stand for those that the law pins: alice, bob$/m,
    ],
  ]);
});

Deno.test("gate scenario test takes values of --set over those of every case", async () => {
  const cases = { given: { version: "v1", factor: 1 }, n: { a: "v1", then: "complete" } };
  const rows: readonly (readonly [set: readonly string[], code: number])[] = [
    [[], 0],
    [["a=v2"], 3],
    [["a=v2", "version=v2"], 0],
  ];
  for (const [set, code] of rows) assert.equal(await runCases(RELEASES, cases, () => {}, set), code, set.join());
  await assert.rejects(runCases(RELEASES, cases, () => {}, ["b=1"]), /the law has no such name/);
});

Deno.test("gate scenario test names the command that converts old cases", async () => {
  await assert.rejects(runCases(spec({}), { cases: [] }), /Cannot run ".*law\.cases\.json": its format is gone/);
});

Deno.test("gate scenario test accepts 1 to CASES_MAXIMUM cases", async () => {
  for (const [count, code] of [[CASES_MAXIMUM - 1, 0], [CASES_MAXIMUM, 0], [CASES_MAXIMUM + 1, 2], [0, 2]] as const) {
    const cases = Array.from({ length: count }, (_, at) => [`n${at}`, { a: 1, then: "complete" }]);
    assert.equal(await runCases(spec({}), Object.fromEntries(cases)), code, `${count} cases`);
  }
});
