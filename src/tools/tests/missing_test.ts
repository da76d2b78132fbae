import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { profileIdentity } from "../../run/profile.ts";
import { withMissing } from "../precheck/missing_answer.ts";
import { booleanCondition, condition, envelope, evidence, id, stage, withTools } from "./tools_fixture.ts";
import { type Scene, scene } from "./outcome_case_fixture.ts";
import { SCANNED } from "./step_fixture.ts";

const needed = (condition_id: string, sentence = condition_id): JsonObject => ({
  condition_id,
  needed: true,
  sentence,
});

/** `build` needs `tests` and one of `review` and `waiver`; `deploy` waits for `build`. */
const RELEASE = {
  conditions: [booleanCondition("tests"), booleanCondition("review"), booleanCondition("waiver"), {
    ...condition("digest", { domain: "Digest", algorithm: "sha256" }, { predicate: "Exists" }),
  }],
  stages: [{
    ...stage("build", "tests"),
    completion_requirement: {
      And: [{ Condition: "tests" }, { Or: [{ Condition: "review" }, { Condition: "waiver" }] }],
    },
  }, stage("deploy", "digest", "build")],
};

/** Sets as text, one each: names, `!` before those that have to be false. */
function setsOf(missing: JsonValue | undefined): (string | undefined)[][] {
  const stages = missing as {
    stage_id: string;
    complete: boolean;
    sets: { condition_id: string; needed: boolean }[][];
  }[];
  return stages.map(({ stage_id, complete, sets }) => {
    assert.equal(complete, true);
    return [
      stage_id,
      ...sets.map((set) => set.map(({ condition_id, needed }) => `${needed ? "" : "!"}${condition_id}`).join(" ")),
    ];
  });
}

async function evaluate(at: Scene, operation: number, items: JsonObject[]): Promise<JsonObject> {
  const result = await at.accept("scenario_evaluate_stage", operation, { stage_id: "build", caller_evidence: items });
  return result["attempt"] as JsonObject;
}

Deno.test("scenario_status() has missing only on request", () =>
  withTools(async (bench) => {
    const at = await scene(bench, RELEASE);
    assert.equal((await bench.call("scenario_status", at.run))["missing"], undefined);
    const status = await bench.call("scenario_status", { ...at.run, include: ["missing"] });
    assert.deepEqual(status["missing"], [
      {
        stage_id: "build",
        classification: "ready_unopened",
        sets: [
          [needed("review"), needed("tests")],
          [needed("tests"), needed("waiver")],
        ],
        complete: true,
        evidence: ["review", "tests", "waiver"].map((condition_id) => ({
          condition_id,
          channels: ["caller_submission"],
          domain: { domain: "Boolean" },
          predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
          retention: "RetainCanonicalValue",
          policy: {},
          minimum_lane: "verified",
        })),
      },
      {
        stage_id: "deploy",
        classification: "blocked",
        waits_for: { sets: [["build"]], complete: true },
        sets: [[needed("digest", "present(digest)")]],
        complete: true,
        evidence: [{
          condition_id: "digest",
          channels: ["caller_submission"],
          domain: { domain: "Digest", algorithm: "sha256" },
          predicate: { predicate: "Exists" },
          retention: "RetainCanonicalValue",
          policy: {},
          minimum_lane: "verified",
        }],
      },
    ]);
    assert.equal((await bench.fail("scenario_status", { ...at.run, include: ["all"] })).code, "invalid_input");
  }));

Deno.test("an attempt has missing, its repetition and resolution the same; no evidence carries over", () =>
  withTools(async (bench) => {
    const at = await scene(bench, RELEASE);
    await at.accept("scenario_open_stage", 1, { stage_id: "build" });
    const head = at.head;
    const first = await evaluate(at, 2, [evidence("tests", true)]);
    assert.deepEqual(setsOf(first["missing"]), [["build", "review", "waiver"]]);
    assert.deepEqual(setsOf((await evaluate(at, 3, [evidence("review", false)]))["missing"]), [
      ["build", "review tests", "tests waiver"],
    ]);
    const status = await bench.call("scenario_status", { ...at.run, include: ["missing"] });
    assert.deepEqual(setsOf(status["missing"])[0], ["build", "review tests", "tests waiver"]);

    const again = await bench.call("scenario_evaluate_stage", {
      ...at.run,
      expected_head: head,
      operation_id: id(2),
      stage_id: "build",
      caller_evidence: [evidence("tests", true)],
    });
    assert.deepEqual(envelope(again).result["attempt"], first);
    const resolved = await bench.call("scenario_resolve_mutation", {
      namespace_id: 2,
      run_id: at.run.run_id,
      operation_id: { family: "evaluate_stage", identity: id(2) },
      invocation_identity: envelope(again).result["invocation_identity"] as string,
    });
    assert.deepEqual(resolved, again);

    const passed = await evaluate(at, 4, [evidence("tests", true), evidence("waiver", true)]);
    assert.deepEqual([passed["outcome"], passed["missing"]], ["true", undefined]);
    assert.deepEqual(setsOf((await bench.call("scenario_status", { ...at.run, include: ["missing"] }))["missing"]), [
      ["deploy", "digest"],
    ]);
  }));

Deno.test("missing is part of no receipt and no record", () =>
  withTools(async (bench) => {
    const at = await scene(bench, RELEASE);
    await at.accept("scenario_open_stage", 1, { stage_id: "build" });
    await evaluate(at, 2, [evidence("tests", true)]);
    const [stored] = await bench.services.runs.listRecords(at.run, 2, 1);
    assert.ok(stored !== undefined && !`${stored.record}${stored.receipt.result}`.includes("missing"));
  }));

Deno.test("scenario_precheck_stage() has missing unless the outcome is true", () =>
  withTools(async (bench) => {
    const { law } = await scene(bench, RELEASE);
    const precheck = async (...items: JsonObject[]): Promise<JsonObject> =>
      await bench.call("scenario_precheck_stage", {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: law,
        stage_id: "build",
        caller_evidence: items,
      });
    assert.deepEqual(setsOf((await precheck(evidence("waiver", true)))["missing"]), [["build", "tests"]]);
    assert.equal((await precheck(evidence("tests", true), evidence("review", true)))["missing"], undefined);
  }));

Deno.test("a complete run has nothing missing", () =>
  withTools(async (bench) => {
    const at = await scene(bench, { ...RELEASE, completion_requirement: { Condition: "build" } });
    await at.accept("scenario_open_stage", 1, { stage_id: "build" });
    await evaluate(at, 2, [evidence("tests", true), evidence("review", true)]);
    assert.deepEqual((await bench.call("scenario_status", { ...at.run, include: ["missing"] }))["missing"], []);
  }));

Deno.test("an attempt requires the verified lane for evidence that did not count for its lane, each time", () => {
  const provider = testProvider("scanner", () => answered(found(true, { lane: "asserted" }), Date.now()));
  return withTools(async (bench) => {
    const at = await scene(bench, SCANNED);
    await at.accept("scenario_open_stage", 1, { stage_id: "build" });
    const input = { ...at.run, expected_head: at.head, operation_id: id(2), stage_id: "build" };
    const answer = await bench.call("scenario_evaluate_stage", input);
    const attempt = envelope(answer).result["attempt"] as {
      evidence: { reason: string }[];
      missing: { evidence: { minimum_lane: string }[] }[];
    };
    assert.deepEqual(attempt.evidence.map(({ reason }) => reason), ["lane"]);
    assert.deepEqual(attempt.missing[0]?.evidence.map(({ minimum_lane }) => minimum_lane), ["verified"]);
    assert.deepEqual(await bench.call("scenario_evaluate_stage", input), answer);
  }, { providers: new Map([["scanner", provider]]) });
});

/** The conditions that need verified evidence, in each answer with missing. */
Deno.test("status, precheck, attempt, repetition, resolution and feedback agree on the required lane", () =>
  withTools(async (bench) => {
    const at = await scene(bench, RELEASE);
    const { law } = at;
    const namesOf = (missing: unknown): string[] =>
      (missing as { evidence: { condition_id: string; minimum_lane?: string }[] }[])[0]?.evidence
        .map(({ condition_id, minimum_lane }) => `${condition_id} ${minimum_lane}`) ?? [];
    const every = ["review verified", "tests verified", "waiver verified"];
    const status = await bench.call("scenario_status", { ...at.run, include: ["missing"] });
    assert.deepEqual(namesOf(status["missing"]), every, "scenario_status");
    const named = { namespace_id: 2, scenario_id: "release", scenario_law_identity: law, stage_id: "build" };
    const precheck = await bench.call("scenario_precheck_stage", { ...named, caller_evidence: [] });
    assert.deepEqual(namesOf(precheck["missing"]), every, "scenario_precheck_stage");
    await at.accept("scenario_open_stage", 1, { stage_id: "build" });
    const input = { ...at.run, expected_head: at.head, operation_id: id(2), stage_id: "build", caller_evidence: [] };
    const answer = await bench.call("scenario_evaluate_stage", input);
    const { attempt, invocation_identity } = envelope(answer).result as {
      attempt: JsonObject;
      invocation_identity: string;
    };
    assert.deepEqual(namesOf(attempt["missing"]), every, "scenario_evaluate_stage");
    // The operator changed the setting after the attempt.
    const { environment } = bench.services;
    const profile = {
      ...environment.profile,
      trust: { ...environment.profile.trust, min_lane: "asserted" as const },
    };
    const profile_identity = profileIdentity(HOST_PRIMITIVES.sha256, profile);
    const changed = { ...environment, profile, profile_identity };
    const services = { ...bench.services, environment: changed, profiles: [changed] };
    const resolved = await withMissing(services, at.run, { outcome: "accepted", result: envelope(answer).result });
    assert.deepEqual(namesOf((resolved.result as { attempt: JsonObject }).attempt["missing"]), every, "a new setting");
    assert.deepEqual(await bench.call("scenario_evaluate_stage", input), answer, "the repetition");
    const operation_id = { family: "evaluate_stage", identity: id(2) };
    const { namespace_id, run_id } = at.run;
    const name = { namespace_id, run_id, operation_id, invocation_identity };
    assert.deepEqual(await bench.call("scenario_resolve_mutation", name), answer, "the resolution");
    const { accepted_head } = await bench.call("scenario_status", at.run) as { accepted_head: JsonObject };
    const next = { expected_head: accepted_head, request_id: id(3), stage_id: "build", feedback: "trace" };
    const step = { ...at.run, ...next };
    const { feedback } = envelope(await bench.call("scenario_next", step)).result as {
      feedback: { attempts: JsonObject[] };
    };
    assert.deepEqual(namesOf(feedback.attempts[0]?.["missing"]), every, "scenario_next");
  }));
