import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { scannedCondition } from "./step_fixture.ts";
import {
  type Bench,
  type BenchOptions,
  condition,
  envelope,
  evidence,
  id,
  spec,
  stage,
  STORES,
  withTools,
} from "./tools_fixture.ts";

const text = (maximum_bytes: number, minimum_bytes = 0): JsonObject => ({
  domain: "String",
  minimum_bytes,
  maximum_bytes,
});

/** A release gate for every version: the tag is the version, the checks of the commit passed. */
function releaseGate(): JsonObject {
  return spec({
    parameters: [
      { parameter_id: "version", domain: text(40, 1) },
      { parameter_id: "commit", domain: text(100_000) },
      { parameter_id: "retries", domain: { domain: "Integer", minimum: 0, maximum: 100 } },
    ],
    conditions: [
      condition("tag", text(64), { predicate: "Equals", expected: { parameter: "version" } }),
      scannedCondition("checks"),
    ],
    acquisition_bindings: [{
      binding_id: "ci",
      condition_id: "checks",
      channel: "provider_acquisition",
      provider_id: "scanner",
      check_id: "read",
      params: {
        url: { $template: "https://ci.example/commits/{commit}/status" },
        retries: { $parameter: "retries" },
      },
    }],
    stages: [{
      ...stage("release", "tag"),
      completion_requirement: { And: [{ Condition: "tag" }, { Condition: "checks" }] },
    }],
    completion_requirement: { Condition: "release" },
  });
}

const string = (value: string): JsonObject => ({ value, value_type: "String" });
const VALUES: Readonly<Record<string, JsonValue>> = {
  version: string("v1.2.3"),
  commit: string("0af3/ä"),
  retries: { value: 3, value_type: "Integer" },
};

function genesis(change: Readonly<Record<string, JsonValue | undefined>> = {}): JsonObject {
  const values = Object.entries({ ...VALUES, ...change });
  return {
    kind: "parameters",
    parameters: values.flatMap(([parameter_id, value]) => value === undefined ? [] : [{ parameter_id, value }]),
  };
}

const PARAMS_SCHEMA = {
  type: "object",
  properties: { url: { type: "string", maxLength: 80 }, retries: { type: "integer", maximum: 10 } },
  required: ["url"],
  additionalProperties: false,
};

/** A provider that records its queries. */
function world(): { readonly options: BenchOptions; readonly asked: JsonValue[] } {
  const asked: JsonValue[] = [];
  const provider = testProvider("scanner", ({ params }) => {
    asked.push(params ?? null);
    return answered(found(true), Date.now());
  }, { params_schema: PARAMS_SCHEMA, params_required: true });
  return { asked, options: { providers: new Map([["scanner", provider]]) } };
}

async function define(bench: Bench): Promise<JsonObject> {
  const defined = await bench.call("scenario_define", { spec: releaseGate() });
  return {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: defined["scenario_law_identity"] as string,
  };
}

async function start(
  bench: Bench,
  named: JsonObject,
  given: JsonObject,
  request = 1,
): Promise<ReturnType<typeof envelope>> {
  const rest = { creation_request_id: id(request), correlation: { kind: "unset" }, genesis: given };
  return envelope(await bench.call("scenario_start", { ...named, ...rest }));
}

for (const store of STORES) {
  Deno.test(`a run of a law with parameters is judged by its values (${store})`, async () => {
    const { options, asked } = world();
    await withTools(async (bench) => {
      const named = await define(bench);
      const { outcome, result } = await start(bench, named, genesis());
      assert.equal(outcome, "accepted");
      const sorted = ["commit", "retries", "version"].map((parameter_id) => ({
        parameter_id,
        value: VALUES[parameter_id] as JsonValue,
      }));
      assert.deepEqual(result["genesis"], { kind: "parameters", parameters: sorted });
      const run = {
        namespace_id: 2,
        scenario_id: "release",
        run_id: (result["run_key"] as JsonObject)["run_id"] ?? "",
      };
      const next = async (head: JsonValue, value: string, request: number): Promise<JsonObject> =>
        envelope(
          await bench.call("scenario_next", {
            ...run,
            expected_head: head,
            request_id: id(request),
            caller_evidence: [evidence("tag", value, "String")],
          }),
        ).result;
      const held = await next(result["head"] ?? null, "v1.2.4", 2);
      assert.deepEqual([(held["decision"] as JsonObject)["kind"], (held["decision"] as JsonObject)["unmet"]], ["hold", [
        "tag",
      ]]);
      const passed = await next(held["accepted_head"] ?? null, "v1.2.3", 3);
      assert.equal((passed["decision"] as JsonObject)["kind"], "complete");
      const resolved = { url: "https://ci.example/commits/0af3%2F%C3%A4/status", retries: 3 };
      assert.deepEqual(asked, [resolved, resolved]);
      const { records } = await bench.call("scenario_history", run) as unknown as { records: { record: JsonObject }[] };
      const last = records.at(-1)?.record["body"] as { evidence: { acquisition?: { params: JsonValue } }[] };
      assert.deepEqual(
        last.evidence.flatMap(({ acquisition }) => acquisition === undefined ? [] : [acquisition.params]),
        [
          resolved,
        ],
      );
      const status = await bench.call("scenario_status", { ...run, include: ["parameters"] });
      assert.deepEqual(status["parameters"], sorted);
      assert.equal("parameters" in await bench.call("scenario_status", run), false);
    }, { ...options, store });
  });
}

/** A genesis with the faults as `code path parameter`. */
const FAULTS: readonly [what: string, genesis: JsonObject, ...faults: string[]][] = [
  ["an empty genesis", { kind: "empty" }, "genesis_kind_invalid $.genesis.kind"],
  [
    "a declared genesis",
    { kind: "declared", payload: { kind: "json", value: {} } },
    "genesis_kind_invalid $.genesis.kind",
  ],
  ["a missing parameter", genesis({ version: undefined }), "parameter_missing $.genesis.parameters version"],
  [
    "a parameter too many",
    genesis({ commmit: string("a") }),
    "parameter_unknown $.genesis.parameters[3].parameter_id commmit",
  ],
  [
    "a parameter twice",
    {
      kind: "parameters",
      parameters: [...genesis()["parameters"] as JsonObject[], ...genesis()["parameters"] as JsonObject[]],
    },
    "parameter_repeated $.genesis.parameters[3].parameter_id version",
    "parameter_repeated $.genesis.parameters[4].parameter_id commit",
    "parameter_repeated $.genesis.parameters[5].parameter_id retries",
  ],
  [
    "another type",
    genesis({ retries: string("3") }),
    "value_type_mismatch $.genesis.parameters[2].value.value_type retries",
  ],
  [
    "a value that is not of its type",
    genesis({ retries: { value: 1.5, value_type: "Integer" } }),
    "value_invalid $.genesis.parameters[2].value.value retries",
  ],
  [
    "a value outside the domain",
    genesis({ version: string("") }),
    "value_outside_domain $.genesis.parameters[0].value.value version",
  ],
  [
    "an empty segment",
    genesis({ commit: string("") }),
    "template_value_invalid $.genesis.parameters[1].value.value commit",
  ],
  [
    "the segment .",
    genesis({ commit: string(".") }),
    "template_value_invalid $.genesis.parameters[1].value.value commit",
  ],
  [
    "the segment ..",
    genesis({ commit: string("..") }),
    "template_value_invalid $.genesis.parameters[1].value.value commit",
  ],
  [
    "params that the check does not take",
    genesis({ retries: { value: 11, value_type: "Integer" } }),
    "params_invalid $.genesis.parameters",
  ],
  [
    "a URL that the check does not take",
    genesis({ commit: string("a".repeat(60)) }),
    "params_invalid $.genesis.parameters",
  ],
  [
    "several faults",
    genesis({ version: undefined, retries: string("3") }),
    "value_type_mismatch $.genesis.parameters[1].value.value_type retries",
    "parameter_missing $.genesis.parameters version",
  ],
];

Deno.test("scenario_start rejects each faulty genesis, and the prechecks do too", async () => {
  const { options } = world();
  await withTools(async (bench) => {
    const named = await define(bench);
    for (const [what, given, ...faults] of FAULTS) {
      const { outcome, result } = await start(bench, named, given);
      assert.equal(outcome, "genesis_rejected", what);
      const shown = (found: JsonValue): string[] =>
        (found as { code: string; path: string; parameter_id?: string }[]).map(({ code, path, parameter_id }) =>
          [code, path, ...parameter_id === undefined ? [] : [parameter_id]].join(" ")
        );
      assert.deepEqual(shown(result["faults"] ?? null), faults, what);
      const failure = await bench.fail("scenario_precheck_stage", { ...named, stage_id: "release", genesis: given });
      assert.equal(failure.code, "genesis_rejected", what);
      assert.deepEqual(shown((failure.details as JsonObject)["faults"] ?? null), faults, what);
    }
  }, options);
});

Deno.test("scenario_start refuses parameters for a law without", () =>
  withTools(async (bench) => {
    const defined = await bench.call("scenario_define", { spec: spec() });
    const named = {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity: defined["scenario_law_identity"] ?? "",
    };
    for (const parameters of [[], genesis()["parameters"] ?? []]) {
      const { outcome, result } = await start(bench, named, { kind: "parameters", parameters });
      assert.equal(outcome, "genesis_rejected");
      assert.deepEqual((result["faults"] as JsonObject[]).map(({ code }) => code), ["genesis_kind_invalid"]);
    }
  }));

Deno.test("scenario_start holds the limit on all parameters together at n-1, n, n+1 bytes", async () => {
  const provider = testProvider("scanner", () => answered(found(true)));
  await withTools(async (bench) => {
    const domain = text(SPEC_LIMITS.parametersBytes);
    const law = spec({ parameters: [{ parameter_id: "a", domain }], conditions: spec()["conditions"] ?? [] });
    const defined = await bench.call("scenario_define", { spec: law });
    const named = {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity: defined["scenario_law_identity"] ?? "",
    };
    const around = '[{"parameter_id":"a","value":{"value":"","value_type":"String"}}]'.length;
    for (const more of [-1, 0, 1]) {
      const value = string("x".repeat(SPEC_LIMITS.parametersBytes - around + more));
      const { outcome, result } = await start(bench, named, {
        kind: "parameters",
        parameters: [{ parameter_id: "a", value }],
      }, 2 + more);
      if (more === 1) {
        assert.deepEqual((result["faults"] as JsonObject[]).map(({ code }) => code), ["parameters_too_large"]);
      } else assert.equal(outcome, "accepted");
    }
  }, { providers: new Map([["scanner", provider]]) });
});

Deno.test("a precheck without a genesis leaves conditions with parameters unknown", async () => {
  const { options } = world();
  await withTools(async (bench) => {
    const named = await define(bench);
    const stageOf = (given: JsonObject): JsonObject => ({
      ...named,
      stage_id: "release",
      caller_evidence: [evidence("tag", "v1.2.3", "String"), evidence("checks", true)],
      ...given,
    });
    const traceOf = (answer: JsonObject): string[] =>
      (answer["trace"] as { condition_id: string; value: string; reason?: string }[]).map((
        { condition_id, value, reason },
      ) => `${condition_id} ${value}${reason === undefined ? "" : ` ${reason}`}`);
    const open = await bench.call("scenario_precheck_stage", stageOf({}));
    assert.equal(open["outcome"], "unknown");
    assert.deepEqual(traceOf(open), ["checks true", "tag unknown parameter_missing"]);
    const bare = await bench.call("scenario_precheck_stage", { ...named, stage_id: "release" });
    assert.deepEqual(traceOf(bare), ["checks unknown no_evidence", "tag unknown parameter_missing"]);
    const bound = await bench.call("scenario_precheck_stage", stageOf({ genesis: genesis() }));
    assert.equal(bound["outcome"], "true");
    const other = await bench.call("scenario_precheck_stage", stageOf({ genesis: genesis({ version: string("v2") }) }));
    assert.equal(other["outcome"], "false");
    await bench.call("schemas_register", {
      record: {
        schema_id: "shape",
        version: "1",
        namespace_id: 2,
        description: "Data of a release",
        schema: { type: "object", properties: { tag: { type: "string" }, checks: { type: "boolean" } } },
        created_at: { kind: "unix_millis", value: 1 },
      },
    });
    const asked = {
      namespace_id: 2,
      scenario_law_identity: named["scenario_law_identity"] ?? "",
      data_shape: { schema_id: "shape", version: "1" },
    };
    const payload = { tag: "v1.2.3", checks: true };
    const plain = await bench.call("precheck", { ...asked, payload });
    assert.ok(JSON.stringify(plain).includes("parameter_missing"));
    const given = await bench.call("precheck", { ...asked, payload, genesis: genesis() });
    assert.equal(JSON.stringify(given).includes("parameter_missing"), false);
    const faulty = await bench.fail("precheck", { ...asked, payload, genesis: { kind: "empty" } });
    assert.equal(faulty.code, "genesis_rejected");
  }, options);
});
