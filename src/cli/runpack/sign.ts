/** `gate runpack sign`: adds a signature to a runpack. */

import { resolve } from "node:path";
import { encodeBase64 } from "../../canonical/base64.ts";
import { isIdentity } from "../../canonical/identity.ts";
import { loadConfig } from "../../config/load.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { addArchiveSignature, withSignature, writeArchive } from "../../runpack/host/archive_file.ts";
import { openContents, type PackContents, readWhole, sourceContents } from "../../runpack/host/contents.ts";
import { addFolderSignature, folderPackSource, folderSignatures } from "../../runpack/host/folder.ts";
import { openLocalRepository } from "../../runpack/host/local_repository.ts";
import { repositoryFolder } from "../../runpack/host/open_publisher.ts";
import { RepositoryError, type SignatureFile } from "../../runpack/host/repository.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { cannotWrite, requireNew } from "../terminal/new_file.ts";
import { writeAnswer } from "../terminal/output.ts";
import { signerOf, withPackErrors } from "./session.ts";
import { kindOf, notFound, openPack, type RepositoryFlags } from "./open.ts";

/** The flags of `gate runpack sign`. */
export interface RunpackSignOptions extends RepositoryFlags {
  readonly key?: string;
  readonly out?: string;
}

/** Signs the verified contents of a pack. */
type Sign = (contents: PackContents) => SignatureFile;

/** Runs `gate runpack sign RUNPACK`. The whole pack is read and verified before it is signed. */
export async function runRunpackSign(runpack: string, flags: RunpackSignOptions): Promise<number> {
  const signer = await signerOf(flags.key);
  if (signer === null) throw new CliError("usage", "Cannot sign: --key is missing");
  const sign: Sign = ({ manifest, decoded }) => signer.signPack(manifest, decoded);
  const runpack_identity = await withPackErrors(() => signAt(runpack, flags, sign));
  const public_key = encodeBase64(signer.publicKey);
  const text = `${runpack_identity} signed by ${signer.keyId}\n`;
  return writeAnswer("runpack sign", flags, { runpack_identity, key_id: signer.keyId, public_key }, text);
}

async function signAt(runpack: string, flags: RunpackSignOptions, sign: Sign): Promise<string> {
  if (flags.out !== undefined) return await signTo(resolve(flags.out), runpack, flags, sign);
  const kind = kindOf(runpack);
  if (kind === "folder") return await signFolder(resolve(runpack), sign);
  // A link to a runpack stays: its file gets the signature.
  if (kind === "file") return await addArchiveSignature(sha256, await Deno.realPath(runpack), sign);
  if (!isIdentity(runpack)) throw notFound(runpack);
  const config = await loadConfig(flags);
  const repository = openLocalRepository(repositoryFolder(dataDirOf(config, flags.dataDir)));
  const contents = await openContents(sha256, repository, runpack);
  if (contents === null) throw notFound(runpack);
  await readWhole(contents);
  await repository.putSignature(runpack, sign(contents));
  return runpack;
}

/** Writes the signed pack to a new file, and leaves the pack as it is. */
async function signTo(file: string, runpack: string, flags: RunpackSignOptions, sign: Sign): Promise<string> {
  requireNew(file);
  const pack = await openPack(runpack, flags);
  try {
    const contents = await sourceContents(sha256, pack.source, pack.signatures);
    if (pack.identity !== null && pack.identity !== contents.runpackIdentity) {
      throw new RepositoryError("integrity_failure", `Cannot sign "${runpack}": its manifest has another identity`);
    }
    return await writeArchive(file, withSignature(contents, sign(contents))).catch((error) => {
      throw cannotWrite(file, error);
    });
  } finally {
    pack.close();
  }
}

async function signFolder(folder: string, sign: Sign): Promise<string> {
  const contents = await sourceContents(sha256, folderPackSource(folder), await folderSignatures(folder));
  await readWhole(contents);
  if (!await addFolderSignature(folder, sign(contents))) {
    throw new CliError(
      "runpack_invalid",
      `Cannot sign "${folder}": its "signatures" is not a folder`,
      null,
      EXIT.verificationFailed,
    );
  }
  return contents.runpackIdentity;
}
