/**
 * Heavy work on a server over HTTP, in a process of its own that can be niced: `loop_load.ts URL SECONDS`. Some callers
 * export and verify runs with long payloads or many records again and again, or define laws of many stages. All others
 * ask for the status of a run.
 *
 * @module
 */

import type { JsonObject } from "../../src/canonical/json.ts";
import { spec, stage } from "../../src/tools/tests/tools_fixture.ts";
import { callText } from "../e2e/http_fixture.ts";
import type { Wire } from "../e2e/client.ts";
import { createKeepAlive } from "../full/load/keep_alive.ts";
import { SCENARIO } from "../simulation/crash/load.ts";
import { identityOf, randomOf } from "../simulation/crash/random.ts";

/** Callers at one time, by what they ask for. */
const CALLERS = { verify: 12, export: 4, define: 1, status: 239 };
/** Stages of each law that is defined. */
const STAGES = 1024;
/** The runs: submissions, and characters of each payload. */
const RUNS = [[300, 300], [24, 1_000_000]] as const;
/** Between two questions of a caller who asks for a status or defines a law, in milliseconds. */
const PAUSE = 250;

interface Run {
  readonly namespace_id: number;
  readonly run_id: string;
}

type Call = (tool: string, input: unknown) => Promise<Wire>;

const random = randomOf(11);

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function accepted(call: Call, tool: string, input: Wire): Promise<Wire> {
  const { outcome, result } = (await call(tool, input))["outcome"] as Wire;
  if (outcome !== "accepted") throw new Error(`Cannot ${tool}: ${JSON.stringify(result)}`);
  return result as Wire;
}

async function makeRun(call: Call, law: string, submissions: number, characters: number): Promise<Run> {
  const started = await accepted(call, "scenario_start", {
    namespace_id: 2,
    scenario_id: SCENARIO.scenario_id,
    scenario_law_identity: law,
    creation_request_id: identityOf(random),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const run = started["run_key"] as Run;
  let head = started["head"];
  for (let number = 0; number < submissions; number++) {
    const text = `${number} `.padEnd(characters, "All of this is what one artifact says. ");
    const submitted = await accepted(call, "scenario_submit", {
      ...run,
      scenario_id: SCENARIO.scenario_id,
      expected_head: head,
      operation_id: identityOf(random),
      content_type: "application/json",
      payload: { kind: "json", value: { text } },
      scope: { kind: "run_wide" },
    });
    head = submitted["accepted_head"];
  }
  return run;
}

/** A law of many stages in a row, another one for each number. */
function longSpec(number: number): JsonObject {
  const names = Array.from({ length: STAGES }, (_, index) => `stage${index}`);
  return spec({
    scenario_id: `long${number}`,
    stages: names.map((name, index) => stage(name, "built", names[index - 1])),
    completion_requirement: { Condition: names.at(-1) ?? "" },
  });
}

async function exportRun(call: Call, { namespace_id, run_id }: Run): Promise<string> {
  const { outcome, runpack_identity } = (await call("runpack_export", { namespace_id, run_id }))["publication"] as Wire;
  if (outcome !== "published") throw new Error(`Cannot export: ${String(outcome)}`);
  return String(runpack_identity);
}

async function verifyPack(call: Call, runpack_identity: string): Promise<void> {
  const report = JSON.stringify(await call("runpack_verify", { runpack_identity, profile: "full_replay_v1" }));
  if (report.includes('"violated"')) throw new Error(`Cannot verify: ${report}`);
}

async function main([url = "", seconds = ""]: readonly string[]): Promise<void> {
  const sender = createKeepAlive(url, {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  let id = 0;
  const call: Call = async (tool, input) => {
    const { status, text } = await sender.send("POST", "/mcp", callText(++id, tool, input));
    const result = status === 200 ? (JSON.parse(text) as Wire)["result"] as Wire | undefined : undefined;
    if (result === undefined || result["isError"] === true) throw new Error(`Cannot call ${tool}: ${status} ${text}`);
    return result["structuredContent"] as Wire;
  };
  const { scenario_law_identity: law } = await call("scenario_define", { spec: SCENARIO });
  const runs: Run[] = [];
  for (const [submissions, characters] of RUNS) runs.push(await makeRun(call, String(law), submissions, characters));
  const packs = await Promise.all(runs.map((run) => exportRun(call, run)));
  console.log("ready");
  const end = performance.now() + Number(seconds) * 1000;
  const counts = { verify: 0, export: 0, define: 0, status: 0 };
  const again = async (what: keyof typeof counts, index: number): Promise<void> => {
    const [run, pack] = [runs[index % runs.length] as Run, packs[index % packs.length] ?? ""];
    while (performance.now() < end) {
      if (what === "verify") await verifyPack(call, pack);
      else if (what === "export") await exportRun(call, run);
      else if (what === "define") {
        await call("scenario_define", { spec: longSpec(counts.define) }).then(() => pause(PAUSE));
      } else await call("scenario_status", { ...run, scenario_id: SCENARIO.scenario_id }).then(() => pause(PAUSE));
      counts[what]++;
    }
  };
  const kinds = Object.entries(CALLERS) as [keyof typeof counts, number][];
  await Promise.all(kinds.flatMap(([what, count]) => Array.from({ length: count }, (_, index) => again(what, index))));
  sender.close();
  console.log(JSON.stringify(counts));
}

await main(Deno.args);
