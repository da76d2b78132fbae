/**
 * The folder form of a pack: reading it for a verifier, and writing it out of a repository.
 *
 * @module
 */

import { join } from "node:path";

import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { isPackFolder, MANIFEST_NAME, objectName, readEntryName, signatureName } from "../format/archive.ts";
import { MANIFEST_BYTES, type PackSource, SIGNATURE_BYTES } from "../format/types.ts";
import { isMissing, isPlainFolder, plainFile, readPlainFile, replaceFile, syncFolder, writeAll } from "./files.ts";
import type { PackContents } from "./contents.ts";
import { createReadAhead } from "./read_ahead.ts";
import type { SignatureFile } from "./repository.ts";

/** A pack in a folder, for a verifier. What has no place in a pack is listed by its path. */
export function folderPackSource(folder: string): PackSource {
  const readAhead = createReadAhead();
  const plain = new Map<string, boolean>();
  // A link in the place of a folder leads out of the pack, so there is nothing behind it.
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
      return kind === "file" ? readAhead(path, maximumBytes) : kind;
    },
    list: () => listFiles(folder, ""),
  };
}

/** Names of what is in a folder of a pack, but for its manifest and signatures; an empty folder is nothing. */
async function* listFiles(folder: string, within: string): AsyncGenerator<string> {
  for await (const { name: entry, isFile, isDirectory } of Deno.readDir(join(folder, within))) {
    const name = within === "" ? entry : `${within}/${entry}`;
    // A link to a folder is no folder here, so nothing is followed out of the pack or in circles.
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
    // What cannot be looked into may hold anything.
    return false;
  }
}

/** The signatures in a folder, in key id order. Files that cannot be one are passed over. */
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
 * Lays a signature into a folder; one of the same key that is there is replaced, and there at every moment until then. A runpack may
 * come from anybody, so what is written for it stays in it.
 *
 * @returns False, and nothing is written, where its `signatures` is no folder but leads elsewhere
 */
export async function addFolderSignature(folder: string, { keyId, bytes }: SignatureFile): Promise<boolean> {
  const signatures = join(folder, "signatures");
  await Deno.mkdir(signatures, { recursive: true });
  if (!(await Deno.lstat(signatures)).isDirectory) return false;
  await replaceFile(join(folder, signatureName(keyId)), (file) => writeAll(file, bytes));
  await syncFolder(signatures);
  return true;
}

/** Whether a pack can be written to a folder: nothing is there yet, or an empty folder. */
export function isFreeFolder(folder: string): boolean {
  try {
    return [...Deno.readDirSync(folder)].length === 0;
  } catch (error) {
    return isMissing(error);
  }
}

/**
 * Writes a pack to a folder that {@link isFreeFolder}; the manifest last.
 *
 * @param onObject Told after each object
 * @returns The runpack identity
 */
export async function writeFolder(
  folder: string,
  contents: PackContents,
  onObject: () => void = () => {},
): Promise<Identity> {
  const folders = new Set([folder]);
  const write = async (name: string, bytes: Uint8Array): Promise<void> => {
    const path = join(folder, name);
    const parent = join(path, "..");
    if (!folders.has(parent)) await Deno.mkdir(parent, { recursive: true });
    folders.add(parent);
    using file = await Deno.open(path, { createNew: true, write: true, mode: 0o644 });
    await writeAll(file, bytes);
    await file.sync();
  };
  await Deno.mkdir(folder, { recursive: true });
  for await (const { reference, bytes } of contents.objects()) {
    await write(objectName(reference.object), await bytes());
    onObject();
  }
  for (const { keyId, bytes } of contents.signatures) await write(signatureName(keyId), bytes);
  for (const each of folders) await syncFolder(each);
  await write(MANIFEST_NAME, contents.manifest);
  await syncFolder(folder);
  return contents.runpackIdentity;
}
