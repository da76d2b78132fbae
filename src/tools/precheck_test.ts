import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../config/defaults.ts";
import {
  type Bench,
  type BenchOptions,
  booleanCondition,
  condition,
  REMOTE,
  schemaRecord,
  spec,
  stage,
  withTools,
} from "./tests/tools_fixture.ts";

const SHAPE = { schema_id: "report", version: "1" };

/** Three conditions in the first stage, one in the stage that follows. */
const RELEASE = spec({
  conditions: [
    booleanCondition("passed"),
    condition("coverage", { domain: "Integer" }, {
      predicate: "GreaterThanOrEqual",
      expected: { value: 80, value_type: "Integer" },
    }),
    booleanCondition("waived"),
    booleanCondition("deployed"),
  ],
  stages: [{
    ...stage("build", "passed"),
    completion_requirement: {
      And: [{ Condition: "passed" }, { Or: [{ Condition: "coverage" }, { Condition: "waived" }] }],
    },
  }, stage("deploy", "deployed", "build")],
});

const SCHEMA = {
  type: "object",
  properties: {
    passed: { type: "boolean" },
    coverage: { type: "integer" },
    waived: { type: "boolean" },
    deployed: { type: "boolean" },
  },
};

function lane(min_lane: "asserted" | "verified", change: BenchOptions["config"] = {}): BenchOptions {
  return { config: { trust: { ...DEFAULT_SETTINGS.trust, min_lane }, ...change } };
}

/** Runs a test with the schema and the scenario registered. */
async function registered(
  test: (bench: Bench, ask: (change?: JsonObject) => Promise<JsonObject>) => Promise<void>,
  options: BenchOptions = lane("asserted"),
  schema: JsonObject = SCHEMA,
): Promise<void> {
  await withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord({ schema }) });
    await bench.call("scenario_define", { spec: RELEASE });
    const base = { namespace_id: 2, scenario_id: "release", data_shape: SHAPE };
    await test(bench, (change = {}) => bench.call("precheck", { ...base, payload: {}, ...change }));
  }, options);
}

Deno.test("precheck() predicts the decision of a stage on plain data", () =>
  registered(async (_bench, ask) => {
    const rows: readonly [JsonObject, string][] = [
      [{ payload: { passed: true, coverage: 80 } }, "true advance build "],
      [{ payload: { passed: true, waived: true } }, "true advance build "],
      [{ payload: { passed: true, coverage: 79 } }, "unknown hold build coverage,waived"],
      [{ payload: { passed: false } }, "false hold build passed,coverage,waived"],
      [{ payload: {} }, "unknown hold build passed,coverage,waived"],
      [{ stage_id: "deploy", payload: { deployed: true } }, "true complete deploy "],
      [{ stage_id: "deploy", payload: { deployed: false } }, "false hold deploy deployed"],
    ];
    for (const [change, expected] of rows) {
      const answer = await ask(change);
      const { kind, stage_id, unmet } = answer["decision"] as { kind: string; stage_id: string; unmet: string[] };
      const names = unmet.toSorted((a, b) => "pcw".indexOf(a.charAt(0)) - "pcw".indexOf(b.charAt(0)));
      assert.equal(`${answer["outcome"]} ${kind} ${stage_id} ${names}`, expected);
      assert.equal(answer["missing"] === undefined, kind !== "hold");
      assert.deepEqual(await ask(change), answer);
    }
  }));

Deno.test("precheck() names the trust lane where it decides", () =>
  registered(async (_bench, ask) => {
    const answer = await ask({ payload: { passed: true, coverage: 80 } });
    assert.deepEqual([answer["outcome"], answer["blocked_by"], answer["outcome_without_lane"]], [
      "unknown",
      "trust_lane",
      "true",
    ]);
    assert.equal((answer["decision"] as JsonObject)["kind"], "hold");
    assert.deepEqual(lanesOf(answer), ["coverage verified", "passed verified", "waived verified"]);
    assert.equal((await ask())["blocked_by"], undefined);
  }, lane("verified")));

const LANE = { value: "unknown", reason: "unqualified", cause: ["lane"] } as const;

Deno.test("precheck() shows the causes: the lane, or missing evidence", () => {
  const unknown = { value: "unknown" } as const;
  const noted = async (least: "verified" | "asserted", payload: JsonObject, expected: unknown): Promise<void> => {
    await registered(
      async (_bench, ask) => assert.deepEqual((await ask({ payload }))["causes"], expected),
      lane(least),
    );
  };
  return Promise.all([
    noted("asserted", { passed: true, coverage: 80 }, undefined),
    noted("asserted", { passed: true }, [
      { condition_id: "coverage", ...unknown, reason: "no_evidence", sentence: "coverage >= 80: nothing known yet ?" },
      { condition_id: "waived", ...unknown, reason: "no_evidence", sentence: "waived: nothing known yet ?" },
    ]),
    noted("verified", { passed: true, coverage: 80 }, [
      {
        condition_id: "passed",
        ...LANE,
        found: ["true"],
        sentence: "passed: found true, which does not count (lane) ?",
      },
      {
        condition_id: "coverage",
        ...LANE,
        found: ["80"],
        sentence: "coverage >= 80: found 80, which does not count (lane) ?",
      },
      { condition_id: "waived", ...unknown, reason: "no_evidence", sentence: "waived: nothing known yet ?" },
    ]),
  ]).then(() => undefined);
});

/** The conditions in missing, each with the lane that its evidence needs. */
function lanesOf(answer: JsonObject): string[] {
  const [missing] = answer["missing"] as { evidence: { condition_id: string; minimum_lane?: string }[] }[];
  return (missing?.evidence ?? []).map(({ condition_id, minimum_lane = "any" }) => `${condition_id} ${minimum_lane}`);
}

Deno.test("precheck() requires no lane in missing where asserted data counts", () =>
  registered(async (_bench, ask) =>
    assert.deepEqual(lanesOf(await ask()), ["coverage any", "passed any", "waived any"])
  ));

Deno.test("precheck() accepts a law by identity and an inline spec that passes the proofs of a definition", () =>
  registered(async (bench) => {
    const payload = { passed: true, coverage: 80 };
    const ask = (change: JsonObject): JsonObject => ({ namespace_id: 2, data_shape: SHAPE, payload, ...change });
    const [law] = (await bench.call("scenarios_list", { namespace_id: 2 }))["items"] as JsonObject[];
    const identity = law?.["scenario_law_identity"] as string;
    for (
      const change of [
        { scenario_law_identity: identity },
        { scenario_law_identity: identity, scenario_id: "release" },
        { spec: RELEASE },
        { spec: RELEASE, scenario_law_identity: identity, scenario_id: "release" },
      ]
    ) {
      assert.equal((await bench.call("precheck", ask(change)))["outcome"], "true");
    }
    const refused: readonly [JsonObject, string, RegExp][] = [
      [{}, "invalid_input", /scenario_id, scenario_law_identity or spec|Nothing names a scenario/],
      [{ scenario_id: "none" }, "scenario_not_found", /scenario "none"/],
      [{ scenario_law_identity: "0".repeat(64) }, "law_not_found", /namespace 2/],
      [
        { scenario_law_identity: identity, scenario_id: "other" },
        "invalid_input",
        /\$\.scenario_id: Expected "release"/,
      ],
      [{ spec: RELEASE, scenario_id: "other" }, "invalid_input", /\$\.scenario_id/],
      [{ spec: RELEASE, scenario_law_identity: "0".repeat(64) }, "invalid_input", /\$\.scenario_law_identity/],
      [{ spec: { ...RELEASE, namespace_id: 3 } }, "invalid_input", /\$\.spec\.namespace_id/],
      [{ spec: { ...RELEASE, stages: [] } }, "invalid_spec", /stages/],
      [{ scenario_id: "release", stage_id: "none" }, "stage_not_found", /"none"/],
      [{ scenario_id: "release", data_shape: { ...SHAPE, version: "2" } }, "schema_not_found", /version "2"/],
      [{ scenario_id: "release", payload: { passed: 1 } }, "payload_invalid", /passed/],
      [{ scenario_id: "release", payload: 1 }, "payload_invalid", /object/],
    ];
    for (const [change, code, message] of refused) {
      const error = await bench.fail("precheck", ask(change));
      assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message);
    }
    const scenarios = (await bench.call("scenarios_list", { namespace_id: 2 }))["items"] as JsonObject[];
    assert.equal(scenarios.length, 1, "an inline spec is not registered");
  }));

Deno.test("precheck() rejects a scenario with several laws unless one is named", () =>
  registered(async (bench, ask) => {
    await bench.call("scenario_define", { spec: { ...RELEASE, policies: [{ policy_id: "two-eyes" }] } });
    const named = { namespace_id: 2, scenario_id: "release", data_shape: SHAPE, payload: {} };
    const error = await bench.fail("precheck", named);
    assert.deepEqual([error.code, /several laws/.test(error.message)], ["invalid_input", true]);
    const [issue] = (error.details as { issues: { expected: string }[] }).issues;
    const identity = /"([0-9a-f]{64})"/.exec(issue?.expected ?? "")?.[1] ?? "";
    assert.equal((await ask({ scenario_law_identity: identity }))["outcome"], "unknown");
  }));

/** A stage of one condition, judged by a schema of its own. */
async function strictly(
  predicate: JsonObject,
  domain: JsonObject,
  schema: JsonValue,
  change: BenchOptions["config"] = {},
): Promise<string> {
  let said = "";
  const validation = { ...DEFAULT_SETTINGS.validation, enable_lexicographic: true, enable_deep_equals: true };
  await withTools(async (bench) => {
    const shape = { type: "object", properties: { c: schema } };
    await bench.call("schemas_register", { record: schemaRecord({ schema: shape }) });
    const law = spec({
      conditions: [condition("c", domain, predicate)],
      stages: [stage("s", "c")],
      completion_requirement: { Condition: "s" },
    });
    const input = { namespace_id: 2, spec: law, data_shape: SHAPE, payload: {} };
    const tool = bench.tools.get("precheck");
    const call = { principal: { ...REMOTE, authMethod: "local" as const, subject: "stdio", tenants: [1] } };
    const answer = await tool?.handle(input, { ...call, signal: new AbortController().signal, correlationId: null });
    if (answer?.ok === true) said = String(answer.result["outcome"]);
    else {
      const refusals = answer?.error.details?.["refusals"] as { code: string }[] | undefined;
      said = refusals?.map(({ code }) => code).join(" ") ?? String(answer?.error.message);
    }
  }, { config: { trust: { ...DEFAULT_SETTINGS.trust, min_lane: "asserted" }, validation, ...change } });
  return said;
}

Deno.test("precheck() rejects conditions that data of the shape can never meet", async () => {
  const text = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
  const of = (value: JsonValue, value_type: string): JsonObject => ({ value, value_type });
  const equals = (value: JsonValue, value_type: string): JsonObject => ({
    predicate: "Equals",
    expected: of(value, value_type),
  });
  const listed = (...allowed_comparators: string[]): JsonObject => ({ "x-gate": { allowed_comparators } });
  const rows: readonly [JsonObject, JsonObject, JsonValue, string][] = [
    [equals("a", "String"), text, { type: "string" }, "unknown"],
    [equals("a", "String"), text, { type: "string", maxLength: 0 }, "expected_invalid"],
    [equals("a", "String"), text, { type: "string", ...listed("equals") }, "unknown"],
    [equals("a", "String"), text, { type: "string", ...listed("contains") }, "comparator_not_listed"],
    [equals("a", "String"), text, { type: "string", ...listed() }, "type_unknown"],
    [equals("a", "String"), text, {}, "type_unknown"],
    [equals("a", "String"), text, { type: "array" }, "comparator_not_allowed"],
    [{ predicate: "Contains", expected: of("a", "String") }, text, { enum: ["ab"] }, "comparator_not_allowed"],
    [{ predicate: "LexLessThan", expected: of("b", "String") }, text, { type: "string" }, "comparator_not_listed"],
    [
      { predicate: "LexLessThan", expected: of("b", "String") },
      text,
      { type: "string", ...listed("lex_less_than") },
      "unknown",
    ],
    [equals("0.5", "Decimal"), { domain: "Decimal" }, { type: "number", maximum: 1 }, "unknown"],
    [equals("1.5", "Decimal"), { domain: "Decimal" }, { type: "number", maximum: 1 }, "expected_invalid"],
    [
      { predicate: "InSet", expected: [of("a", "String"), of("b", "String")] },
      text,
      { enum: ["a", "c"] },
      "expected_invalid",
    ],
    [{ predicate: "InSet", expected: [of("a", "String")] }, text, { enum: ["a", "c"] }, "unknown"],
    [{ predicate: "Exists" }, text, { type: "object" }, "unknown"],
  ];
  for (const [predicate, domain, schema, expected] of rows) {
    assert.equal(await strictly(predicate, domain, schema), expected, JSON.stringify([predicate, schema]));
  }
});

Deno.test("precheck() names the members that a comparator fits", () =>
  registered(
    async (bench) => {
      const ask = { namespace_id: 2, scenario_id: "release", data_shape: SHAPE, payload: {} };
      const { message } = await bench.fail("precheck", ask);
      assert.match(message, /it fits type "number" or "integer", or /);
    },
    lane("asserted"),
    { ...SCHEMA, properties: { ...SCHEMA.properties, coverage: { type: "string" } } },
  ));

Deno.test("precheck() skips strict validation where the operator disabled it", async () => {
  const equals = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
  const validation = { ...DEFAULT_SETTINGS.validation, strict: false, allow_permissive: true };
  assert.equal(await strictly(equals, { domain: "Boolean" }, {}, { validation }), "unknown");
});

Deno.test("precheck() resolves references of a fragment within its document", () =>
  withTools(async (bench) => {
    const schema = {
      $defs: { level: { type: "integer", minimum: 1 } },
      type: "object",
      properties: { coverage: { $ref: "#/$defs/level" }, passed: { type: "boolean" }, waived: { type: "boolean" } },
    };
    await bench.call("schemas_register", { record: schemaRecord({ schema }) });
    const payload = { passed: true, coverage: 90 };
    const answer = await bench.call("precheck", { namespace_id: 2, spec: RELEASE, data_shape: SHAPE, payload });
    assert.equal(answer["outcome"], "true");
  }, lane("asserted")));

/** Identities that a shape may have or contain; relative ones resolve against the identity of the shape. */
const IDENTITIES: readonly JsonObject[] = [
  { $id: "https://example.com/y" },
  { $id: "https://example.com/y#" },
  { $id: "urn:example:y" },
  { $id: "report" },
  { $id: "/" },
  { $id: "" },
  {},
];

Deno.test("precheck() gives the same answer for any identity of a shape", () =>
  withTools(async (bench) => {
    const one = spec({ stages: [stage("build", "built")], completion_requirement: { Condition: "build" } });
    const flag = { type: "boolean" };
    const bodies: readonly JsonObject[] = [
      { properties: { built: flag } },
      { properties: { built: { $ref: "#/$defs/flag" } }, $defs: { flag } },
      { properties: { built: { $ref: "flag" } }, $defs: { flag: { $id: "flag", ...flag } } },
      { $ref: "inner", $defs: { inner: { $id: "inner", properties: { built: flag } } } },
    ];
    for (const [row, identity] of IDENTITIES.entries()) {
      for (const [column, body] of bodies.entries()) {
        // An identity without a path cannot be the base of others.
        if (identity["$id"] === "urn:example:y" && column > 1) continue;
        const version = `${row}.${column}`;
        const schema = { ...identity, type: "object", ...body };
        await bench.call("schemas_register", { record: schemaRecord({ version, schema }) });
        const ask = { namespace_id: 2, spec: one, data_shape: { ...SHAPE, version } };
        assert.equal((await bench.call("precheck", { ...ask, payload: { built: true } }))["outcome"], "true");
        assert.equal((await bench.fail("precheck", { ...ask, payload: { built: 1 } })).code, "payload_invalid");
      }
    }
  }, lane("asserted")));

Deno.test("precheck() validates expected values against a member in place, within its shape", async () => {
  const expected = { value: "ab", value_type: "String" };
  const text = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
  // The deepest shape: "properties" and "c" are two steps of 64.
  const deep = Array.from({ length: 62 }).reduce<JsonValue>((not) => ({ not }), {});
  const rows: readonly [JsonValue, string][] = [
    [{ $id: "c", $ref: "#/$defs/t", $defs: { t: { type: "string", maxLength: 2 } } }, "unknown"],
    [{ $id: "c", $ref: "#/$defs/t", $defs: { t: { type: "string", maxLength: 1 } } }, "expected_invalid"],
    [{ type: "string", ...deep as JsonObject }, "unknown"],
  ];
  for (const [schema, outcome] of rows) {
    assert.equal(await strictly({ predicate: "Equals", expected }, text, schema), outcome);
  }
});

Deno.test("precheck() accepts a payload that is not an object for a stage of one condition", () =>
  withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord({ schema: { type: "boolean" } }) });
    const one = spec({ stages: [stage("build", "built")], completion_requirement: { Condition: "build" } });
    const ask = { namespace_id: 2, spec: one, data_shape: SHAPE };
    assert.equal((await bench.call("precheck", { ...ask, payload: true }))["outcome"], "true");
    assert.equal((await bench.call("precheck", { ...ask, payload: false }))["outcome"], "false");
    const error = await bench.fail("precheck", { ...ask, spec: RELEASE, payload: true });
    assert.equal(error.code, "data_shape_rejected");
  }, lane("asserted")));

Deno.test("precheck() reads schemas only for callers that may get them", () =>
  registered(async (bench) => {
    const ask = { namespace_id: 2, scenario_id: "release", data_shape: SHAPE, payload: {} };
    assert.equal((await bench.fail("precheck", ask, REMOTE)).code, "registry_refused");
  }));
