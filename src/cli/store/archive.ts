/** `gate store archive`: moves old complete runs from the store into runpacks. */

import { loadConfig } from "../../config/load.ts";
import { countOf } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import { firstMillisFrom } from "../../law/value/timestamp.ts";
import type { RunKey } from "../../run/types.ts";
import { openPublisher, repositoryFolder } from "../../runpack/host/open_publisher.ts";
import type { Repository } from "../../runpack/host/repository.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import type { ListedRun, RunPosition, RunStore } from "../../store/types.ts";
import { signerOf } from "../runpack/session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type ConfigFlags, writeError, writeOut, writeResult } from "../terminal/output.ts";
import { type Archive, archiveRun, isDue } from "./archive_run.ts";
import { requireDatabase, withPipelineStore, withRunStore } from "./files.ts";

/** The flags of `gate store archive`. */
export interface StoreArchiveOptions extends ConfigFlags {
  readonly before: string;
  readonly owner?: string;
  readonly signingKey?: string;
  readonly dryRun?: boolean;
}

/** A run with the runpack that has its records; null with `--dry-run`. */
interface ArchivedItem extends RunKey {
  readonly runpack_identity: string | null;
}

/** What a call did. */
interface ArchiveResult {
  readonly before: string;
  readonly dry_run: boolean;
  readonly archived: readonly ArchivedItem[];
  readonly problems: readonly (RunKey & { readonly message: string })[];
}

/** Runs of a page of the search. */
const PAGE = 500;

/** Runs `gate store archive`. Returns 0, or 6 where a run that is due could not be archived. */
export async function runStoreArchive(options: StoreArchiveOptions): Promise<number> {
  const before = instantOf(options.before);
  const signer = await signerOf(options.signingKey);
  const config = asOwner(await withPipelineStore(await loadConfig(options)), options.owner);
  const dataDir = dataDirOf(config, options.dataDir);
  const { runpack_storage: storage } = config;
  const warnings = warningsOf(config, dataDir);
  if (options.json !== true) { for (const warning of warnings) writeError(`gate warn: ${warning}\n`); }
  const mirror = storage === null ? null : openOnce(async () => {
    return (await import("../../runpack/host/s3_repository.ts")).openS3Repository(storage);
  });
  const result = await withRunStore(config, async (runs) => {
    const publisher = openPublisher({ sha256, runs, dataDir, storage, signer });
    const root = repositoryFolder(dataDir);
    try {
      return await archiveAll({ runs, publisher, root, mirror: mirror?.open ?? null, before, now: Date.now }, options);
    } finally {
      await publisher.close();
      await mirror?.close();
    }
  });
  const isDone = result.problems.length === 0;
  if (options.json === true) writeResult("store archive", { ...result, warnings }, isDone);
  else show(result, dataDir);
  return isDone ? EXIT.ok : EXIT.verificationFailed;
}

/** Servers on other machines share the database, and not this folder. */
function warningsOf({ run_state_store, runpack_storage }: GateConfig, dataDir: string): readonly string[] {
  if (run_state_store.type !== "postgres" || runpack_storage !== null) return [];
  const folder = repositoryFolder(dataDir);
  return [
    `runpack_storage is not set: the records of archived runs are in "${folder}" alone, where other machines cannot read them`,
  ];
}

/** The first Unix millisecond that is not before an RFC 3339 date-time, which is not in the future. */
function instantOf(text: string): number {
  const millis = firstMillisFrom(text);
  if (millis === null) {
    throw new CliError("usage", `Cannot read --before "${text}": expected an instant such as 2026-03-01T09:00:00Z`);
  }
  if (millis <= Date.now()) return millis;
  throw new CliError("usage", `Cannot use --before "${text}": it is in the future`);
}

/** The configuration with the address of the role that owns the tables. */
function asOwner(config: GateConfig, owner: string | undefined): GateConfig {
  requireDatabase(config, "--owner", owner);
  if (owner === undefined) return config;
  const { run_state_store: run, schema_registry: schemas } = config;
  return { ...config, run_state_store: { ...run, url: owner }, schema_registry: { ...schemas, url: owner } };
}

/** Opens a repository at the first use, and closes what was opened. */
function openOnce(open: () => Promise<Repository>): {
  readonly open: () => Promise<Repository>;
  readonly close: () => Promise<void>;
} {
  let opened: Promise<Repository> | null = null;
  return { open: () => opened ??= open(), close: async () => (await opened)?.close() };
}

async function archiveAll(archive: Archive, options: StoreArchiveOptions): Promise<ArchiveResult> {
  const archived: ArchivedItem[] = [];
  const problems: (RunKey & { message: string })[] = [];
  const showsProgress = options.json !== true && Deno.stderr.isTerminal();
  for await (const run of completeRuns(archive.runs)) {
    if (run.archived !== undefined || run.created_instant >= archive.before) continue;
    const { namespace_id, run_id } = run.run_key;
    if (options.dryRun === true) {
      if (await isDue(archive, run)) archived.push({ namespace_id, run_id, runpack_identity: null });
      continue;
    }
    const done = await archiveRun(archive, run);
    if (done.outcome === "failed") problems.push({ namespace_id, run_id, message: done.message });
    if (done.outcome === "archived") {
      archived.push({ namespace_id, run_id, runpack_identity: done.runpack_identity });
      if (showsProgress) writeError(`\r\x1b[K${countOf(archived.length, "run")} archived`);
    }
  }
  if (showsProgress) writeError("\r\x1b[K");
  return { before: options.before?.[0] ?? "", dry_run: options.dryRun === true, archived, problems };
}

/** Every complete run of the store, the archived ones too, so that a page stays where it was. */
async function* completeRuns(runs: RunStore): AsyncGenerator<ListedRun> {
  for (let namespace = 0;;) {
    const [next] = await runs.laws.listNamespaces(namespace, 1);
    if (next === undefined) return;
    namespace = next;
    let position: RunPosition | null = null;
    do {
      const page = await runs.findRuns({ namespace_id: namespace, status: "complete" }, position, PAGE);
      yield* page.runs;
      position = page.next;
    } while (position !== null);
  }
}

function show({ dry_run, archived, problems }: ArchiveResult, dataDir: string): void {
  for (const { run_id, runpack_identity } of archived) {
    writeOut(runpack_identity === null ? `${run_id}\n` : `${run_id} ${runpack_identity}\n`);
  }
  for (const { namespace_id, run_id, message } of problems) {
    writeOut(`run ${run_id} of namespace ${namespace_id} stays in the store: ${message}\n`);
  }
  const what = dry_run ? "would be archived" : `archived to "${repositoryFolder(dataDir)}"`;
  writeOut(`${countOf(archived.length, "run")} ${what}\n`);
}
