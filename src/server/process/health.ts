/** Checks readiness: stores that accept a write, room on the disk, and an audit log that accepts events. */

import { statfs } from "node:fs/promises";
import { delay } from "./log.ts";

/** The options of the readiness check. */
export interface HealthOptions {
  /** Names of the stores that cannot be written and read now. */
  readonly stores: () => Promise<readonly string[]>;
  /** Folders whose disks must have room; missing folders are skipped. */
  readonly folders: readonly string[];
  /** Why the audit log accepts no events, or null. */
  readonly auditFault: () => string | null;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
  /** Free bytes on the disk of a folder; null for a missing folder. */
  readonly freeBytes?: (folder: string) => Promise<number | null>;
}

/** Readiness. */
export interface Health {
  /** The reasons why the service is not ready, from a closed set; a store's has its cause where that may be shown. */
  readonly reasons: () => Promise<readonly string[]>;
}

/** Free bytes below which a disk counts as full. */
export const FREE_BYTES_LEAST = 64 * 1024 * 1024;

/** How long a result is cached, in milliseconds, so that frequent probes are cheap. */
const HOLDS_MILLISECONDS = 1_000;

/** How long a store may take to answer, in milliseconds. */
const STORE_MILLISECONDS = 2_000;

/** Makes the check. */
export function createHealth(options: HealthOptions): Health {
  const now = options.now ?? (() => performance.now());
  let found: Promise<readonly string[]> = Promise.resolve([]);
  let foundAt = -Infinity;
  return {
    reasons: () => {
      if (now() - foundAt >= HOLDS_MILLISECONDS) {
        foundAt = now();
        found = check(options);
      }
      return found;
    },
  };
}

async function check(options: HealthOptions): Promise<readonly string[]> {
  const freeBytes = options.freeBytes ?? freeBytesOf;
  const [stores, ...free] = await Promise.all([
    storesInTime(options.stores),
    ...options.folders.map((folder) => freeBytes(folder).catch(() => 0)),
  ]);
  const isFull = free.some((bytes) => bytes !== null && bytes < FREE_BYTES_LEAST);
  return [...stores, ...(isFull ? ["disk"] : []), ...(options.auditFault() === null ? [] : ["audit"])];
}

async function storesInTime(stores: () => Promise<readonly string[]>): Promise<readonly string[]> {
  using late = delay(STORE_MILLISECONDS);
  return await Promise.race([stores().catch(() => ["stores"]), late.passed.then(() => ["stores"])]);
}

async function freeBytesOf(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
