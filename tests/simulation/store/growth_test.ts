/** What a mutation writes in a large store, against the same in a small one: pages are counted, so no clock is involved. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { closeStores, openStores, type Stores } from "../../../src/store/open.ts";
import type { Head } from "../../../src/run/types.ts";
import { appendTo, headAfter, runKey, sha256 } from "./fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "./open.ts";

/** Records of each run that only fills the store. */
const RECORDS = 10;
/** Runs that are written to, half of them begun before the others. */
const USED = 16;
/** Records that each of them gets while pages are counted. */
const COUNTED = 8;
/** Pages in the large store against those in the small one. */
const GROWTH_MOST = 1.2;

async function fill({ runs }: Stores, count: number): Promise<void> {
  for (let first = 0; first < count; first += 64) {
    const names = Array.from({ length: Math.min(64, count - first) }, (_, index) => `filling ${first + index}`);
    await Promise.all(names.map((name) => {
      const records = Array.from({ length: RECORDS }, (_, index) => `${name} ${index}`);
      return runs.append(appendTo(runKey(name), null, ...records));
    }));
  }
}

/** The mean number of pages that a commit of one record writes, in a store with some runs besides. */
async function pagesOfMutation(runs: number): Promise<number> {
  let pages = NaN;
  await withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL, { sync_mode: "normal" }), sha256);
    try {
      const heads = new Map<string, Head | null>();
      const append = async (name: string): Promise<void> => {
        const head = heads.get(name) ?? null;
        const one = appendTo(runKey(name), head, `${name} after ${head?.revision ?? 0}`);
        assert.equal((await stores.runs.append(one)).outcome, "accepted");
        heads.set(name, headAfter(one));
      };
      const names = Array.from({ length: USED }, (_, index) => `used ${index}`);
      for (const name of names.slice(0, USED / 2)) await append(name);
      await fill(stores, runs);
      for (const name of names) await append(name);
      const other = new DatabaseSync(`${folder}/gate.db`);
      other.prepare("PRAGMA wal_checkpoint(RESTART)").get();
      // The first commit after a checkpoint begins the log anew.
      await append("used 0");
      const frames = (): number => Number(other.prepare("PRAGMA wal_checkpoint(NOOP)").get()?.["log"]);
      const before = frames();
      for (let round = 0; round < COUNTED; round++) for (const name of names) await append(name);
      pages = (frames() - before) / (COUNTED * USED);
      other.close();
    } finally {
      await closeStores(stores);
    }
  });
  return pages;
}

Deno.test("a mutation writes as many pages in a store of 50,000 records as in one of 1,000", async () => {
  const small = await pagesOfMutation(100);
  const large = await pagesOfMutation(5000);
  // The record, its two indexes and the head of its run are in trees of their own.
  assert.ok(small >= 4 && large <= small * GROWTH_MOST, `${small} pages in the small store, ${large} in the large one`);
});
