/**
 * The part of a check that verifies archived runs: the tombstone, the receipts that are left, and the entry in the list
 * of runs.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { Checking } from "./check_types.ts";
import { integer, type Row, text } from "../rows/columns.ts";
import { sealHolds } from "../rows/records.ts";
import { toEntry } from "../rows/entries.ts";
import { toTombstone, withArchived } from "../rows/tombstones.ts";
import { type RunHead, StoreError } from "../types.ts";

/** An archived run, as its row has it. */
interface ArchivedRow {
  readonly run: RunHead;
  readonly row: Row;
}

/**
 * Checks an archived run.
 *
 * @param tombstone The row of its tombstone
 * @returns Whether it has no problem
 */
export async function checkArchivedRun(checking: Checking, archived: ArchivedRow, tombstone: Row): Promise<boolean> {
  const { rows, options: { sha256 } } = checking;
  const { run, row } = archived;
  checking.counts.archived_runs += 1;
  const problems: string[] = [];
  let runpack: Identity | null = null;
  collect(problems, () => {
    withArchived(sha256, run, tombstone);
    runpack = toTombstone(sha256, run, tombstone).runpack_identity;
  });
  const unread = runpack === null ? null : await checking.options.runpackProblem?.(runpack) ?? null;
  if (unread !== null) problems.push(unread);
  const entry = await rows.entry(row);
  if (entry === null) problems.push("it is not in the index of runs");
  else {collect(problems, () => {
      const { scenario_id, scenario_law_identity, status } = toEntry(sha256, entry);
      const isSame = scenario_id === run.scenario_id && scenario_law_identity === run.scenario_law_identity;
      if (!isSame || status !== "complete") {
        problems.push("its entry in the index of runs is not that of a complete run");
      }
    });}
  if ((await rows.snapshots(row)).length > 0) problems.push("it has snapshots although it is archived");
  for (const message of problems) checking.report("run", message, run.run_key);
  return await checkReceipts(checking, archived) && problems.length === 0;
}

function collect(problems: string[], check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
    problems.push(error.message);
  }
}

async function checkReceipts(checking: Checking, { run, row }: ArchivedRow): Promise<boolean> {
  const { run_key, head } = run;
  let revision = 0;
  let last = "";
  let isSound = true;
  const report = (message: string, at: number): void => {
    isSound = false;
    checking.report("record", message, { ...run_key, revision: at });
  };
  for (;;) {
    const page = await checking.rows.records(row, revision);
    for (const receipt of page) {
      revision += 1;
      for (const message of receiptProblems(checking, run, row, receipt, revision)) report(message, revision);
      revision = integer(receipt, "revision");
      last = text(receipt, "record_id");
    }
    await checking.turn();
    if (page.length === 0) break;
  }
  if (revision !== head.revision || last !== head.record_id) {
    report("its receipts do not lead to the head of the run", revision);
  }
  return isSound;
}

function receiptProblems(checking: Checking, run: RunHead, row: Row, receipt: Row, revision: number): string[] {
  const problems: string[] = [];
  if (receipt["revision"] !== revision) problems.push("its receipt is missing");
  if (!sealHolds(checking.options.sha256, run.run_key, receipt)) {
    problems.push("its receipt differs from the written one");
  }
  if (receipt["record"] !== "" || receipt["material"] !== "") {
    problems.push("its texts are there although the run is archived");
  }
  const isCreation = receipt["family"] === "create_run" && receipt["operation"] === row["creation"];
  if (revision === 1 && !isCreation) problems.push("it is not the creation of the run");
  return problems;
}
