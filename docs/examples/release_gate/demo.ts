/**
 * Gates the release of this very checkout: runs real checks, hands their results to a real gate server as evidence,
 * and lets the law decide.
 *
 * Exit codes: 0 the release may go, 3 a check failed (False), 4 something is not known (Unknown), 1 anything unexpected.
 *
 * @module
 */

import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { invocationIdentity } from "../../../src/run/invocation.ts";
import { countTests, runDeno, versionReported } from "./checks.ts";
import { connect, type GateSession, type Json } from "./gate_session.ts";
import { heading, mark, say, short, showAttempt, showChain, showGraph } from "./view.ts";

/** Exit codes by truth value. */
const EXIT_CODES: Readonly<Record<string, number>> = { true: 0, false: 3, unknown: 4 };

/** The shard of the project's tests that the demo runs. */
const TEST_FOLDERS = ["src/canonical/", "src/run/"];

/** The starter configuration, with the audit log in a file of its own. */
const AUDIT = '\n[server.audit]\npath = "audit.jsonl"\n';

interface Run {
  readonly namespace_id: number;
  readonly run_id: string;
  readonly scenario_id: string;
}

interface Evidence {
  readonly condition_id: string;
  readonly value: boolean | number | null;
  readonly value_type: "Boolean" | "Integer";
}

/** A fresh 128-bit identity for an operation. */
function operationId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** Evidence items for what is known; what is not known is simply not said, and stays Unknown. */
function evidenceItems(evidence: readonly Evidence[]): Json[] {
  return evidence.filter(({ value }) => value !== null).map(({ condition_id, value, value_type }) => ({
    condition_id,
    retention: { retention: "RetainCanonicalValue" },
    value: { value, value_type },
  }));
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

async function evaluateStage(
  gate: GateSession,
  run: Run,
  stage_id: string,
  evidence: readonly Evidence[],
): Promise<string> {
  const answer = await gate.decide("scenario_evaluate_stage", {
    ...run,
    stage_id,
    operation_id: operationId(),
    expected_head: await headOf(gate, run),
    caller_evidence: evidenceItems(evidence),
  });
  if (answer["outcome"] !== "accepted") throw new Error(`Cannot evaluate ${stage_id}: ${JSON.stringify(answer)}`);
  showAttempt(answer["result"]["attempt"]);
  return answer["result"]["attempt"]["outcome"];
}

async function runStaticChecks(): Promise<Evidence[]> {
  const commands: readonly (readonly [string, string, readonly string[]])[] = [
    ["format_exit_code", "deno fmt --check", ["fmt", "--check", "--quiet"]],
    ["lint_exit_code", "deno lint", ["lint", "--quiet"]],
    ["types_exit_code", "deno check main.ts", ["check", "--quiet", "main.ts"]],
  ];
  return await Promise.all(commands.map(async ([condition_id, name, args]) => {
    const end = await runDeno(args);
    say(`  ran ${name}: exit code ${end.exitCode ?? "unknown"}, ${end.seconds.toFixed(1)} s`);
    return { condition_id, value: end.exitCode, value_type: "Integer" as const };
  }));
}

async function runTests(): Promise<Evidence[]> {
  const count = await countTests(TEST_FOLDERS);
  const counted = count.passed === null ? "not counted" : `${count.passed} passed, ${count.failed} failed`;
  say(`  ran deno test ${TEST_FOLDERS.join(" ")}: ${counted}, ${count.seconds.toFixed(1)} s`);
  return [
    { condition_id: "tests_passed", value: count.passed, value_type: "Integer" },
    { condition_id: "tests_failed", value: count.failed, value_type: "Integer" },
  ];
}

/** Shows that a decision is only made at the exact head that the caller names. */
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

/** Loses the answer of a submission on purpose, and asks a new server process what became of it. */
async function showLostAnswer(gate: GateSession, run: Run, configPath: string): Promise<GateSession> {
  heading("A lost answer is asked for again");
  const operation_id = operationId();
  const input = {
    ...run,
    operation_id,
    expected_head: await headOf(gate, run),
    scope: { kind: "run_wide" },
    content_type: "application/json",
    payload: { kind: "json", value: { note: "results of the checks are in the records" } },
  };
  await gate.callAndLose("scenario_submit", input);
  say("  sent a submission, lost the answer, ended the server, started another on the same file");
  const next = await connect(configPath);
  const question = {
    namespace_id: run.namespace_id,
    run_id: run.run_id,
    operation_id: { family: "submit", identity: operation_id },
    invocation_identity: invocationIdentity(HOST_PRIMITIVES.sha256, "scenario_submit", input),
  };
  const resolved = await next.decide("scenario_resolve_mutation", question);
  say(`  what became of it: ${mark(resolved["outcome"])}`);
  const again = await next.decide("scenario_submit", input);
  say(
    `  the same submission again: ${mark(again["outcome"])}, revision ${again["result"]["accepted_head"]["revision"]}`,
  );
  return next;
}

async function startRun(gate: GateSession, scenario: Json): Promise<Run> {
  const law = await gate.call("scenario_define", { spec: scenario });
  say(`  law   ${law["scenario_law_identity"]}`);
  const started = await gate.decide("scenario_start", {
    namespace_id: scenario["namespace_id"],
    scenario_id: scenario["scenario_id"],
    scenario_law_identity: law["scenario_law_identity"],
    creation_request_id: operationId(),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const { namespace_id, run_id } = started["result"]["run_key"];
  say(`  run   ${run_id}`);
  return { namespace_id, run_id, scenario_id: scenario["scenario_id"] };
}

async function showEnd(gate: GateSession, run: Run, scenario: Json): Promise<void> {
  heading("Where the run stands");
  const status = await gate.call("scenario_status", { ...run });
  showGraph(scenario, status);
  say(`  run: ${mark(status["status"])}`);
  heading("The head chain: every record names the one it follows");
  showChain((await gate.call("scenario_history", { ...run }))["records"]);
}

/** Takes the release through its stages; the truth value of the first that does not complete, else `true`. */
async function gateRelease(first: GateSession, scenario: Json, configPath: string): Promise<string> {
  let gate = first;
  try {
    heading("Define the law, start a run");
    const run = await startRun(gate, scenario);
    const firstHead = await headOf(gate, run);
    showGraph(scenario, await gate.call("scenario_status", { ...run }));
    heading("Run the checks of this checkout, hand in their results as evidence");
    await openStage(gate, run, "static-checks");
    await openStage(gate, run, "tests");
    const staticChecks = await evaluateStage(gate, run, "static-checks", await runStaticChecks());
    const tests = await evaluateStage(gate, run, "tests", await runTests());
    await showStaleHead(gate, run, firstHead);
    gate = await showLostAnswer(gate, run, configPath);
    heading("May the release go?");
    const opened = await openStage(gate, run, "release");
    const outcomes = [staticChecks, tests];
    if (opened["outcome"] === "accepted") {
      const value = await versionReported();
      outcomes.push(
        await evaluateStage(gate, run, "release", [
          { condition_id: "version_reported", value, value_type: "Boolean" },
        ]),
      );
    }
    await showEnd(gate, run, scenario);
    return outcomes.find((outcome) => outcome === "false") ?? outcomes.find((outcome) => outcome === "unknown") ??
      "true";
  } finally {
    await gate.close();
  }
}

async function main(): Promise<number> {
  const scenario = JSON.parse(await Deno.readTextFile(new URL("scenario.json", import.meta.url))) as Json;
  const folder = await Deno.makeTempDir({ prefix: "gate-demo-" });
  const started = performance.now();
  try {
    const configPath = `${folder}/gate.toml`;
    const init = await runDeno(["run", "--no-prompt", "-A", "main.ts", "init", "--stdout"]);
    if (init.exitCode !== 0) throw new Error(`Cannot write a starter configuration: ${init.output}`);
    await Deno.writeTextFile(configPath, `${init.output}${AUDIT}`);
    const outcome = await gateRelease(await connect(configPath), scenario, configPath);
    const verdict =
      { true: "the release may go", false: "the release may not go", unknown: "it is not known" }[outcome];
    say();
    say(`${mark(outcome)}: ${verdict} (${((performance.now() - started) / 1000).toFixed(0)} s)`);
    return EXIT_CODES[outcome] ?? 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) Deno.exit(await main());
