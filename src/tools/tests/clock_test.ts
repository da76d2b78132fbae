import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { TimeAuthority } from "../services/services.ts";
import {
  type Bench,
  type BenchOptions,
  condition,
  envelope,
  evidence,
  id,
  schemaRecord,
  startRun,
  withTools,
} from "./tools_fixture.ts";

const DAY = 86_400_000;
const NOW = 1_760_000_000_000;
/** The time gate opens a day from now. */
const OPENS = NOW + DAY;

/** A time authority whose clock the test sets. */
class Clock implements TimeAuthority {
  now = NOW;
  readonly read = () => ({ time_authority_id: "t", authority_revision: "1", reading_unix_millis: this.now });
}

const AFTER = condition("built", { domain: "Boolean" }, {
  predicate: "Equals",
  expected: { value: true, value_type: "Boolean" },
});

/** The stage `build` completes after {@link OPENS}, as the provider `time` says. */
const TIMED: JsonObject = {
  conditions: [
    {
      ...AFTER,
      evidence_use_policy: { ...AFTER["evidence_use_policy"] as JsonObject, allowed_channels: ["local_acquisition"] },
    },
    condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
  ],
  acquisition_bindings: [{
    binding_id: "clock",
    condition_id: "built",
    channel: "local_acquisition",
    provider_id: "time",
    check_id: "read",
  }],
};

function timed(clock: Clock): BenchOptions {
  const provider = testProvider(
    "time",
    (_query, { trigger_time }) => answered(found(trigger_time.value > OPENS), clock.now),
    {},
    "builtin",
  );
  return { time: clock, providers: new Map([["time", provider]]) };
}

type Run = JsonObject & { readonly run_id: string };
type Evaluate = (bench: Bench, run: Run, expected_head: JsonObject, operation: number) => Promise<JsonObject>;

const TOOLS: Readonly<Record<string, Evaluate>> = {
  scenario_evaluate_stage: (bench, run, expected_head, operation) =>
    bench.call("scenario_evaluate_stage", { ...run, expected_head, stage_id: "build", operation_id: id(operation) }),
  scenario_next: (bench, run, expected_head, operation) =>
    bench.call("scenario_next", { ...run, expected_head, stage_id: "build", request_id: id(operation) }),
  scenario_trigger: (bench, run, expected_head, operation) => {
    const trigger = { trigger_id: id(operation), kind: "tick", source_id: "scheduler" };
    return bench.call("scenario_trigger", { ...run, expected_head, trigger });
  },
};

/** The last evaluation of a run: outcome, error and trigger time of its item, in one line. */
async function lastAttempt(bench: Bench, run: Run): Promise<string> {
  const { records } = await bench.call("scenario_history", { ...run, limit: 50 }) as { records: JsonObject[] };
  const { record } = records.at(-1) as { record: { body: { outcome: string; evidence: JsonObject[] } } };
  const { outcome, evidence: [item] } = record.body;
  const { error, acquisition } = item as { error?: { code: string }; acquisition: { trigger_time: { value: number } } };
  return [outcome, error?.code ?? "no error", acquisition.trigger_time.value - NOW].join(", ");
}

async function headOf(bench: Bench, run: Run): Promise<JsonObject> {
  const status = await bench.call("scenario_status", run) as { accepted_head: JsonObject };
  return status.accepted_head;
}

for (const [tool, evaluate] of Object.entries(TOOLS)) {
  Deno.test(`${tool} on a run whose clock jumped 400 days ahead once: the time gate stays closed until its time`, async () => {
    const clock = new Clock();
    await withTools(async (bench) => {
      const started = await startRun(bench, TIMED);
      const run = started.run as Run;
      const opened = await bench.call("scenario_open_stage", {
        ...run,
        stage_id: "build",
        expected_head: started.head,
        operation_id: id(2),
      });
      clock.now = NOW + 400 * DAY;
      await bench.call("scenario_submit", {
        ...run,
        expected_head: envelope(opened).result["accepted_head"] as JsonObject,
        operation_id: id(3),
        content_type: "application/json",
        payload: { kind: "json", value: {} },
        scope: { kind: "run_wide" },
      });
      const at = async (now: number, operation: number): Promise<string> => {
        clock.now = now;
        await evaluate(bench, run, await headOf(bench, run), operation);
        return await lastAttempt(bench, run);
      };
      assert.equal(await at(NOW, 4), "unknown, clock_behind_run, 0");
      assert.equal(await at(NOW + 2 * DAY, 5), `unknown, clock_behind_run, ${2 * DAY}`);
      const last = 400 * DAY;
      assert.equal(await at(NOW + last - 60_001, 6), `unknown, clock_behind_run, ${last - 60_001}`);
      assert.equal(await at(NOW + last - 60_000, 7), `true, no error, ${last - 60_000}`);
    }, timed(clock));
  });
}

const YOUNG = condition("built", { domain: "Timestamp" }, {
  predicate: "GreaterThanOrEqual",
  expected: { relative_to: "evaluation_time", offset_milliseconds: -DAY },
});
const QUORUM: JsonObject = { combination: { combination: "Quorum", minimum: 2 }, independence: "not_required" };
/** The stage `build` completes with two instants at most a day before the evaluation. */
const BACKED_UP: JsonObject = {
  conditions: [
    { ...YOUNG, evidence_use_policy: { ...YOUNG["evidence_use_policy"] as JsonObject, ...QUORUM } },
    condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
  ],
};

Deno.test("scenario_precheck_stage, scenario_evaluate_stage and scenario_status judge an instant by the clock of now", async () => {
  const clock = new Clock();
  await withTools(async (bench) => {
    const started = await startRun(bench, BACKED_UP);
    const run = started.run as Run;
    const opened = await bench.call("scenario_open_stage", {
      ...run,
      stage_id: "build",
      expected_head: started.head,
      operation_id: id(2),
    });
    const stamps = [NOW, NOW - DAY].map((instant) => evidence("built", new Date(instant).toISOString(), "Timestamp"));
    const precheck = (): Promise<JsonObject> =>
      bench.call("scenario_precheck_stage", {
        namespace_id: 2,
        scenario_id: "release",
        scenario_law_identity: started.law,
        stage_id: "build",
        caller_evidence: stamps,
      });
    const counts = { holds: 1, fails: 1, needed: 2 };
    assert.equal((await precheck())["outcome"], "true");
    clock.now = NOW + 1;
    const predicted = await precheck();
    assert.equal(predicted["outcome"], "unknown");
    assert.deepEqual((predicted["causes"] as JsonObject[])[0]?.["counts"], counts);
    const answer = await bench.call("scenario_evaluate_stage", {
      ...run,
      stage_id: "build",
      expected_head: envelope(opened).result["accepted_head"] as JsonObject,
      operation_id: id(3),
      caller_evidence: stamps,
    });
    assert.equal((envelope(answer).result["attempt"] as JsonObject)["outcome"], "unknown");
    clock.now = NOW + 9 * DAY;
    const status = await bench.call("scenario_status", { ...run, include: ["missing"] });
    const [attempt] = status["recent_attempts"] as JsonObject[];
    assert.deepEqual((attempt?.["causes"] as JsonObject[])[0]?.["counts"], counts);
  }, { time: clock });
});

Deno.test("precheck judges an instant by the clock of now", async () => {
  const clock = new Clock();
  await withTools(async (bench) => {
    const schema = { type: "object", properties: { built: { type: "string", format: "date-time" } } };
    await bench.call("schemas_register", { record: schemaRecord({ schema }) });
    await startRun(bench, { ...BACKED_UP, conditions: [YOUNG, ...(BACKED_UP["conditions"] as JsonObject[]).slice(1)] });
    const outcome = async (): Promise<unknown> => {
      const { outcome } = await bench.call("precheck", {
        namespace_id: 2,
        scenario_id: "release",
        data_shape: { schema_id: "report", version: "1" },
        payload: { built: new Date(NOW - DAY).toISOString() },
      });
      return outcome;
    };
    assert.equal(await outcome(), "true");
    clock.now = NOW + 1;
    assert.equal(await outcome(), "false");
  }, { time: clock, config: { trust: { ...DEFAULT_SETTINGS.trust, min_lane: "asserted" } } });
});
