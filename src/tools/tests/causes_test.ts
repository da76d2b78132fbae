import assert from "node:assert/strict";
import { answered, found, NOTHING, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import type { EvidenceResult } from "../../evidence/types.ts";
import {
  type Bench,
  booleanCondition,
  envelope,
  evidence,
  id,
  LOCAL,
  REMOTE,
  stage,
  withTools,
} from "./tools_fixture.ts";
import { at, type Scene, scene } from "./outcome_case_fixture.ts";
import { next, scanBinding, scannedCondition, trigger } from "./step_fixture.ts";

/** The condition `built` of the stage `build`, with a change of its policy. */
function law(policy: JsonObject): Readonly<Record<string, JsonValue>> {
  const condition = scannedCondition("built");
  const changed = { ...condition["evidence_use_policy"] as JsonObject, ...policy };
  return {
    conditions: [{ ...condition, evidence_use_policy: changed }],
    acquisition_bindings: [scanBinding("built")],
    stages: [stage("build", "built")],
    completion_requirement: { Condition: "build" },
  };
}

const QUORUM = { combination: { combination: "Quorum", minimum: 2 }, independence: "not_required" };
const DIGEST_ONLY = { retention: "retain_digest_only", replay: "digest_only" };

/** A boolean on `built`, retained as a digest where asked. */
function built(value: boolean, retention = "RetainCanonicalValue"): JsonObject {
  return { ...evidence("built", value), retention: { retention } };
}

function observed(code: string): EvidenceResult {
  return { ...NOTHING, error: { code, message: "Cannot read the source" } };
}

const HIDDEN = "found a value that is hidden from callers of the server (evidence.allow_raw_values)";

/**
 * Name, policy, evidence of callers, answer of the provider (null: not queried), and the causes in every answer.
 */
const ROWS: readonly [string, JsonObject, readonly JsonObject[], EvidenceResult | null, readonly JsonObject[]][] = [
  ["no evidence", {}, [], null, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "no_evidence",
      sentence: "built: nothing known yet (scanner was not asked) ?",
    },
  ]],
  ["a false value", {}, [built(false)], null, [{
    condition_id: "built",
    value: "false",
    sentence: `built: ${HIDDEN} ✗`,
  }]],
  ["two values that differ", {}, [built(true), built(false)], null, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "disagreement",
      sentence: "built: found values, which differ ?",
    },
  ]],
  ["an error that the provider observed", {}, [], observed("file_not_found"), [
    {
      condition_id: "built",
      value: "unknown",
      reason: "error",
      cause: ["file_not_found"],
      sentence: "built: no answer (file not found) ?",
    },
  ]],
  ["a value of the lane asserted", {}, [], found(true, { lane: "asserted" }), [
    {
      condition_id: "built",
      value: "unknown",
      reason: "unqualified",
      cause: ["lane"],
      sentence: "built: what was given does not count (lane) ?",
    },
  ]],
  ["a value without the signature that the law asks", { authorization: "signature" }, [built(true)], null, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "unqualified",
      cause: ["authorization"],
      sentence: "built: what was given does not count (authorization) ?",
    },
  ]],
  ["one of two that a quorum needs", QUORUM, [built(true)], null, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "no_evidence",
      counts: { holds: 1, fails: 0, needed: 2 },
      sentence: "built: 1 of 2 ?",
    },
  ]],
  ["a quorum that is split", QUORUM, [built(true), built(false)], null, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "disagreement",
      counts: { holds: 1, fails: 1, needed: 2 },
      sentence: "built: 1 of 2, 1 refused ?",
    },
  ]],
  ["a quorum that fails", QUORUM, [built(false), built(false)], null, [
    {
      condition_id: "built",
      value: "false",
      counts: { holds: 0, fails: 2, needed: 2 },
      sentence: "built: 0 of 2, 2 refused ✗",
    },
  ]],
  ["a quorum beside an error", QUORUM, [built(true)], observed("file_not_found"), [{
    condition_id: "built",
    value: "unknown",
    reason: "error",
    cause: ["file_not_found"],
    counts: { holds: 1, fails: 0, needed: 2 },
    sentence: "built: 1 of 2 (file not found) ?",
  }]],
  ["a quorum beside a check that found nothing", QUORUM, [built(true)], NOTHING, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "no_evidence",
      asked: ["scanner"],
      counts: { holds: 1, fails: 0, needed: 2 },
      sentence: "built: 1 of 2 ?",
    },
  ]],
  ["a check that found nothing", {}, [], NOTHING, [
    {
      condition_id: "built",
      value: "unknown",
      reason: "no_evidence",
      asked: ["scanner"],
      sentence: "built: nothing known yet ?",
    },
  ]],
  [
    "a quorum whose values are not retained",
    { ...QUORUM, ...DIGEST_ONLY },
    [built(true, "RetainDigestOnly")],
    null,
    [{
      condition_id: "built",
      value: "unknown",
      reason: "no_evidence",
      sentence: "built: nothing known yet (scanner was not asked) ?",
    }],
  ],
];

type Row = typeof ROWS[number];

function withRow(
  [_, policy, __, answer]: Row,
  body: (bench: Bench, s: Scene) => Promise<void>,
  config: Partial<GateConfig> = {},
): Promise<void> {
  const provider = testProvider("scanner", () => answered(answer ?? NOTHING, Date.now()));
  return withTools(async (bench) => await body(bench, await scene(bench, law(policy))), {
    config,
    providers: new Map([["scanner", provider]]),
  });
}

const { server } = DEFAULT_SETTINGS;
const { scenario_next: levels } = server.feedback;

/** A server that grants local callers every level of feedback. */
const EVERY_LEVEL: Partial<GateConfig> = {
  server: {
    ...server,
    feedback: { scenario_next: { ...levels, max: "evidence", evidence_subjects: [LOCAL.subject] } },
  },
};

function evidenceOf([_, __, caller_evidence, answer]: Row): JsonObject {
  return { caller_evidence, ...answer === null ? { local_acquisition: [] } : {} };
}

async function lastInStatus({ bench, run }: Scene): Promise<JsonObject> {
  const { recent_attempts } = await bench.call("scenario_status", run, REMOTE);
  return (recent_attempts as JsonObject[]).at(-1) ?? {};
}

function attemptIn(result: JsonObject): JsonObject {
  return ((result["feedback"] as JsonObject)["attempts"] as JsonObject[])[0] ?? {};
}

for (const row of ROWS) {
  Deno.test(`the causes of ${row[0]} are the same in every answer, at every level`, () =>
    withRow(row, async (bench, s) => {
      const expected = row[4];
      const input = next(s, evidenceOf(row));
      const remote = attemptIn(envelope(await bench.call("scenario_next", input, REMOTE)).result);
      const local = attemptIn(envelope(await bench.call("scenario_next", input)).result);
      assert.deepEqual([remote["causes"], remote["trace"], remote["withheld"]], [expected, undefined, true]);
      assert.deepEqual([local["causes"], (local["trace"] as JsonObject[]).length], [expected, 1]);
      assert.deepEqual(remote["missing"], local["missing"]);
      assert.deepEqual((await lastInStatus(s))["causes"], expected);
      s.head = (await bench.call("scenario_status", s.run))["accepted_head"] as JsonObject;
      const evaluation = at(s, 7, { stage_id: "build", ...evidenceOf(row) });
      const evaluated = envelope(await bench.call("scenario_evaluate_stage", evaluation)).result;
      assert.deepEqual((evaluated["attempt"] as JsonObject)["causes"], expected);
      assert.deepEqual((await lastInStatus(s))["causes"], expected);
      assert.deepEqual(envelope(await bench.call("scenario_evaluate_stage", evaluation)).result, evaluated);
    }));
}

/** The members of an attempt at each level of feedback that the level governs. */
const LEVELS: readonly [level: string, trace: boolean, evidence: boolean][] = [
  ["summary", false, false],
  ["trace", true, false],
  ["evidence", true, true],
];

for (const row of ROWS) {
  Deno.test(`a level of feedback governs trace and evidence alone, for ${row[0]}`, () =>
    withRow(row, async (bench, s) => {
      const shown: JsonObject[] = [];
      const hasItems = row[2].length > 0 || row[3] !== null;
      for (const [index, [feedback, hasTrace, hasEvidence]] of LEVELS.entries()) {
        // The first call is recorded, and each other one returns its attempt.
        const input = next(s, { request_id: id(index + 1), ...evidenceOf(row), feedback });
        const { result } = envelope(await bench.call("scenario_next", input));
        const { trace, evidence, withheld, ...attempt } = attemptIn(result);
        const isWhole = hasEvidence || hasTrace && !hasItems;
        assert.deepEqual([trace !== undefined, evidence !== undefined, withheld], [
          hasTrace,
          hasEvidence,
          isWhole ? undefined : true,
        ]);
        shown.push(attempt);
        s.head = result["accepted_head"] as JsonObject;
      }
      assert.deepEqual(shown.map(({ causes }) => causes), Array(LEVELS.length).fill(row[4]));
      const [first] = shown;
      assert.ok(first?.["missing"] !== undefined);
      assert.deepEqual(shown, Array(LEVELS.length).fill(first));
    }, EVERY_LEVEL));
}

for (const row of ROWS.filter(([_, __, items, answer]) => answer !== null && items.length === 0)) {
  Deno.test(`scenario_trigger() shows the causes of ${row[0]} to every caller`, () =>
    withRow(row, async (bench, s) => {
      await s.accept("scenario_open_stage", 9, { stage_id: "build" });
      for (const caller of [REMOTE, LOCAL]) {
        const { result } = envelope(await bench.call("scenario_trigger", trigger(s), caller));
        assert.deepEqual(attemptIn(result)["causes"], row[4]);
      }
    }));
}

Deno.test("causes are part of no record, receipt or state", () =>
  withRow(ROWS[8] as Row, async (bench, s) => {
    await bench.call("scenario_next", next(s, evidenceOf(ROWS[8] as Row)));
    const stored = await bench.services.runs.listRecords(s.run, 0, 10);
    assert.equal(stored.length, 3);
    const run = await bench.services.projections.load(s.run);
    const texts = [...stored.flatMap(({ record, receipt }) => [record, receipt.result]), JSON.stringify(run?.state)];
    for (const text of texts) assert.doesNotMatch(text, /"(causes|counts|withheld)"/);
  }));

Deno.test("a true attempt has no causes, nor has a condition that prevents nothing", () =>
  withTools(async (bench) => {
    const either = { Or: [{ Condition: "a" }, { Condition: "b" }] };
    const s = await scene(bench, {
      conditions: ["a", "b", "c"].map((name) => booleanCondition(name)),
      stages: [{ ...stage("build", "a"), completion_requirement: { And: [either, { Condition: "c" }] } }],
      completion_requirement: { Condition: "build" },
    });
    const step = next(s, { caller_evidence: [evidence("a", true)] });
    const held = envelope(await bench.call("scenario_next", step)).result;
    const causes = attemptIn(held)["causes"] as JsonObject[];
    assert.deepEqual(causes.map(({ condition_id }) => condition_id), ["c"]);
    const sentences = ["c: nothing known yet ?"];
    assert.deepEqual(held["decision"], { kind: "hold", stage_id: "build", unmet: ["c"], sentences });
    s.head = held["accepted_head"] as JsonObject;
    const all = next(s, { request_id: id(3), caller_evidence: [evidence("a", true), evidence("c", true)] });
    assert.equal(attemptIn(envelope(await bench.call("scenario_next", all)).result)["causes"], undefined);
    assert.equal((await lastInStatus(s))["causes"], undefined);
    assert.equal((await lastInStatus(s))["met"], undefined, "values are hidden");
    assert.equal(envelope(await bench.call("scenario_next", all, REMOTE)).result["feedback"], undefined);
  }));

Deno.test("what is met has its value, where it may be shown, also in an attempt that is true", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {
      conditions: ["a", "b"].map((name) => booleanCondition(name)),
      stages: [{
        ...stage("build", "a"),
        completion_requirement: {
          Or: [{ And: [{ Not: { Condition: "a" } }, { Condition: "b" }] }, { Condition: "b" }],
        },
      }],
      completion_requirement: { Condition: "build" },
    });
    const held = next(s, { caller_evidence: [evidence("a", false)] });
    await bench.call("scenario_next", held);
    const found = ["false"];
    const met = [{ condition_id: "a", value: "false", needed: false, found, sentence: "!a: found false ✓" }];
    assert.deepEqual((await lastInStatus(s))["met"], met);
    s.head = (await bench.call("scenario_status", s.run))["accepted_head"] as JsonObject;
    await bench.call(
      "scenario_next",
      next(s, { request_id: id(3), caller_evidence: [evidence("a", false), evidence("b", true)] }),
    );
    const { outcome, causes, met: all } = await lastInStatus(s);
    assert.deepEqual([outcome, causes, all], ["true", undefined, [
      { condition_id: "b", value: "true", found: ["true"], sentence: "b ✓" },
      ...met,
    ]]);
  }, { config: { evidence: { ...DEFAULT_SETTINGS.evidence, allow_raw_values: true } } }));

for (const row of ROWS.filter(([_, __, items, answer]) => answer === null && items.length > 0)) {
  Deno.test(`scenario_precheck_stage() shows the causes of ${row[0]}`, () =>
    withRow(row, async (bench, s) => {
      const { causes } = await bench.call("scenario_precheck_stage", {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: s.law,
        stage_id: "build",
        caller_evidence: [...row[2]],
      });
      // A precheck has the value of an item that no record would retain.
      const [expected] = row[4];
      const counts = row[1]["retention"] === undefined ? {} : { counts: { holds: 1, fails: 0, needed: 2 } };
      // The caller sees the values that it gave.
      const [{ sentence, found, ...cause } = {}] = causes as JsonObject[];
      const { sentence: _, ...wanted }: JsonObject = { ...expected, ...counts };
      assert.deepEqual(cause, wanted);
      assert.deepEqual(found, [...new Set(row[2].map(({ value }) => String((value as JsonObject)["value"])))]);
      assert.match(String(sentence), "counts" in cause ? /^built: [01] of 2/ : /^built: found (true|false)/);
    }));
}

Deno.test("what is met holds as the law needs it, and what does not hold is missing or not needed", () =>
  withTools(async (bench) => {
    const leaf = (name: string): JsonObject => ({ Condition: name });
    const s = await scene(bench, {
      conditions: ["a", "b", "c", "d"].map((name) => booleanCondition(name)),
      stages: [{
        ...stage("build", "a"),
        completion_requirement: { And: [{ Or: [leaf("a"), leaf("b")] }, { Not: leaf("c") }, { Not: leaf("d") }] },
      }],
      completion_requirement: { Condition: "build" },
    });
    const given = { a: true, b: false, c: true, d: false };
    const items = Object.entries(given).map(([name, value]) => evidence(name, value));
    const held = envelope(await bench.call("scenario_next", next(s, { caller_evidence: items }))).result;
    const sentences = ["!c: found true ✗"];
    assert.deepEqual(held["decision"], { kind: "hold", stage_id: "build", unmet: ["c"], sentences });
    const attempt = await lastInStatus(s);
    const [missing] = attemptIn(held)["missing"] as { sets: JsonObject[][] }[];
    const sentencesOf = (list: JsonValue | undefined): JsonValue[] =>
      (list as JsonObject[]).map(({ sentence }) => sentence ?? null);
    assert.deepEqual(
      [attempt["causes"], attempt["met"], attempt["not_needed"], missing?.sets[0]].map(sentencesOf),
      [["!c: found true ✗"], ["!d: found false ✓", "a ✓"], ["b: found false ✗"], ["!c"]],
    );
  }, { config: { evidence: { ...DEFAULT_SETTINGS.evidence, allow_raw_values: true } } }));
