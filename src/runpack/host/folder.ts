/** The folder form of a pack: reads it for a verifier, and writes it from a repository. */

import { join } from "node:path";

import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { isPackFolder, MANIFEST_NAME, objectName, readEntryName, signatureName } from "../format/archive.ts";
import { MANIFEST_BYTES, type PackSource, SIGNATURE_BYTES } from "../format/types.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { isMissing, isPlainFolder, plainFile, readPlainFile, replaceFile, syncFolder, writeAll } from "./files.ts";
import type { PackContents } from "./contents.ts";
import { createChunkReader } from "./chunk_reader.ts";
import type { SignatureFile } from "./repository.ts";

/** A pack in a folder, for a verifier. Unexpected files are listed by their paths. */
export function folderPackSource(folder: string): PackSource {
  const readChunks = createChunkReader();
  const plain = new Map<string, boolean>();
  // A link may lead out of the pack, so its content is not read.
  const isPlain = (name: string): boolean => {
    const known = plain.get(name) ?? isPlainFolder(join(folder, name));
    plain.set(name, known);
    return known;
  };
  return {
    manifest: () => readPlainFile(join(folder, MANIFEST_NAME), MANIFEST_BYTES),
    object: (identity, maximumBytes) => {
      if (!isIdentity(identity)) return "missing";
      const name = objectName(identity);
      if (!["objects", name.slice(0, name.lastIndexOf("/"))].every(isPlain)) return "missing";
      const path = join(folder, name);
      const kind = plainFile(path);
      return kind === "file" ? readChunks(path, maximumBytes) : kind;
    },
    list: () => listFiles(folder, ""),
  };
}

/** Names of the files in a folder of a pack, without its manifest and signatures. Empty folders are ignored. */
async function* listFiles(folder: string, within: string): AsyncGenerator<string> {
  for await (const { name: entry, isFile, isDirectory } of Deno.readDir(join(folder, within))) {
    const name = within === "" ? entry : `${within}/${entry}`;
    // A link to a folder does not count as a folder: following it could leave the pack, or loop.
    if (isDirectory && isPackFolder(name)) yield* listFiles(folder, name);
    else if (isDirectory) {
      if (!await isEmpty(join(folder, name))) yield name;
    } else if (!isFile || (readEntryName(name)?.part ?? "object") === "object") yield name;
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(folder)) return false;
    return true;
  } catch {
    // An unreadable folder may hold any file.
    return false;
  }
}

/** The signatures in a folder, in key id order. Other files are skipped. */
export async function folderSignatures(folder: string): Promise<readonly SignatureFile[]> {
  const found: SignatureFile[] = [];
  if (!isPlainFolder(join(folder, "signatures"))) return found;
  try {
    for await (const { name } of Deno.readDir(join(folder, "signatures"))) {
      const place = readEntryName(`signatures/${name}`);
      if (place?.part !== "signature") continue;
      const bytes = await readPlainFile(join(folder, signatureName(place.keyId)), SIGNATURE_BYTES);
      if (typeof bytes !== "string" && bytes.length <= SIGNATURE_BYTES) found.push({ keyId: place.keyId, bytes });
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found.sort((a, b) => a.keyId < b.keyId ? -1 : 1);
}

/**
 * Writes a signature into a folder. It replaces the one of the same key, which stays readable until then. A runpack may
 * come from anyone, so no write may leave its folder.
 *
 * @returns False, without a write, where its `signatures` is not a plain folder
 */
export async function addFolderSignature(folder: string, { keyId, bytes }: SignatureFile): Promise<boolean> {
  const signatures = join(folder, "signatures");
  await Deno.mkdir(signatures, { recursive: true });
  if (!(await Deno.lstat(signatures)).isDirectory) return false;
  await replaceFile(join(folder, signatureName(keyId)), (file) => writeAll(file, bytes));
  await syncFolder(signatures);
  return true;
}

/** Whether a pack can be written to a folder: the path does not exist, or is an empty folder. */
export function isFreeFolder(folder: string): boolean {
  try {
    return [...Deno.readDirSync(folder)].length === 0;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/**
 * Writes a pack to a folder for which {@link isFreeFolder} holds; the manifest last. A folder that cannot be written
 * whole is left empty.
 *
 * @param onObject Called after each object
 * @returns The runpack identity
 * @throws {Deno.errors.AlreadyExists} Where another process writes a pack to it
 */
export async function writeFolder(
  folder: string,
  contents: PackContents,
  onObject: () => void = () => {},
): Promise<Identity> {
  const objects = join(folder, "objects");
  await Deno.mkdir(folder, { recursive: true });
  // Of two processes one makes this folder, and only that one may remove what is in the folder.
  await Deno.mkdir(objects);
  const parts = [objects, join(folder, "signatures"), join(folder, MANIFEST_NAME)];
  await removedUnlessDone(parts, () => writeParts(folder, contents, onObject));
  return contents.runpackIdentity;
}

async function writeParts(folder: string, contents: PackContents, onObject: () => void): Promise<void> {
  const folders = new Set([folder, join(folder, "objects")]);
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    const path = join(folder, name);
    const parent = join(path, "..");
    if (!folders.has(parent)) await Deno.mkdir(parent, { recursive: true });
    folders.add(parent);
    using file = await Deno.open(path, { createNew: true, write: true, mode: 0o644 });
    await writeAll(file, bytes);
    await file.sync();
  };
  for await (const { reference, bytes } of contents.objects()) {
    await write(objectName(reference.object), await bytes());
    onObject();
  }
  for (const { keyId, bytes } of contents.signatures) await write(signatureName(keyId), bytes);
  for (const each of folders) await syncFolder(each);
  await write(MANIFEST_NAME, contents.manifest);
  await syncFolder(folder);
}
