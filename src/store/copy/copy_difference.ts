/** The differences between a run of the source and the one of the same id at the target. */

import { isDeepStrictEqual } from "node:util";

import type { Head } from "../../run/types.ts";
import type { Copying } from "./copying.ts";
import type { RunHead, StoredReceipt, StoredRecord } from "../types.ts";

/**
 * The first difference between records and those of the target, which are hashed again when they are read; null where
 * they are equal.
 *
 * @param receiptsOnly Compares receipts, since one of the runs is archived
 */
export async function differenceOf(
  { target: { runs } }: Copying,
  run: Omit<RunHead, "archived">,
  records: readonly (StoredRecord | StoredReceipt)[],
  receiptsOnly: boolean,
): Promise<string | null> {
  const [first] = records;
  if (first === undefined) return null;
  const [after, count] = [first.revision - 1, records.length];
  const found = receiptsOnly
    ? await runs.receipts.list(run.run_key, after, count)
    : await runs.listRecords(run.run_key, after, count);
  for (const [index, record] of records.entries()) {
    const other = found[index];
    if (isDeepStrictEqual(other, receiptsOnly ? receiptOf(record) : record)) continue;
    const head = (await runs.getHead(run.run_key))?.head ?? null;
    const heads = `the head is ${nameOf(run.head)} at the source and ${nameOf(head)} at the target`;
    const what = other?.record_id === record.record_id
      ? "has another receipt or material at the target"
      : `is "${record.record_id}" at the source and ${quoted(other?.record_id)} at the target`;
    return `the run differs: record ${record.revision} ${what}; ${heads}`;
  }
  return null;
}

function receiptOf({ revision, record_id, receipt }: StoredReceipt): StoredReceipt {
  return { revision, record_id, receipt };
}

function quoted(name: string | undefined): string {
  return name === undefined ? "absent" : `"${name}"`;
}

function nameOf(head: Head | null): string {
  return head === null ? "absent" : `"${head.record_id}" at revision ${head.revision}`;
}
