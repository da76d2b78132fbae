/**
 * Gates the release of this very checkout: runs real checks, lets a real gate server fetch their results, and lets the law
 * decide.
 *
 * Exit codes: 0 the release may go, 3 a check failed (False), 4 something is not known (Unknown), 1 anything unexpected.
 *
 * @module
 */

import { dirname } from "node:path";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { invocationIdentity } from "../../../src/run/invocation.ts";
import {
  branchName,
  commitId,
  countTests,
  declaredVersion,
  ENDPOINT,
  LOAD_WHEN_NEEDED,
  OF_TESTS,
  runDeno,
  runGate,
  serveVersion,
  THIS_DENO,
} from "./checks.ts";
import { fromFileUrl } from "./environment.ts";
import { connect, type GateSession, type Json } from "./gate_session.ts";
import { heading, mark, say, short, showAttempt, showChain, showGraph } from "./view.ts";

/** Exit codes by truth value. */
const EXIT_CODES: Readonly<Record<string, number>> = { true: 0, false: 3, unknown: 4 };

/** The shard of the project's tests that the demo runs. */
const TEST_FOLDERS = ["src/canonical", "src/law/value"];

/** The folders that the demo checks the types of. The others need packages that the demo does not use. */
const KERNEL = ["src/canonical", "src/law", "src/run"];

/** Where runpacks are written, below the checkout; version control ignores this folder. */
const RUNPACKS = ".gate/demo";

/** The folder of the law, its configuration and this program. */
const EXAMPLE = fromFileUrl(new URL("./", import.meta.url));

/** In place of a commit that is not known. */
const NO_COMMIT = "0".repeat(40);

function textOf(parameter_id: string, value: string): Json {
  return { parameter_id, value: { value, value_type: "String" } };
}

interface Run {
  readonly namespace_id: number;
  readonly run_id: string;
  readonly scenario_id: string;
}

/** Starts a server process and connects to it. */
type Connect = () => Promise<GateSession>;

/** A fresh 128-bit identity for an operation. */
function operationId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

async function headOf(gate: GateSession, run: Run): Promise<Json> {
  return (await gate.call("scenario_status", { ...run }))["accepted_head"];
}

async function openStage(gate: GateSession, run: Run, stage_id: string): Promise<Json> {
  const input = { ...run, stage_id, operation_id: operationId(), expected_head: await headOf(gate, run) };
  const answer = await gate.decide("scenario_open_stage", input);
  say(`  open ${stage_id}: ${mark(answer["outcome"])}`);
  return answer;
}

/** Evaluates a stage: gate fetches what the bindings of the stage name, and judges it. */
async function evaluateStage(gate: GateSession, run: Run, stage_id: string): Promise<string> {
  const answer = await gate.decide("scenario_evaluate_stage", {
    ...run,
    stage_id,
    operation_id: operationId(),
    expected_head: await headOf(gate, run),
  });
  if (answer["outcome"] !== "accepted") {
    say(`  evaluate ${stage_id}: ${mark(answer["outcome"])} ${JSON.stringify(answer["result"]["failures"] ?? {})}`);
    return "unknown";
  }
  showAttempt(answer["result"]["attempt"]);
  return answer["result"]["attempt"]["outcome"];
}

/** Runs the checks of a commit and writes their results. A missing result is left out, and stays Unknown. */
async function runChecks(folder: string, commit: string | null): Promise<void> {
  const commands: readonly (readonly [string, readonly string[]])[] = [
    ["format", ["fmt", "--check", "--quiet"]],
    // That rule reads every module of the program, so the runtime would download the packages of all of them.
    ["lint", ["lint", "--quiet", "--rules-exclude=no-slow-types"]],
    ["types", ["check", "--quiet", ...KERNEL]],
  ];
  const results: Record<string, unknown> = commit === null ? {} : { commit };
  await Promise.all(commands.map(async ([name, args]) => {
    say(`  running deno ${args.join(" ")}`);
    const end = await runDeno([...args, ...(name === "types" ? [...LOAD_WHEN_NEEDED, ...OF_TESTS] : [])]);
    say(`  ran deno ${args.join(" ")}: exit code ${end.exitCode ?? "unknown"}, ${end.seconds.toFixed(1)} s`);
    if (end.exitCode !== null) results[name] = { exit_code: end.exitCode };
  }));
  say(`  running deno test ${TEST_FOLDERS.join(" ")}`);
  const { passed, failed, seconds } = await countTests(TEST_FOLDERS);
  const counted = passed === null ? "not counted" : `${passed} passed, ${failed} failed`;
  say(`  ran deno test ${TEST_FOLDERS.join(" ")}: ${counted}, ${seconds.toFixed(1)} s`);
  if (passed !== null && failed !== null) results["tests"] = { passed, failed };
  await Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify(results));
}

/** Shows that gate decides only at the exact head that the caller names. */
async function showStaleHead(gate: GateSession, run: Run, oldHead: Json): Promise<void> {
  heading("A stale head is refused");
  const answer = await gate.decide("scenario_open_stage", {
    ...run,
    stage_id: "release",
    operation_id: operationId(),
    expected_head: oldHead,
  });
  say(`  open release from revision ${oldHead["revision"]}: ${mark(answer["outcome"])}`);
  say(`  the current head is revision ${answer["result"]["revision"]}, ${short(answer["result"]["record_id"])}`);
  if (answer["outcome"] !== "stale") throw new Error("Cannot go on: a stale head was not refused");
}

/** Loses the answer of a submission on purpose, and asks a new server process for the outcome. */
async function showLostAnswer(gate: GateSession, run: Run, reconnect: Connect): Promise<GateSession> {
  heading("A lost answer is requested again");
  const operation_id = operationId();
  const input = {
    ...run,
    operation_id,
    expected_head: await headOf(gate, run),
    scope: { kind: "run_wide" },
    content_type: "application/json",
    payload: { kind: "json", value: { note: "the results of the checks are in the records" } },
  };
  await gate.callAndLose("scenario_submit", input);
  say("  sent a submission, lost the answer, ended the server, started another on the same file");
  const next = await reconnect();
  const question = {
    namespace_id: run.namespace_id,
    run_id: run.run_id,
    operation_id: { family: "submit", identity: operation_id },
    invocation_identity: invocationIdentity(HOST_PRIMITIVES.sha256, "scenario_submit", input),
  };
  const resolved = await next.decide("scenario_resolve_mutation", question);
  say(`  the outcome of it: ${mark(resolved["outcome"])}`);
  const again = await next.decide("scenario_submit", input);
  say(
    `  the same submission again: ${mark(again["outcome"])}, revision ${again["result"]["accepted_head"]["revision"]}`,
  );
  return next;
}

/** What a run is about: the law is the same for every release. */
interface Release {
  readonly version: string;
  /** Null where the checkout does not know its commit: then no results are those of this release. */
  readonly commit: string | null;
}

async function startRun(gate: GateSession, scenario: Json, { version, commit }: Release): Promise<Run> {
  const law = await gate.call("scenario_define", { spec: scenario });
  say(`  law   ${law["scenario_law_identity"]}`);
  const started = await gate.decide("scenario_start", {
    namespace_id: scenario["namespace_id"],
    scenario_id: scenario["scenario_id"],
    scenario_law_identity: law["scenario_law_identity"],
    creation_request_id: operationId(),
    correlation: { kind: "unset" },
    genesis: { kind: "parameters", parameters: [textOf("version", version), textOf("commit", commit ?? NO_COMMIT)] },
  });
  const { namespace_id, run_id } = started["result"]["run_key"];
  say(`  run   ${run_id} of version ${version}, commit ${commit === null ? "unknown" : short(commit)}`);
  if (commit === null) say("  git names no commit here, so every condition on the commit stays unknown");
  return { namespace_id, run_id, scenario_id: scenario["scenario_id"] };
}

async function showEnd(gate: GateSession, run: Run, scenario: Json): Promise<void> {
  heading("Where the run stands");
  const status = await gate.call("scenario_status", { ...run });
  showGraph(scenario, status);
  say(`  run: ${mark(status["status"])}`);
  heading("The head chain: every record names the one it follows");
  showChain((await gate.call("scenario_history", { ...run }))["records"]);
  heading("Exported: every decision can be derived again from it");
  const { publication } = await gate.call("runpack_export", { namespace_id: run.namespace_id, run_id: run.run_id });
  say(`  runpack  ${publication["runpack_identity"]}`);
  const { report } = await gate.call("runpack_verify", {
    runpack_identity: publication["runpack_identity"],
    profile: "full_replay_v1",
  });
  const claims = report["claims"] as readonly Json[];
  const having = (status: string): number => claims.filter((claim) => claim["status"]["status"] === status).length;
  say(
    `  verified ${having("satisfied")} claims satisfied, ${having("violated")} violated, ${
      having("unavailable")
    } unavailable`,
  );
}

/** Writes the runpack into a folder that stays, and prints the command that verifies it. */
async function keepRunpack(run: Run, configPath: string): Promise<void> {
  const folder = `${RUNPACKS}/${run.run_id}`;
  const ofRun = ["--namespace", String(run.namespace_id), "--run", run.run_id];
  const { exitCode, errors } = await runGate("serve", [
    ...["runpack", "export", ...ofRun],
    ...["--config", configPath, "--out", folder],
  ]);
  if (exitCode !== 0) throw new Error(`Cannot write the runpack to ${folder}: ${errors}`);
  const verify = ["run", "--no-prompt", "--quiet", ...LOAD_WHEN_NEEDED, "-P=verify", "main.ts", "runpack", "verify"];
  say(`  folder   ${folder}`);
  say(`  check it ${[THIS_DENO, ...verify, folder].join(" ")}`);
}

/** Takes the release through its stages. Returns False if a stage is False, else Unknown if one is Unknown, else True. */
async function gateRelease(
  connectNow: Connect,
  scenario: Json,
  configPath: string,
  release: Release,
): Promise<string> {
  let gate = await connectNow();
  try {
    heading("Define the law, start a run");
    const run = await startRun(gate, scenario, release);
    const firstHead = await headOf(gate, run);
    showGraph(scenario, await gate.call("scenario_status", { ...run }));
    heading("Run the checks of this checkout; gate fetches their results itself");
    await openStage(gate, run, "static-checks");
    await openStage(gate, run, "tests");
    await runChecks(dirname(configPath), release.commit);
    const outcomes = [await evaluateStage(gate, run, "static-checks"), await evaluateStage(gate, run, "tests")];
    await showStaleHead(gate, run, firstHead);
    gate = await showLostAnswer(gate, run, connectNow);
    heading("May the release go?");
    const opened = await openStage(gate, run, "release");
    if (opened["outcome"] === "accepted") outcomes.push(await evaluateStage(gate, run, "release"));
    await showEnd(gate, run, scenario);
    await keepRunpack(run, configPath);
    return outcomes.find((outcome) => outcome === "false") ?? outcomes.find((outcome) => outcome === "unknown") ??
      "true";
  } finally {
    await gate.close();
  }
}

/** Puts the configuration into a folder of its own, with a place for the evidence. */
async function writeConfig(folder: string): Promise<string> {
  await Deno.mkdir(`${folder}/evidence`);
  await Deno.copyFile(`${EXAMPLE}/gate.toml`, `${folder}/gate.toml`);
  return `${folder}/gate.toml`;
}

/** The law of the file in long form, as tools take it, with the endpoint of this run. */
async function readScenario(endpoint: string, folder: string): Promise<Json> {
  const text = await Deno.readTextFile(`${EXAMPLE}/scenario.yaml`);
  if (endpoint !== ENDPOINT) say(`${ENDPOINT} is taken, so the law of this run asks ${endpoint}`);
  const file = `${folder}/scenario.yaml`;
  await Deno.writeTextFile(file, text.replaceAll(ENDPOINT, endpoint));
  const built = await runGate("verify", ["scenario", "build", file]);
  if (built.exitCode !== 0) throw new Error(`Cannot read ${file}: ${built.output}${built.errors}`);
  return JSON.parse(built.output) as Json;
}

async function main(): Promise<number> {
  const started = performance.now();
  const folder = await Deno.makeTempDir({ prefix: "gate-demo-" });
  const endpoint = serveVersion();
  try {
    const configPath = await writeConfig(folder);
    const branch = await branchName();
    const environment = branch === null ? {} : { RELEASE_BRANCH: branch };
    const scenario = await readScenario(endpoint.url, folder);
    const release = { version: await declaredVersion(), commit: await commitId() };
    const outcome = await gateRelease(() => connect(configPath, environment), scenario, configPath, release);
    const verdict = {
      true: "the release may go",
      false: "the release may not go",
      unknown: "the release may not go, something is not known",
    }[outcome];
    say();
    say(`${mark(outcome)}: ${verdict} (${((performance.now() - started) / 1000).toFixed(0)} s)`);
    return EXIT_CODES[outcome] ?? 1;
  } finally {
    await endpoint.close();
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main());
