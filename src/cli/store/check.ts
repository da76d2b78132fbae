/** `gate store check`: verifies everything in the stores: identities, hash chains and folded states. */

import { resolve } from "node:path";
import type { Identity } from "../../canonical/identity.ts";
import { loadConfig } from "../../config/load.ts";
import { countOf } from "../../config/problems.ts";
import type { CheckOptions, StoreCheckReport } from "../../store/check/check_types.ts";
import type { StoreRows } from "../../store/rows/store_rows.ts";
import { openContents, readWhole } from "../../runpack/host/contents.ts";
import { openLocalRepository } from "../../runpack/host/local_repository.ts";
import { repositoryFolder } from "../../runpack/host/open_publisher.ts";
import { type Repository, RepositoryError } from "../../runpack/host/repository.ts";
import { PackError } from "../../runpack/walk.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { foldState, sha256 } from "../run/fold_state.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { type ConfigFlags, writeOut, writeResult } from "../terminal/output.ts";
import { configuredStore, type NamedStore, namedStore, storagesOf, withRows } from "./named_store.ts";
import { describeCounts, locationOf, withProgress } from "./report.ts";

/** Runs `gate store check [STORE]`. Returns 0 if every store is sound, else 6. */
export async function runStoreCheck(name: string | undefined, options: ConfigFlags): Promise<number> {
  refuseRuntimeTelemetry();
  if (name !== undefined && options.config !== undefined) {
    throw new CliError("usage", "Cannot check two stores at once", "pass STORE or --config, not both");
  }
  const store = name === undefined ? configuredStore(await loadConfig(options)) : await namedStore(name);
  const runpackProblem = runpackCheck({ ...store, dataDir: resolve(options.dataDir ?? store.dataDir) });
  const reports: StoreCheckReport[] = [];
  for (const storage of storagesOf(store)) {
    reports.push(await withRows(storage, (rows) => check(rows, { runpackProblem }, options.json === true)));
  }
  const sound = reports.every((report) => report.sound);
  if (options.json === true) writeResult("store check", { stores: reports }, sound);
  else reports.forEach(showReport);
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

async function check(
  rows: StoreRows,
  options: Pick<CheckOptions, "runpackProblem">,
  quiet: boolean,
): Promise<StoreCheckReport> {
  const { checkRows } = await import("../../store/check/check.ts");
  return await withProgress(
    quiet,
    (onProgress) => checkRows(rows, { ...options, sha256, fold: foldState, onProgress }),
  );
}

/** Reads the runpack of an archived run whole: from the data folder, else from the object store. */
function runpackCheck({ dataDir, runpackStorage }: NamedStore): NonNullable<CheckOptions["runpackProblem"]> {
  const root = repositoryFolder(dataDir);
  return async (runpack) => {
    const why = await readFault(openLocalRepository(root), runpack);
    if (why === null || runpackStorage === null) return why === "missing" ? missingFrom(root, runpack) : why;
    const { openS3Repository } = await import("../../runpack/host/s3_repository.ts");
    const mirror = await openS3Repository(runpackStorage);
    try {
      const mirrored = await readFault(mirror, runpack);
      return mirrored === "missing" ? `${missingFrom(root, runpack)}, and not in the object store` : mirrored;
    } finally {
      await mirror.close();
    }
  };
}

function missingFrom(root: string, runpack: Identity): string {
  return `its runpack ${runpack} is not in "${root}" (--data-dir names the folder)`;
}

/** Why a runpack cannot be read from a repository; null where it can. */
async function readFault(repository: Repository, runpack: Identity): Promise<string | null> {
  try {
    const contents = await openContents(sha256, repository, runpack);
    if (contents === null) return "missing";
    await readWhole(contents);
    return null;
  } catch (error) {
    if (error instanceof RepositoryError || error instanceof PackError) return error.message;
    throw error;
  }
}

function showReport(report: StoreCheckReport): void {
  const verdict = report.sound ? "sound" : countOf(report.problems.length, "problem");
  writeOut(`${report.path}: ${verdict} (${describeCounts(report.counts)})\n`);
  for (const problem of report.problems) writeOut(`  ${locationOf(problem)}: ${problem.message}\n`);
}
