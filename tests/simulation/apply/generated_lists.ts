/**
 * Random lists of operations, right and wrong ones, on runs that exist, that the list starts, or that nobody knows.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { id } from "../../../src/tools/tests/tools_fixture.ts";
import { identityOf, type Random } from "../crash/random.ts";
import type { Operation } from "./world.ts";

/** A run and the heads that it had. */
export interface KnownRun {
  readonly run_id: string;
  readonly heads: JsonObject[];
  readonly opened: string[];
}

/** What lists are made from. */
export interface Known {
  readonly law: string;
  readonly runs: KnownRun[];
  /** Identities of operations that were used, by tool. */
  readonly used: Record<string, string[]>;
}

function pick<T>(random: Random, options: readonly T[]): T {
  return options[Math.floor(random() * options.length)] as T;
}

function identity({ used }: Known, random: Random, tool: string): string {
  const known = used[tool] ??= [];
  if (known.length > 0 && random() < 0.12) return pick(random, known.slice(-6));
  const fresh = identityOf(random);
  known.push(fresh);
  return fresh;
}

/** What an operation of a list works on. */
interface Target {
  readonly run_id: JsonValue;
  readonly head: JsonValue;
  readonly opened: JsonValue;
}

function targetOf(known: Known, random: Random, operations: readonly Operation[]): Target {
  const index = Math.floor(random() * operations.length);
  const chosen = operations[index];
  const reference = { operation: index };
  const opening = operations.findLastIndex(({ tool }) => tool === "scenario_open_stage");
  const run = known.runs.length === 0
    ? undefined
    : known.runs[Math.max(0, known.runs.length - 1 - Math.floor(random() * 6))];
  const openedBy = opening >= 0 && random() < 0.7 ? { operation: opening } : run?.opened.at(-1) ?? id(7).repeat(2);
  if (chosen !== undefined && random() < 0.6) {
    const last = operations.findLastIndex(({ arguments: { run_id } }) =>
      JSON.stringify(run_id) ===
        JSON.stringify(chosen.tool === "scenario_start" ? reference : chosen.arguments["run_id"])
    );
    const head = random() < 0.8 ? { operation: Math.max(last, index) } : run?.heads.at(-1) ?? reference;
    const own = chosen.tool === "scenario_start" ? reference : chosen.arguments["run_id"] ?? reference;
    return { run_id: random() < 0.5 ? reference : own, head, opened: openedBy };
  }
  if (run === undefined || random() < 0.05) {
    return { run_id: id(9), head: { record_id: "0".repeat(64), revision: 1 }, opened: openedBy };
  }
  return {
    run_id: run.run_id,
    head: random() < 0.8 ? run.heads.at(-1) ?? {} : pick(random, run.heads),
    opened: openedBy,
  };
}

function start(known: Known, random: Random, namespace_id: number): JsonObject {
  return {
    namespace_id,
    scenario_id: random() < 0.02 ? "other" : "release",
    scenario_law_identity: random() < 0.02 ? "f".repeat(64) : known.law,
    creation_request_id: identity(known, random, "scenario_start"),
    correlation: random() < 0.3 ? { kind: "set", correlation_id: `c${Math.floor(random() * 9)}` } : { kind: "unset" },
    genesis: { kind: "empty" },
  };
}

function evidence(random: Random): JsonValue {
  const retention = { retention: "RetainCanonicalValue" };
  const value = pick<JsonValue>(random, [true, true, true, false, "yes"]);
  return [{
    condition_id: pick(random, ["built", "built", "deployed"]),
    retention,
    value: { value, value_type: "Boolean" },
  }];
}

function submission(random: Random, opened: JsonValue): JsonObject {
  const note = { kind: "json", value: { note: identityOf(random), expected_head: { operation: 0 } } };
  const others: readonly JsonObject[] = [
    { kind: "json", value: { operation: 0 } },
    { kind: "bytes", base64: "AAEC" },
    { kind: "bytes", base64: "not base64" },
  ];
  return {
    content_type: random() < 0.9 ? "application/json" : "text/plain",
    payload: random() < 0.8 ? note : pick(random, others),
    scope: random() < 0.7
      ? { kind: "run_wide" }
      : { kind: "stage_open", stage_id: "build", stage_open_record_id: opened },
  };
}

/** One operation after others of its list. */
function operation(known: Known, random: Random, before: readonly Operation[]): Operation {
  const namespace_id = random() < 0.04 ? 3 : 2;
  const choice = random();
  if (choice < 0.2) return { tool: "scenario_start", arguments: start(known, random, namespace_id) };
  const { run_id, head, opened } = targetOf(known, random, before);
  const scenario_id = random() < 0.01 ? "other" : "release";
  const run = { namespace_id, scenario_id, run_id, expected_head: head };
  const stage_id = pick(random, ["build", "build", "build", "build", "deploy", "deploy", "nowhere"]);
  const tool = choice < 0.42 ? "open" : choice < 0.64 ? "evaluate" : choice < 0.9 ? "submit" : "trigger";
  const fresh = identity(known, random, tool);
  const extra: JsonObject = random() < 0.03 ? { unknown: 1 } : {};
  if (choice < 0.42) {
    return { tool: "scenario_open_stage", arguments: { ...run, operation_id: fresh, stage_id, ...extra } };
  }
  if (choice < 0.64) {
    const own = random() < 0.5 ? { local_acquisition: [] } : {};
    const caller_evidence = evidence(random);
    const given = random() < 0.7 ? { caller_evidence } : {};
    return { tool: "scenario_evaluate_stage", arguments: { ...run, operation_id: fresh, stage_id, ...own, ...given } };
  }
  if (choice < 0.9) {
    return {
      tool: "scenario_submit",
      arguments: { ...run, operation_id: fresh, ...submission(random, opened), ...extra },
    };
  }
  const payload = random() < 0.5 ? { payload: { kind: "json", value: { operation: 0 } } } : {};
  return {
    tool: "scenario_trigger",
    arguments: { ...run, trigger: { trigger_id: fresh, kind: "tick", source_id: "scheduler", ...payload } },
  };
}

/** A list of 1 to 24 operations. */
export function generateList(known: Known, random: Random): Operation[] {
  const operations: Operation[] = [];
  const length = 1 + Math.floor(random() * random() * 24);
  while (operations.length < length) operations.push(operation(known, random, operations));
  return operations;
}
