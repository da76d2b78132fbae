import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { type Append, type AppendResult, type RunStore, StoreError } from "../../store/types.ts";
import { ANSWER_BYTES, sentBytes } from "../framework/response_size.ts";
import type { Call } from "../framework/types.ts";
import type { Services } from "../services/services.ts";
import { SCANNED, scanner } from "./step_fixture.ts";
import {
  type Bench,
  type BenchOptions,
  envelope,
  evidence,
  id,
  LOCAL,
  spec,
  type StartedRun,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";

type Results = readonly JsonObject[];

async function apply(bench: Bench, ...operations: readonly JsonObject[]): Promise<Results> {
  return (await bench.call("scenario_apply", { operations: [...operations] }))["results"] as Results;
}

function start({ start }: StartedRun, request: number): JsonObject {
  return { tool: "scenario_start", arguments: { ...start, creation_request_id: id(request) } };
}

function open(run: JsonObject, expected_head: JsonValue, operation: number, change: JsonObject = {}): JsonObject {
  const own = { ...run, expected_head, operation_id: id(operation), stage_id: "build", ...change };
  return { tool: "scenario_open_stage", arguments: own };
}

function submit(run: JsonObject, expected_head: JsonValue, operation: number, change: JsonObject = {}): JsonObject {
  const own = {
    ...run,
    expected_head,
    operation_id: id(operation),
    content_type: "application/json",
    payload: { kind: "json", value: operation },
    scope: { kind: "run_wide" },
    ...change,
  };
  return { tool: "scenario_submit", arguments: own };
}

function evaluate(run: JsonObject, expected_head: JsonValue, operation: number, change: JsonObject = {}): JsonObject {
  const own = { ...run, expected_head, operation_id: id(operation), stage_id: "build", ...change };
  return { tool: "scenario_evaluate_stage", arguments: own };
}

const after = (operation: number): JsonObject => ({ operation });

/** Results in a few words: outcomes, codes of errors, and what was not attempted. */
function inWords(results: Results): string {
  return results.map(({ outcome, error, not_attempted }) =>
    [outcome, error, not_attempted].map((one) => (one ?? {}) as JsonObject).map((one) =>
      one["outcome"] ?? one["code"] ?? (one["reason"] === undefined ? "" : `${one["reason"]} ${one["operation"] ?? ""}`)
    ).join("").trim()
  ).join(", ");
}

/** The commits of a store: how many appends and records each has. */
function counting(
  commits: string[],
  before: (commit: number) => void | Promise<void> = () => {},
): NonNullable<BenchOptions["change"]> {
  let commit = 0;
  return (services) => {
    const appendTogether = async (appends: readonly Append[]): Promise<readonly AppendResult[]> => {
      await before(++commit);
      commits.push(appends.map(({ records }) => records.length).join("+"));
      return await services.runs.appendTogether(appends);
    };
    return withRuns(services, { ...services.runs, appendTogether });
  };
}

function withRuns(services: Services, runs: RunStore): Services {
  return { ...services, environment: services.environment, runs };
}

for (const store of STORES) {
  Deno.test(`scenario_apply commits a whole run at once, and its references hold (${store})`, async () => {
    const commits: string[] = [];
    await withTools(async (bench) => {
      const started = await startRun(bench);
      const { run_id: _, ...named } = started.run;
      const mine = { ...named, run_id: after(0) };
      const list = [
        start(started, 10),
        open(mine, after(0), 11),
        submit(mine, after(1), 12, {
          payload: { kind: "json", value: { operation: 0 } },
          scope: { kind: "stage_open", stage_id: "build", stage_open_record_id: after(1) },
        }),
        evaluate({ ...mine, run_id: after(2) }, after(2), 13, { caller_evidence: [evidence("built", true)] }),
        submit(started.run, started.head, 14),
      ];
      const results = await apply(bench, ...list);
      assert.equal(inWords(results), "accepted, accepted, accepted, accepted, accepted");
      assert.deepEqual(commits, ["4+1"]);
      assert.deepEqual(await apply(bench, ...list), results, "a repeated list answers the same");
      assert.deepEqual(commits, ["4+1"], "and records nothing");
      const [, , submitted] = list as [JsonObject, JsonObject, JsonObject];
      const { run_key, head } = envelope(results[0] as JsonObject).result as { run_key: JsonObject; head: JsonValue };
      const opened = envelope(results[1] as JsonObject).result;
      const alone = {
        ...submitted["arguments"] as JsonObject,
        run_id: run_key["run_id"] ?? null,
        expected_head: opened["accepted_head"] ?? null,
        scope: {
          kind: "stage_open",
          stage_id: "build",
          stage_open_record_id: opened["stage_open_record_id"] ?? null,
        },
      };
      assert.deepEqual(await bench.call("scenario_submit", alone), results[2], "a part of it alone answers the same");
      assert.equal((head as JsonObject)["revision"], 1);
    }, { store, change: counting(commits) });
  });
}

/** A list on a run with two open operations, and what its results are. */
const LISTS: readonly (readonly [what: string, list: (started: StartedRun) => readonly JsonObject[], words: string])[] =
  [
    [
      "a refusal ends the rest of its run, not that of others",
      (
        s,
      ) => [
        submit(s.run, { ...s.head, revision: 9 }, 1),
        submit(s.run, s.head, 2),
        start(s, 3),
        submit(s.run, s.head, 4),
      ],
      "stale, earlier_refusal 0, accepted, earlier_refusal 0",
    ],
    [
      "what refers to a refused operation is not attempted",
      (
        s,
      ) => [
        open(s.run, s.head, 1, { stage_id: "none" }),
        start(s, 2),
        submit({ ...s.run, run_id: after(1) }, after(0), 3),
      ],
      "stage_not_found, accepted, earlier_refusal 0",
    ],
    [
      "arguments that a tool refuses are the error of that operation",
      (
        s,
      ) => [submit(s.run, s.head, 1, { scope: { kind: "nowhere" } }), start(s, 2), {
        tool: "scenario_trigger",
        arguments: {},
      }],
      "invalid_input, accepted, invalid_input",
    ],
    [
      "one identity twice in a list is one operation",
      (s) => [submit(s.run, s.head, 1), submit(s.run, s.head, 1), submit(s.run, after(0), 1)],
      "accepted, accepted, operation_conflict",
    ],
    [
      "one creation twice in a list is one run",
      (s) => [start(s, 5), start(s, 5), open({ ...s.run, run_id: after(1) }, after(0), 6)],
      "accepted, accepted, accepted",
    ],
  ];

for (const [what, list, words] of LISTS) {
  Deno.test(`scenario_apply: ${what}`, () =>
    withTools(async (bench) => {
      assert.equal(inWords(await apply(bench, ...list(await startRun(bench)))), words);
    }));
}

/** Lists of a wrong form, and the path of the fault. */
const WRONG: readonly (readonly [operations: (s: StartedRun) => JsonValue, path: string])[] = [
  [() => [], "$.operations"],
  [(s) => Array(257).fill(submit(s.run, s.head, 1)), "$.operations"],
  [(s) => [{ ...submit(s.run, s.head, 1), more: 1 }], "$.operations[0].more"],
  [() => [{ tool: "scenario_next", arguments: {} }], "$.operations[0].tool"],
  [() => [{ tool: "scenario_submit", arguments: 1 }], "$.operations[0].arguments"],
  [(s) => [submit(s.run, after(0), 1)], "$.operations[0].arguments.expected_head"],
  [(s) => [start(s, 1), submit({ ...s.run, run_id: after(-1) }, after(0), 1)], "$.operations[1].arguments.run_id"],
  [(s) => [start(s, 1), submit({ ...s.run, run_id: after(0.5) }, after(0), 1)], "$.operations[1].arguments.run_id"],
  [(s) => [start(s, 1), submit(s.run, { operation: "0" }, 1)], "$.operations[1].arguments.expected_head"],
  [(s) => [start(s, 1), submit(s.run, { operation: 0, revision: 1 }, 1)], "$.operations[1].arguments.expected_head"],
  [
    (s) => [
      start(s, 1),
      submit(s.run, s.head, 1, { scope: { kind: "stage_open", stage_id: "a", stage_open_record_id: after(0) } }),
    ],
    "$.operations[1].arguments.scope.stage_open_record_id",
  ],
];

Deno.test("scenario_apply refuses a list of a wrong form with its path, and records nothing", async () => {
  const commits: string[] = [];
  await withTools(async (bench) => {
    const started = await startRun(bench);
    for (const [operations, path] of WRONG) {
      const { code, details } = await bench.fail("scenario_apply", { operations: operations(started) });
      const [issue] = details?.["issues"] as readonly JsonObject[];
      assert.deepEqual([code, issue?.["path"]], ["invalid_input", path]);
    }
    assert.deepEqual(commits, []);
    const whole = Array.from(
      { length: 256 },
      (_, index) => submit(started.run, index === 0 ? started.head : after(index - 1), index),
    );
    const words = inWords(await apply(bench, ...whole));
    assert.equal(words, Array(256).fill("accepted").join(", "));
    assert.deepEqual(commits, ["256"]);
  }, { change: counting(commits) });
});

Deno.test("scenario_apply records nothing from the first answer that does not fit into 1 MiB", async () => {
  const commits: string[] = [];
  await withTools(async (bench) => {
    const started = await startRun(bench);
    // The trace of each attempt names 60 conditions.
    const conditions = Array.from({ length: 60 }, (_, index) => `c${index}`.padEnd(120, "x"));
    const wide = await bench.call("scenario_define", {
      spec: spec({
        scenario_id: "wide",
        conditions: conditions.map((condition_id) => ({
          ...(spec()["conditions"] as readonly JsonObject[])[0],
          condition_id,
        })),
        stages: [{
          stage_id: "build",
          entry_packets: [],
          prerequisite: { kind: "root" },
          completion_requirement: { And: conditions.map((Condition) => ({ Condition })) },
        }],
        completion_requirement: { Condition: "build" },
      }),
    });
    const base = { ...started.start, scenario_id: "wide", scenario_law_identity: wide["scenario_law_identity"] ?? "" };
    const run = { namespace_id: 2, scenario_id: "wide", run_id: after(0) };
    const list = [
      { tool: "scenario_start", arguments: { ...base, creation_request_id: id(77) } },
      open(run, after(0), 1),
      ...Array.from({ length: 60 }, (_, index) => evaluate(run, after(index + 1), 100 + index)),
    ];
    const results = await apply(bench, ...list);
    const made = results.filter(({ outcome }) => outcome !== undefined).length;
    assert.ok(made > 2 && made < list.length, `${made} of ${list.length}`);
    assert.equal(inWords(results.slice(made)), Array(list.length - made).fill("answer_limit").join(", "));
    assert.deepEqual(commits, [String(made)]);
    const text = JSON.stringify({ results });
    const next = sentBytes(JSON.stringify(results[made - 1]));
    assert.ok(
      sentBytes(text) <= ANSWER_BYTES && sentBytes(text) + next > ANSWER_BYTES - 16_384,
      "one more does not fit",
    );
    // The same list goes no further, and the rest alone is made.
    assert.equal(inWords(await apply(bench, ...list)), inWords(results));
    const { run_key } = envelope(results[0] as JsonObject).result as { run_key: JsonObject };
    const head = envelope(results[made - 1] as JsonObject).result["accepted_head"] ?? null;
    const rest = evaluate({ ...run, run_id: run_key["run_id"] ?? "" }, head, 100 + made - 2);
    assert.equal(inWords(await apply(bench, rest)), "accepted");
  }, { change: counting(commits) });
});

Deno.test("scenario_apply commits before and after a query of a provider", async () => {
  const commits: string[] = [];
  await withTools(async (bench) => {
    const started = await startRun(bench, SCANNED);
    const other = { ...started.run, run_id: after(1) };
    const list = [
      submit(started.run, started.head, 1),
      start(started, 2),
      open(started.run, after(0), 3),
      evaluate(started.run, after(2), 4),
      submit(started.run, after(3), 5),
      submit(other, after(1), 6),
    ];
    assert.equal(inWords(await apply(bench, ...list)), Array(6).fill("accepted").join(", "));
    assert.deepEqual(commits, ["2+1", "1", "1+1"]);
  }, { ...scanner(true), change: counting(commits) });
});

/** What happens at a commit, and what a list of three operations on two runs comes to. */
const FAULTS:
  readonly (readonly [what: string, at: (commit: number, meddle: () => Promise<void>) => unknown, words: string])[] = [
    [
      "a store that is busy once",
      (commit) => {
        if (commit === 1) throw new StoreError("busy", "held");
      },
      "accepted, accepted, accepted",
    ],
    [
      "a store that is busy",
      () => {
        throw new StoreError("busy", "held");
      },
      "store_busy, earlier_refusal 0, store_busy",
    ],
    [
      "another caller between decision and commit",
      (commit, meddle) => commit === 1 ? meddle() : undefined,
      "stale, earlier_refusal 0, accepted",
    ],
  ];

for (const [what, at, words] of FAULTS) {
  Deno.test(`scenario_apply with ${what}: ${words}`, async () => {
    const commits: string[] = [];
    let meddle = (): Promise<void> => Promise.resolve();
    await withTools(async (bench) => {
      const started = await startRun(bench);
      meddle = async () =>
        void await bench.call("scenario_submit", submit(started.run, started.head, 50)["arguments"] as JsonObject);
      const list = [submit(started.run, started.head, 1), submit(started.run, after(0), 2), start(started, 3)];
      assert.equal(inWords(await apply(bench, ...list)), words);
    }, { change: counting(commits, (commit) => at(commit, () => meddle()) as Promise<void>) });
  });
}

Deno.test("two lists of the same operations in opposite order are one list's work, and wait for no lock for ever", () =>
  withTools(async (bench) => {
    const started = await startRun(bench);
    const runs = await Promise.all(Array.from({ length: 8 }, async (_, index) => {
      const { result } = envelope(
        await bench.call("scenario_start", start(started, 20 + index)["arguments"] as JsonObject),
      );
      const { run_key, head } = result as { run_key: JsonObject; head: JsonObject };
      return submit({ ...started.run, run_id: run_key["run_id"] ?? "" }, head, 40 + index);
    }));
    const [forward, backward] = await Promise.all([apply(bench, ...runs), apply(bench, ...runs.toReversed())]);
    assert.deepEqual(forward, backward.toReversed());
    assert.equal(inWords(forward), Array(8).fill("accepted").join(", "));
  }));

Deno.test("an operation that waits for its commit is in flight for who asks what became of it", async () => {
  const asked: string[] = [];
  let ask = (): Promise<void> => Promise.resolve();
  await withTools(async (bench) => {
    const started = await startRun(bench);
    ask = async () => {
      const { outcome } = envelope(
        await bench.call("scenario_resolve_mutation", {
          namespace_id: 2,
          run_id: started.run.run_id,
          operation_id: { family: "submit", identity: id(1) },
          invocation_identity: "0".repeat(64),
        }),
      );
      asked.push(outcome);
    };
    await apply(bench, submit(started.run, started.head, 1), submit(started.run, after(0), 2));
    await ask();
    assert.deepEqual(asked, ["indeterminate", "invocation_mismatch"]);
  }, { change: counting([], () => ask()) });
});

/** Whether the audit log takes the line of each beginning, and what three operations on two runs come to. */
const LOGGED: readonly (readonly [logged: readonly boolean[], words: string])[] = [
  [[true, true, true], "accepted, accepted, accepted"],
  [[false, true, true], "audit_unavailable, earlier_refusal 0, accepted"],
  [[true, false, true], "accepted, audit_unavailable, accepted"],
  [[true, true, false], "accepted, accepted, audit_unavailable"],
];

for (const [logged, words] of LOGGED) {
  Deno.test(`scenario_apply records nothing whose beginning is not logged: ${logged} is ${words}`, () =>
    withTools(async (bench) => {
      const started = await startRun(bench);
      let begun = 0;
      const call: Call = {
        principal: LOCAL,
        signal: new AbortController().signal,
        correlationId: null,
        admitOperation: () => {
          const isLogged = logged[begun++] ?? true;
          const auditor = {
            decided: () => undefined,
            acquired: () => undefined,
            begin: () => new Promise<boolean>((resolve) => setTimeout(() => resolve(isLogged))),
          };
          return Promise.resolve({ refused: null, call: { ...call, auditor }, answered: () => Promise.resolve() });
        },
      };
      const operations = [submit(started.run, started.head, 1), submit(started.run, after(0), 2), start(started, 3)];
      const answer = await bench.tools.get("scenario_apply")?.handle({ operations }, call);
      assert.equal(answer?.ok === true && inWords(answer.result["results"] as Results), words);
      const accepted = words.split(", ").filter((word) => word === "accepted").length;
      const runs = await bench.services.runs.listRuns(null, 10);
      assert.equal(runs.reduce((sum, { head }) => sum + head.revision, 0), 1 + accepted);
    }));
}
