import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";

import { appendTo, headAfter, LAW, runKey, sha256 } from "../../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../../tests/simulation/store/open.ts";
import type { Head } from "../../../run/types.ts";
import { checkStore } from "../../check/check.ts";
import { closeStores, openStores, type Stores } from "../../open.ts";
import { StoreError } from "../../types.ts";
import { openWriterConnection, type WriterConnection } from "../connection.ts";
import { createFileGuard } from "../file_guard.ts";
import { createLogMover } from "./log_mover.ts";

const MIB = 1024 * 1024;

const WAL_OPTIONS = storesOptions("", WAL_FULL).run;

/** Appends records of 64 KiB to one run until so many bytes are written. */
async function write(stores: Stores, head: Head | null, bytes: number): Promise<Head> {
  for (let written = 0;; written += MIB) {
    if (head !== null && written >= bytes) return head;
    const operations = Array.from({ length: 16 }, () => ({ operation: crypto.randomUUID(), filling: MIB / 16 }));
    const append = appendTo(runKey("one"), head, ...operations);
    assert.deepEqual(await stores.runs.append(append), { outcome: "accepted" });
    head = headAfter(append);
  }
}

/** Frames of the log, and how many of them are in the database, as another process sees them. */
function logOf(folder: string): { readonly log: number; readonly moved: number } {
  using database = new DatabaseSync(`${folder}/gate.db`);
  const row = database.prepare("PRAGMA wal_checkpoint(NOOP)").get();
  return { log: Number(row?.["log"]), moved: Number(row?.["checkpointed"]) };
}

/** Appends a little at a time until the log is as expected: how soon that is depends on the machine. */
async function until(
  stores: Stores,
  head: Head,
  folder: string,
  isReached: (log: { readonly log: number; readonly moved: number }) => boolean,
): Promise<Head> {
  for (let attempt = 0;; attempt++) {
    if (isReached(logOf(folder))) return head;
    assert.ok(attempt < 3_000, JSON.stringify(logOf(folder)));
    await new Promise((resolve) => setTimeout(resolve, 10));
    const append = appendTo(runKey("one"), head, crypto.randomUUID());
    assert.deepEqual(await stores.runs.append(append), { outcome: "accepted" });
    head = headAfter(append);
  }
}

async function recordsOf(stores: Stores): Promise<number> {
  return (await stores.runs.getHead(runKey("one")))?.head.revision ?? 0;
}

/** A folder that the test of a store without a worker may use, and nothing else. */
const ALONE = Deno.makeTempDirSync({ prefix: "gate-test-" });

Deno.test({
  name: "a store whose worker cannot start says so once, and its commits move the log",
  permissions: { read: [ALONE], write: [ALONE] },
  fn: async () => {
    const notices: string[] = [];
    const stores = await openStores(storesOptions(ALONE, WAL_FULL), sha256, (message) => void notices.push(message));
    const head = await write(stores, null, 32 * MIB);
    assert.equal(await recordsOf(stores), head.revision);
    const { size } = await Deno.stat(`${ALONE}/gate.db-wal`);
    assert.ok(size < 8 * MIB, `${size}`);
    await closeStores(stores);
    await Deno.remove(ALONE, { recursive: true });
    assert.equal(notices.length, 1);
    assert.match(
      notices[0] ?? "",
      /^A worker cannot move the log of store ".*gate\.db", so commits move it: .*log_worker/,
    );
  },
});

/**
 * A log of so many pages, of which some are in the database, and what the mover does after a commit. Pages have 2 KiB:
 * the limits are 2048 pages of the log, and 128 that are not moved.
 */
const LIMITS: readonly (readonly [
  pages: number,
  moved: number,
  outcome: "left" | "moved by its own thread" | "given to a worker",
])[] = [
  [2047, 1990, "left"],
  [2047, 0, "left"],
  [2048, 1921, "moved by its own thread"],
  [2048, 1920, "moved by its own thread"],
  [2048, 1919, "given to a worker"],
  [2049, 1922, "moved by its own thread"],
  [2049, 1921, "moved by its own thread"],
  [2049, 1920, "given to a worker"],
  [2048, 2048, "left"],
];

for (const [pages, moved, outcome] of LIMITS) {
  const folder = Deno.makeTempDirSync({ prefix: "gate-test-" });
  Deno.test({
    name: `a log of ${pages} pages, ${moved} of them in the database: ${outcome}`,
    // A worker cannot start and says so.
    permissions: { read: [folder], write: [folder] },
    fn: async () => {
      const connection = openWriterConnection(`${folder}/gate.db`, WAL_OPTIONS);
      const guard = createFileGuard(connection, WAL_OPTIONS);
      fillLog(connection, pages, moved);
      guard.verify();
      assert.deepEqual(guard.log(), { pages, moved });
      const failed = Promise.withResolvers<string>();
      const mover = createLogMover(connection, guard, failed.resolve);
      mover.committed();
      await new Promise((resolve) => setImmediate(resolve));
      if (outcome === "given to a worker") assert.match(await failed.promise, /cannot move the log .*log_worker/);
      guard.verify();
      assert.deepEqual(guard.log(), { pages, moved: outcome === "moved by its own thread" ? pages : moved });
      await mover.close();
      guard.close();
      connection.database.close();
      await Deno.remove(folder, { recursive: true });
    },
  });
}

/** Writes single pages until the log has so many. A reader keeps the log from its begin while a part of it is moved. */
function fillLog({ database, path }: WriterConnection, pages: number, moved: number): void {
  database.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(TRUNCATE)");
  using reader = new DatabaseSync(path, { readOnly: true });
  for (let page = 1; page <= pages; page++) {
    database.exec(`PRAGMA user_version = ${page}`);
    if (page !== moved) continue;
    reader.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }
}

Deno.test("a long log is moved into the database while commits go on, and begins anew", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.laws.put(LAW);
    // Less than SQLite itself waits for.
    let head = await write(stores, null, 6 * MIB);
    const { log } = logOf(folder);
    assert.ok(log > 0);
    head = await until(stores, head, folder, (now) => now.log < log);
    head = await write(stores, head, 48 * MIB);
    await closeStores(stores);
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
    assert.deepEqual(names, [".gate.db.mark", "gate.db"]);
    const again = await openStores(storesOptions(folder, WAL_FULL), sha256);
    assert.equal(await recordsOf(again), head.revision);
    await closeStores(again);
    assert.deepEqual((await checkStore(`${folder}/gate.db`, { sha256 })).problems, []);
  }));

Deno.test("a long reader keeps the log, and once it ends the log begins anew", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.laws.put(LAW);
    let head = await write(stores, null, MIB);
    const reader = new DatabaseSync(`${folder}/gate.db`, { readOnly: true });
    const count = reader.prepare("SELECT count(*) AS records FROM records");
    reader.exec("BEGIN");
    const before = count.get();
    head = await write(stores, head, 8 * MIB);
    assert.deepEqual(count.get(), before);
    const { log, moved } = logOf(folder);
    assert.ok(moved < log);
    reader.close();
    head = await until(stores, head, folder, (now) => now.log < log);
    assert.equal(await recordsOf(stores), head.revision);
    await closeStores(stores);
  }));

Deno.test("a store whose file was replaced after its log was moved changes nothing in the other file", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    const head = await write(stores, null, 6 * MIB);
    await until(stores, head, folder, ({ moved }) => moved > 0);
    await Deno.rename(`${folder}/gate.db`, `${folder}/away.db`);
    await Deno.writeTextFile(`${folder}/gate.db`, "another");
    await assert.rejects(
      stores.runs.append(appendTo(runKey("two"), null, "create")),
      (error) => error instanceof StoreError && error.code === "file_lost",
    );
    await closeStores(stores);
    assert.equal(await Deno.readTextFile(`${folder}/gate.db`), "another");
  }));
