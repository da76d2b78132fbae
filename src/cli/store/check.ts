/**
 * `gate store check`: verifies everything in the stores: identities, hash chains and folded states.
 *
 * @module
 */

import { loadConfig } from "../../config/load.ts";
import { countOf } from "../../config/problems.ts";
import type { StoreCheckReport } from "../../store/check/check_types.ts";
import type { StoreRows } from "../../store/store_rows.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { foldState, sha256 } from "../run/fold_state.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { type ConfigFlags, writeOut, writeResult } from "../terminal/output.ts";
import { configuredStore, namedStore, storagesOf, withRows } from "./named_store.ts";
import { describeCounts, locationOf, withProgress } from "./report.ts";

/** Runs `gate store check [STORE]`. Returns 0 if every store is sound, else 6. */
export async function runStoreCheck(name: string | undefined, options: ConfigFlags): Promise<number> {
  refuseRuntimeTelemetry();
  if (name !== undefined && options.config !== undefined) {
    throw new CliError("usage", "Cannot check two stores at once", "pass STORE or --config, not both");
  }
  const store = name === undefined
    ? configuredStore(await loadConfig({ config: options.config }))
    : await namedStore(name);
  const reports: StoreCheckReport[] = [];
  for (const storage of storagesOf(store)) {
    reports.push(await withRows(storage, (rows) => check(rows, options.json === true)));
  }
  const sound = reports.every((report) => report.sound);
  if (options.json === true) writeResult("store check", { stores: reports }, sound);
  else reports.forEach(showReport);
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

async function check(rows: StoreRows, quiet: boolean): Promise<StoreCheckReport> {
  const { checkRows } = await import("../../store/check/check.ts");
  return await withProgress(quiet, (onProgress) => checkRows(rows, { sha256, fold: foldState, onProgress }));
}

function showReport(report: StoreCheckReport): void {
  const verdict = report.sound ? "sound" : countOf(report.problems.length, "problem");
  writeOut(`${report.path}: ${verdict} (${describeCounts(report.counts)})\n`);
  for (const problem of report.problems) writeOut(`  ${locationOf(problem)}: ${problem.message}\n`);
}
