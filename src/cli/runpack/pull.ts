/**
 * `gate runpack pull`: fetches runpacks from the object store into the local repository, where `runpack_verify` reads
 * them.
 */

import { isIdentity } from "../../canonical/identity.ts";
import { loadConfig } from "../../config/load.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { copyPack, openContents } from "../../runpack/host/contents.ts";
import { openLocalRepository } from "../../runpack/host/local_repository.ts";
import { repositoryFolder } from "../../runpack/host/open_publisher.ts";
import type { Repository } from "../../runpack/host/repository.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { writeAnswer } from "../terminal/output.ts";
import { type Progress, progressLine, withPackErrors } from "./session.ts";
import type { RepositoryFlags } from "./open.ts";

/** Runs `gate runpack pull RUNPACK_IDENTITY...`. Each object is verified, and a runpack is stored completely or not at all. */
export async function runRunpackPull(identities: readonly string[], flags: RepositoryFlags): Promise<number> {
  const wrong = identities.find((identity) => !isIdentity(identity));
  if (wrong !== undefined) {
    throw new CliError("usage", `Cannot pull "${wrong}": expected a runpack identity of 64 lower-case hex digits`);
  }
  const config = await loadConfig(flags);
  if (config.runpack_storage === null) {
    throw new CliError(
      "usage",
      "Cannot pull: runpack_storage is not configured",
      "name the configuration with --config",
    );
  }
  const { openS3Repository } = await import("../../runpack/host/s3_repository.ts");
  const from = await openS3Repository(config.runpack_storage);
  const to = openLocalRepository(repositoryFolder(dataDirOf(config, flags.dataDir)));
  const progress = progressLine(flags.json === true);
  try {
    await withPackErrors(async () => {
      for (const identity of identities) await pull(identity, from, to, progress);
    });
  } finally {
    progress.end();
    from.close();
  }
  const text = identities.map((identity) => `${identity}\n`).join("");
  return writeAnswer("runpack pull", flags, { runpack_identities: identities }, text);
}

async function pull(identity: string, from: Repository, to: Repository, progress: Progress): Promise<void> {
  const contents = await openContents(sha256, from, identity);
  if (contents === null) {
    throw new CliError("runpack_not_found", `Cannot find runpack "${identity}" in ${from.name}`);
  }
  let count = 0;
  await copyPack(contents, to, () => progress.show("pull", ++count));
}
