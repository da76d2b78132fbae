/** Checks a store: reads, hashes and compares everything in it, and reports every problem. */

import { setImmediate } from "node:timers";

import { checkArtifacts, checkLaws, checkOrphans, checkSchemas, checkTypedProviders } from "./check_rows.ts";
import { checkRuns } from "./check_runs.ts";
import type { Checking, CheckOptions, StoreCheckReport, StoreCounts, StoreProblem } from "./check_types.ts";
import type { StoreRows } from "../rows/store_rows.ts";

/**
 * Checks a store's file while other processes may use it.
 *
 * @throws {StoreError} As {@link checkRows}; where the file cannot be read as a store: `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function checkStore(path: string, options: CheckOptions): Promise<StoreCheckReport> {
  const rows = await (await import("../sqlite/store_rows.ts")).openSqliteRows(path);
  try {
    return await checkRows(rows, options);
  } finally {
    await rows.close();
  }
}

/**
 * Checks a store while other processes may use it. The check covers:
 *
 * - the structure, by the engine's own means, and the high-water mark beside a file
 * - each law, artifact, schema and typed provider against its identity
 * - the whole chain of each run with its receipts and its head
 * - each snapshot, rebuilt from the records where a fold is given
 *
 * The check never stops at the first problem, and changes nothing.
 *
 * @throws {StoreError} Where the store cannot be read: `busy`, `unavailable`, `io`
 */
export async function checkRows(rows: StoreRows, options: CheckOptions): Promise<StoreCheckReport> {
  const problems: StoreProblem[] = [];
  const checking = startChecking(rows, options, problems);
  for (const [part, check] of PARTS) await attempt(checking, part, check);
  const { counts } = checking;
  return {
    path: rows.name,
    sound: problems.length === 0,
    counts,
    states_rebuilt: options.fold !== undefined,
    problems,
  };
}

/** The parts of a check. Each part runs, also after problems of others. */
const PARTS: readonly (readonly [string, (checking: Checking) => Promise<void>])[] = [
  ["structure", checkStructure],
  ["laws", checkLaws],
  ["artifacts", checkArtifacts],
  ["schemas", checkSchemas],
  ["typed providers", checkTypedProviders],
  ["runs", checkRuns],
  ["rows", checkOrphans],
];

/** The counts before the first row. */
export const NO_COUNTS: Readonly<StoreCounts> = {
  laws: 0,
  runs: 0,
  archived_runs: 0,
  records: 0,
  material: 0,
  artifacts: 0,
  snapshots: 0,
  schemas: 0,
  typed_providers: 0,
};

/** Starts to check the rows of a store; problems are added to a list. */
export function startChecking(rows: StoreRows, options: CheckOptions, problems: StoreProblem[]): Checking {
  const counts = { ...NO_COUNTS };
  return {
    rows,
    options,
    counts,
    report: (what, message, position) => {
      const { namespace_id = null, run_id = null, revision = null } = position ?? {};
      problems.push({ what, namespace_id, run_id, revision, message });
    },
    turn: async () => {
      options.onProgress?.(counts);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Runs one part of a check; damage that stops the engine is reported as a problem. */
export async function attempt(
  checking: Checking,
  part: string,
  check: (checking: Checking) => Promise<void>,
): Promise<void> {
  try {
    await check(checking);
  } catch (error) {
    const known = checking.rows.toError(error, part);
    if (known.code !== "corrupt") throw known;
    checking.report("file", known.message);
  }
}

/** Reports what is wrong with the store as a whole. */
export async function checkStructure({ rows, report, turn }: Checking): Promise<void> {
  for (const fault of await rows.faults()) report("file", fault);
  await turn();
}
