/**
 * Backing up a store while it is in use.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";

import type { BackupOrder, BackupReply } from "./backup_worker.ts";
import { checkStore } from "./check.ts";
import type { CheckOptions, StoreCheckReport } from "./check_types.ts";
import { fileReason } from "./file_reason.ts";
import { StoreError, type StoreErrorCode } from "./types.ts";

/**
 * Copies a store's file as it stands at one moment, while others read and write it. The copy is made under another name, checked, and
 * flushed to the disk before it gets its own; what exists is never overwritten. The copying is done in a worker, because SQLite's backup
 * holds up the thread that asks for it.
 *
 * @param path The store's file
 * @param target Where the copy goes; its folder must exist
 * @returns What the check of the copy found; a copy that is not sound is not kept
 * @throws {StoreError} `corrupt` where the copy is not sound, otherwise as `checkStore`; `io` where the target exists or cannot be written
 */
export async function backupStore(path: string, target: string, options: CheckOptions): Promise<StoreCheckReport> {
  const [source, goal] = [resolve(path), resolve(target)];
  if (isThere(goal)) throw refused(source, goal, "there is something already");
  const partial = join(dirname(goal), `.${crypto.randomUUID()}.partial`);
  try {
    createPrivate(source, goal, partial);
    await copyInWorker({ source, partial, goal });
    const report = await checkStore(partial, options);
    const [problem] = report.problems;
    if (problem !== undefined) {
      throw new StoreError("corrupt", `Cannot back up "${source}": its copy is not sound: ${problem.message}`);
    }
    await publish(source, partial, goal);
    return { ...report, path: goal };
  } finally {
    for (const end of ["", "-journal", "-wal", "-shm"]) await removeIfThere(`${partial}${end}`);
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new StoreError("io", `Cannot look at "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** A store's copy is its owner's alone, from the first byte. */
function createPrivate(source: string, goal: string, partial: string): void {
  try {
    Deno.openSync(partial, { write: true, createNew: true, mode: 0o600 }).close();
  } catch (error) {
    throw refused(source, goal, messageOf(error));
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

/** Flushes the copy, gives it its name unless that is taken meanwhile, and flushes the folder that holds the name. */
async function publish(source: string, partial: string, goal: string): Promise<void> {
  try {
    await flush(partial);
    // A link, unlike a renaming, never replaces what is there.
    await Deno.link(partial, goal);
    if (Deno.build.os !== "windows") await flush(dirname(goal));
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw refused(source, goal, "there is something already");
    throw refused(source, goal, messageOf(error));
  }
}

async function flush(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true });
  await file.sync();
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function refused(source: string, goal: string, why: string): StoreError {
  return new StoreError("io", `Cannot back up "${source}" to "${goal}": ${why}`);
}

function messageOf(error: unknown): string {
  return fileReason(error) ?? (error instanceof Error ? error.message : String(error));
}
