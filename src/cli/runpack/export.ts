/** `gate runpack export`: publishes a run as a runpack, and copies it to a folder or an archive. */

import { resolve } from "node:path";
import { type Identity, isOperationIdentity } from "../../canonical/identity.ts";
import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import type { RunKey } from "../../run/types.ts";
import { writeArchive } from "../../runpack/host/archive_file.ts";
import { openContents, type PackContents } from "../../runpack/host/contents.ts";
import { isFreeFolder, writeFolder } from "../../runpack/host/folder.ts";
import { openLocalRepository } from "../../runpack/host/local_repository.ts";
import { openPublisher, repositoryFolder } from "../../runpack/host/open_publisher.ts";
import type { Publication } from "../../runpack/host/publish.ts";
import type { PackSigner } from "../../runpack/host/signing.ts";
import { findRun } from "../run/find_run.ts";
import { findStoredRun, requireRunDigits } from "../run/stored_run.ts";
import { namesServer, type ServerAddressFlags, withServerSession } from "../session/tool_session.ts";
import { CliError, type CliErrorCode } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { cannotWrite, requireNew } from "../terminal/new_file.ts";
import { writeAnswer } from "../terminal/output.ts";
import { publishRun, withDownload } from "./download.ts";
import { type Progress, progressLine, SERVER_SIGNS, SIGN_FILE, signerOf, withPackErrors } from "./session.ts";
import { withPipelineStore, withRunStore } from "../store/files.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import type { RepositoryFlags } from "./open.ts";

/** The flags of `gate runpack export`. */
export interface RunpackExportOptions extends RepositoryFlags, ServerAddressFlags {
  readonly namespace?: string;
  readonly run?: string;
  readonly out?: string;
  readonly archive?: string;
  readonly redact?: readonly string[];
  readonly signingKey?: string;
}

/** Runs `gate runpack export`. */
export async function runRunpackExport(flags: RunpackExportOptions): Promise<number> {
  const isRemote = namesServer(flags);
  const given = runKeyOf(flags);
  const target = targetOf(flags);
  if (isRemote) return await exportFromServer(flags, given, target);
  const signer = await signerOf(flags.signingKey);
  const config = await withPipelineStore(await loadConfig(flags));
  const runKey = await wholeRunKey(config, given);
  const dataDir = dataDirOf(config, flags.dataDir);
  const progress = progressLine(flags.json === true);
  const withheld = flags.redact ?? [];
  const publication = named(await publish(config, dataDir, runKey, withheld, signer, progress), withheld);
  const identity = "runpack_identity" in publication ? publication.runpack_identity : null;
  if (identity !== null && isWanted(target)) {
    await withPackErrors(async () => copyTo(target, await publishedContents(dataDir, identity), progress));
  }
  progress.end();
  if (publication.outcome !== "published") throw failureOf(publication, runKey);
  const { runpack_identity } = publication;
  const result = { runpack_identity, ...runKey, key_id: signer?.keyId ?? null, ...target };
  return writeAnswer("runpack export", flags, result, `${runpack_identity}\n`);
}

type Exported = Exclude<Publication, { outcome: "archived" }>;

/** The runpack of an archived run stands for an export: it has the whole run, so nothing can be withheld any more. */
function named(publication: Publication, withheld: readonly string[]): Exported {
  if (publication.outcome !== "archived") return publication;
  const { runpack_identity } = publication.archived;
  if (withheld.length === 0) return { outcome: "published", runpack_identity };
  throw new CliError("usage", `Cannot withhold conditions: the run is archived in runpack ${runpack_identity}`);
}

function runKeyOf({ namespace = "", run = "" }: RunpackExportOptions): RunKey {
  const namespace_id = parseNamespace(namespace);
  requireRunDigits("--run", run);
  return { namespace_id, run_id: run };
}

/** The run whose id begins with the given digits. A whole id is looked up by the export itself. */
async function wholeRunKey(config: GateConfig, { namespace_id, run_id }: RunKey): Promise<RunKey> {
  if (isOperationIdentity(run_id)) return { namespace_id, run_id };
  return await withRunStore(config, (runs) => findStoredRun(runs, run_id, namespace_id));
}

/** The destinations of the copies; both may be null. */
interface Target {
  readonly out: string | null;
  readonly archive: string | null;
}

function targetOf({ out, archive }: RunpackExportOptions): Target {
  const folder = out === undefined ? null : resolve(out);
  const file = archive === undefined ? null : resolve(archive);
  if (folder !== null && !isFreeFolder(folder)) {
    throw new CliError("file_exists", `Cannot write to "${folder}": it is not an empty folder`);
  }
  if (file !== null) requireNew(file);
  return { out: folder, archive: file };
}

function publish(
  config: GateConfig,
  dataDir: string,
  runKey: RunKey,
  withheld_conditions: readonly string[],
  signer: PackSigner | null,
  progress: Progress,
): Promise<Publication> {
  return withRunStore(config, async (runs) => {
    const publisher = openPublisher({ sha256, runs, dataDir, storage: config.runpack_storage, signer });
    try {
      return await publisher.publish(runKey, { withheld_conditions, onProgress: progress.show });
    } finally {
      await publisher.close();
    }
  });
}

/** The contents of a runpack that is published in a data folder. */
export async function publishedContents(dataDir: string, identity: Identity): Promise<PackContents> {
  const contents = await openContents(sha256, openLocalRepository(repositoryFolder(dataDir)), identity);
  if (contents !== null) return contents;
  const message = `Cannot copy runpack "${identity}": it is not in the data folder "${dataDir}"`;
  throw new CliError("runpack_not_found", message, "gate runpack pull fetches it from the object store");
}

function isWanted({ out, archive }: Target): boolean {
  return out !== null || archive !== null;
}

async function copyTo({ out, archive }: Target, contents: PackContents, progress: Progress): Promise<void> {
  let count = 0;
  if (out !== null) {
    await writeFolder(out, contents, () => progress.show("out", ++count)).catch((error) => {
      throw cannotWrite(out, error);
    });
  }
  count = 0;
  if (archive !== null) {
    await writeArchive(archive, contents, () => progress.show("archive", ++count)).catch((error) => {
      throw cannotWrite(archive, error);
    });
  }
}

/** Publishes on a server, which signs with its own key, and downloads what it published. */
async function exportFromServer(flags: RunpackExportOptions, given: RunKey, target: Target): Promise<number> {
  if (flags.signingKey !== undefined) throw new CliError("usage", SERVER_SIGNS, SIGN_FILE);
  if (flags.redact !== undefined) {
    throw new CliError("usage", "Cannot use --redact with --server: a server publishes the whole run");
  }
  return await withServerSession(flags, async (session) => {
    const { run_key } = isOperationIdentity(given.run_id)
      ? { run_key: given }
      : await findRun(session, flags, given.run_id);
    const identity = await publishRun(session, run_key);
    const progress = progressLine(flags.json === true);
    const path = target.archive ?? target.out;
    let key_id: Identity | null = null;
    if (path !== null) {
      await withPackErrors(() =>
        withDownload(session.resource, identity, path, async (contents) => {
          key_id = contents.signatures[0]?.keyId ?? null;
          await copyTo(target, contents, progress);
        })
      );
    }
    progress.end();
    const result = { runpack_identity: identity, ...run_key, key_id, ...target };
    return writeAnswer("runpack export", flags, result, `${identity}\n`);
  });
}

const EXITS: Readonly<Record<Exclude<Exported["outcome"], "published">, readonly [CliErrorCode, ExitCode]>> = {
  run_not_found: ["run_not_found", EXIT.usage],
  condition_not_found: ["condition_not_found", EXIT.usage],
  limit_exceeded: ["limit_exceeded", EXIT.unexpected],
  integrity_failure: ["integrity_failure", EXIT.verificationFailed],
  repository_unavailable: ["repository_unavailable", EXIT.unreachable],
};

function failureOf(publication: Exclude<Exported, { outcome: "published" }>, runKey: RunKey): CliError {
  const [code, exitCode] = EXITS[publication.outcome];
  const message = publication.outcome === "run_not_found"
    ? `Cannot find run "${runKey.run_id}" in namespace ${runKey.namespace_id}`
    : publication.message;
  const hint = publication.outcome === "repository_unavailable" && publication.runpack_identity !== null
    ? `runpack ${publication.runpack_identity} is in the local repository; export again to mirror it`
    : null;
  return new CliError(code, message, hint, exitCode);
}
