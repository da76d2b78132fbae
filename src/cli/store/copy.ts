/** `gate store copy`: copies everything in one store to another one. */

import { resolve } from "node:path";
import type { CopyReport } from "../../store/copy/copy.ts";
import type { Stores } from "../../store/open.ts";
import type { StorageOptions } from "../../store/types.ts";
import { sha256 } from "../run/fold_state.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type JsonFlag, writeError, writeOut, writeResult } from "../terminal/output.ts";
import { withStoreErrors } from "./files.ts";
import { type NamedStore, namedStore, nameOf, storagesOf, withRows } from "./named_store.ts";
import { describeCounts, locationOf, withProgress } from "./report.ts";

/** The copy of one file or database. */
interface Copy extends CopyReport {
  readonly from: string;
  readonly to: readonly string[];
}

/** Runs `gate store copy FROM TO`. Returns 0 if the target has everything that was read, else 6. */
export async function runStoreCopy(from: string, to: string, options: JsonFlag): Promise<number> {
  const [source, target] = [await namedStore(from), await namedStore(to)];
  const sources = storagesOf(source);
  requireTarget(target, sources);
  const copies: Copy[] = [];
  for (const storage of sources) copies.push(await copy(storage, target, options.json === true));
  const sound = copies.every((one) => one.sound);
  if (options.json === true) writeResult("store copy", { copies }, sound);
  else copies.forEach(showCopy);
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

/** The target keeps both runs and schemas, and is not the source. */
function requireTarget(target: NamedStore, sources: readonly StorageOptions[]): void {
  if (target.run.type === "memory" || target.schemas.type === "memory") {
    throw new CliError(
      "usage",
      "Cannot copy to a store in memory",
      "name a file, a database, or a configuration of them",
    );
  }
  const names = sources.map(identityOf);
  const same = storagesOf(target).find((storage) => names.includes(identityOf(storage)));
  if (same !== undefined) throw new CliError("usage", `Cannot copy ${nameOf(same)} to itself`);
}

/** A file with its links resolved, or the address of a database. */
function identityOf({ path, url }: StorageOptions): string {
  if (path === null) return url ?? "";
  try {
    return Deno.realPathSync(path);
  } catch {
    return resolve(path);
  }
}

async function copy(storage: StorageOptions, target: NamedStore, quiet: boolean): Promise<Copy> {
  return await withRows(storage, (rows) =>
    withTarget(target, async (stores) => {
      const { copyStore } = await import("../../store/copy/copy.ts");
      const report = await withProgress(quiet, (onProgress) => copyStore(rows, stores, { sha256, onProgress }));
      return { from: rows.name, to: storagesOf(target).map(nameOf), ...report };
    }));
}

/** Opens the target, and creates a file that does not exist. A copy is complete, so no limit of the registry holds for it. */
async function withTarget<Result>(
  { run, schemas }: NamedStore,
  operation: (stores: Stores) => Promise<Result>,
): Promise<Result> {
  return await withStoreErrors(async () => {
    const { closeStores, openStores } = await import("../../store/open.ts");
    const limits = { max_entries: null, max_schema_bytes: Number.MAX_SAFE_INTEGER };
    const stores = await openStores(
      { run: { max_versions: null, ...run }, schemas: { ...schemas, ...limits } },
      sha256,
      (message) => writeError(`gate: ${message}\n`),
    );
    try {
      return await operation(stores);
    } finally {
      await closeStores(stores);
    }
  });
}

function showCopy({ from, to, sound, read, written, problems }: Copy): void {
  const verdict = sound ? "copied" : `copied with ${problems.length} problem${problems.length === 1 ? "" : "s"}`;
  writeOut(`${from}: ${verdict} to ${to.join(", ")} (${describeCounts(read)})\n`);
  writeOut(`  written now: ${describeCounts(written)}\n`);
  for (const problem of problems) writeOut(`  ${locationOf(problem)}: ${problem.message}\n`);
}
