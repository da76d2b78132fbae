import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { nextSteps, pursue, type SeenServer, type Turn } from "./agent_script.ts";
import { EXAMPLES, withExample, withServerIn } from "./example_goals.ts";
import { GOOD_RESULTS, withRelease } from "./release_goal.ts";

/** The outcome or error of an answer. */
function nameOf(answer: JsonObject): string {
  const { outcome, error } = answer as { outcome?: { outcome: string } | string; error?: { code: string } };
  if (error !== undefined) return error.code;
  return typeof outcome === "object" ? outcome.outcome : outcome ?? "shown";
}

function isFailure({ answer }: Pick<Turn, "answer">): boolean {
  return "error" in answer || !["accepted", "shown"].includes(nameOf(answer));
}

/** Faults that name their place and say what is wrong there. */
function placedFaults(answer: JsonObject): readonly JsonObject[] {
  const details = ((answer["error"] as JsonObject | undefined)?.["details"] ?? {}) as JsonObject;
  const listed = [details["issues"], details["refusals"], details["rejections"]].filter((one) => one !== undefined);
  return listed.flat() as JsonObject[];
}

/** Fails unless a refusal says what to do: steps with tools that there are and arguments that they take, or faults with their places. */
function assertAdvises(server: SeenServer, { tool, answer }: Pick<Turn, "tool" | "answer">): void {
  const told = `${tool}: ${JSON.stringify(answer)}`;
  const steps = nextSteps(answer);
  const faults = placedFaults(answer);
  assert.ok(steps.length > 0 || faults.length > 0, told);
  for (const { tool: named, arguments_hint, why } of steps) {
    const listed = server.tools.find(({ name }) => name === named);
    assert.ok(listed !== undefined, `${named} is no tool; ${told}`);
    assert.ok(typeof why === "string" && why.length > 10, told);
    const known = Object.keys(listed.inputSchema["properties"] as object);
    for (const name of Object.keys(arguments_hint as JsonObject)) assert.ok(known.includes(name), `${name}; ${told}`);
  }
  for (const { path, message } of faults) {
    assert.match(String(path), /^\$/, told);
    assert.ok(String(message).length > 10, told);
  }
}

/** What the agent runs into on its way. */
const OBSTACLES: Readonly<Record<string, readonly string[]>> = {
  data_disclosure: ["invalid_spec", "policy_denied"],
  // The people moved the run on, and completed it.
  change_approval: ["stale", "stage_not_open"],
  agent_task: [],
  model_promotion: ["invalid_spec"],
};

for (const example of EXAMPLES) {
  Deno.test(`an agent that knows only the server's own words completes ${example.name}`, () =>
    withExample(example, ({ folder, goal }) =>
      withServerIn(folder, async (server) => {
        const turns = await pursue(server, goal);
        const { namespace_id = 0, scenario_id = "", run_id = "" } = turns.at(-1)?.input ?? {};
        const { status = "" } = await server.call("scenario_status", { namespace_id, scenario_id, run_id });
        assert.equal(status, "complete");
        const failures = turns.filter(isFailure);
        failures.forEach((turn) => assertAdvises(server, turn));
        assert.deepEqual([...new Set(failures.map(({ answer }) => nameOf(answer)))], OBSTACLES[example.name]);
      })));
}

Deno.test("an agent gets on with a run that somebody else moves on in between", () => {
  const example = EXAMPLES.find(({ name }) => name === "agent_task");
  assert.ok(example);
  return withExample(example, ({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      let evaluations = 0;
      const call: SeenServer["call"] = async (tool, input) => {
        if (tool === "scenario_evaluate_stage" && ++evaluations % 2 === 1) await submitNote(server, input);
        return await server.call(tool, input);
      };
      const turns = await pursue({ ...server, call }, goal);
      const failures = turns.filter(isFailure).map(({ answer }) => nameOf(answer));
      assert.ok(failures.length >= 3 && failures.every((name) => name === "stale"), failures.join());
    }));
});

/** What somebody else does at the head that a call names. */
async function submitNote(server: SeenServer, input: JsonObject): Promise<void> {
  const { namespace_id = 0, scenario_id = "", run_id = "", expected_head = null } = input;
  const answer = await server.call("scenario_submit", {
    ...{ namespace_id, scenario_id, run_id, expected_head },
    operation_id: crypto.randomUUID().replaceAll("-", ""),
    content_type: "application/json",
    payload: { kind: "json", value: "a note" },
    scope: { kind: "run_wide" },
  });
  assert.equal(nameOf(answer), "accepted");
}

Deno.test("an agent that knows only the server's own words completes the release gate", () =>
  withRelease(({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const turns = await pursue(server, goal);
      assert.deepEqual(turns.filter(isFailure), []);
      assert.ok(turns.every(({ input }) => (input["caller_evidence"] as JsonValue[] | undefined ?? []).length === 0));
    })
  ));

Deno.test("an agent whose checks fail does not get the release through", () =>
  withRelease(({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const failed = { ...GOOD_RESULTS, tests: { passed: 11, failed: 1 } };
      await Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify(failed));
      await assert.rejects(pursue(server, goal), /Cannot complete the run/);
    })
  ));

const NOBODY = "0".repeat(32);
const NOTHING = "0".repeat(64);

/** A run of the agent's task whose first stage is open. */
interface OpenRun {
  readonly run: JsonObject;
  readonly law: string;
  readonly start: JsonObject;
  readonly open: JsonObject;
  /** The head after the opening. */
  readonly head: JsonValue;
}

async function openRun(server: SeenServer, spec: JsonObject): Promise<OpenRun> {
  const { scenario_law_identity } = await server.call("scenario_define", { spec });
  const scenario = { namespace_id: 2, scenario_id: spec["scenario_id"] ?? "" };
  const start = {
    ...scenario,
    scenario_law_identity: scenario_law_identity ?? "",
    creation_request_id: "1".repeat(32),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  };
  const started = (await server.call("scenario_start", start))["outcome"] as JsonObject;
  const { run_key, head } = started["result"] as { run_key: { run_id: string }; head: JsonObject };
  const run = { ...scenario, run_id: run_key.run_id };
  const open = { ...run, stage_id: "plan", expected_head: head, operation_id: "2".repeat(32) };
  const opened = (await server.call("scenario_open_stage", open))["outcome"] as JsonObject;
  return {
    run,
    law: String(scenario_law_identity),
    start,
    open,
    head: (opened["result"] as JsonObject)["accepted_head"] ?? null,
  };
}

type WrongCall = (open: OpenRun, spec: JsonObject) => readonly [tool: string, input: JsonObject];

const item = (condition_id: string, value: JsonValue, value_type: string): JsonObject => ({
  condition_id,
  retention: { retention: "RetainCanonicalValue" },
  value: { value, value_type },
});

/** Mistakes, and what comes of them. */
const MISTAKES: readonly [what: string, call: WrongCall, outcome: string][] = [
  ["no arguments", () => ["scenario_start", {}], "invalid_input"],
  ["an unknown argument", ({ run }) => ["scenario_status", { ...run, stage: "plan" }], "invalid_input"],
  ["a spec without stages", (_, spec) => ["scenario_define", { spec: { ...spec, stages: [] } }], "invalid_spec"],
  ["the same law again", (_, spec) => ["scenario_define", { spec }], "law_exists"],
  [
    "a law that is not there",
    ({ start }) => ["scenario_start", { ...start, scenario_law_identity: NOTHING, creation_request_id: NOBODY }],
    "law_not_found",
  ],
  [
    "a scenario that is not there",
    ({ start }) => ["scenario_start", { ...start, scenario_id: "nope", creation_request_id: NOBODY }],
    "scenario_not_found",
  ],
  [
    "another start under the same request",
    ({ start }) => ["scenario_start", { ...start, correlation: { kind: "set", correlation_id: "c" } }],
    "creation_conflict",
  ],
  ["a run that is not there", ({ run }) => ["scenario_status", { ...run, run_id: NOBODY }], "run_not_found"],
  [
    "the history of a run that is not there",
    ({ run }) => ["scenario_history", { ...run, run_id: NOBODY }],
    "run_not_found",
  ],
  ["an old head", ({ open }) => ["scenario_open_stage", { ...open, operation_id: NOBODY }], "stale"],
  [
    "another opening under the same operation",
    ({ open }) => ["scenario_open_stage", { ...open, stage_id: "work" }],
    "operation_conflict",
  ],
  [
    "a stage that is open",
    ({ open, head }) => ["scenario_open_stage", { ...open, expected_head: head, operation_id: NOBODY }],
    "stage_already_opened",
  ],
  [
    "a stage that is blocked",
    (
      { open, head },
    ) => ["scenario_open_stage", { ...open, stage_id: "work", expected_head: head, operation_id: NOBODY }],
    "stage_not_ready",
  ],
  [
    "a stage that is not there",
    (
      { open, head },
    ) => ["scenario_open_stage", { ...open, stage_id: "nope", expected_head: head, operation_id: NOBODY }],
    "stage_not_found",
  ],
  [
    "evidence for a stage that is not open",
    (
      { open, head },
    ) => ["scenario_evaluate_stage", { ...open, stage_id: "work", expected_head: head, operation_id: NOBODY }],
    "stage_not_open",
  ],
  ["evidence of another type", ({ open, head }) => ["scenario_evaluate_stage", {
    ...open,
    expected_head: head,
    operation_id: NOBODY,
    caller_evidence: [item("acceptance_criteria", true, "Boolean")],
  }], "evidence_rejected"],
  ["evidence on another stage's condition", ({ open, head }) => ["scenario_evaluate_stage", {
    ...open,
    expected_head: head,
    operation_id: NOBODY,
    caller_evidence: [item("summary", "Tested: yes", "String")],
  }], "evidence_rejected"],
  [
    "a step at an old head",
    ({ run, open }) => ["scenario_next", { ...run, expected_head: open["expected_head"] ?? null, request_id: NOBODY }],
    "stale",
  ],
  [
    "a step to a blocked stage",
    ({ run, head }) => ["scenario_next", { ...run, expected_head: head, request_id: NOBODY, stage_id: "work" }],
    "stage_not_ready",
  ],
  ["a trigger where no stage has a binding", ({ run, head }) => ["scenario_trigger", {
    ...run,
    expected_head: head,
    trigger: { trigger_id: NOBODY, kind: "tick", source_id: "clock" },
  }], "stage_not_open"],
  ["a submission of another content type", ({ run, head }) => ["scenario_submit", {
    ...run,
    expected_head: head,
    operation_id: NOBODY,
    content_type: "text/plain",
    payload: { kind: "json", value: 1 },
    scope: { kind: "run_wide" },
  }], "content_type_rejected"],
  ["a submission to another opening", ({ run, head }) => ["scenario_submit", {
    ...run,
    expected_head: head,
    operation_id: NOBODY,
    content_type: "application/json",
    payload: { kind: "json", value: 1 },
    scope: { kind: "stage_open", stage_id: "plan", stage_open_record_id: NOTHING },
  }], "stage_open_mismatch"],
  ["a precheck of a stage that is not there", ({ start }) => ["scenario_precheck_stage", {
    namespace_id: 2,
    scenario_id: "agent-task",
    scenario_law_identity: start["scenario_law_identity"] ?? "",
    stage_id: "nope",
  }], "stage_not_found"],
  [
    "a schema that is not there",
    () => ["schemas_get", { namespace_id: 2, schema_id: "nope", version: "1" }],
    "schema_not_found",
  ],
  ["a cursor of another list", () => ["scenarios_list", { namespace_id: 2, cursor: "nope" }], "invalid_cursor"],
  ["a provider that is not there", () => ["provider_contract_get", { provider_id: "nope" }], "provider_not_found"],
  [
    "a check that is not there",
    () => ["provider_check_schema_get", { provider_id: "time", check_id: "nope" }],
    "check_not_found",
  ],
  [
    "a runpack of a run that is not there",
    () => ["runpack_export", { namespace_id: 2, run_id: NOBODY }],
    "run_not_found",
  ],
  ["a runpack that is not there", () => ["runpack_verify", { runpack_identity: NOTHING }], "runpack_not_found"],
];

/** Schemas that may be read, and one provider. */
const SETTINGS = `[schema_registry.acl]
allow_local_only = true
[[providers]]
name = "time"
type = "builtin"
`;

Deno.test("every refusal says what to do next, in tools and arguments that there are", async (t) => {
  const example = EXAMPLES.find(({ name }) => name === "agent_task");
  assert.ok(example);
  await withExample(example, async ({ folder, goal }) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, SETTINGS);
    await withServerIn(folder, async (server) => {
      const open = await openRun(server, goal.spec);
      for (const [what, call, expected] of MISTAKES) {
        await t.step(`${what}: ${expected}`, async () => {
          const [tool, input] = call(open, goal.spec);
          const answer = await server.call(tool, input);
          const { publication } = answer as { publication?: { outcome: string } };
          assert.equal(publication?.outcome ?? nameOf(answer), expected, JSON.stringify(answer));
          assertAdvises(server, { tool, answer });
        });
      }
    });
  });
});
