import assert from "node:assert/strict";
import { isJsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { ANSWER_BYTES, boundedText, sentBytes, surelyFits } from "./response_size.ts";
import { booleanCondition, envelope, evidence, id, spec, stage, withTools } from "../tests/tools_fixture.ts";
import { type Scene, scene } from "../tests/outcome_case_fixture.ts";
import { next } from "../tests/step_fixture.ts";

/** A list of texts under a name, as JSON text of an object. */
const listed = (name: string, items: readonly JsonValue[]): string => JSON.stringify({ [name]: items });

function cut(text: string, maximum: number): JsonObject {
  const bounded = boundedText(text, maximum);
  assert.ok(sentBytes(bounded) <= maximum, `${sentBytes(bounded)} of ${maximum}`);
  assert.equal(boundedText(text, maximum), bounded, "the same each time");
  return JSON.parse(bounded);
}

Deno.test("sentBytes() counts JSON and text, and surelyFits() never fewer bytes", () => {
  for (const text of ["{}", '{"a":"\\"\\\\"}', '{"é":"€😀"}', '{"a":"\\u0001"}']) {
    const wire = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
    const bare = '{"content":[{"type":"text","text":""}],"structuredContent":}';
    assert.equal(sentBytes(text), new TextEncoder().encode(wire).length - bare.length);
    assert.ok(!surelyFits(text, sentBytes(text) - 1));
  }
  assert.ok(surelyFits("x".repeat(10), 60) && !surelyFits("x".repeat(10), 59));
});

Deno.test("boundedText() returns a text unchanged at its limit, and cuts it one byte beyond", () => {
  const text = listed("trace", ["a".repeat(50), "b".repeat(50), "c".repeat(50)]);
  const whole = sentBytes(text);
  assert.equal(boundedText(text, whole + 1), text);
  assert.equal(boundedText(text, whole), text);
  assert.deepEqual(cut(text, whole - 1), { trace: ["a".repeat(50), "b".repeat(50)], trace_left_out: 1 });
});

Deno.test("boundedText() cuts the lists of a result and of its attempts, and no values of callers", () => {
  const long = Array.from({ length: 100 }, (_, index) => ({ path: `$[${index}]`, condition_id: "c".repeat(20) }));
  const attempt = { trace: long, evidence: long.slice(0, 2), note: "n" };
  const text = JSON.stringify({
    attempt,
    decisions: [{ unmet: long }, { unmet: [] }],
    feedback: { level: "trace", attempts: [attempt] },
    payload: { trace: long.slice(0, 20) },
  });
  const shown = cut(text, 9000) as unknown as {
    attempt: JsonObject;
    decisions: JsonObject[];
    feedback: { attempts: JsonObject[] };
    payload: { trace: JsonValue[] };
  };
  for (const holder of [shown.attempt, shown.feedback.attempts[0]]) {
    const shown = (holder?.["trace"] as JsonValue[]).length;
    assert.ok(shown > 0 && shown < 100);
    assert.equal(holder?.["trace_left_out"], 100 - shown);
    assert.deepEqual(holder?.["evidence"], long.slice(0, 2));
    assert.equal(holder?.["evidence_left_out"], undefined);
  }
  assert.ok(Number(shown.decisions[0]?.["unmet_left_out"]) > 0);
  assert.deepEqual(shown.decisions[1], { unmet: [] });
  assert.equal(shown.payload.trace.length, 20);
});

Deno.test("boundedText() keeps the missing sets of a stage whole, or omits them", () => {
  const missing = (count: number): JsonObject => ({
    stage_id: "s",
    sets: [Array.from({ length: count }, (_, index) => ({ condition_id: `c${index}`, needed: true }))],
    complete: true,
    evidence: [],
  });
  const trace = Array.from({ length: 200 }, (_, index) => `line ${index}`);
  const text = (count: number): string => JSON.stringify({ trace, missing: [missing(count)] });
  assert.deepEqual(cut(text(20), 4000)["missing"], [missing(20)]);
  assert.deepEqual(cut(text(60), 4000)["missing"], [{ stage_id: "s", sets: [], complete: false, evidence: [] }]);
});

Deno.test("boundedText() shows the payload of each packet once, as far as it fits", () => {
  const intents = Array.from({ length: 6 }, (_, index) => ({
    intent_id: `i${index}`,
    packet_id: `p${Math.floor(index / 2)}`,
    payload: { kind: "json", value: "v".repeat(index < 2 ? 3000 : 100) },
  }));
  const text = JSON.stringify({ entry_intents: intents, ready_frontier: [] });
  assert.equal(boundedText(text, 30_000), text);
  const shown = (maximum: number): string =>
    (cut(text, maximum)["entry_intents"] as JsonObject[]).map(({ intent_id, payload, payload_left_out }) => {
      assert.equal(payload === undefined, payload_left_out === true);
      return `${intent_id}${payload === undefined ? "-" : "+"}`;
    }).join(" ");
  assert.equal(shown(10_000), "i0+ i1- i2+ i3- i4+ i5-");
  assert.equal(shown(3000), "i0- i1- i2+ i3- i4+ i5-");
  const few = cut(text, 500);
  assert.equal((few["entry_intents"] as JsonValue[]).length + Number(few["entry_intents_left_out"]), 6);
  assert.ok(Number(few["entry_intents_left_out"]) > 0);
});

const NAMES = Array.from({ length: 64 }, (_, index) => `${"condition-é€-".repeat(6)}${index}`);
const leaves = (names: readonly string[]): JsonObject[] => names.map((Condition) => ({ Condition }));

/** A stage whose trace has 3904 long lines. */
const WIDE: Readonly<Record<string, JsonValue>> = {
  conditions: NAMES.map(booleanCondition),
  stages: [{
    ...stage("build", "-"),
    completion_requirement: {
      And: NAMES.map((_, index) => ({ Or: leaves(NAMES.filter((_, other) => (other - index + 64) % 64 > 2)) })),
    },
  }],
  completion_requirement: { Condition: "build" },
};

/** As much evidence as a call may have, all of it false. */
const ITEMS = Array.from({ length: 4096 }, (_, index) => evidence(NAMES[index % 64] ?? "", false));

function checkBounded(result: JsonObject, names: readonly string[]): void {
  assert.ok(sentBytes(JSON.stringify(result)) <= ANSWER_BYTES);
  for (const name of names) {
    const shown = result[name];
    assert.ok(isJsonArray(shown) && shown.length > 100, name);
    assert.ok(Number(result[`${name}_left_out`]) > 0, `${name} is cut`);
  }
}

async function evaluated(at: Scene): Promise<{ input: JsonObject; answer: JsonObject }> {
  await at.accept("scenario_open_stage", 1, { stage_id: "build" });
  const input = {
    ...at.run,
    expected_head: at.head,
    operation_id: id(2),
    stage_id: "build",
    caller_evidence: ITEMS,
  };
  return { input, answer: await at.bench.call("scenario_evaluate_stage", input) };
}

Deno.test("an evaluation of 4096 items fits into 1 MiB with the same bytes each time, and is whole in the history", () =>
  withTools(async (bench) => {
    const at = await scene(bench, WIDE);
    const { input, answer } = await evaluated(at);
    const { result } = envelope(answer);
    const attempt = result["attempt"] as JsonObject;
    checkBounded(attempt, ["trace", "evidence"]);
    assert.equal((attempt["missing"] as JsonValue[]).length, 1);
    assert.deepEqual(await bench.call("scenario_evaluate_stage", input), answer);
    const resolved = await bench.call("scenario_resolve_mutation", {
      namespace_id: 2,
      run_id: at.run.run_id,
      operation_id: { family: "evaluate_stage", identity: id(2) },
      invocation_identity: result["invocation_identity"] as string,
    });
    assert.deepEqual(resolved, answer);

    const history = await bench.call("scenario_history", { ...at.run, after_revision: 2 }) as {
      records: { record: { body: { trace: JsonValue[]; evidence: JsonValue[] } } }[];
    };
    assert.deepEqual(history.records.map(({ record: { body } }) => [body.trace.length, body.evidence.length]), [
      [3904, 4096],
    ]);
  }));

Deno.test("scenario_status() fits the last attempt and missing into 1 MiB", () =>
  withTools(async (bench) => {
    const at = await scene(bench, WIDE);
    await evaluated(at);
    const status = await bench.call("scenario_status", { ...at.run, include: ["missing"] });
    assert.ok(sentBytes(JSON.stringify(status)) <= ANSWER_BYTES);
    const [attempt, ...others] = status["recent_attempts"] as JsonObject[];
    assert.deepEqual(others, []);
    assert.ok(!("recent_attempts_left_out" in status));
    checkBounded(attempt ?? {}, ["trace", "evidence"]);
    const [missing] = status["missing"] as { sets: JsonValue[] }[];
    assert.ok((missing?.sets.length ?? 0) > 0);

    at.head = status["accepted_head"] as JsonObject;
    for (const number of [3, 4]) {
      const again = { stage_id: "build", local_acquisition: [], caller_evidence: ITEMS };
      await at.accept("scenario_evaluate_stage", number, again);
    }
    const later = await bench.call("scenario_status", at.run);
    assert.deepEqual((later["recent_attempts"] as JsonObject[]).map(({ attempt_number }) => attempt_number), [3]);
    assert.equal(later["recent_attempts_left_out"], 2);
  }));

Deno.test("prechecks, steps and refusals fit into 1 MiB", () =>
  withTools(async (bench) => {
    const at = await scene(bench, WIDE);
    const about = { namespace_id: 2, scenario_id: "release", scenario_law_identity: at.law, stage_id: "build" };
    const precheck = await bench.call("scenario_precheck_stage", { ...about, caller_evidence: ITEMS });
    checkBounded(precheck, ["trace"]);
    const misfits = ITEMS.map((item) => ({ ...item, value: { value: "é".repeat(9), value_type: "String" } }));
    const error = await bench.fail("scenario_precheck_stage", { ...about, caller_evidence: misfits });
    checkBounded(error.details ?? {}, ["rejections"]);

    const input = next(at, { caller_evidence: ITEMS, feedback: "evidence" });
    const first = await bench.call("scenario_next", input);
    assert.ok(sentBytes(JSON.stringify(first)) <= ANSWER_BYTES);
    const { decision } = envelope(first).result as { decision: { unmet: JsonValue[] } };
    assert.ok(decision.unmet.length > 0);
    assert.deepEqual(await bench.call("scenario_next", input), first);
    at.head = envelope(first).result["accepted_head"] as JsonObject;
    const rejected = await bench.call("scenario_next", next(at, { request_id: id(9), caller_evidence: misfits }));
    assert.equal(envelope(rejected).outcome, "evidence_rejected");
    checkBounded(envelope(rejected).result, ["rejections"]);
  }));

/** A stage whose opening discloses one packet to many targets. */
function disclosing(payload: string, targets: number): Readonly<Record<string, JsonValue>> {
  const packet = (packet_id: string, value: string, count: number): JsonObject => ({
    packet_id,
    schema_id: "note",
    content_type: "application/json",
    visibility_labels: [],
    policy_tags: [],
    targets: Array.from({ length: count }, (_, index) => ({ kind: "agent", agent_id: `agent ${index}` })),
    expiry: null,
    payload: { kind: "json", value },
  });
  const entry_packets = [packet("all", payload, targets), packet("one", "short", 0)];
  return spec({ stages: [{ ...stage("build", "built"), entry_packets }, stage("deploy", "deployed", "build")] });
}

for (const [characters, targets, isCut] of [[1000, 200, false], [2000, 250, true]] as const) {
  Deno.test(`an opening of ${targets} intents fits into 1 MiB, ${isCut ? "each payload once" : "whole"}`, () =>
    withTools(async (bench) => {
      const at = await scene(bench, disclosing("x".repeat(characters), targets));
      const input = { ...at.run, expected_head: at.head, operation_id: id(1), stage_id: "build" };
      const answer = await bench.call("scenario_open_stage", input);
      assert.ok(sentBytes(JSON.stringify(answer)) <= ANSWER_BYTES);
      assert.deepEqual(await bench.call("scenario_open_stage", input), answer);
      const intents = envelope(answer).result["entry_intents"] as JsonObject[];
      assert.equal(intents.length, targets + 1);
      const shown = intents.filter(({ payload }) => payload !== undefined).map(({ packet_id }) => packet_id);
      if (isCut) assert.deepEqual(shown, ["all", "one"]);
      else assert.equal(shown.length, targets + 1);
    }));
}
