/**
 * The local repository: packs in a folder, with shared objects. It is safe against a crash at any byte and against
 * concurrent writers. Files appear complete, none is overwritten, and a manifest appears after its objects are durable.
 */

import { dirname, join } from "node:path";

import { type Identity, isIdentity } from "../../canonical/identity.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { objectName } from "../format/archive.ts";
import { MANIFEST_BYTES, type PackSource, SIGNATURE_BYTES, SIGNATURES } from "../format/types.ts";
import {
  createFile,
  equalBytes,
  isMissing,
  plainFile,
  readPlainFile,
  syncFolder,
  TEMPORARY_PREFIX,
  writeAll,
} from "./files.ts";
import { createChunkReader } from "./chunk_reader.ts";
import { type Repository, RepositoryError, type SignatureFile, type Written } from "./repository.ts";

/** Age after which an unfinished file is the remainder of a crash, not a write in progress. */
const ABANDONED_MILLIS = 24 * 60 * 60 * 1000;

interface Local {
  readonly root: string;
  /** Folders whose entries may not be durable yet. */
  readonly touched: Set<string>;
  /** The last requested flush, successful or not. */
  flushed: Promise<void>;
  swept: Promise<void> | null;
}

const objectPath = (root: string, identity: Identity): string => join(root, objectName(identity));
const manifestPath = (root: string, identity: Identity): string => join(root, "manifests", `${identity}.json`);
const signaturesFolder = (root: string, identity: Identity): string => join(root, "signatures", identity);

/** Opens the repository in a folder. The first publication creates the folder. */
export function openLocalRepository(root: string): Repository {
  const local: Local = { root, touched: new Set(), flushed: Promise.resolve(), swept: null };
  const name = "the local runpack repository";
  const guard = <T>(doing: string, work: () => Promise<T>): Promise<T> =>
    work().catch((error) => {
      if (error instanceof RepositoryError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new RepositoryError("unavailable", `Cannot ${doing} in ${name} "${root}": ${why}`, { cause: error });
    });
  return {
    name,
    putObject: ({ identity, bytes }) =>
      guard("keep an object", async () => {
        await (local.swept ??= sweep(root));
        return await put(local, ["objects", identity.slice(0, 2)], identity, bytes);
      }),
    getObject: ({ object, bytes }) => readPlainFile(objectPath(root, object), bytes),
    putManifest: (identity, bytes) =>
      guard("publish a runpack", async () => {
        await flush(local);
        const written = await put(local, ["manifests"], `${identity}.json`, bytes);
        await flush(local);
        return written;
      }),
    getManifest: (identity) => readPlainFile(manifestPath(root, identity), MANIFEST_BYTES),
    putSignature: (identity, { keyId, bytes }) =>
      guard("keep a signature", async () => {
        const written = await put(local, ["signatures", identity], `${keyId}.json`, bytes);
        await flush(local);
        return written;
      }),
    getSignatures: (identity) => guard("read signatures", () => readSignatures(signaturesFolder(root, identity))),
    ready: () =>
      guard("write", async () => {
        await Deno.mkdir(root, OWNER_ONLY);
        await Deno.remove(await Deno.makeTempFile({ dir: root, prefix: TEMPORARY_PREFIX }));
      }),
    close: () => {},
  };
}

/** Runpacks hold evidence in the clear, as the store beside them does. */
const OWNER_ONLY: Deno.MkdirOptions = { recursive: true, mode: 0o700 };

async function put(local: Local, folders: readonly string[], name: string, bytes: Uint8Array): Promise<Written> {
  const folder = join(local.root, ...folders);
  if (plainFile(local.root) === "missing") local.touched.add(dirname(local.root));
  await Deno.mkdir(folder, OWNER_ONLY);
  // A process that wrote an existing entry may have ended before the entry was durable.
  for (let depth = 0; depth <= folders.length; depth++) local.touched.add(join(local.root, ...folders.slice(0, depth)));
  const path = join(folder, name);
  const written = plainFile(path) === "missing" ? await createFile(path, (file) => writeAll(file, bytes)) : "exists";
  if (written === "exists") await requireSame(path, bytes);
  return written;
}

async function requireSame(path: string, bytes: Uint8Array): Promise<void> {
  const found = await readPlainFile(path, bytes.length);
  if (typeof found !== "string" && equalBytes(found, bytes)) return;
  const why = typeof found === "string" ? `it is ${found}` : "it holds other bytes";
  throw new RepositoryError("integrity_failure", `Cannot publish runpack: "${path}" exists and ${why}`);
}

/** Flushes run one after the other: a publication waits for entries that another one has begun to make durable. */
function flush(local: Local): Promise<void> {
  const flushing = local.flushed.then(() => syncTouched(local.touched));
  local.flushed = flushing.catch(() => {});
  return flushing;
}

async function syncTouched(touched: Set<string>): Promise<void> {
  const failures: unknown[] = [];
  for (const folder of [...touched]) {
    // Cleared before the call: an entry made during the call needs another one.
    touched.delete(folder);
    try {
      await syncFolder(folder);
    } catch (error) {
      // A folder that was removed never becomes durable: if it stayed, every later publication would fail.
      if (!isMissing(error)) touched.add(folder);
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Removes unfinished files of crashed writers. A file that cannot be removed is left to the next sweep. */
async function sweep(root: string): Promise<void> {
  try {
    for await (const entry of Deno.readDir(join(root, "objects"))) {
      if (!entry.isDirectory) continue;
      const folder = join(root, "objects", entry.name);
      for await (const { name } of Deno.readDir(folder)) {
        if (!name.startsWith(TEMPORARY_PREFIX)) continue;
        const path = join(folder, name);
        const modified = (await Deno.lstat(path)).mtime?.getTime() ?? Date.now();
        if (Date.now() - modified > ABANDONED_MILLIS) await Deno.remove(path);
      }
    }
  } catch {
    // The removal is optional.
  }
}

async function readSignatures(folder: string): Promise<readonly SignatureFile[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".json")) names.push(name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const found: SignatureFile[] = [];
  for (const name of names.sort(compareCodePoints)) {
    const keyId = name.slice(0, -".json".length);
    const bytes = isIdentity(keyId) ? await readPlainFile(join(folder, name), SIGNATURE_BYTES) : "unreadable";
    if (typeof bytes !== "string" && bytes.length <= SIGNATURE_BYTES) found.push({ keyId, bytes });
    if (found.length === SIGNATURES) break;
  }
  return found;
}

/**
 * A pack of a local repository, for a verifier.
 *
 * @param identity Its runpack identity
 */
export function localPackSource(root: string, identity: Identity): PackSource {
  const readChunks = createChunkReader();
  return {
    manifest: () => {
      return isIdentity(identity)
        ? readPlainFile(manifestPath(root, identity), MANIFEST_BYTES)
        : Promise.resolve("missing");
    },
    object: (object, maximumBytes) => {
      if (!isIdentity(object)) return "missing";
      const path = objectPath(root, object);
      const kind = plainFile(path);
      return kind === "file" ? readChunks(path, maximumBytes) : kind;
    },
    list: null,
  };
}
