/**
 * Claim 8: the records are one unbroken chain, and the record tree covers exactly them.
 *
 * @module
 */

import { type Head, PROCEDURES, type RunRecord } from "../../../run/types.ts";
import type { RecordTree } from "../../format/merkle.ts";
import type { Manifest } from "../../format/types.ts";
import { atRevision, violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/** The members that link a record to the one before it. */
export interface Link {
  readonly revision: number;
  readonly previous_record_id: string | null;
}

/** Whether a record follows the one before it; null precedes the first. */
export function checkLink(record: Link, before: Head | null): Violation | null {
  const follows = record.revision === (before?.revision ?? 0) + 1 &&
    record.previous_record_id === (before?.record_id ?? null);
  return follows ? null : violation("chain_broken", atRevision((before?.revision ?? 0) + 1));
}

/** Whether the procedure of a record is at least that of the record before it; null precedes the first. */
export function checkProcedure({ procedure, revision }: RunRecord, before: RunRecord | null): Violation | null {
  const wentBack = before !== null && PROCEDURES.indexOf(procedure) < PROCEDURES.indexOf(before.procedure);
  return wentBack ? violation("procedure_downgraded", atRevision(revision)) : null;
}

/** Whether the tree over all records has the root of the manifest. */
export function checkRecordTree(tree: RecordTree, { record_tree }: Manifest): Violation | null {
  const same = tree.size() === record_tree.size && tree.root() === record_tree.root;
  return same ? null : violation("record_tree_mismatch");
}
