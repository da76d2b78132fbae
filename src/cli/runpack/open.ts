/** Opens the runpack of a command line: a folder, a single file, or a runpack identity in the local repository. */

import { resolve } from "node:path";
import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { openArchive } from "../../runpack/host/archive_file.ts";
import { folderPackSource, folderSignatures } from "../../runpack/host/folder.ts";
import type { SignatureFile } from "../../runpack/host/repository.ts";
import type { PackSource } from "../../runpack/format/types.ts";
import { fileReason } from "../../store/file_reason.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import type { ConfigFlags } from "../terminal/output.ts";

/** The flags that locate the local repository. */
export type RepositoryFlags = ConfigFlags;

/** An open pack. */
export interface OpenPack {
  readonly source: PackSource;
  /** The signatures beside it, in key id order. */
  readonly signatures: readonly SignatureFile[];
  /** The identity on the command line; null if a path was given. */
  readonly identity: Identity | null;
  readonly close: () => void;
}

/**
 * Opens a pack; read permission is enough.
 *
 * @throws {CliError} `runpack_not_found`
 * @throws {ArchiveError} If the file is not an archive of a pack
 */
export async function openPack(named: string, flags: RepositoryFlags): Promise<OpenPack> {
  const kind = kindOf(named);
  const path = resolve(named);
  if (kind === "folder") {
    return {
      source: folderPackSource(path),
      signatures: await folderSignatures(path),
      identity: null,
      close: () => {},
    };
  }
  if (kind === "file") {
    const archive = await openArchive(await Deno.realPath(path)).catch((error) => {
      throw unreadable(named, error);
    });
    return { source: archive.source, signatures: await archive.signatures(), identity: null, close: archive.close };
  }
  if (isIdentity(named)) return await openPublished(named, flags);
  throw notFound(named);
}

/** A pack whose manifest is read once. A folder that is swapped meanwhile is then a pack with missing objects. */
export function readOnce<Pack extends Pick<OpenPack, "source">>(pack: Pack): Pack {
  let read: ReturnType<PackSource["manifest"]> | null = null;
  return { ...pack, source: { ...pack.source, manifest: () => read ??= pack.source.manifest() } };
}

/** The local repository of `--data-dir`, else of the configuration, which is read only in that case. */
async function repositoryRoot({ config, dataDir }: RepositoryFlags): Promise<string> {
  const { repositoryFolder } = await import("../../runpack/host/open_publisher.ts");
  if (dataDir !== undefined) return repositoryFolder(resolve(dataDir));
  const { loadConfig } = await import("../../config/load.ts");
  const { dataDirOf } = await import("../terminal/data_dir.ts");
  const { configVariable } = await import("../config/variable.ts");
  return repositoryFolder(dataDirOf(await loadConfig({ config, environment: configVariable() }), undefined));
}

async function openPublished(identity: Identity, flags: RepositoryFlags): Promise<OpenPack> {
  const { localPackSource, openLocalRepository } = await import("../../runpack/host/local_repository.ts");
  const root = await repositoryRoot(flags);
  const source = localPackSource(root, identity);
  if (await source.manifest() === "missing") throw notFound(identity);
  const signatures = await openLocalRepository(root).getSignatures(identity);
  return { source, signatures, identity, close: () => {} };
}

/** What a path names; null where nothing is there. */
export function kindOf(path: string): "folder" | "file" | null {
  try {
    return Deno.statSync(path).isDirectory ? "folder" : "file";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw unreadable(path, error);
  }
}

/** The error for an error of the file system; any other unchanged. */
function unreadable(path: string, error: unknown): unknown {
  const reason = fileReason(error);
  if (reason === null) return error;
  return new CliError("runpack_not_found", `Cannot read "${path}": ${reason}`, null, EXIT.unreachable);
}

/** The error for a name without a runpack. */
export function notFound(named: string): CliError {
  const message = `Cannot find runpack "${named}": no folder, file or published runpack has that name`;
  return new CliError("runpack_not_found", message);
}
