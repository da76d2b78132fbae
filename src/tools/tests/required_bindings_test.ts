import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import {
  type Bench,
  condition,
  envelope,
  evidence,
  id,
  schemaRecord,
  type StartedRun,
  startRun,
  withTools,
} from "./tools_fixture.ts";

const ACQUIRED = condition("built", { domain: "Boolean" }, {
  predicate: "Equals",
  expected: { value: true, value_type: "Boolean" },
});

/** Two bindings of one condition: `good` says yes, `bad` says no. */
function spec(requires_all_bindings: JsonValue): JsonObject {
  const policy = ACQUIRED["evidence_use_policy"] as JsonObject;
  const allowed_channels = ["caller_submission", "provider_acquisition"];
  return {
    conditions: [
      { ...ACQUIRED, evidence_use_policy: { ...policy, allowed_channels, requires_all_bindings } },
      condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
    ],
    acquisition_bindings: ["good", "bad"].map((binding_id) => ({
      binding_id,
      condition_id: "built",
      channel: "provider_acquisition",
      provider_id: "scanner",
      check_id: "read",
      params: { of: binding_id },
    })),
  };
}

let asked: string[] = [];
const SCANNER = testProvider("scanner", ({ params }) => {
  const { of } = params as { of: string };
  asked.push(of);
  return answered(found(of === "good"), Date.now());
});
const OPTIONS = { providers: new Map([["scanner", SCANNER]]) };

async function opened(bench: Bench, { run, head }: StartedRun): Promise<JsonObject> {
  const stage = { ...run, stage_id: "build", expected_head: head, operation_id: id(2) };
  return envelope(await bench.call("scenario_open_stage", stage)).result["accepted_head"] as JsonObject;
}

type Asked = readonly string[] | undefined;

/** What the call names, what becomes of it where all bindings are required, and where they are not. */
const ROWS: readonly (readonly [named: Asked, required: string, free: string])[] = [
  [undefined, "unknown", "unknown"],
  [["good", "bad"], "unknown", "unknown"],
  [["good"], "binding_required bad", "true"],
  [["bad"], "binding_required good", "false"],
  [[], "binding_required bad, binding_required good", "unknown"],
];

const CALLS: Readonly<Record<string, (stage: JsonObject, named: Asked) => JsonObject>> = {
  scenario_evaluate_stage: (stage, named) => ({ ...stage, operation_id: id(3), ...local(named) }),
  scenario_next: (stage, named) => ({ ...stage, request_id: id(3), ...local(named) }),
};

function local(named: Asked): JsonObject {
  return named === undefined ? {} : { local_acquisition: named.map((binding_id) => ({ binding_id })) };
}

/** Outcome of the attempt that the call made, or the rejections of the call. */
async function said(bench: Bench, { run }: StartedRun, answer: JsonObject): Promise<string> {
  const { outcome, result } = envelope(answer) as { outcome: string; result: JsonObject };
  if (outcome === "evidence_rejected") {
    const rejections = result["rejections"] as { code: string; message: string; path: string }[];
    return rejections.map(({ code, message, path }) => {
      assert.equal(path, "$.local_acquisition");
      return `${code} ${/and "(.*)" is left out/.exec(message)?.[1]}`;
    }).join(", ");
  }
  assert.equal(outcome, "accepted", JSON.stringify(result));
  const { records } = await bench.call("scenario_history", { ...run, limit: 50 }) as { records: JsonObject[] };
  const { record } = records.at(-1) as { record: { body: { outcome: string } } };
  return record.body.outcome;
}

for (const [tool, call] of Object.entries(CALLS)) {
  for (const [named, required, free] of ROWS) {
    for (const [requires, expected] of [[true, required], [false, free]] as const) {
      const names = named === undefined ? "all bindings" : `bindings [${named}]`;
      Deno.test(`${tool} that asks ${names}, requires_all_bindings ${requires}: ${expected}`, () =>
        withTools(async (bench) => {
          const started = await startRun(bench, spec(requires));
          const stage = { ...started.run, stage_id: "build", expected_head: await opened(bench, started) };
          asked = [];
          assert.equal(await said(bench, started, await bench.call(tool, call(stage, named))), expected);
          if (expected.startsWith("binding_required")) assert.deepEqual(asked, [], "nothing was acquired");
        }, OPTIONS));
    }
  }
}

const PRECHECKS: readonly (readonly [what: string, members: JsonObject, expected: string])[] = [
  ["one value of two", { local_acquisition: [{ binding_id: "good", value: true }] }, "evidence_rejected"],
  ["an item of the caller alone", { caller_evidence: [evidence("built", true)] }, "evidence_rejected"],
  ["no evidence", {}, "unknown"],
  [
    "both values",
    { local_acquisition: [{ binding_id: "good", value: true }, { binding_id: "bad", value: true }] },
    "true",
  ],
];

for (const [what, members, expected] of PRECHECKS) {
  Deno.test(`scenario_precheck_stage with ${what} where all bindings are required: ${expected}`, () =>
    withTools(async (bench) => {
      const { law } = await startRun(bench, spec(true));
      const input = {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: law,
        stage_id: "build",
        ...members,
      };
      if (expected === "evidence_rejected") {
        const { code, details } = await bench.fail("scenario_precheck_stage", input);
        assert.equal(code, expected);
        assert.match(JSON.stringify(details), /"binding_required"/);
      } else assert.equal((await bench.call("scenario_precheck_stage", input))["outcome"], expected);
    }, OPTIONS));
}

/** Plain data, and the outcome whether or not the policy has `requires_all_bindings`. */
const PLAIN: readonly (readonly [payload: JsonObject, outcome: string])[] = [
  [{ built: true }, "true"],
  [{ built: false }, "false"],
  [{}, "unknown"],
];

for (const [payload, outcome] of PLAIN) {
  for (const requires of [true, false]) {
    Deno.test(`precheck of ${JSON.stringify(payload)}, requires_all_bindings ${requires}: ${outcome}`, () =>
      withTools(async (bench) => {
        const schema = { type: "object", properties: { built: { type: "boolean" } } };
        await bench.call("schemas_register", { record: schemaRecord({ schema }) });
        await startRun(bench, spec(requires));
        const data_shape = { schema_id: "report", version: "1" };
        const input = { namespace_id: 2, scenario_id: "release", stage_id: "build", data_shape, payload };
        const answer = await bench.call("precheck", input);
        assert.deepEqual(answer["outcome_without_lane"] ?? answer["outcome"], outcome, JSON.stringify(answer));
      }, OPTIONS));
  }
}
