/** A cache of heads, so that most calls need no query. */

import type { RunKey } from "../../run/types.ts";
import type { RunHead } from "../types.ts";
import type { CommitWatch } from "./commit_watch.ts";

/** Heads in the cache. */
const HEADS_KEPT = 8192;

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

/** A cache of the heads in a file. */
export function createHeadCache(commits: CommitWatch): HeadCache {
  const heads = commits.createCache<RunHead>(HEADS_KEPT);
  return {
    get: (runKey) => heads.get(nameOf(runKey)),
    set: (head) => {
      const name = nameOf(head.run_key);
      const known = heads.peek(name);
      if (known === undefined || known.head.revision < head.head.revision) heads.set(name, head);
    },
    remove: (runKey) => heads.remove(nameOf(runKey)),
  };
}
