/**
 * Copies archived runs: head, entry in the list of runs, receipts and tombstone. A run that the target has not archived keeps its records
 * there.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";

import { differenceOf } from "./copy_difference.ts";
import { shareWith } from "./copy_shared.ts";
import { type Copying, reporting } from "./copying.ts";
import { corruptRecord, toArchivedReceipt } from "../rows/records.ts";
import { integer, type Row } from "../rows/columns.ts";
import { toEntry } from "../rows/entries.ts";
import { toTombstone } from "../rows/tombstones.ts";
import type { ArchivedReceipt, ArchivedRun, RunHead } from "../types.ts";

/** Copies an archived run without problems. */
export function copyArchived(copying: Copying, run: RunHead, row: Row): Promise<void> {
  const { target: { runs }, written } = copying;
  return reporting(copying, "run", run.run_key, async () => {
    const missing = await shareWith(copying, { run, artifacts: new Set() });
    if (missing !== null) return missing;
    const archived = await readArchived(copying, run, row);
    if (await runs.getHead(run.run_key) === null && await runs.archives.put(archived) === "stored") {
      written.runs += 1;
      written.archived_runs += 1;
    }
    if (await runs.getHead(run.run_key) === null) return "its creation request created another run at the target";
    const difference = await differenceOf(copying, run, archived.receipts, true);
    if (difference !== null) return difference;
    const other = await runs.archives.get(run.run_key);
    if (other === null || isDeepStrictEqual(other, archived.tombstone)) return null;
    const { runpack_identity } = archived.tombstone;
    return `it is archived in runpack "${runpack_identity}" at the source and "${other.runpack_identity}" at the target`;
  });
}

async function readArchived({ checking }: Copying, run: RunHead, row: Row): Promise<ArchivedRun> {
  const { rows, options: { sha256 } } = checking;
  const [entry, tombstone] = [await rows.entry(row), await rows.tombstone(row)];
  if (entry === null || tombstone === null) {
    throw corruptRecord(run.run_key, run.head.revision, "its tombstone is missing");
  }
  const receipts: ArchivedReceipt[] = [];
  for (let after = 0; after < run.head.revision;) {
    const page = await rows.records(row, after);
    const last = page.at(-1);
    if (last === undefined) throw corruptRecord(run.run_key, after + 1, "its receipt is missing");
    receipts.push(...page.map((one) => toArchivedReceipt(sha256, run.run_key, one)));
    after = integer(last, "revision");
  }
  return { run, entry: toEntry(sha256, entry), receipts, tombstone: toTombstone(sha256, run, tombstone) };
}
