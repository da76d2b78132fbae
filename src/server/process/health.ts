/**
 * Whether the service can do its work: stores that take a write, room on the disk, an audit log that takes events.
 *
 * @module
 */

import { statfs } from "node:fs/promises";
import { delay } from "./log.ts";

/** What readiness looks at. */
export interface HealthOptions {
  /** Names of the stores that cannot take a write and a read now. */
  readonly stores: () => Promise<readonly string[]>;
  /** Folders whose disks must have room; those that do not exist yet are passed over. */
  readonly folders: readonly string[];
  /** Why the audit log takes no events, or null. */
  readonly auditFault: () => string | null;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
  /** Bytes that are free on the disk of a folder; null where there is no such folder. */
  readonly freeBytes?: (folder: string) => Promise<number | null>;
}

/** Readiness. */
export interface Health {
  /** Closed words for what is missing, a store's with the cause where that may be shown; none where the service is ready. */
  readonly reasons: () => Promise<readonly string[]>;
}

/** Free bytes below which a disk counts as full. */
export const FREE_BYTES_LEAST = 64 * 1024 * 1024;

/** How long a finding holds, in milliseconds: asking often costs nothing. */
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
        found = look(options);
      }
      return found;
    },
  };
}

async function look(options: HealthOptions): Promise<readonly string[]> {
  const freeBytes = options.freeBytes ?? freeBytesOf;
  const [stores, ...free] = await Promise.all([
    storesInTime(options.stores),
    ...options.folders.map((folder) => freeBytes(folder).catch(() => 0)),
  ]);
  const isFull = free.some((bytes) => bytes !== null && bytes < FREE_BYTES_LEAST);
  return [...stores, ...(isFull ? ["disk"] : []), ...(options.auditFault() === null ? [] : ["audit"])];
}

async function storesInTime(stores: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const late = delay(STORE_MILLISECONDS);
  const found = await Promise.race([
    stores().catch(() => ["stores"]),
    late.passed.then(() => ["stores"]),
  ]);
  late.cancel();
  return found;
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
