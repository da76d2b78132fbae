/**
 * The store under rows 5 and 6: durable appends through SQLite against a loop that commits one row at a time on the
 * same disk. Both sides have a write-ahead log and full flushes. The row of the loop carries the same texts as a record
 * does. So the store is measured, and not the length of a record.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { resolve } from "node:path";

import type { Head } from "../../../src/run/types.ts";
import { closeStores, openStores, type Stores } from "../../../src/store/open.ts";
import type { Append } from "../../../src/store/types.ts";
import { appendTo, headAfter, identified, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { type BenchRow, compare } from "../harness.ts";

/** Appends in one round. */
const ROUND_APPENDS = 1280;

/** Length of the answer in each record, characters: a submission's answer is about as long. */
const FILLING = 700;

/** A payload of a submission. */
const MATERIAL = [identified("payload", { kind: "json", value: { report: "unit tests", passed: 1532, failed: 0 } })];

/** One caller of a store: a run and the appends that it makes next. */
interface Caller {
  readonly name: string;
  head: Head | null;
}

/** Measures appends of one caller and of 64 callers. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate_bench_" });
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  const database = openRaw(resolve(folder, "raw.db"));
  try {
    return [
      await measure(stores, database, 1, 0.6, null),
      await measure(stores, database, 64, 1.5, 5),
    ];
  } finally {
    database.close();
    await closeStores(stores);
    await Deno.remove(folder, { recursive: true });
  }
}

async function measure(
  stores: Stores,
  database: DatabaseSync,
  count: number,
  must: number,
  goal: number | null,
): Promise<BenchRow> {
  const callers: Caller[] = Array.from({ length: count }, (_, index) => ({ name: `${count} ${index}`, head: null }));
  await round(stores, callers.map((caller) => planOf(caller, 1)));
  return await compare({
    row: "store",
    name: `durable append, ${count === 1 ? "one caller" : `${count} callers on ${count} runs`}`,
    peer_name: "one-row commit loop",
    unit: "appends/s",
    must,
    goal,
    direction: "higher",
    ceiling: "one flush of the disk a commit",
    ours: () => round(stores, callers.map((caller) => planOf(caller, ROUND_APPENDS / count))),
    peer: () => rawRound(database),
  });
}

/** The next appends of a caller, made before the clock runs: the chain is the kernel's work. */
function planOf(caller: Caller, count: number): Append[] {
  return Array.from({ length: count }, () => {
    const operation = `${caller.name} after ${caller.head?.revision ?? 0}`;
    const append = appendTo(runKey(caller.name), caller.head, { operation, material: MATERIAL, filling: FILLING });
    caller.head = headAfter(append);
    return append;
  });
}

/** Lets every caller make its appends, each after the answer to the one before; appends a second. */
async function round(stores: Stores, plans: readonly (readonly Append[])[]): Promise<number> {
  const start = performance.now();
  await Promise.all(plans.map(async (plan) => {
    for (const append of plan) {
      const { outcome } = await stores.runs.append(append);
      if (outcome !== "accepted") throw new Error(`Cannot measure: append became "${outcome}"`);
    }
  }));
  return plans.reduce((sum, plan) => sum + plan.length, 0) * 1000 / (performance.now() - start);
}

function openRaw(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = wal; PRAGMA synchronous = FULL");
  database.exec(
    "CREATE TABLE rows (row INTEGER PRIMARY KEY, record TEXT NOT NULL, result TEXT NOT NULL, material TEXT NOT NULL) STRICT",
  );
  return database;
}

/** Commits rows of the texts of one record, one by one; rows a second. */
function rawRound(database: DatabaseSync): number {
  const [record] = appendTo(runKey("raw"), null, { operation: "raw", material: MATERIAL, filling: FILLING }).records;
  const texts = [record?.record ?? "", record?.receipt.result ?? "", record?.material[0]?.body ?? ""];
  const begin = database.prepare("BEGIN IMMEDIATE");
  const insert = database.prepare("INSERT INTO rows (record, result, material) VALUES (?, ?, ?)");
  const commit = database.prepare("COMMIT");
  const start = performance.now();
  for (let index = 0; index < ROUND_APPENDS; index++) {
    begin.run();
    insert.run(...texts);
    commit.run();
  }
  return ROUND_APPENDS * 1000 / (performance.now() - start);
}
