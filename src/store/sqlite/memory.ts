/**
 * A store in memory: a database without a file. Its only connection writes and reads, since another one would open another database.
 * Each transaction begins and ends in one turn of the event loop, so no read sees a part of it.
 *
 * @module
 */

import type { StorageOptions } from "../types.ts";
import { watchCommits } from "./commit_watch.ts";
import { openInMemory } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import type { PathGuard } from "./file_guard.ts";
import { createHeadCache } from "./head_cache.ts";
import { createReaderPool } from "./readers.ts";
import { createWriter } from "./writer.ts";

const nothing = (): void => {};

/** There is no file that could be removed or replaced. */
const GUARD: PathGuard = { verify: nothing, verifyThisTurn: nothing };

/** Opens an empty store in memory for one user. Its content is lost at the release. */
export function openMemoryFile(options: StorageOptions): StoreFile {
  const connection = openInMemory();
  const { path, database } = connection;
  const writer = createWriter(connection, options, { verifyBefore: nothing, verify: nothing, committed: nothing });
  const readers = createReaderPool({ path, options, guard: GUARD, open: () => connection });
  const commits = watchCommits(connection);
  return {
    path,
    writer,
    readers,
    heads: createHeadCache(commits),
    commits,
    guard: GUARD,
    unindexed: 0,
    retain: nothing,
    release: async () => {
      await writer.drain();
      await readers.end();
      database.close();
    },
  };
}
