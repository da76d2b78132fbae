import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonObject } from "../../src/canonical/json.ts";
import { loadConfig } from "../../src/config/load.ts";
import { openRuntime } from "../../src/tools/runtime.ts";
import { LEAST_POLICY } from "../least_policy.ts";
import { gate, inFolder } from "./gate_command.ts";

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

/** Starts a run in the store of a folder's configuration; gives its id and first head. */
async function startRun(folder: string): Promise<{ readonly runId: string; readonly head: JsonObject }> {
  const runtime = await openRuntime(await loadConfig({ config: join(folder, "gate.toml") }), {
    dataDir: join(folder, ".gate"),
    signingKey: null,
  });
  const principal = { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] } as const;
  const call = async (name: string, input: JsonObject): Promise<JsonObject> => {
    const answer = await runtime.tools.get(name)?.handle(input, {
      principal,
      signal: new AbortController().signal,
      correlationId: null,
    });
    assert.ok(answer?.ok === true, JSON.stringify(answer));
    return answer.result;
  };
  try {
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
  } finally {
    await runtime.close();
  }
}

Deno.test("gate explain says what a run is missing", async () => {
  await inFolder(async (folder) => {
    assert.equal((await gate(folder, "init")).code, 0);
    await Deno.mkdir(join(folder, ".gate"), { recursive: true });
    const { runId, head } = await startRun(folder);
    const told = await gate(folder, "explain", runId);
    assert.deepEqual(told, {
      code: 0,
      stderr: "",
      stdout: `Run ${runId} of scenario "release" in namespace 2 is active at revision 1
2 stages are not complete.

Stage "build" is ready to be opened
  To be complete it needs
    review and tests
    or tests and waiver judged false
  Evidence that counts
    review: a boolean that equals true
        evidence: sent by the caller
    tests: a boolean that equals true
        evidence: sent by the caller
    waiver: a boolean that equals true
        evidence: sent by the caller

Stage "apply" is blocked
  It waits for
    build
  To be complete it needs
    deployed
  Evidence that counts
    deployed: a boolean that equals true
        evidence: sent by the caller
`,
    });
    const json = JSON.parse((await gate(folder, "explain", "--json", "--namespace", "2", runId)).stdout);
    assert.deepEqual([json.ok, json.command], [true, "explain"]);
    assert.deepEqual(json.result.accepted_head, head);
    assert.deepEqual([json.result.status, json.result.ready_frontier], ["active", ["build"]]);
    assert.deepEqual(json.result.missing[0].waits_for, { sets: [["build"]], complete: true });
  });
});

Deno.test("gate explain refuses what is no run", async () => {
  await inFolder(async (folder) => {
    await gate(folder, "init");
    await Deno.mkdir(join(folder, ".gate"), { recursive: true });
    await startRun(folder);
    const none = "f".repeat(32);
    const rows: readonly [string[], string][] = [
      [[none], `gate: Cannot find run "${none}" in the store\n`],
      [["--namespace", "3", none], `gate: Cannot find run "${none}" in namespace 3\n`],
      [["--namespace", "0", none], 'gate: Cannot use --namespace "0": must be an integer of at least 1\n'],
      [["abc"], 'gate: Cannot use run "abc": must be 32 lower-case hex digits\n'],
    ];
    for (const [args, stderr] of rows) {
      assert.deepEqual(await gate(folder, "explain", ...args), { code: 2, stdout: "", stderr });
    }
  });
});
