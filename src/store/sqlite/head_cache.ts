/**
 * Heads kept in memory, so that most calls need not ask SQL for one: this process knows what it commits itself, and SQLite
 * tells when another connection has committed.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { RunKey } from "../../run/types.ts";
import { BoundedMap } from "../bounded_map.ts";
import type { RunHead } from "../types.ts";
import type { Connection } from "./connection.ts";
import { integer } from "./rows.ts";

/** Heads kept. */
const HEADS_KEPT = 8192;

/** Changes when another connection has committed; commits of the asking connection do not count. */
const DATA_VERSION = "PRAGMA data_version";

/** The heads that are known to be the committed ones. */
export interface HeadCache {
  /** The committed head of a run; undefined where it has to be read. */
  readonly get: (runKey: RunKey) => RunHead | undefined;
  /** Tells of a head that was read or committed by this process. */
  readonly set: (head: RunHead) => void;
}

function nameOf({ namespace_id, run_id }: RunKey): string {
  return `${namespace_id} ${run_id}`;
}

/** Null where it cannot be told now; the reader that asks next says why. */
function dataVersion(writer: Connection): number | null {
  try {
    const row = writer.statement(DATA_VERSION).get();
    return row === undefined ? null : integer(row, "data_version");
  } catch {
    return null;
  }
}

/**
 * A cache over the connection that writes. It asks for the data version once a turn of the event loop: whatever a caller
 * knew when it sent a call was committed before the turn in which the call is read.
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
  };
}
