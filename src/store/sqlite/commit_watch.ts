/**
 * Notices commits of other connections, so that rows which this process read or wrote need no query. This process knows
 * its own commits.
 */

import { setImmediate } from "node:timers";
import { BoundedMap } from "../bounded_map.ts";
import type { Connection } from "./connection.ts";
import { integer } from "../rows/columns.ts";

/** Changes after a commit of another connection; commits of the querying connection do not count. */
const DATA_VERSION = "PRAGMA data_version";

/** Watches one file. */
export interface CommitWatch {
  /** A map of at most `capacity` entries that is empty after a commit of another connection. */
  readonly createCache: <Value extends NonNullable<unknown>>(capacity: number) => CommittedCache<Value>;
}

/** Values that are known to be committed. */
export interface CommittedCache<Value> {
  /** The value; undefined where it must be read. */
  readonly get: (name: string) => Value | undefined;
  /** As `get`, without looking for commits of other connections; for a choice between two values. */
  readonly peek: (name: string) => Value | undefined;
  /** Stores a value that this process read or committed. The next `get` removes it after a commit of another connection. */
  readonly set: (name: string, value: Value) => void;
  /** Removes a value, which is read again. */
  readonly remove: (name: string) => void;
}

/**
 * Watches the file of the connection that writes. It queries the data version once in each turn of the event loop. That
 * is enough: every commit that a caller knew of when it sent a call precedes the turn in which the call is read.
 */
export function watchCommits(writer: Connection): CommitWatch {
  const caches: { readonly clear: () => void }[] = [];
  let version: number | null = null;
  let checked = false;
  const uncheck = (): void => {
    checked = false;
  };
  const check = (): void => {
    if (checked) return;
    checked = true;
    setImmediate(uncheck);
    const now = dataVersion(writer);
    if (now !== null && now === version) return;
    version = now;
    for (const cache of caches) cache.clear();
  };
  return {
    createCache: <Value extends NonNullable<unknown>>(capacity: number): CommittedCache<Value> => {
      const values = new BoundedMap<string, Value>(capacity);
      caches.push(values);
      return {
        get: (name) => {
          check();
          return values.get(name);
        },
        peek: (name) => values.get(name),
        set: (name, value) => values.set(name, value),
        remove: (name) => values.delete(name),
      };
    },
  };
}

/** The data version; null after an error, which the next read reports. */
function dataVersion(writer: Connection): number | null {
  try {
    const row = writer.statement(DATA_VERSION).get();
    return row === undefined ? null : integer(row, "data_version");
  } catch {
    return null;
  }
}
