/** Runpacks of a server. They are read in parts, so that the same command goes on where a connection ended. */

import { decodeBase64 } from "../../canonical/base64.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import type { RunKey } from "../../run/types.ts";
import { ArchiveError } from "../../runpack/format/archive.ts";
import { runpackIdentity } from "../../runpack/format/manifest.ts";
import { openArchive } from "../../runpack/host/archive_file.ts";
import { PART_BYTES } from "../../runpack/host/archive_parts.ts";
import { type PackContents, sourceContents } from "../../runpack/host/contents.ts";
import { plainFile, writeAll } from "../../runpack/host/files.ts";
import { RepositoryError } from "../../runpack/host/repository.ts";
import { PackError } from "../../runpack/walk.ts";
import { mustCall, type ReadResource, refusedCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { cannotWrite, requireNew } from "../terminal/new_file.ts";
import { writeError } from "../terminal/output.ts";

/** Most parts of a runpack: those of 64 GiB. */
const PARTS_MAXIMUM = 2 ** 17;

/** How a server divides a runpack. */
export interface PackParts {
  readonly bytes: number;
  readonly part_bytes: number;
}

/**
 * Publishes a run with `runpack_export`.
 *
 * @returns The runpack identity
 * @throws {CliError} As {@link refusedCall}
 */
export async function publishRun(session: ToolSession, runKey: RunKey): Promise<string> {
  const answer = await mustCall(session, "runpack_export", { ...runKey });
  const publication = member(answer, "publication") ?? null;
  const identity = isJsonObject(publication) ? member(publication, "runpack_identity") : undefined;
  const isPublished = isJsonObject(publication) && member(publication, "outcome") === "published";
  if (isPublished && typeof identity === "string") return identity;
  throw refusedCall("runpack_export", answer);
}

/**
 * Reads the parts that a server lists, within the limits.
 *
 * @throws {PackError}
 */
export function partsOf(identity: string, text: string | undefined): PackParts {
  const parsed = parseJson(text ?? "");
  const listed = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const [bytes, part_bytes] = ["bytes", "part_bytes"].map((name) => countOf(member(listed, name)));
  if (bytes === undefined || part_bytes === undefined || member(listed, "runpack_identity") !== identity) {
    throw new PackError(`Cannot read runpack "${identity}" of the server: expected its bytes and part_bytes`);
  }
  if (part_bytes <= PART_BYTES && Math.ceil(bytes / part_bytes) <= PARTS_MAXIMUM) return { bytes, part_bytes };
  const limit = `at most ${PARTS_MAXIMUM} parts of at most ${PART_BYTES} bytes`;
  throw new PackError(`Cannot read runpack "${identity}" of the server: expected ${limit}`);
}

function countOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/**
 * Runs work with a runpack of a server. What is downloaded is in `PATH.partial` until the work is done, and stays there
 * where the connection or the work fails. It is removed where it is no complete pack of that identity; where a signature
 * may have been added meanwhile, the download begins again once. A file of that name that no earlier download of that
 * identity left is refused.
 *
 * @param work Reads every object of the pack, which checks it
 * @throws {PackError} {@link ArchiveError} {@link RepositoryError} Where the bytes differ from the identity
 */
export async function withDownload<Result>(
  read: ReadResource | undefined,
  identity: string,
  path: string,
  work: (contents: PackContents) => Promise<Result>,
): Promise<Result> {
  if (read === undefined) throw new PackError(`Cannot read runpack "${identity}": only a server has its parts`);
  const partial = `${path}.partial`;
  if (plainFile(partial) === "unreadable") throw new CliError("usage", `Cannot write "${partial}": it is not a file`);
  const listed = async (): Promise<PackParts> => partsOf(identity, (await read(`gate://runpacks/${identity}`)).text);
  const attempt = async (begun: number, parts: PackParts): Promise<Result> => {
    await download(read, identity, partial, begun, parts);
    return await withPartial(partial, async (contents) => {
      if (contents.runpackIdentity === identity) return await work(contents);
      throw new PackError(`Cannot use runpack "${identity}" of the server: its bytes have another identity`);
    });
  };
  const begun = await bytesOf(identity, partial);
  try {
    const parts = await listed();
    const result = await attempt(begun, parts).catch(async (error) => {
      if (!isWrong(error) || begun === 0 && parts.bytes === (await listed()).bytes) throw error;
      writeError("gate info: the runpack was signed on the server meanwhile: its download begins again\n");
      return await attempt(0, await listed());
    });
    await Deno.remove(partial);
    return result;
  } catch (error) {
    if (isWrong(error)) await Deno.remove(partial).catch(() => {});
    throw error;
  }
}

/** Whether bytes differ from what they should be. */
function isWrong(error: unknown): boolean {
  return error instanceof PackError || error instanceof ArchiveError ||
    error instanceof RepositoryError && error.code === "integrity_failure";
}

async function withPartial<Result>(path: string, work: (contents: PackContents) => Promise<Result>): Promise<Result> {
  const archive = await openArchive(path);
  try {
    if (archive.fault !== null) throw archive.fault;
    return await work(await sourceContents(sha256, archive.source, await archive.signatures()));
  } finally {
    archive.close();
  }
}

/** Appends the parts that a file does not have yet. */
async function download(
  read: ReadResource,
  identity: string,
  partial: string,
  begun: number,
  { bytes, part_bytes }: PackParts,
): Promise<void> {
  const first = Math.floor(begun / part_bytes);
  const options: Deno.OpenOptions = { write: true, create: true, mode: 0o600 };
  using file = await Deno.open(partial, options).catch((error) => {
    throw cannotWrite(partial, error);
  });
  await file.truncate(first * part_bytes);
  await file.seek(0, Deno.SeekMode.End);
  for (let at = first * part_bytes; at < bytes; at += part_bytes) {
    const part = decodeBase64((await read(`gate://runpacks/${identity}/${at / part_bytes}`)).blob ?? "");
    const expected = Math.min(part_bytes, bytes - at);
    if (part?.length !== expected) {
      const got = part === null ? "no base64" : `${part.length} bytes`;
      throw new PackError(`Cannot read part ${at / part_bytes} of the runpack: expected ${expected} bytes, got ${got}`);
    }
    await writeAll(file, part);
  }
}

/**
 * How many bytes of a pack a file has that an earlier download began; 0 without a file.
 *
 * @throws {CliError} `file_exists` where it is anything else
 */
async function bytesOf(identity: string, partial: string): Promise<number> {
  try {
    const archive = await openArchive(partial);
    const manifest = await archive.source.manifest().finally(archive.close);
    const isSame = typeof manifest !== "string" && runpackIdentity(sha256, manifest) === identity;
    if (isSame) return (await Deno.stat(partial)).size;
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw cannotWrite(partial, error);
  }
  // A download that ended before its first part leaves an empty file.
  if ((await Deno.stat(partial).catch(() => null))?.size !== 0) requireNew(partial);
  return 0;
}
