/**
 * Row 13: what a call costs in a large store against the same call in a small one. It also measures the first read of a
 * long run by a new process.
 *
 * Both stores have the same runs, which the calls use, half of them made before the other records and half after. The other
 * records are well formed, and no call reads them.
 *
 * @module
 */

import { gateArgs } from "../../e2e/gate_command.ts";
import { closeStores, openStores } from "../../../src/store/open.ts";
import { appendTo, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { SCENARIO } from "../../simulation/crash/load.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { alternate, type BenchRow, makeRow, type Measured, median } from "../harness.ts";
import { type BenchRun, type CallTool, startBenchRuns, startRunsOf, submit } from "./mutation_bench.ts";
import { callerOf, openPeer, type StdioPeer } from "../stdio_load.ts";

/** Runs of ten records in the small store, and in the large one as it grows. */
const RUNS = { small: [100], large: [100, 1000, 10_000, 100_000], quick: [100, 1000, 10_000] };
/** Records of each of them. */
const RECORDS = 10;
/** Runs that the calls use, half of them made before the others. */
const USED = 64;
/** Calls of one round. */
const CALLS = 320;
/** Records of the run that a new process reads. */
const LONG = 30_000;
/** Milliseconds that its first read may take. */
const FIRST_READ_MOST = 50;
/** Processes that read it. */
const FIRST_READS = 5;

/** One store and the server on it. */
interface Side {
  readonly folder: string;
  readonly gate: StdioPeer;
  readonly call: CallTool;
  readonly runs: readonly BenchRun[];
}

/** Rounds of the calls at one size of the growing store, after one that does not count. */
const ROUNDS = 5;

/** A size of a store, and what was measured there. */
interface Sample {
  readonly records: number;
  readonly mutation: number;
  readonly status: number;
  readonly memory: number;
}

/** Measures the rows, and the curves of a growing store. */
export async function run(quick: boolean): Promise<Measured> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  const open: Side[] = [];
  try {
    const sizes = quick ? RUNS.quick : RUNS.large;
    const samples: Sample[] = [];
    const large = await openSide(`${folder}/large`, sizes, samples);
    open.push(large);
    const small = await openSide(`${folder}/small`, RUNS.small, null);
    open.push(small);
    const rows = [...await growthRows(large, small, sizes.at(-1) ?? 0), await firstReadRow(small)];
    const points = (value: keyof Sample): [number, number][] => samples.map((one) => [one.records, one[value]]);
    return {
      rows,
      curves: {
        growth_time: [
          { name: "scenario_submit", points: points("mutation") },
          { name: "scenario_status", points: points("status") },
        ],
        growth_memory: [{ name: "gate", points: points("memory") }],
      },
    };
  } finally {
    await Promise.all(open.map(({ gate }) => gate.close()));
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Makes a store of so many runs, in steps.
 *
 * @param samples Gets what is measured after each step; null measures nothing
 */
async function openSide(folder: string, sizes: readonly number[], samples: Sample[] | null): Promise<Side> {
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/gate.toml`, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const first = await openGate(folder);
  const made = await startBenchRuns(callerOf(first), USED);
  // The samples make their runs longer, which the runs of the rows must not be on one side alone.
  const [used, sampled] = [made.slice(USED / 2), made.slice(0, USED / 2)];
  await first.close();
  let runs = 0;
  for (const size of sizes) {
    await fill(folder, runs, size);
    runs = size;
    if (samples !== null) samples.push(await sampleOf(folder, sampled, size));
  }
  const gate = await openGate(folder);
  const call = callerOf(gate);
  return { folder, gate, call, runs: [...used, ...await startMore(call, USED / 2)] };
}

/** What calls of a new process cost, and the memory that it has after them. */
async function sampleOf(folder: string, runs: readonly BenchRun[], size: number): Promise<Sample> {
  const gate = await openGate(folder);
  try {
    const side = { folder, gate, call: callerOf(gate), runs };
    const rounds = async (round: (side: Side) => Promise<number>): Promise<number> => {
      await round(side);
      const millis: number[] = [];
      for (let at = 0; at < ROUNDS; at++) millis.push(await round(side));
      return median(millis);
    };
    const mutation = await rounds(mutationMillis);
    const status = await rounds(statusMillis);
    return { records: size * RECORDS, mutation, status, memory: await gate.resident() / 1e6 };
  } finally {
    await gate.close();
  }
}

/** Starts further runs of the law that the store has. */
async function startMore(call: CallTool, count: number): Promise<BenchRun[]> {
  const { items } = await call("scenarios_list", { namespace_id: 2 }) as unknown as {
    readonly items: readonly { readonly scenario_law_identity: string }[];
  };
  return await startRunsOf(call, count, items[0]?.scenario_law_identity ?? "");
}

function openGate(folder: string): Promise<StdioPeer> {
  return openPeer({ command: Deno.execPath(), args: gateArgs("serve", "--config", `${folder}/gate.toml`) });
}

/** Appends runs of ten records, without a flush for each: those from a number up to another. */
async function fill(folder: string, from: number, runs: number): Promise<void> {
  const stores = await openStores(storesOptions(folder, WAL_FULL, { sync_mode: "normal" }), sha256);
  try {
    for (let first = from; first < runs; first += 64) {
      const names = Array.from({ length: Math.min(64, runs - first) }, (_, index) => `filling ${first + index}`);
      await Promise.all(names.map((name) => {
        const [creation, ...rest] = Array.from({ length: RECORDS }, (_, index) => `${name} ${index}`);
        return stores.runs.append(appendTo(runKey(name), null, creation ?? name, ...rest));
      }));
    }
  } finally {
    await closeStores(stores);
  }
}

/** Milliseconds of a mutation and of a status, one after the other on all runs; and what new processes have resident after both. */
async function growthRows(large: Side, small: Side, runs: number): Promise<BenchRow[]> {
  const mutations = await alternate(() => mutationMillis(large), () => mutationMillis(small));
  const statuses = await alternate(() => statusMillis(large), () => statusMillis(small));
  const memory = await alternate(() => residentAfter(large), () => residentAfter(small), { counted: 5, warmUp: 0 });
  const size = `at ${runs * RECORDS} records and ${runs} runs`;
  const spec = {
    row: "13",
    peer_name: `at ${(RUNS.small[0] ?? 0) * RECORDS}`,
    must: 1.2,
    goal: 1.05,
    direction: "lower",
  } as const;
  return [
    makeRow({ ...spec, name: `scenario_submit, one caller, ${size}`, unit: "ms" }, mutations),
    makeRow({ ...spec, name: `scenario_status, one caller, ${size}`, unit: "ms" }, statuses),
    makeRow(
      {
        ...spec,
        name: `resident memory of a new process after ${2 * MEMORY_ROUNDS * CALLS} calls, ${size}`,
        unit: "MB",
      },
      memory,
    ),
  ];
}

/** Rounds of each kind before memory is read: the caches of a large store are then full. */
const MEMORY_ROUNDS = 4;

/** Megabytes that a new process has resident after rounds of each kind. */
async function residentAfter({ folder, runs }: Side): Promise<number> {
  const gate = await openGate(folder);
  try {
    const side = { folder, gate, call: callerOf(gate), runs };
    for (let at = 0; at < MEMORY_ROUNDS; at++) {
      await mutationMillis(side);
      await statusMillis(side);
    }
    return await gate.resident() / 1e6;
  } finally {
    await gate.close();
  }
}

async function mutationMillis({ call, runs }: Side): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < CALLS; at++) await submit(call, runs[at % runs.length] as BenchRun);
  return (performance.now() - started) / CALLS;
}

async function statusMillis({ call, runs }: Side): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < CALLS; at++) await call("scenario_status", named(runs[at % runs.length] as BenchRun));
  return (performance.now() - started) / CALLS;
}

function named({ run_key }: BenchRun): JsonObject {
  return { ...run_key, scenario_id: SCENARIO.scenario_id };
}

/** Milliseconds of the first status of a long run, by processes that have answered about another run before. */
async function firstReadRow({ folder, call, runs: [other] }: Side): Promise<BenchRow> {
  const [long] = await startMore(call, 1);
  if (long === undefined || other === undefined) throw new Error("Cannot measure: there is no run");
  for (let revision = 1; revision < LONG; revision++) await submit(call, long);
  const taken: number[] = [];
  for (let at = 0; at < FIRST_READS; at++) {
    const gate = await openGate(folder);
    try {
      const cold = callerOf(gate);
      await cold("scenario_status", named(other));
      const started = performance.now();
      await cold("scenario_status", named(long));
      taken.push(performance.now() - started);
    } finally {
      await gate.close();
    }
  }
  return makeRow({
    row: "13",
    name: `first scenario_status of a run of ${LONG} records by a new process`,
    peer_name: "what it may take",
    unit: "ms",
    must: 1,
    goal: 0.2,
    direction: "lower",
  }, { ours: taken, peer: [FIRST_READ_MOST] });
}
