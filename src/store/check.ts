/**
 * Checks a store's file: reads, hashes and compares everything in it, and reports every problem.
 *
 * @module
 */

import { setImmediate } from "node:timers";

import type { Checking, CheckOptions, StoreCheckReport, StoreProblem } from "./check_types.ts";
import { checkArtifacts, checkLaws, checkOrphans, checkSchemas, checkTypedProviders } from "./sqlite/check_rows.ts";
import { checkRuns } from "./sqlite/check_runs.ts";
import { type Connection, openReaderConnection, readFormat, schemaFault } from "./sqlite/connection.ts";
import { isBusy, toStoreError } from "./sqlite/errors.ts";
import { findLoss } from "./sqlite/high_water_mark.ts";
import { StoreError } from "./types.ts";

/**
 * Checks a store's file while other processes may use it. The check covers:
 *
 * - the structure, by SQLite's own check, and the high-water mark beside the file
 * - each law, artifact, schema and typed provider against its identity
 * - the whole chain of each run with its receipts and its head
 * - each snapshot, rebuilt from the records where a fold is given
 *
 * The check never stops at the first problem, and changes nothing.
 *
 * @throws {StoreError} Where the file cannot be read as a store at all: `corrupt`, `version_unsupported`, `busy`, `io`
 */
export async function checkStore(path: string, options: CheckOptions): Promise<StoreCheckReport> {
  const connection = await openToCheck(path);
  try {
    const problems: StoreProblem[] = [];
    const checking = startChecking(connection, options, problems);
    for (const [part, check] of PARTS) await attempt(checking, part, check);
    const { counts } = checking;
    return { path, sound: problems.length === 0, counts, states_rebuilt: options.fold !== undefined, problems };
  } finally {
    connection.database.close();
  }
}

/** The longest wait of SQLite for a lock, in milliseconds. */
const CHECK_BUSY_MILLIS = 5000;

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

async function openToCheck(path: string): Promise<Connection> {
  try {
    const connection = openReaderConnection(path, { busy_timeout_ms: CHECK_BUSY_MILLIS });
    try {
      requireStoreFormat(connection);
      return connection;
    } catch (error) {
      connection.database.close();
      throw error;
    }
  } catch (error) {
    throw (await import("./sqlite/access.ts")).explainAccess(error, path);
  }
}

function requireStoreFormat(connection: Connection): void {
  let format: string;
  try {
    format = readFormat(connection);
  } catch (error) {
    throw toStoreError(error, connection.path, "check store");
  }
  if (format === "empty") {
    throw new StoreError(
      "version_unsupported",
      `Cannot check store "${connection.path}": it is empty`,
    );
  }
}

function startChecking(connection: Connection, options: CheckOptions, problems: StoreProblem[]): Checking {
  const counts = {
    laws: 0,
    runs: 0,
    records: 0,
    material: 0,
    artifacts: 0,
    snapshots: 0,
    schemas: 0,
    typed_providers: 0,
  };
  return {
    connection,
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

/** Runs one part of a check; damage that stops SQLite is reported as a problem. */
async function attempt(checking: Checking, part: string, check: (checking: Checking) => Promise<void>): Promise<void> {
  try {
    await check(checking);
  } catch (error) {
    const known = toStoreError(error, checking.connection.path, `read the ${part} of`);
    if (isBusy(error) || known.code !== "corrupt") throw known;
    checking.report("file", known.message);
  }
}

/** SQLite's own check of pages, indexes and constraints. */
async function checkStructure({ connection, report, turn }: Checking): Promise<void> {
  const fault = schemaFault(connection);
  if (fault !== null) report("file", `Cannot open store "${connection.path}": ${fault}`);
  for (const row of connection.database.prepare("PRAGMA integrity_check(10000)").all()) {
    const line = String(row["integrity_check"]);
    if (line !== "ok") report("file", line);
  }
  const loss = findLoss(connection);
  if (loss !== null) report("file", `Store "${connection.path}" lost data: ${loss}`);
  await turn();
}
