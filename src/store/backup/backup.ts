/** Backs up a store while it is in use. */

import { dirname, join, resolve } from "node:path";

import type { BackupOrder, BackupReply } from "./backup_worker.ts";
import { checkStore } from "../check/check.ts";
import type { CheckOptions, StoreCheckReport } from "../check/check_types.ts";
import { reasonOf } from "../file_reason.ts";
import { StoreError, type StoreErrorCode } from "../types.ts";
import { removedUnlessDone } from "../unfinished.ts";

/**
 * Copies the state of a store's file at one moment, while other processes read and write the file. The copy has a
 * temporary name until it is checked and flushed to the disk. An existing file is never overwritten. A worker copies,
 * because SQLite's backup blocks its thread.
 *
 * @param path The store's file
 * @param target The path of the copy; its folder must exist
 * @returns The report of the check of the copy; a copy that is not sound is removed
 * @throws {StoreError} `corrupt` where the copy is not sound, `io` where the target exists or cannot be written, else as `checkStore`
 */
export async function backupStore(path: string, target: string, options: CheckOptions): Promise<StoreCheckReport> {
  const source = resolve(path);
  const destination = resolve(target);
  if (isThere(destination)) throw failure(source, destination, "the target already exists");
  const partial = join(dirname(destination), `.${crypto.randomUUID()}.partial`);
  const files = ["", "-journal", "-wal", "-shm"].map((end) => `${partial}${end}`);
  return await removedUnlessDone(files, async () => {
    createPrivate(source, destination, partial);
    await copyInWorker({ source, partial, destination });
    const report = await checkStore(partial, options);
    const [problem] = report.problems;
    if (problem !== undefined) {
      throw new StoreError("corrupt", `Cannot back up "${source}": its copy is not sound: ${problem.message}`);
    }
    await publish(source, partial, destination);
    await Deno.remove(partial);
    return { ...report, path: destination };
  });
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new StoreError("io", `Cannot inspect "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

/** Only the owner may read the copy, from the first byte on. */
function createPrivate(source: string, destination: string, partial: string): void {
  try {
    Deno.openSync(partial, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    throw failure(source, destination, reasonOf(error));
  }
}

function copyInWorker(order: BackupOrder): Promise<void> {
  const worker = new Worker(new URL("./backup_worker.ts", import.meta.url), { type: "module" });
  return new Promise<void>((fulfil, reject) => {
    worker.onmessage = ({ data }: MessageEvent<BackupReply>) => {
      if (data.ok) fulfil();
      else reject(new StoreError(data.code as StoreErrorCode, data.message));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new StoreError("io", `Cannot back up "${order.source}": ${event.message}`));
    };
    worker.postMessage(order);
  }).finally(() => worker.terminate());
}

/** Flushes the copy, gives it its final name unless that exists by now, and flushes the folder. */
async function publish(source: string, partial: string, destination: string): Promise<void> {
  try {
    await flush(partial);
    // A link never replaces an existing file; a rename would.
    await Deno.link(partial, destination);
    if (Deno.build.os !== "windows") await flush(dirname(destination));
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw failure(source, destination, "the target already exists");
    throw failure(source, destination, reasonOf(error));
  }
}

async function flush(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true });
  await file.sync();
}

function failure(source: string, destination: string, why: string): StoreError {
  return new StoreError("io", `Cannot back up "${source}" to "${destination}": ${why}`);
}
