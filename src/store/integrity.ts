/**
 * Verification of one run through any store: that its records are the chain that was accepted, up to the head.
 *
 * @module
 */

import { setImmediate } from "node:timers";

import type { Identity, Sha256 } from "../canonical/identity.ts";
import type { RunKey } from "../run/types.ts";
import { bindingProblems, recordProblems } from "./record_check.ts";
import { type RunHead, type RunStore, type StoredRecord, StoreError } from "./types.ts";

/** How a run is verified. */
export interface VerifyRunOptions {
  readonly sha256: Sha256;
  /** Takes each verified page, so that who needs the records too need not read them again. */
  readonly onRecords?: (records: readonly StoredRecord[]) => void;
  /** Told after each page how many records of how many are verified. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Records after which the event loop gets a turn; 64 unless told. */
  readonly yieldEvery?: number;
}

const YIELD_EVERY = 64;

/** Bytes of texts in one page. */
const PAGE_BYTES = 1_048_576;

/**
 * Hashes the whole chain of a run again: every record and its material against their identities, the links between records, what the run
 * is bound to, and the head. Records that are accepted meanwhile are not looked at.
 *
 * @returns The head that was verified; null where there is no such run
 * @throws {StoreError} `corrupt` at the first thing that is wrong, naming run and revision
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
    if (page.length === 0) throw corrupt(runKey, revision + 1, "the record is not there");
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
