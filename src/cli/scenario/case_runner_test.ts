import assert from "node:assert/strict";
import { LEAST_POLICY } from "../../../tests/least_policy.ts";
import type { JsonObject } from "../../canonical/json.ts";
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
const AT = { evaluated_at: "2026-03-02T10:00:00Z" };

/** A law of one condition, the evidence of a case, and the outcome. */
const ROWS: readonly [what: string, law: JsonObject, given: JsonObject, outcome: string][] = [
  ["nothing", spec({}), {}, "unknown"],
  ["the expected value", spec({}), { given: { a: 1 } }, "true"],
  ["another value", spec({}), { given: { a: 2 } }, "false"],
  ["a value of another domain", spec({}), { given: { a: "1" } }, "rejected"],
  ["values that differ", spec({}), { items: { a: [1, 2] } }, "unknown"],
  ["too many items", spec({}), { items: { a: Array.from({ length: 65 }, () => 1) } }, "rejected"],
  ["an unsigned item that must be signed", spec({}, SIGNED), { given: { a: 1 } }, "unknown"],
  ["a signed item", spec({}, SIGNED), { given: { a: 1 }, signed: ["a"] }, "true"],
  ["a signed item of another value", spec({}, SIGNED), { given: { a: 2 }, signed: ["a"] }, "false"],
  ["no statement", spec({}, WAITS), {}, "unknown"],
  ["a statement of one of two", spec({}, WAITS), { submitted: { a: { alice: 1 } } }, "unknown"],
  ["statements of two", spec({}, WAITS), { submitted: { a: { alice: 1, bob: 1 } } }, "true"],
  ["a refusal beside an approval", spec({}, WAITS), { submitted: { a: { alice: 1, bob: 2 } } }, "unknown"],
  ["two refusals", spec({}, WAITS), { submitted: { a: { alice: 2, bob: 2 } } }, "false"],
  ["a statement of a key without authority", spec({}, WAITS), { submitted: { a: { alice: 1, eve: 1 } } }, "unknown"],
  ["a statement outside the domain", spec({}, WAITS), { submitted: { a: { alice: "1" } } }, "rejected"],
  ["an item of any age", spec({}, FRESH), { given: { a: 1 } }, "true"],
  ["a value that a binding finds", spec(PRESENT, ACQUIRED, NAMED), { given: { a: "x" } }, "true"],
  ["nothing that a binding finds, as required", spec(ABSENT, ACQUIRED, NAMED), { acquired: { name: null } }, "true"],
  [
    "a value that a binding finds against the requirement",
    spec(ABSENT, ACQUIRED, NAMED),
    { acquired: { name: "x" } },
    "false",
  ],
  ["an instant a day before the evaluation", spec(YOUNG), { ...AT, given: { a: "2026-03-01T10:00:00Z" } }, "true"],
  ["an instant before that", spec(YOUNG), { ...AT, given: { a: "2026-03-01T09:59:59.999Z" } }, "false"],
  [
    "the same instant, evaluated earlier",
    spec(YOUNG),
    { evaluated_at: "2026-03-02T11:59:59.999+02:00", given: { a: "2026-03-01T09:59:59.999Z" } },
    "true",
  ],
  ["a day against a relative instant", spec(YOUNG), { ...AT, given: { a: "2026-03-02" } }, "unknown"],
  ["a packet that the policy denies", spec({}, {}, DISCLOSING), { given: { a: 1 } }, "denied"],
];

const CONFIG = `[[providers]]
name = "env"
type = "builtin"
[policy]
engine = "deny_all"
`;

Deno.test("gate scenario test needs an instant for a condition relative to the evaluation, of the stage or of the case", async () => {
  const stage = { stage: "one", given: { a: "2026-03-01T10:00:00Z" }, expect: "true" };
  const of = (
    one: JsonObject,
    stage: JsonObject,
  ): unknown => [{ name: "n", stages: [stage], expect: "complete", ...one }];
  const rows: readonly (readonly [cases: unknown, code: number, message: RegExp])[] = [
    [of({}, { ...stage, ...AT }), 0, /1 passed, 0 failed/],
    [of(AT, stage), 0, /1 passed, 0 failed/],
    [of({ evaluated_at: "2026-04-01T10:00:00Z" }, { ...stage, ...AT }), 0, /1 passed, 0 failed/],
    [of({ evaluated_at: "2026-04-01T10:00:00Z" }, stage), 3, /one is false, expected true/],
    [of({}, stage), 2, /Expected a member "evaluated_at": condition "a" is relative to the evaluation time/],
    [of({ evaluated_at: "2026-03-02" }, stage), 2, /Expected "evaluated_at" to be an RFC 3339 date-time with offset/],
    [of({ evaluated_at: "2026-03-02T10:00:00.0001Z" }, stage), 2, /exact to the millisecond/],
    [of({ evaluated_at: 1 }, stage), 2, /Expected "evaluated_at" to be/],
  ];
  for (const [cases, code, message] of rows) {
    let text = "";
    assert.equal(await runCases(spec(YOUNG), cases, [], (written) => text += written), code, JSON.stringify(cases));
    assert.match(text, message);
  }
});

const RELEASES = spec({ ...TEXT, predicate: { predicate: "InSet", expected: [{ parameter: "version" }] } }, {}, {
  parameters: [
    { parameter_id: "version", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 9 }, description: "Tag" },
    { parameter_id: "factor", domain: { domain: "Decimal", minimum: "0" } },
  ],
});

Deno.test("gate scenario test judges a case by its parameters, else by those of the file", async () => {
  const of = (parameters: JsonObject | undefined, a: string): unknown => [{
    name: "n",
    ...parameters === undefined ? {} : { parameters },
    stages: [{ stage: "one", given: { a }, expect: "true" }],
    expect: "complete",
  }];
  const both = { version: "v1", factor: 1.5 };
  const rows: readonly (readonly [cases: unknown, shared: JsonObject, code: number, message: RegExp])[] = [
    [of(both, "v1"), {}, 0, /1 passed, 0 failed/],
    [of(both, "v2"), {}, 3, /one is false, expected true/],
    [of(undefined, "v1"), { parameters: both }, 0, /1 passed, 0 failed/],
    [of({ version: "v2" }, "v2"), { parameters: both }, 0, /1 passed, 0 failed/],
    [of(undefined, "v1"), {}, 2, /Expected a value of parameter "factor" in "parameters"/],
    [of({ version: "v1" }, "v1"), {}, 2, /Expected a value of parameter "factor"/],
    [
      of({ ...both, verison: "v1" }, "v1"),
      {},
      2,
      /Expected a parameter of the law, got "verison": did you mean "version"/,
    ],
    [of({ ...both, version: "" }, "v1"), {}, 2, /Expected a value of domain "String", within its bounds/],
    [of({ ...both, factor: "x" }, "v1"), {}, 2, /Expected a value of domain "Decimal"/],
    [of(both, "v1"), { parameters: [] }, 2, /Expected an object/],
  ];
  for (const [cases, shared, code, message] of rows) {
    let text = "";
    assert.equal(await runCases(RELEASES, cases, [], (written) => text += written, shared), code, text);
    assert.match(text, message);
  }
  const plain = [{
    name: "n",
    parameters: { version: "v1" },
    stages: [{ stage: "one", given: { a: 1 }, expect: "true" }],
    expect: "complete",
  }];
  assert.equal(await runCases(spec({}), plain), 2, "a law without parameters");
});

Deno.test("gate scenario explain and graph show the parameters of a law", () => {
  const read = constructLaw(RELEASES, { limits: LAW_LIMITS, ...permissiveEnvironment(RELEASES) });
  assert.ok(read.ok);
  const words = explainLaw(read.law);
  assert.match(
    words,
    /gives these values\n- factor: a decimal from 0; not used, so .* no evidence to it\n- version: a string of 1 to 9 bytes \(Tag\)\n/,
  );
  assert.match(words, /a: a string of 0 to 9 bytes that is one of parameter version/);
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
  assert.match(explainLaw(bound), /gives these values\n- factor: a decimal from 0\n- version/);
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
  const cases = [{ name: "n", stages: [{ stage: "one", given: { a: 1 }, expect: "true" }], expect: "complete" }];
  const schema = (schema: unknown): unknown => [{ schema_id: "s", version: "1", schema }];
  assert.equal(await runCases(law, cases, schema({ type: "integer" })), 0);
  assert.equal(await runCases(law, cases, schema({ type: "string" })), 3);
  assert.equal(await runCases(law, cases, []), 2, "the schema is missing");
  await assert.rejects(runCases(law, cases, schema({ type: "nonsense" })), /Cannot use schema "s" version "1"/);
});

/** Runs cases of a law; returns the exit code. */
async function runCases(
  law: JsonObject,
  cases: unknown,
  schemas: unknown = [],
  written?: (text: string) => void,
  shared: JsonObject = {},
): Promise<number> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/law.json`, JSON.stringify(law));
    await Deno.writeTextFile(`${folder}/law.cases.json`, JSON.stringify({ cases, schemas, ...shared }));
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const config = `${folder}/gate.toml`;
    const errors = await withScenario(
      `${folder}/law.json`,
      config,
      ({ scenario }) => Promise.resolve(scenario.diagnostics.filter(({ severity }) => severity === "error")),
    );
    assert.deepEqual(errors, []);
    return await silently(() => runScenarioTest(`${folder}/law.json`, { config }), written);
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
  [spec({}), {}, "a is unknown (no_evidence)"],
  [spec({}), { items: { a: [1, 2] } }, "a is unknown (disagreement)"],
  [spec({}, SIGNED), { given: { a: 1 } }, "a is unknown (unqualified: authorization)"],
  [
    spec(PRESENT, ACQUIRED, NAMED),
    { acquired: { name: 1 } },
    'a is unknown (error: Value does not fit domain "String" of condition "a")',
  ],
];

for (const [law, given, message] of FAILURES) {
  Deno.test(`gate scenario test reports why a case fails: ${message}`, async () => {
    const texts: string[] = [];
    const stages = [{ stage: "one", ...given, expect: "true", conditions: { a: "true" } }];
    const code = await runCases(law, [{ name: "n", stages, expect: "complete" }], [], (text) => texts.push(text));
    assert.equal(code, 3);
    assert.match(texts.join(""), new RegExp(`^ {4}${RegExp.escape(message)}$`, "m"));
    assert.match(texts.join(""), new RegExp(`^ {4}${RegExp.escape(message)}, expected true$`, "m"));
  });
}

for (const [what, law, given, outcome] of ROWS) {
  Deno.test(`gate scenario test: ${what}: ${outcome}`, async () => {
    const isPassing = outcome === "true";
    const stages = [{ stage: "one", ...given, expect: outcome }];
    const expect = isPassing ? "complete" : "active";
    assert.equal(await runCases(law, [{ name: "n", stages, expect }]), 0);
    const wrong = isPassing ? "false" : "true";
    assert.equal(
      await runCases(law, [{ name: "n", stages: [{ ...stages[0], expect: wrong }], expect }]),
      3,
      "the expected outcome can fail",
    );
    const otherStatus = isPassing ? "active" : "complete";
    assert.equal(
      await runCases(law, [{ name: "n", stages, expect: otherStatus }]),
      3,
      "the expected status of the run can fail",
    );
  });
}

Deno.test("gate scenario test accepts 1 to CASES_MAXIMUM cases", async () => {
  const one = { name: "n", stages: [{ stage: "one", given: { a: 1 }, expect: "true" }], expect: "complete" };
  for (const [count, code] of [[CASES_MAXIMUM - 1, 0], [CASES_MAXIMUM, 0], [CASES_MAXIMUM + 1, 2], [0, 2]] as const) {
    assert.equal(
      await runCases(spec({}), Array.from({ length: count }, (_, at) => ({ ...one, name: `n${at}` }))),
      code,
      `${count} cases`,
    );
  }
});
