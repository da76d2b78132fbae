import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { NO_GRANTS } from "../../../src/evidence/typed/grants.ts";
import { openRuntime } from "../../../src/tools/runtime.ts";
import { LEAST_POLICY } from "../../least_policy.ts";
import { gate, inFolder } from "../gate_command.ts";

function flag(condition_id: string): JsonObject {
  const predicate = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
  return { condition_id, observation_domain: { domain: "Boolean" }, predicate, evidence_use_policy: LEAST_POLICY };
}

const SPEC: JsonObject = {
  spec_version: "dag-v3",
  scenario_id: "release",
  namespace_id: 2,
  acquisition_bindings: [],
  conditions: [flag("tests"), flag("review"), flag("waiver"), flag("deployed")],
  policies: [],
  schemas: [],
  stages: [
    {
      stage_id: "build",
      prerequisite: { kind: "root" },
      entry_packets: [],
      completion_requirement: {
        And: [{ Condition: "tests" }, { Or: [{ Condition: "review" }, { Not: { Condition: "waiver" } }] }],
      },
    },
    {
      stage_id: "apply",
      prerequisite: { kind: "requires", requirement: { Condition: "build" } },
      entry_packets: [],
      completion_requirement: { Condition: "deployed" },
    },
  ],
  completion_requirement: { Condition: "apply" },
  value_limits: { selection: "InheritOperator" },
};

type ToolCall = (name: string, input: JsonObject) => Promise<JsonObject>;

/** Calls tools on the store of a folder's configuration. */
async function withStore<Result>(folder: string, body: (call: ToolCall) => Promise<Result>): Promise<Result> {
  const runtime = await openRuntime(await loadConfig({ config: join(folder, "gate.toml") }), {
    dataDir: join(folder, ".gate"),
    signingKey: null,
    typed: NO_GRANTS,
  });
  const principal = { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] } as const;
  const call: ToolCall = async (name, input) => {
    const answer = await runtime.tools.get(name)?.handle(input, {
      principal,
      signal: new AbortController().signal,
      correlationId: null,
    });
    assert.ok(answer?.ok === true, JSON.stringify(answer));
    return answer.result;
  };
  try {
    return await body(call);
  } finally {
    await runtime.close();
  }
}

/** Starts a run; returns its id and first head. */
function startRun(folder: string): Promise<{ readonly runId: string; readonly head: JsonObject }> {
  return withStore(folder, async (call) => {
    const { scenario_law_identity = "" } = await call("scenario_define", { spec: SPEC });
    const started = await call("scenario_start", {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity,
      creation_request_id: "0".repeat(32),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    });
    const { result } = started["outcome"] as { result: { run_key: { run_id: string }; head: JsonObject } };
    return { runId: result.run_key.run_id, head: result.head };
  });
}

/** Evaluates a stage of a run at a head; returns the next head. */
function evaluate(
  folder: string,
  runId: string,
  head: JsonObject,
  stage_id: string,
  values: Readonly<Record<string, boolean>>,
): Promise<JsonObject> {
  return withStore(folder, async (call) => {
    const caller_evidence = Object.entries(values).map(([condition_id, value]) => ({
      condition_id,
      retention: { retention: "RetainCanonicalValue" },
      value: { value, value_type: "Boolean" },
    }));
    const named = { namespace_id: 2, scenario_id: "release", run_id: runId, expected_head: head };
    const request_id = crypto.randomUUID().replaceAll("-", "");
    const answer = await call("scenario_next", { ...named, request_id, stage_id, caller_evidence });
    const { outcome, result } = answer["outcome"] as { outcome: string; result: JsonObject };
    assert.equal(outcome, "accepted", JSON.stringify(answer));
    return result["accepted_head"] as JsonObject;
  });
}

Deno.test("gate explain shows what a run is missing", async () => {
  await inFolder(async (folder) => {
    assert.equal((await gate(folder, "init")).code, 0);
    await Deno.mkdir(join(folder, ".gate"), { recursive: true });
    const { runId, head } = await startRun(folder);
    const output = await gate(folder, "explain", runId);
    assert.deepEqual(output, {
      code: 4,
      stderr: "",
      stdout: `Run ${runId} of scenario "release" in namespace 2 is active at revision 1
2 stages are not complete.

Stage "build" is ready to be opened
  To be complete it needs
    review and tests
    or tests and !waiver
  Evidence that counts
    review
        evidence: boolean, sent by the caller
    tests
        evidence: boolean, sent by the caller
    waiver
        evidence: boolean, sent by the caller

Stage "apply" is blocked
  It waits for
    build
  To be complete it needs
    deployed
  Evidence that counts
    deployed
        evidence: boolean, sent by the caller
`,
    });
    const json = JSON.parse((await gate(folder, "explain", "--json", "--namespace", "2", runId)).stdout);
    assert.deepEqual([json.ok, json.command], [false, "explain"]);
    assert.deepEqual(json.result.last_attempts, []);
    assert.deepEqual(json.result.accepted_head, head);
    assert.deepEqual([json.result.status, json.result.ready_frontier], ["active", ["build"]]);
    assert.deepEqual(json.result.missing[0].waits_for, { sets: [["build"]], complete: true });
  });
});

/** Attempts in order, and the exit code and a part of the output of explain afterwards. */
const ATTEMPTS: readonly [string, Readonly<Record<string, boolean>>, number, string][] = [
  ["build", {}, 4, "  Its last attempt, number 1, was unknown\n    tests: nothing known yet ?\n"],
  ["build", { tests: false }, 3, "  Its last attempt, number 2, was false\n    tests: found false ✗\n"],
  ["build", { tests: true }, 4, "number 3, was unknown\n    review: nothing known yet ?\n    !waiver: "],
  ["build", { tests: true, review: true }, 4, 'Stage "apply" is ready to be opened\n  To be complete'],
  ["apply", { deployed: false }, 3, 'Stage "apply" is open\n  Its last attempt, number 5, was false\n'],
  ["apply", { deployed: true }, 0, "is complete at revision 9\nNothing is missing.\n"],
];

Deno.test("gate explain exits with 3 if an open stage was False, 4 if the run is incomplete, 0 if it is complete", () =>
  inFolder(async (folder) => {
    await gate(folder, "init");
    await Deno.mkdir(join(folder, ".gate"), { recursive: true });
    const { runId, head } = await startRun(folder);
    let at = head;
    for (const [stage, values, code, message] of ATTEMPTS) {
      at = await evaluate(folder, runId, at, stage, values);
      const output = await gate(folder, "explain", runId);
      assert.deepEqual([output.code, output.stderr], [code, ""], output.stdout);
      assert.ok(output.stdout.includes(message), output.stdout);
      const json = await gate(folder, "explain", "--json", runId.slice(0, 12));
      assert.deepEqual([json.code, JSON.parse(json.stdout).ok], [code, code === 0]);
    }
  }));

Deno.test("gate explain rejects an invalid run", async () => {
  await inFolder(async (folder) => {
    await gate(folder, "init");
    await Deno.mkdir(join(folder, ".gate"), { recursive: true });
    await startRun(folder);
    const none = "f".repeat(32);
    const rows: readonly [string[], string][] = [
      [[none], `gate: Cannot find run "${none}" in the store\n`],
      [["--namespace", "3", none], `gate: Cannot find run "${none}" in namespace 3\n`],
      [["--namespace", "0", none], 'gate: Cannot use --namespace "0": must be an integer of at least 1\n'],
      [["abc"], 'gate: Cannot use run "abc": must be 4 to 32 lower-case hex digits\n'],
    ];
    for (const [args, stderr] of rows) {
      assert.deepEqual(await gate(folder, "explain", ...args), { code: 2, stdout: "", stderr });
    }
  });
});
