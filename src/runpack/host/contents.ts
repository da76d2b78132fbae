/** Packs that are copied from a repository, checked object by object. */

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { decodeManifest, runpackIdentity } from "../format/manifest.ts";
import type { Manifest, PackSource } from "../format/types.ts";
import { PackError, type WalkedObject, walkPack } from "../walk.ts";
import { equalBytes, joinBytes } from "./files.ts";
import { type Repository, RepositoryError, type SignatureFile } from "./repository.ts";

/** A pack with its objects and signatures. */
export interface PackContents {
  readonly runpackIdentity: Identity;
  readonly manifest: Uint8Array;
  readonly decoded: Manifest;
  readonly signatures: readonly SignatureFile[];
  /** Every object once, checked. Rejects with {@link RepositoryError} or {@link PackError}. */
  readonly objects: () => AsyncGenerator<WalkedObject>;
}

/** Reads and checks every object of a pack; rejects where one is missing or another one. */
export async function readWhole(contents: PackContents): Promise<void> {
  for await (const object of contents.objects()) await object.bytes();
}

/**
 * Opens a pack of a repository.
 *
 * @returns Null where the repository has no such pack
 * @throws {RepositoryError} `integrity_failure` where the manifest has another identity, `unavailable`
 */
export async function openContents(
  sha256: Sha256,
  repository: Repository,
  identity: Identity,
): Promise<PackContents | null> {
  const manifest = await repository.getManifest(identity);
  if (manifest === "missing") return null;
  if (manifest === "unreadable") {
    throw new RepositoryError("unavailable", `Cannot read runpack "${identity}" in ${repository.name}`);
  }
  const decoded = decodeManifest(manifest);
  if (!decoded.ok || runpackIdentity(sha256, manifest) !== identity) {
    const why = decoded.ok ? "its manifest has another identity" : decoded.fault.message;
    throw new RepositoryError("integrity_failure", `Cannot read runpack "${identity}" in ${repository.name}: ${why}`);
  }
  return {
    runpackIdentity: identity,
    manifest,
    decoded: decoded.manifest,
    signatures: await repository.getSignatures(identity),
    objects: () =>
      walkPack(sha256, decoded.manifest, async (reference) => {
        const bytes = await repository.getObject(reference);
        if (bytes === "unreadable") {
          throw new RepositoryError("unavailable", `Cannot read object "${reference.object}" in ${repository.name}`);
        }
        return bytes === "missing" ? null : bytes;
      }),
  };
}

/**
 * Opens a pack in a folder or a file.
 *
 * @throws {PackError} If its manifest cannot be read
 */
export async function sourceContents(
  sha256: Sha256,
  source: PackSource,
  signatures: readonly SignatureFile[],
): Promise<PackContents> {
  const manifest = await source.manifest();
  if (typeof manifest === "string") throw new PackError(`Cannot read runpack: its manifest is ${manifest}`);
  const decoded = decodeManifest(manifest);
  if (!decoded.ok) throw new PackError(`Cannot read runpack: its manifest is invalid: ${decoded.fault.message}`);
  return {
    runpackIdentity: runpackIdentity(sha256, manifest),
    manifest,
    decoded: decoded.manifest,
    signatures,
    objects: () =>
      walkPack(sha256, decoded.manifest, async ({ object, bytes }) => {
        const chunks = source.object(object, bytes);
        return typeof chunks === "string" ? null : joinBytes(await Array.fromAsync(chunks, (chunk) => chunk.slice()));
      }),
  };
}

/** Objects that are copied concurrently. */
const COPIES_AT_ONCE = 8;

/**
 * Copies a pack into a repository: objects, then signatures, then the manifest. A manifest that exists implies
 * everything else.
 *
 * @param onObject Called after each object
 * @throws {RepositoryError} As the repositories; `integrity_failure` where the pack is not complete
 */
export async function copyPack(
  contents: PackContents,
  to: Repository,
  onObject: () => void = () => {},
): Promise<void> {
  const { runpackIdentity: identity, manifest } = contents;
  const there = await to.getManifest(identity);
  if (typeof there === "string" || !equalBytes(there, manifest)) await copyObjects(contents, to, onObject);
  for (const signature of contents.signatures) await to.putSignature(identity, signature);
  await to.putManifest(identity, manifest);
}

async function copyObjects(contents: PackContents, to: Repository, onObject: () => void): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const copy = async ({ reference, bytes }: WalkedObject): Promise<void> => {
    try {
      await to.putObject({ identity: reference.object, bytes: await bytes() });
      onObject();
    } catch (error) {
      failures.push(error);
    }
  };
  try {
    for await (const object of contents.objects()) {
      const copying: Promise<void> = copy(object).then(() => void running.delete(copying));
      running.add(copying);
      if (running.size >= COPIES_AT_ONCE) await Promise.race(running);
      if (failures.length > 0) break;
    }
  } catch (error) {
    failures.push(error);
  }
  await Promise.all(running);
  const [failure] = failures;
  if (failure instanceof PackError) throw new RepositoryError("integrity_failure", failure.message, { cause: failure });
  if (failures.length > 0) throw failure;
}
