/**
 * `gate store check`: verifies everything in the stores: identities, hash chains and folded states.
 *
 * @module
 */

import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { countOf } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import type { StoreCheckReport, StoreCounts, StoreProblem } from "../../store/check_types.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { foldState, sha256 } from "../run/fold_state.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";
import { noFile, storeFiles, withStoreFile } from "./files.ts";

/** The flags of `gate store check`. */
export interface StoreCheckOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Runs `gate store check [FILE]`. Returns 0 if every store is sound, else 6. */
export async function runStoreCheck(file: string | undefined, options: StoreCheckOptions): Promise<number> {
  const paths = file === undefined ? filesOf(await loadConfig({ config: options.config })) : [resolve(file)];
  const reports: StoreCheckReport[] = [];
  for (const path of paths) reports.push(await withStoreFile(path, () => check(path, options.json === true)));
  const sound = reports.every((report) => report.sound);
  if (options.json === true) writeResult("store check", { stores: reports }, sound);
  else reports.forEach(showReport);
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

function filesOf(config: GateConfig): readonly string[] {
  const paths = storeFiles(config);
  if (paths.length > 0) return paths;
  const { type } = config.run_state_store;
  throw noFile(type === "memory" ? "both stores are in memory" : `run_state_store.type is "${type}"`);
}

async function check(path: string, quiet: boolean): Promise<StoreCheckReport> {
  const { checkStore } = await import("../../store/check.ts");
  const showsProgress = !quiet && Deno.stderr.isTerminal();
  const report = await checkStore(path, {
    sha256,
    fold: foldState,
    onProgress: (counts) => {
      if (showsProgress) writeError(`\r${countOf(counts.runs, "run")}, ${countOf(counts.records, "record")} `);
    },
  });
  if (showsProgress) writeError("\r\x1b[K");
  return report;
}

function showReport(report: StoreCheckReport): void {
  const verdict = report.sound ? "sound" : countOf(report.problems.length, "problem");
  writeOut(`${report.path}: ${verdict} (${describeCounts(report.counts)})\n`);
  for (const problem of report.problems) writeOut(`  ${locationOf(problem)}: ${problem.message}\n`);
}

function describeCounts(counts: Readonly<StoreCounts>): string {
  const { laws, runs, records, schemas, snapshots, typed_providers } = counts;
  return [
    countOf(laws, "law"),
    countOf(runs, "run"),
    countOf(records, "record"),
    countOf(schemas, "schema"),
    ...typed_providers === 0 ? [] : [countOf(typed_providers, "typed provider")],
    countOf(snapshots, "snapshot"),
  ].join(", ");
}

function locationOf({ what, namespace_id, run_id, revision }: StoreProblem): string {
  const parts = [
    namespace_id === null ? "" : ` in namespace ${namespace_id}`,
    run_id === null ? "" : ` of run ${run_id}`,
    revision === null ? "" : ` at revision ${revision}`,
  ];
  return what + parts.join("");
}
