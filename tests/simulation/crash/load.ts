/**
 * The load of a crash round: 64 callers, each with a run of its own, and some who meddle with a neighbour's.
 *
 * @module
 */

import { LEAST_POLICY } from "../../least_policy.ts";
import { type Answer, Died, type GateProcess } from "./gate_process.ts";
import { identityOf, type Random } from "./random.ts";

/** How many callers there are. */
export const CALLERS = 64;

/** The scenario of the rounds: two stages, one condition. */
export const SCENARIO = {
  spec_version: "dag-v3",
  namespace_id: 2,
  scenario_id: "crash",
  conditions: [{
    condition_id: "done",
    observation_domain: { domain: "Boolean" },
    predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
    evidence_use_policy: { ...LEAST_POLICY, required_assurance: ["content_integrity", "scope"] },
  }],
  stages: [
    { stage_id: "a", prerequisite: { kind: "root" }, completion_requirement: { Condition: "done" } },
    {
      stage_id: "b",
      prerequisite: { kind: "requires", requirement: { Condition: "a" } },
      completion_requirement: { Condition: "done" },
    },
  ],
  completion_requirement: { Condition: "b" },
} as const;

/** A run of the load. */
export interface LoadedRun {
  readonly namespace_id: number;
  readonly run_id: string;
  readonly scenario_id: string;
}

/** A mutation that was sent; `answer` is null where the process died before answering. */
export interface Sent {
  readonly tool: string;
  readonly family: string;
  readonly input: Record<string, unknown> & LoadedRun & { readonly operation_id: string };
  readonly answer: Answer | null;
}

/** A head, as answers have it. */
export interface Head {
  readonly record_id: string;
  readonly revision: number;
}

/** Defines the law and starts one run a caller. */
export async function startRuns(
  gate: GateProcess,
  random: Random,
): Promise<{ readonly law: string; readonly runs: LoadedRun[]; readonly heads: Head[] }> {
  const law = await gate.call("scenario_define", { spec: SCENARIO });
  const started = await Promise.all(Array.from({ length: CALLERS }, () =>
    gate.decide("scenario_start", {
      namespace_id: 2,
      scenario_id: "crash",
      scenario_law_identity: law["scenario_law_identity"],
      creation_request_id: identityOf(random),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    })));
  const results = started.map((answer) => answer["result"] as { run_key: LoadedRun; head: Head });
  return {
    law: law["scenario_law_identity"] as string,
    runs: results.map(({ run_key }) => ({ ...run_key, scenario_id: "crash" })),
    heads: results.map(({ head }) => head),
  };
}

/** A mutation of a run at a head. */
export function nextMutation(run: LoadedRun, head: Head, random: Random): Omit<Sent, "answer"> {
  const base = { ...run, expected_head: head, operation_id: identityOf(random) };
  const choice = random();
  const stage_id = random() < 0.5 ? "a" : "b";
  if (choice < 0.2) return { tool: "scenario_open_stage", family: "open_stage", input: { ...base, stage_id } };
  if (choice < 0.4) {
    const caller_evidence = [{
      condition_id: "done",
      retention: { retention: "RetainCanonicalValue" },
      value: { value: random() < 0.3, value_type: "Boolean" },
    }];
    return {
      tool: "scenario_evaluate_stage",
      family: "evaluate_stage",
      input: { ...base, stage_id, caller_evidence },
    };
  }
  const payload = { kind: "json", value: { note: identityOf(random).repeat(1 + Math.floor(random() * 40)) } };
  return {
    tool: "scenario_submit",
    family: "submit",
    input: { ...base, content_type: "application/json", payload, scope: { kind: "run_wide" } },
  };
}

/** The head that an answer names. */
export function headAfter(answer: Answer, head: Head): Head {
  const result = answer["result"] as Record<string, unknown>;
  if (answer["outcome"] === "accepted") return result["accepted_head"] as Head;
  if (answer["outcome"] === "stale") {
    return { record_id: result["record_id"] as string, revision: result["revision"] as number };
  }
  return head;
}

/** Calls until the process dies; every mutation that was sent is in `sent`, in order. */
export async function callUntilDeath(
  gate: GateProcess,
  run: LoadedRun,
  first: Head,
  random: Random,
  sent: Sent[],
): Promise<void> {
  let head = first;
  for (;;) {
    const mutation = nextMutation(run, head, random);
    try {
      const answer = await gate.decide(mutation.tool, mutation.input);
      sent.push({ ...mutation, answer });
      head = headAfter(answer, head);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      sent.push({ ...mutation, answer: null });
      return;
    }
  }
}
