/**
 * The load of rows 5e and 6e: callers that submit over stdio, each on a run of its own, from a client that does as little as it can.
 * It writes lines made of fixed parts, and of each answer it reads the id, the outcome and the new head. Client and server share the
 * processors, so a client that parses and checks each answer would measure itself.
 *
 * @module
 */

import { SCENARIO } from "../simulation/crash/load.ts";
import type { BenchRun } from "./rows/mutation_bench.ts";
import type { StdioPeer } from "./stdio_load.ts";

/** What a round measured. */
export interface SubmitRound {
  /** Calls a second. */
  readonly rate: number;
  /** Milliseconds of each call, from the write of its request to the read of its answer. */
  readonly latencies: readonly number[];
}

/** The member of an answer that has the new head; the text within the answer has it with escaped quotes. */
const HEAD = '"accepted_head":{"record_id":"';
const ID = '"id":';
const IDENTITY_LENGTH = 64;

/** The parts of a request around its id, head and operation. */
function partsOf({ run_key: { namespace_id, run_id } }: BenchRun): readonly [string, string] {
  const run = JSON.stringify({ namespace_id, run_id, scenario_id: SCENARIO.scenario_id }).slice(1, -1);
  const rest = JSON.stringify({
    content_type: "application/json",
    payload: { kind: "json", value: { build: "4711", note: "artifact of the build", passed: true } },
    scope: { kind: "run_wide" },
  }).slice(1);
  return [
    `,"method":"tools/call","params":{"name":"scenario_submit","arguments":{${run},"expected_head":{"record_id":"`,
    `",${rest}}}\n`,
  ];
}

/** The part of a request around the operations of a list, and those of an operation around its arguments. */
const LIST = [
  `,"method":"tools/call","params":{"name":"scenario_apply","arguments":{"operations":[`,
  "]}}}\n",
] as const;
const SUBMIT = '"name":"scenario_submit","arguments":';

let operations = 0;

/** A new operation identity. Its first digits are spread, as those of random ones are: they are an index of the store. */
function nextOperation(): string {
  const spread = Math.imul(++operations, 0x9e3779b1) >>> 0;
  return spread.toString(16).padStart(8, "0") + operations.toString(16).padStart(24, "0");
}

/** Lets one caller submit to every run in one list, so often; returns operations a second. */
export async function applyRound(peer: StdioPeer, runs: readonly BenchRun[], lists: number): Promise<number> {
  const parts = runs.map((run) => {
    const [before, after] = partsOf(run);
    return [
      `{"tool":"scenario_submit","arguments":${before.slice(before.indexOf(SUBMIT) + SUBMIT.length)}`,
      after.slice(0, -2),
    ];
  });
  const request = (): string => {
    const made = runs.map(({ head: { record_id, revision } }, index) => {
      const [before, after] = parts[index] as [string, string];
      return `${before}${record_id}","revision":${revision}},"operation_id":"${nextOperation()}${after}`;
    });
    return `{"jsonrpc":"2.0","id":${++operations}${LIST[0]}${made.join(",")}${LIST[1]}`;
  };
  let left = lists;
  const start = performance.now();
  await peer.exchange(request(), ([line = ""]) => {
    let at = 0;
    for (const run of runs) {
      at = line.indexOf(HEAD, at) + HEAD.length;
      if (at < HEAD.length) throw new Error(`Cannot measure: ${line.slice(0, 300)}`);
      run.head = { record_id: line.slice(at, at + IDENTITY_LENGTH), revision: run.head.revision + 1 };
    }
    return --left === 0 ? null : request();
  });
  return runs.length * lists / (performance.now() - start) * 1000;
}

/** Lets each caller submit so often in a loop of its own; the heads of the runs move on. */
export async function submitRound(peer: StdioPeer, runs: readonly BenchRun[], calls: number): Promise<SubmitRound> {
  const parts = runs.map(partsOf);
  const sent = new Float64Array(runs.length);
  const left = runs.map(() => calls);
  const latencies: number[] = [];
  const request = (caller: number): string => {
    const { record_id, revision } = (runs[caller] as BenchRun).head;
    const [before, after] = parts[caller] as readonly [string, string];
    const operation = nextOperation();
    left[caller] = (left[caller] ?? 0) - 1;
    // The id names the caller, and no id is used twice.
    const id = operations * runs.length + caller;
    return `{"jsonrpc":"2.0","id":${id}${before}${record_id}","revision":${revision}},"operation_id":"${operation}${after}`;
  };
  const answered = (line: string): number => {
    const at = line.indexOf(HEAD) + HEAD.length;
    const id = Number(line.slice(line.lastIndexOf(ID) + ID.length, -1));
    const caller = id % runs.length;
    const run = runs[caller];
    if (at < HEAD.length || run === undefined) throw new Error(`Cannot measure: ${line.slice(0, 300)}`);
    run.head = { record_id: line.slice(at, at + IDENTITY_LENGTH), revision: run.head.revision + 1 };
    return caller;
  };
  const start = performance.now();
  await peer.exchange(runs.map((_, caller) => request(caller)).join(""), (lines) => {
    const now = performance.now();
    let next = "";
    for (const line of lines) {
      const caller = answered(line);
      latencies.push(now - (sent[caller] || start));
      sent[caller] = now;
      if ((left[caller] ?? 0) > 0) next += request(caller);
    }
    return latencies.length === runs.length * calls ? null : next;
  });
  return { rate: latencies.length / (performance.now() - start) * 1000, latencies };
}
