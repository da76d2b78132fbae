import assert from "node:assert/strict";
import { answered, found, NOTHING, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { EvidenceResult } from "../../evidence/types.ts";
import { booleanCondition, envelope, evidence, id, stage, STORES, withTools } from "./tools_fixture.ts";
import { type Scene, scene, SUBMIT } from "./outcome_case_fixture.ts";
import { next, scanBinding, scannedCondition, scanner } from "./step_fixture.ts";

/** A scenario of roots, each with a condition of its own, which hold without evidence. */
function rootsOf(names: readonly string[]): Readonly<Record<string, JsonValue>> {
  return {
    conditions: names.map((name) => booleanCondition(`${name}-ok`)),
    stages: names.map((name) => stage(name, `${name}-ok`)),
    completion_requirement: { And: names.map((name) => ({ Condition: name })) },
  };
}

interface Steps {
  readonly s: Scene;
  /** Takes a step at the current head; returns its result. */
  readonly step: (change?: JsonObject) => Promise<JsonObject>;
  /** Records of the run. */
  readonly count: () => Promise<number>;
}

function stepsOf(s: Scene): Steps {
  let request = 0x1000;
  return {
    s,
    step: async (change = {}) => {
      const answer = await s.bench.call("scenario_next", next(s, { request_id: id(++request), ...change }));
      const { outcome, result } = envelope(answer);
      assert.equal(outcome, "accepted", JSON.stringify(answer));
      s.head = result["accepted_head"] as JsonObject;
      return result;
    },
    count: async () => {
      const { records } = await s.bench.call("scenario_history", { ...s.run, limit: 1000 });
      return (records as readonly JsonValue[]).length;
    },
  };
}

function stageOf(result: JsonObject): JsonValue | undefined {
  return (result["decision"] as JsonObject)["stage_id"];
}

/**
 * Earlier named steps, `+` for one that completes its stage, and the stage of a step without a name.
 */
const CHOICES: readonly [string, string][] = [
  ["", "a"],
  ["a", "b"],
  ["d", "a"],
  ["a b c", "d"],
  ["a+ b c", "d"],
  ["a b c d", "a"],
  ["d c b a", "d"],
  ["a b c d a", "b"],
  ["b c a+ d", "b"],
  // Twenty attempts later those of `d` and `b` are no longer among the recent ones: the first by id.
  [`d b ${"a c ".repeat(10)}`, "b"],
  [`d b ${"a c ".repeat(9)}a`, "d"],
];

for (const [before, chosen] of CHOICES) {
  Deno.test(`scenario_next() without a stage after [${before.trim()}] evaluates "${chosen}"`, () =>
    withTools(async (bench) => {
      const { step } = stepsOf(await scene(bench, rootsOf(["a", "b", "c", "d"])));
      for (const one of before.split(" ").filter((name) => name !== "")) {
        const stage_id = one.replace("+", "");
        await step({ stage_id, ...one === stage_id ? {} : { caller_evidence: [evidence(`${stage_id}-ok`, true)] } });
      }
      assert.equal(stageOf(await step()), chosen);
    }));
}

Deno.test("scenario_next() without a stage takes one that is open and was never evaluated before one with an attempt", () =>
  withTools(async (bench) => {
    const { s, step } = stepsOf(await scene(bench, rootsOf(["a", "b"])));
    await step({ stage_id: "a" });
    await s.accept("scenario_open_stage", 9, { stage_id: "b" });
    assert.equal(stageOf(await step()), "b");
  }));

/**
 * Answers of the provider to the conditions of `a` to `d` at the first evaluation of each and after it, and the stages
 * of the steps without a stage that follow: `a` is decided, `a*` repeats the last attempt of `a`, `a!` is a failure of
 * its provider.
 */
const SEARCHES: readonly [string, JsonObject, JsonObject, string][] = [
  ["nothing changes", {}, {}, "a* a*"],
  ["the last one completes", {}, { d: true }, "d a*"],
  ["two complete", {}, { b: true, d: true }, "b d a*"],
  ["one changes and stays open", {}, { c: null }, "c a*"],
  ["one fails, one completes", {}, { b: "unreachable", c: true }, "c b! b!"],
  ["the first fails, one completes", {}, { a: "unreachable", c: true }, "c a! a!"],
  ["one was never evaluated and fails", { b: "unreachable" }, { b: "unreachable", d: true }, "d b! b!"],
];

for (const [name, first, later, expected] of SEARCHES) {
  Deno.test(`scenario_next() goes on to a stage that changes: ${name}: ${expected}`, () => {
    const answers: Record<string, JsonValue> = { a: false, b: false, c: false, d: false, ...first };
    const names = ["a", "b", "c", "d"];
    const spec = {
      ...rootsOf(names),
      conditions: names.map(scannedCondition),
      acquisition_bindings: names.map(scanBinding),
      stages: names.map((stage_id) => stage(stage_id, stage_id)),
    };
    return withTools(async (bench) => {
      const s = await scene(bench, spec);
      const { step } = stepsOf(s);
      for (const stage_id of names) if (answers[stage_id] !== "unreachable") await step({ stage_id });
      Object.assign(answers, later);
      const seen: string[] = [];
      for (let count = 0; count < expected.split(" ").length; count++) {
        const answer = await bench.call("scenario_next", next(s, { request_id: id(count + 1) }));
        const { outcome, result } = envelope(answer);
        if (outcome === "acquisition_failed") seen.push(`${result["stage_id"]}!`);
        else seen.push(`${stageOf(result)}${result["recorded"] === false ? "*" : ""}`);
        s.head = (result["accepted_head"] ?? s.head) as JsonObject;
      }
      assert.equal(seen.join(" "), expected);
    }, scanner(answers));
  });
}

/** The evidence of the first and the second step without a stage, and whether the second is recorded. */
const REPEATS: readonly [string, JsonObject, JsonObject, "recorded" | "not recorded"][] = [
  ["no evidence twice", {}, {}, "not recorded"],
  [
    "the same false value",
    { caller_evidence: [evidence("a-ok", false)] },
    { caller_evidence: [evidence("a-ok", false)] },
    "not recorded",
  ],
  ["a false value after none", {}, { caller_evidence: [evidence("a-ok", false)] }, "recorded"],
  ["none after a false value", { caller_evidence: [evidence("a-ok", false)] }, {}, "recorded"],
  ["evidence that completes the stage", {}, { caller_evidence: [evidence("a-ok", true)] }, "recorded"],
  ["the stage by its name", {}, { stage_id: "a" }, "recorded"],
  ["the stage by its name, if it has changed", {}, { stage_id: "a", only_changed: true }, "not recorded"],
  ["the stage by its name, in any case", {}, { stage_id: "a", only_changed: false }, "recorded"],
  [
    "the stage by its name, if it has changed, with a false value",
    {},
    { stage_id: "a", only_changed: true, caller_evidence: [evidence("a-ok", false)] },
    "recorded",
  ],
  ["no evidence, more feedback", {}, { feedback: "trace" }, "not recorded"],
];

for (const store of STORES) {
  for (const [name, first, second, outcome] of REPEATS) {
    Deno.test(`scenario_next() on a held stage, ${name}: ${outcome} (${store})`, () =>
      withTools(async (bench) => {
        const { s, step, count } = stepsOf(await scene(bench, rootsOf(["a"])));
        const before = await step(first);
        const recorded = await count();
        // A record of another kind stands between the two attempts.
        await s.accept("scenario_submit", 9, SUBMIT);
        const { head } = s;
        const result = await step(second);
        const isRecorded = outcome === "recorded";
        assert.equal(await count(), recorded + (isRecorded ? 2 : 1));
        assert.equal(result["recorded"], isRecorded ? undefined : false);
        if (isRecorded) return;
        assert.deepEqual(result["accepted_head"], head);
        assert.deepEqual(result["decision"], before["decision"]);
        assert.deepEqual([result["run_status"], result["ready_frontier"]], ["active", []]);
        assert.equal(result["operations"], undefined);
      }, { store }));
  }
}

Deno.test("a step that recorded nothing has no receipt: its request_id may be used with other arguments", () =>
  withTools(async (bench) => {
    const { step, count } = stepsOf(await scene(bench, rootsOf(["a"])));
    await step();
    const recorded = await count();
    assert.equal((await step({ request_id: id(5) }))["recorded"], false);
    const other = await step({ request_id: id(5), caller_evidence: [evidence("a-ok", true)] });
    assert.deepEqual([other["run_status"], await count()], ["complete", recorded + 1]);
  }));

Deno.test("the feedback of a step that recorded nothing shows the attempt that it repeats", () =>
  withTools(async (bench) => {
    const { step } = stepsOf(await scene(bench, rootsOf(["a"])));
    const attemptsOf = (result: JsonObject): JsonValue | undefined => (result["feedback"] as JsonObject)["attempts"];
    const first = await step({ feedback: "trace" });
    const again = await step({ feedback: "trace" });
    assert.equal(again["recorded"], false);
    assert.deepEqual(attemptsOf(again), attemptsOf(first));
  }));

Deno.test("an attempt that recent_attempts no longer has is compared too", () =>
  withTools(async (bench) => {
    const names = Array.from({ length: 22 }, (_, index) => `s${String(index).padStart(2, "0")}`);
    const { step, count } = stepsOf(await scene(bench, rootsOf(names)));
    for (const stage_id of names) await step({ stage_id });
    const recorded = await count();
    const result = await step();
    assert.deepEqual([stageOf(result), result["recorded"], await count()], ["s00", false, recorded]);
  }));

function observed(code: string): EvidenceResult {
  return { ...NOTHING, error: { code, message: "Cannot read the source" } };
}

/** The answers of a provider to the first and the second step, and whether the second is recorded. */
const ACQUIRED: readonly [string, EvidenceResult, EvidenceResult, "recorded" | "not recorded"][] = [
  ["the same value", found(false), found(false), "not recorded"],
  ["nothing after a value", found(false), NOTHING, "recorded"],
  ["the same error", observed("file_not_found"), observed("file_not_found"), "not recorded"],
  ["another error", observed("file_not_found"), observed("json_invalid"), "recorded"],
];

for (const [name, first, second, outcome] of ACQUIRED) {
  Deno.test(`scenario_next() on a held stage whose provider gives ${name}: ${outcome}`, () => {
    const answers = [first, second];
    const provider = testProvider("scanner", () => answered(answers.shift() ?? second, Date.now()));
    const spec = {
      conditions: [scannedCondition("x")],
      acquisition_bindings: [scanBinding("x")],
      stages: [stage("a", "x")],
      completion_requirement: { Condition: "a" },
    };
    return withTools(async (bench) => {
      const { step, count } = stepsOf(await scene(bench, spec));
      await step();
      const recorded = await count();
      const result = await step();
      assert.equal(result["recorded"], outcome === "recorded" ? undefined : false);
      assert.equal(await count(), recorded + (outcome === "recorded" ? 1 : 0));
    }, { providers: new Map([["scanner", provider]]) });
  });
}
