import assert from "node:assert/strict";
import type { Principal } from "../../access/types.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { FeedbackLevel, GateConfig, ScenarioNextFeedbackConfig } from "../../config/types.ts";
import { grantFeedback } from "./feedback.ts";
import { type BenchOptions, envelope, evidence, LOCAL, REMOTE, withTools } from "../tests/tools_fixture.ts";
import { scene } from "../tests/outcome_case_fixture.ts";
import { next, SCANNED, scanner, trigger } from "../tests/step_fixture.ts";

const DEFAULTS = DEFAULT_SETTINGS.server.feedback.scenario_next;

function withRole(name: string, namespace_id: number | null): Principal {
  return { ...REMOTE, roles: [{ name, tenant_id: null, namespace_id }] };
}

Deno.test("grantFeedback() caps at the maximum, and grants by subjects and roles", () => {
  const evidence = { max: "evidence" } as const;
  const rows: readonly [Partial<ScenarioNextFeedbackConfig>, Principal, FeedbackLevel | undefined, string][] = [
    [{}, LOCAL, undefined, "trace"],
    [{}, LOCAL, "summary", "summary asked"],
    [{}, LOCAL, "trace", "trace asked"],
    [{}, LOCAL, "evidence", "trace asked denied"],
    [{}, REMOTE, undefined, "summary"],
    [{}, REMOTE, "summary", "summary asked"],
    [{}, REMOTE, "trace", "summary asked denied"],
    [{}, REMOTE, "evidence", "summary asked denied"],
    [{ default: "trace" }, REMOTE, undefined, "summary denied"],
    [{ default: "trace", trace_subjects: ["token:00"] }, REMOTE, undefined, "trace"],
    [{ max: "summary", local_only_default: "summary" }, LOCAL, "trace", "summary asked denied"],
    [{ max: "summary" }, LOCAL, undefined, "summary"],
    [{ default: "evidence", trace_subjects: ["token:00"] }, REMOTE, undefined, "trace"],
    [{ ...evidence }, LOCAL, "evidence", "trace asked denied"],
    [{ ...evidence, evidence_subjects: ["stdio"] }, LOCAL, "evidence", "evidence asked"],
    [{ evidence_subjects: ["stdio"] }, LOCAL, "evidence", "trace asked denied"],
    [{ ...evidence, evidence_subjects: ["token:00"] }, REMOTE, "evidence", "evidence asked"],
    [{ ...evidence, evidence_subjects: ["token:00"] }, REMOTE, "trace", "trace asked"],
    [{ trace_roles: ["auditor"] }, withRole("auditor", null), "trace", "trace asked"],
    [{ trace_roles: ["auditor"] }, withRole("auditor", 2), "trace", "trace asked"],
    [{ trace_roles: ["auditor"] }, withRole("auditor", 3), "trace", "summary asked denied"],
    [{ trace_roles: ["auditor"] }, withRole("reader", 2), "trace", "summary asked denied"],
    [{ ...evidence, evidence_roles: ["auditor"] }, withRole("auditor", 2), "evidence", "evidence asked"],
    [{ ...evidence, evidence_roles: ["auditor"] }, withRole("auditor", 3), "evidence", "summary asked denied"],
  ];
  for (const [config, principal, requested, expected] of rows) {
    const { level, asked, denied_reason } = grantFeedback({ ...DEFAULTS, ...config }, principal, 2, requested);
    const words = [level, asked ? "asked" : "", denied_reason === undefined ? "" : "denied"].filter((word) =>
      word !== ""
    );
    assert.equal(words.join(" "), expected, JSON.stringify([config, principal.subject, requested]));
  }
  assert.equal(
    grantFeedback(DEFAULTS, LOCAL, 2, "evidence").denied_reason,
    'Cannot give feedback "evidence": this caller may have "trace"',
  );
});

function withFeedback(
  change: Partial<ScenarioNextFeedbackConfig>,
  evidence: Partial<GateConfig["evidence"]> = {},
): BenchOptions {
  const server = { ...DEFAULT_SETTINGS.server, feedback: { scenario_next: { ...DEFAULTS, ...change } } };
  return { config: { server, evidence: { ...DEFAULT_SETTINGS.evidence, ...evidence } } };
}

async function feedbackOf(
  options: BenchOptions,
  change: JsonObject,
  principal = LOCAL,
  scanned = false,
): Promise<JsonObject | undefined> {
  let feedback: JsonObject | undefined;
  await withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    const answer = envelope(await bench.call("scenario_next", next(s, change), principal));
    assert.equal(answer.outcome, "accepted");
    feedback = answer.result["feedback"] as JsonObject | undefined;
  }, { ...options, ...scanner(scanned) });
  return feedback;
}

const SUMMARY = ["attempt_number", "causes", "completed", "missing", "outcome", "record_id", "stage_id"];

function attemptIn(feedback: JsonObject | undefined): JsonObject {
  return (feedback?.["attempts"] as JsonObject[])[0] ?? {};
}

Deno.test("scenario_next() shows causes and missing in a summary, requested or not, with withheld", async () => {
  for (const change of [{}, { feedback: "summary" }, { feedback: "trace" }]) {
    const { level, denied_reason, attempts, ...rest } = await feedbackOf({}, change, REMOTE) ?? {};
    assert.deepEqual(rest, {});
    assert.equal(level, "summary");
    const denied = 'Cannot give feedback "trace": this caller may have "summary"';
    assert.equal(denied_reason, change.feedback === "trace" ? denied : undefined);
    const [attempt = {}] = attempts as JsonObject[];
    assert.deepEqual(Object.keys(attempt).sort(), [...SUMMARY, "withheld"]);
    assert.deepEqual([attempt["outcome"], attempt["withheld"]], ["false", true]);
  }
});

Deno.test("scenario_next() shows only the decision of a true attempt in a summary that was not requested", async () => {
  const of = (change: JsonObject): Promise<JsonObject | undefined> => feedbackOf({}, change, REMOTE, true);
  assert.equal(await of({}), undefined);
  const [attempt = {}] = (await of({ feedback: "summary" }))?.["attempts"] as JsonObject[];
  assert.deepEqual([attempt["outcome"], attempt["causes"], attempt["withheld"]], ["true", undefined, true]);
});

Deno.test("scenario_next() shows the attempt with trace and missing, without items", async () => {
  const feedback = await feedbackOf({}, {});
  assert.equal(feedback?.["level"], "trace");
  const attempt = attemptIn(feedback);
  assert.deepEqual(Object.keys(attempt).sort(), [...SUMMARY, "trace", "withheld"]);
  assert.deepEqual([attempt["outcome"], attempt["trace"]], ["false", [
    { condition_id: "built", path: "$", value: "false" },
  ]]);
});

const EVIDENCE = { max: "evidence", evidence_subjects: ["stdio"] } as const;

Deno.test("scenario_next() shows values only where raw values may be disclosed", async () => {
  const items = async (raw: Partial<GateConfig["evidence"]>, change: JsonObject): Promise<JsonObject[]> => {
    const feedback = await feedbackOf(withFeedback(EVIDENCE, raw), { feedback: "evidence", ...change });
    assert.deepEqual(Object.keys(attemptIn(feedback)).sort(), [...SUMMARY, "evidence", "trace"].sort());
    return attemptIn(feedback)["evidence"] as JsonObject[];
  };
  const acquired = {
    item_id: "binding:scan-built",
    condition_id: "built",
    channel: "provider_acquisition",
    lane: "verified",
    qualified: true,
    provider_id: "scanner",
    binding_id: "scan-built",
  };
  const value = { value: false, value_type: "Boolean" };
  const shows = async (raw: Partial<GateConfig["evidence"]>, change: JsonObject = {}): Promise<unknown> =>
    (await items(raw, change)).map((item) => item["value"]);
  assert.deepEqual(await items({}, {}), [acquired]);
  assert.deepEqual(await shows({ allow_raw_values: true }), [undefined]);
  assert.deepEqual(await shows({ allow_raw_values: true, require_provider_opt_in: false }), [value]);
  const submitted = { caller_evidence: [evidence("built", false)], local_acquisition: [] };
  assert.deepEqual(await shows({}, submitted), [undefined]);
  assert.deepEqual(await shows({ allow_raw_values: true }, submitted), [value]);
});

Deno.test("a repeated step shows what the caller may have now", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    const input = next(s);
    const local = envelope(await bench.call("scenario_next", input)).result;
    const { feedback: _, ...decided } = local;
    const { feedback, ...again } = envelope(await bench.call("scenario_next", input, REMOTE)).result;
    assert.deepEqual(again, decided);
    assert.equal(attemptIn(feedback as JsonObject)["trace"], undefined);
    assert.deepEqual(envelope(await bench.call("scenario_next", input)).result, local);
  }, scanner(false)));

Deno.test("scenario_trigger() uses the default level of its caller", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    await s.accept("scenario_open_stage", 9, { stage_id: "build" });
    const input = trigger(s);
    const local = envelope(await bench.call("scenario_trigger", input)).result["feedback"] as JsonObject;
    assert.deepEqual([local["level"], (local["attempts"] as JsonObject[]).length], ["trace", 1]);
    const remote = envelope(await bench.call("scenario_trigger", input, REMOTE)).result["feedback"] as JsonObject;
    assert.deepEqual([remote["level"], attemptIn(remote)["trace"]], ["summary", undefined]);
  }, scanner(false)));
