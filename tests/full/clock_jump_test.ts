/**
 * A real server whose clock ran 400 days ahead for one submission. The clock is that of the process: `libfaketime` answers
 * its system calls.
 */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { id } from "@/tools/tests/tools_fixture.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  openAnother,
  type OpenRun,
  openRun,
  startGate,
} from "../e2e/evidence/acquisition_serve.ts";
import { inFolder, STORES } from "../e2e/gate_command.ts";

const DAY = 86_400_000;

/** As Debian installs it. */
const LIBRARY = `/usr/lib/${Deno.build.arch}-linux-gnu/faketime/libfaketimeMT.so.1`;

const CONFIG = `${STORES}
[[providers]]
name = "time"
type = "builtin"

[[providers]]
name = "env"
type = "builtin"
config = { allowlist = ["BUILT"] }

[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "r" }
`;

/** A clock 400 days ahead. Waiting goes by the monotonic clock, which stays right. */
const AHEAD = { LD_PRELOAD: LIBRARY, FAKETIME: "+400d", FAKETIME_DONT_FAKE_MONOTONIC: "1" };

/** Runs a body with the server on the store of a folder, and ends the server so that the next one has the file alone. */
async function served(
  folder: string,
  clock: Readonly<Record<string, string>>,
  body: (gate: Gate) => Promise<void>,
): Promise<void> {
  await using gate = await startGate(folder, { BUILT: "yes", ...clock });
  await body(gate);
  await gate.server.closeInput();
  assert.equal(await gate.server.ended(), 0, gate.server.errors());
}

const IS_TRUE = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
const TEXT = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };

/** A gate that opens after an instant. */
function timeGate(timestamp: number): JsonObject {
  return oneStage([acquiredCondition("due", { domain: "Boolean" }, IS_TRUE)], [
    binding("source", "due", "time", "after", { timestamp }),
  ]);
}

/** Evidence that is at most an hour old. */
function agedGate(): JsonObject {
  const freshness = { freshness: "MaximumAge", maximum_age_millis: 3_600_000 };
  return oneStage([acquiredCondition("built", TEXT, { predicate: "Exists" }, { freshness })], [
    binding("source", "built", "env", "get", { key: "BUILT" }),
  ]);
}

/** Evidence of any age, from a provider that reads no clock. */
function agelessGate(): JsonObject {
  return oneStage([acquiredCondition("built", TEXT, { predicate: "Exists" })], [
    binding("source", "built", "env", "get", { key: "BUILT" }),
  ]);
}

/** An instant at most a day before the evaluation. */
function relativeGate(): JsonObject {
  const predicate = {
    predicate: "GreaterThanOrEqual",
    expected: { relative_to: "evaluation_time", offset_milliseconds: -DAY },
  };
  return oneStage([acquiredCondition("built", { domain: "Timestamp" }, predicate)], [
    binding("source", "built", "json", "path", { file: "built.json", jsonpath: "$.at" }),
  ]);
}

/** Submits at the head of a run, which moves on; the instant at which that was accepted. */
async function submit(gate: Gate, open: OpenRun): Promise<number> {
  const { outcome, result } = await gate.decide("scenario_submit", {
    ...open.run,
    expected_head: open.head,
    operation_id: id(++open.operations),
    content_type: "application/json",
    payload: { kind: "json", value: {} },
    scope: { kind: "run_wide" },
  });
  assert.equal(outcome, "accepted", JSON.stringify(result));
  open.head = result["accepted_head"] as JsonObject;
  return (result["acceptance_time"] as { accepted_audit_instant: number }).accepted_audit_instant;
}

/** The gate, and what evaluations with the right clock say: in a run that was there while the clock ran ahead, in another run. */
const ROWS: readonly (readonly [name: string, scenario: JsonObject, after: string, without: string])[] = [
  ["opened yesterday", timeGate(Date.now() - DAY), "unknown, clock_behind_run", "true, qualified"],
  ["opens tomorrow", timeGate(Date.now() + DAY), "unknown, clock_behind_run", "false, qualified"],
  ["asks for a maximum age", agedGate(), "unknown, clock_behind_run", "true, qualified"],
  ["asks for an instant of the last day", relativeGate(), "unknown, clock_behind_run", "true, qualified"],
  ["asks for no age", agelessGate(), "true, qualified", "true, qualified"],
];

async function evaluated(gate: Gate, open: OpenRun): Promise<string> {
  const { result } = await evaluate(gate, open);
  const { outcome, items } = attemptOf(result);
  assert.equal(result["run_status"], outcome === "true" ? "complete" : "active");
  return `${outcome}, ${items["source"]}`;
}

Deno.test("gate serve: nothing is judged by a clock that is 400 days behind the run", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await Deno.mkdir(`${folder}/evidence`);
    await Deno.writeTextFile(`${folder}/evidence/built.json`, JSON.stringify({ at: new Date().toISOString() }));
    const runs: OpenRun[] = [];
    await served(folder, {}, async (gate) => {
      for (const [index, [, scenario]] of ROWS.entries()) runs.push(await openRun(gate, scenario, index + 1));
    });
    await served(folder, AHEAD, async (gate) => {
      for (const open of runs) {
        const days = (await submit(gate, open) - Date.now()) / DAY;
        assert.ok(days > 399 && days < 401, `accepted ${days} days ahead`);
      }
    });
    await served(folder, {}, async (gate) => {
      for (const [index, open] of runs.entries()) {
        const [name, , after, without] = ROWS[index] as typeof ROWS[number];
        assert.equal(await evaluated(gate, open), after, name);
        const other = await openAnother(gate, open.law, ROWS.length + index + 1);
        assert.equal(await evaluated(gate, other), without, `${name}, without the jump`);
      }
    });
  }));
