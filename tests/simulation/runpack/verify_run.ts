/**
 * Verifies one run of any store, whatever the store itself verifies: its records are the accepted chain up to the head.
 *
 * @module
 */

import { setImmediate } from "node:timers";

import type { Identity, Sha256 } from "../../../src/canonical/identity.ts";
import type { RunKey } from "../../../src/run/types.ts";
import { bindingProblems, recordProblems } from "../../../src/store/record_check.ts";
import { type RunHead, type RunStore, type StoredRecord, StoreError } from "../../../src/store/types.ts";

/** Options of a verification. */
export interface VerifyRunOptions {
  readonly sha256: Sha256;
  /** Receives each verified page, so that a caller that also needs the records reads them once. */
  readonly onRecords?: (records: readonly StoredRecord[]) => void;
  /** Called after each page with the number of verified records and of all records. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Records between two turns of the event loop; 64 by default. */
  readonly yieldEvery?: number;
}

const YIELD_EVERY = 64;

/** Bytes of texts in one page. */
const PAGE_BYTES = 1_048_576;

/**
 * Hashes the whole chain of a run again: every record and its material against their identities, the links between records, the scenario
 * and law of the run, and the head. Records that are accepted meanwhile are not verified.
 *
 * @returns The verified head; null where the run does not exist
 * @throws {StoreError} `corrupt` at the first problem, with run and revision
 */
export async function verifyRun(
  store: Pick<RunStore, "getHead" | "listRecords">,
  runKey: RunKey,
  options: VerifyRunOptions,
): Promise<RunHead | null> {
  const run = await store.getHead(runKey);
  if (run === null) return null;
  const total = run.head.revision;
  const limit = Math.max(1, options.yieldEvery ?? YIELD_EVERY);
  let revision = 0;
  let previous: Identity | null = null;
  while (revision < total) {
    const page = await store.listRecords(runKey, revision, Math.min(limit, total - revision), PAGE_BYTES);
    if (page.length === 0) throw corrupt(runKey, revision + 1, "the record is missing");
    for (const record of page) {
      revision += 1;
      const problems = recordProblems(options.sha256, { run_key: runKey, revision, previous }, record);
      if (revision === 1) problems.push(...bindingProblems(run, record));
      const [problem] = problems;
      if (problem !== undefined) throw corrupt(runKey, revision, problem);
      previous = record.record_id;
    }
    options.onRecords?.(page);
    options.onProgress?.(revision, total);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (previous === run.head.record_id) return run;
  throw corrupt(runKey, total, "the head names another record");
}

function corrupt(runKey: RunKey, revision: number, why: string): StoreError {
  const run = `run "${runKey.run_id}" of namespace ${runKey.namespace_id}`;
  return new StoreError("corrupt", `Cannot trust ${run} at revision ${revision}: ${why}`);
}
