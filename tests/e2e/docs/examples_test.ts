import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { leavesOf } from "@/law/requirement_walk.ts";
import type { ScenarioLaw } from "@/law/types.ts";
import type { SeenServer } from "./agent_script.ts";
import {
  COMMIT,
  configOf,
  DATABASE_MIGRATION,
  type Example,
  EXAMPLES,
  keysOf,
  RELEASE_GATE,
  releaseOf,
  withExample,
  withServerIn,
} from "./example_goals.ts";
import { gate } from "../gate_command.ts";
import { GOOD_RESULTS, withRelease } from "./release_goal.ts";

function exampleNamed(name: string): Example {
  const found = EXAMPLES.find((example) => example.name === name);
  assert.ok(found, name);
  return found;
}

/** A run that is driven step by step. */
interface Drive {
  readonly server: SeenServer;
  readonly run: JsonObject;
  readonly law: string;
  readonly spec: JsonObject;
  head: JsonValue;
}

let operations = 0;

function freshId(): string {
  operations += 1;
  return operations.toString(16).padStart(32, "0");
}

/** Registers what a spec needs, defines it, and starts a run. */
async function start(
  server: SeenServer,
  spec: JsonObject,
  schemas: readonly JsonObject[],
  genesis?: JsonObject,
): Promise<Drive> {
  for (const record of schemas) {
    const { error } = await server.call("schemas_register", { record });
    assert.equal(error, undefined, JSON.stringify(error));
  }
  const law = String((await server.call("scenario_define", { spec }))["scenario_law_identity"]);
  const run = { namespace_id: 2, scenario_id: spec["scenario_id"] ?? "" };
  return await again({ server, run, law, spec, head: null }, genesis);
}

/** Starts another run of the same law. */
async function again(
  { server, run, law, spec }: Drive,
  genesis: JsonObject = { kind: "empty" },
): Promise<Drive> {
  const scenario = { namespace_id: 2, scenario_id: run["scenario_id"] ?? "" };
  const { outcome } = await server.call("scenario_start", {
    ...scenario,
    scenario_law_identity: law,
    creation_request_id: freshId(),
    correlation: { kind: "unset" },
    genesis,
  }) as { outcome: JsonObject };
  const { run_key, head } = outcome["result"] as { run_key: { run_id: string }; head: JsonObject };
  return { server, run: { ...scenario, run_id: run_key.run_id }, law, spec, head };
}

interface Condition {
  readonly condition_id: string;
  readonly observation_domain: { readonly domain: string };
  readonly evidence_use_policy: { readonly allowed_channels: readonly string[] };
}

/** Evidence as the conditions of the spec want it. */
function evidence({ spec }: Drive, facts: Readonly<Record<string, JsonValue>>): JsonObject[] {
  const conditions = spec["conditions"] as unknown as readonly Condition[];
  return Object.entries(facts).map(([condition_id, value]) => {
    const value_type = conditions.find((one) => one.condition_id === condition_id)?.observation_domain.domain ?? "";
    return { condition_id, retention: { retention: "RetainCanonicalValue" }, value: { value, value_type } };
  });
}

/** Opens a stage; gives the outcome and its result. */
async function open(drive: Drive, stage_id: string): Promise<readonly [string, JsonObject]> {
  const input = { ...drive.run, stage_id, expected_head: drive.head, operation_id: freshId() };
  return settle(drive, await drive.server.call("scenario_open_stage", input));
}

/** Evaluates a stage; gives the outcome of the attempt, or that of a refusal. */
async function evaluate(drive: Drive, stage_id: string, items: readonly JsonObject[]): Promise<string> {
  const input = { ...drive.run, stage_id, expected_head: drive.head, operation_id: freshId(), caller_evidence: items };
  const [outcome, result] = settle(drive, await drive.server.call("scenario_evaluate_stage", input));
  return outcome === "accepted" ? String((result["attempt"] as JsonObject)["outcome"]) : outcome;
}

function settle(drive: Drive, answer: JsonObject): readonly [string, JsonObject] {
  assert.ok(answer["outcome"] !== undefined, JSON.stringify(answer));
  const { outcome, result } = answer["outcome"] as { outcome: string; result: JsonObject };
  if (outcome === "accepted") drive.head = result["accepted_head"] ?? null;
  return [outcome, result];
}

for (const example of [RELEASE_GATE, DATABASE_MIGRATION, ...EXAMPLES]) {
  Deno.test(`example ${example.name} is a law, and its cases pass`, () =>
    withExample(example, async ({ folder }) => {
      const scenario = async (command: string, ...flags: readonly string[]): Promise<string> => {
        const ended = await gate(folder, "scenario", command, example.file, ...flags, ...await configOf(folder));
        assert.equal(ended.code, 0, ended.stdout + ended.stderr);
        return ended.stdout;
      };
      const { diagnostics } = JSON.parse(await scenario("check", "--json", ...await keysOf(folder))).result as {
        diagnostics: readonly { readonly code: string }[];
      };
      // Some examples let the caller or one person decide, which is a warning.
      const known = ["caller_asserted", "caller_alone", "one_person_alone", "caller_word_beside_approval"];
      assert.deepEqual(diagnostics.filter(({ code }) => !known.includes(code)), []);
      const { passed, failed, untested } = JSON.parse(await scenario("test", "--json")).result;
      assert.ok(passed >= 4 && failed === 0);
      const ways = example.name === "data_disclosure" ? ["share-raw"] : [];
      assert.deepEqual(untested, ways, "every stage is completed by a case, save the one that the policy closes");
      for (const text of [await scenario("explain"), await scenario("graph")]) {
        for (const stage of example.stages) assert.ok(text.includes(stage), `${stage} in ${text}`);
      }
    }));
}

Deno.test("a scenario that misspells a name is told the one that was probably meant, where there is one", () =>
  withExample(RELEASE_GATE, async ({ folder }) => {
    const law = await Deno.readTextFile(`${folder}/scenario.yaml`);
    const misspelt = law.replace("json results.json $.commit", "{ jsn.path: { file: results.json } }")
      .replace("env RELEASE_BRANCH", "{ other.get: { key: RELEASE_BRANCH } }")
      .replace(/"http http:[^"]*"/, "{ http.statu: { url: x } }")
      .replace('"after 2026-01-01T00:00:00Z"', "{ time.elsewhere: {} }");
    await Deno.writeTextFile(`${folder}/misspelt.yaml`, misspelt);
    const said = async (...flags: readonly string[]): Promise<string[]> => {
      const { code, stdout } = await gate(folder, "scenario", "check", "misspelt.yaml", "--json", ...flags);
      assert.equal(code, 2);
      return JSON.parse(stdout).result.diagnostics.map(({ message }: { message: string }) => message);
    };
    assert.deepEqual(await said("--config", "gate.toml"), [
      'Condition "checked_commit" allows only "local_acquisition"',
      'Provider "jsn" is not configured; did you mean "json"?',
      'Condition "branch" allows only "local_acquisition"',
      'Provider "other" is not configured; configured are "json", "env", "http", "rest", "time"',
      'Provider "http" has no check "statu"; did you mean "status"?',
      'Provider "time" has no check "elsewhere"; it has "now", "after", "before"',
    ]);
    await Deno.writeTextFile(
      `${folder}/misspelt.yaml`,
      law.replace("present(branch)", "present(brnch)").replace("static_checks && tests", "static_check && tests"),
    );
    assert.deepEqual(await said("--config", "gate.toml"), [
      'Stage "static_check" is not declared; did you mean "static_checks"?',
      'Name "brnch" is not declared; did you mean "branch"?',
    ]);
    await Deno.writeTextFile(`${folder}/misspelt.yaml`, misspelt);
    await Deno.remove(`${folder}/gate.toml`);
    const unconfigured = await said();
    assert.ok(
      unconfigured.includes(
        'Provider "jsn" is not configured; no provider is configured: name a configuration with --config',
      ),
    );
  }));

Deno.test("every example has a page, and the index page names it", async () => {
  const folder = new URL("../../../docs/examples/", import.meta.url);
  const index = await Deno.readTextFile(new URL("README.md", folder));
  for (const { name, file } of [RELEASE_GATE, DATABASE_MIGRATION, ...EXAMPLES]) {
    assert.ok(index.includes(`| [${name}](${name}/README.md)`), name);
    const page = await Deno.readTextFile(new URL(`${name}/README.md`, folder));
    for (const named of [file, "scenario.cases.yaml", `gate scenario test ${file}`]) {
      assert.ok(page.includes(named), name);
    }
  }
});

Deno.test("release_gate: a failed test or another version holds the release back, whatever anybody says", () =>
  withRelease(({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const drive = await start(server, goal.spec, [], goal.genesis);
      const results = (tests: JsonObject): Promise<void> =>
        Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify({ ...GOOD_RESULTS, tests }));
      await open(drive, "tests");
      await results({ passed: 11, failed: 1 });
      assert.equal(await evaluate(drive, "tests", []), "false");
      assert.equal(await evaluate(drive, "tests", evidence(drive, { tests_failed: 0 })), "false", "nobody tells it");
      await results({ passed: 12, failed: 0 });
      assert.equal(await evaluate(drive, "tests", []), "true");
      assert.equal((await open(drive, "release"))[0], "stage_not_ready");
      await open(drive, "static-checks");
      assert.equal(await evaluate(drive, "static-checks", []), "true");
      await open(drive, "release");
      await results({ passed: 11, failed: 1 });
      assert.equal(await evaluate(drive, "release", []), "false", "asked again before the release");
      await results({ passed: 12, failed: 0 });
      assert.equal(await evaluate(drive, "release", []), "true");
      assert.equal((await server.call("scenario_status", drive.run))["status"], "complete");
    })
  ));

Deno.test("release_gate: one law serves every release, and the results of one commit are no results of another", () =>
  withRelease(({ goal, folder }) =>
    withServerIn(folder, async (server) => {
      const first = await start(server, goal.spec, [], goal.genesis);
      const otherCommit = await again(first, releaseOf("0.1.0", "0".repeat(40)));
      await open(otherCommit, "tests");
      assert.equal(await evaluate(otherCommit, "tests", []), "false");
      const otherVersion = await again(first, releaseOf("9.9.9", COMMIT));
      for (const stage of ["static-checks", "tests"]) {
        await open(otherVersion, stage);
        assert.equal(await evaluate(otherVersion, stage, []), "true");
      }
      await open(otherVersion, "release");
      assert.equal(await evaluate(otherVersion, "release", []), "false", "no such release answers");
      const laws = await server.call("scenarios_list", { namespace_id: 2 });
      assert.equal((laws["items"] as JsonObject[] | undefined)?.length ?? 1, 1, "one law for all");
    })
  ));

Deno.test("a case that comes out otherwise is shown with why, and fails", () =>
  withExample(exampleNamed("agent_task"), async ({ folder }) => {
    const path = `${folder}/scenario.cases.yaml`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replace("types_check: true", "types_check: false"));
    const { code, stdout } = await gate(folder, "scenario", "test", "scenario.yaml");
    assert.equal(code, 3);
    assert.match(stdout, /^FAILED {2}two of three checks are enough/m);
    assert.match(
      stdout,
      /scenario\.cases\.yaml:8: two of three checks are enough\n {4}complete: the run is active\n {4}plan is true\n/,
    );
    assert.match(stdout, /6 passed, 1 failed\n/);
  }));

Deno.test("data_disclosure: raw records leave under no circumstances, the extract does", () => {
  const example = exampleNamed("data_disclosure");
  return withExample(example, ({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const drive = await start(server, goal.spec, goal.schemas ?? []);
      await open(drive, "request");
      const { purpose = "", contract_in_force = true, direct_identifiers = 0, smallest_group = 0 } = example.facts;
      assert.equal(await evaluate(drive, "request", evidence(drive, { purpose, contract_in_force })), "true");
      const [denied, refusal] = await open(drive, "share-raw");
      assert.deepEqual([denied, refusal["packet_id"]], ["policy_denied", "raw-records"]);
      const [, analysis] = await open(drive, "analysis");
      const [intent] = analysis["entry_intents"] as JsonObject[];
      assert.equal(intent?.["packet_id"], "data-dictionary");
      assert.equal(await evaluate(drive, "analysis", evidence(drive, { direct_identifiers, smallest_group })), "true");
      assert.equal((await open(drive, "share-extract"))[0], "accepted");
      assert.equal(await evaluate(drive, "share-extract", evidence(drive, { received: true })), "true");
      assert.equal((await server.call("scenario_status", drive.run))["status"], "complete");
    }));
});

Deno.test("agent_task: secrets touched stop the work, whatever else passes", () => {
  const example = exampleNamed("agent_task");
  return withExample(example, ({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const drive = await start(server, goal.spec, []);
      const { acceptance_criteria = 0, summary = "", ...work } = example.facts;
      await open(drive, "plan");
      assert.equal(await evaluate(drive, "plan", evidence(drive, { acceptance_criteria })), "true");
      await open(drive, "work");
      assert.equal(await evaluate(drive, "work", evidence(drive, { ...work, touches_secrets: true })), "false");
      assert.equal((await open(drive, "hand-over"))[0], "stage_not_ready");
      assert.equal(await evaluate(drive, "work", evidence(drive, work)), "true");
      await open(drive, "hand-over");
      assert.equal(await evaluate(drive, "hand-over", evidence(drive, { summary })), "true");
      assert.equal((await server.call("scenario_status", drive.run))["status"], "complete");
    }));
});

Deno.test("model_promotion: gate reads the reports itself, and a worse one holds the model back", () => {
  const example = exampleNamed("model_promotion");
  return withExample(example, ({ folder, goal }) =>
    withServerIn(folder, async (server) => {
      const drive = await start(server, goal.spec, goal.schemas ?? []);
      const { model_card = null } = example.facts;
      await open(drive, "document");
      const poor = { model: "ticket-router-7", intended_use: "routing of tickets", limits: [] };
      assert.equal(await evaluate(drive, "document", evidence(drive, { model_card: poor })), "unknown");
      assert.equal(await evaluate(drive, "document", evidence(drive, { model_card })), "true");
      await open(drive, "evaluate");
      const path = `${folder}/reports/evaluation.json`;
      const report = await Deno.readTextFile(path);
      await Deno.writeTextFile(path, report.replace("0.941", "0.9199"));
      assert.equal(await evaluate(drive, "evaluate", []), "false");
      assert.equal(
        await evaluate(drive, "evaluate", evidence(drive, { accuracy: "0.99" })),
        "false",
        "nobody tells it",
      );
      await Deno.writeTextFile(path, report);
      assert.equal(await evaluate(drive, "evaluate", []), "true");
      await open(drive, "canary");
      assert.equal(await evaluate(drive, "canary", []), "true");
      assert.equal((await server.call("scenario_status", drive.run))["status"], "complete");
    }));
});

/** A case as `gate scenario test --json` and its file tell it. */
interface TriedCase {
  readonly name: string;
  readonly status: string;
  readonly steps: readonly { readonly stages: readonly { readonly stage_id: string; readonly outcome: string }[] }[];
}

type Facts = Readonly<Record<string, JsonValue>>;
type WrittenCase = Facts & { readonly steps?: readonly Facts[] };

/** What a server makes of one attempt of a case, in the words of cases. */
async function attempt(
  drive: Drive,
  stage: string,
  { sign = [], items = {}, ...given }: Facts,
  approve: (key: string) => Promise<void>,
): Promise<string> {
  const [opened] = await open(drive, stage);
  if (opened === "policy_denied") return "denied";
  if (opened === "stage_not_ready") return "blocked";
  assert.ok(["accepted", "stage_already_opened"].includes(opened), opened);
  const stages = drive.spec["stages"] as unknown as readonly ScenarioLaw["stages"][number][];
  const own = leavesOf(stages.find(({ stage_id }) => stage_id === stage)?.completion_requirement ?? { And: [] });
  const isOwn = ([name, value]: readonly [string, unknown]): boolean => own.includes(name) && value !== null;
  if (own.includes("waived")) { for (const key of sign as readonly string[]) await approve(key); }
  const sent = Object.entries(items as Readonly<Record<string, readonly JsonValue[]>>).filter(isOwn).flatMap((
    [name, values],
  ) => values.flatMap((value) => evidence(drive, { [name]: value })));
  const facts = Object.fromEntries(Object.entries(given).filter(isOwn));
  const outcome = await evaluate(drive, stage, [...evidence(drive, facts), ...sent]);
  return outcome === "evidence_rejected" ? "rejected" : outcome;
}

for (const name of ["data_disclosure", "agent_task"]) {
  Deno.test(`the cases of ${name} have the outcomes of gate scenario test on a server`, () => {
    const example = exampleNamed(name);
    return withExample(example, async ({ folder, goal }) => {
      const { stdout } = await gate(folder, "scenario", "test", example.file, "--json");
      const tried = JSON.parse(stdout).result.cases as readonly TriedCase[];
      const { given: shared = {}, ...written } = parseYaml(
        await Deno.readTextFile(`${folder}/scenario.cases.yaml`),
      ) as Readonly<Record<string, WrittenCase>>;
      await withServerIn(folder, async (server) => {
        const first = await start(server, goal.spec, goal.schemas ?? []);
        for (const { name, steps, status } of tried) {
          const drive = await again(first);
          const approve = async (key: string): Promise<void> => {
            const flags = ["--key", `keys/${key}.key`, "--yes", ...await keysOf(folder), ...await configOf(folder)];
            const ended = await gate(folder, "approve", String(drive.run["run_id"]), ...flags);
            assert.equal(ended.code, 0, ended.stdout + ended.stderr);
            drive.head = (await server.call("scenario_status", drive.run))["accepted_head"] ?? null;
          };
          const { steps: listed = [{}], ...own } = written[name] ?? {};
          for (const [at, { stages }] of steps.entries()) {
            for (const { stage_id, outcome } of stages) {
              const facts = { ...shared, ...own, ...listed[at] } as Facts;
              assert.equal(await attempt(drive, stage_id, facts, approve), outcome, `${name}: ${stage_id}`);
            }
          }
          assert.equal((await server.call("scenario_status", drive.run))["status"], status, name);
        }
      });
    });
  });
}
