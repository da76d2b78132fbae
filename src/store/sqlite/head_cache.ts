/**
 * A cache of heads, so that most calls need no query. This process knows its own commits, and SQLite reports whether another
 * connection has committed.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { RunKey } from "../../run/types.ts";
import { BoundedMap } from "../bounded_map.ts";
import type { RunHead } from "../types.ts";
import type { Connection } from "./connection.ts";
import { integer } from "./rows.ts";

/** Heads in the cache. */
const HEADS_KEPT = 8192;

/** Changes after a commit of another connection; commits of the querying connection do not count. */
const DATA_VERSION = "PRAGMA data_version";

/** The heads that are known to be committed. */
export interface HeadCache {
  /** The committed head of a run; undefined where it must be read. */
  readonly get: (runKey: RunKey) => RunHead | undefined;
  /** Stores a head that this process read or committed. */
  readonly set: (head: RunHead) => void;
  /** Removes a head, which is read again. */
  readonly remove: (runKey: RunKey) => void;
}

function nameOf({ namespace_id, run_id }: RunKey): string {
  return `${namespace_id} ${run_id}`;
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

/**
 * A cache over the connection that writes. It queries the data version once in each turn of the event loop. That is enough: every
 * commit that a caller knew of when it sent a call precedes the turn in which the call is read.
 */
export function createHeadCache(writer: Connection): HeadCache {
  const heads = new BoundedMap<string, RunHead>(HEADS_KEPT);
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
    heads.clear();
  };
  return {
    get: (runKey) => {
      check();
      return heads.get(nameOf(runKey));
    },
    set: (head) => {
      const name = nameOf(head.run_key);
      const known = heads.get(name);
      if (known === undefined || known.head.revision < head.head.revision) heads.set(name, head);
    },
    remove: (runKey) => heads.delete(nameOf(runKey)),
  };
}
