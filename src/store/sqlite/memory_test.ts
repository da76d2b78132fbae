import assert from "node:assert/strict";

import { makeLaw, sha256, STORAGE } from "../../../tests/simulation/store/fixture.ts";
import { StoreError } from "../types.ts";
import { openMemoryFile, openSqliteRunStore } from "./open.ts";

Deno.test("openMemoryFile() writes no file, not for a large sort either", async () => {
  const file = openMemoryFile(STORAGE);
  const read = await file.readers.point((connection) => ({
    location: connection.database.location(),
    ...connection.statement("SELECT temp_store, journal_mode FROM pragma_temp_store, pragma_journal_mode").get(),
  }));
  assert.deepEqual(read, { location: null, temp_store: 2, journal_mode: "memory" });
  await file.release();
});

Deno.test("two stores in memory share nothing", async () => {
  const options = { ...STORAGE, type: "memory", path: null, max_versions: null } as const;
  const one = await openSqliteRunStore(options, sha256);
  const other = await openSqliteRunStore(options, sha256);
  assert.equal(await one.laws.put(makeLaw("release")), "stored");
  assert.deepEqual(await other.laws.listNamespaces(0, 10), []);
  await one.close();
  assert.equal(await other.laws.put(makeLaw("release")), "stored");
  await other.close();
});

Deno.test("openMemoryFile() ends a long read at the release", async () => {
  const file = openMemoryFile(STORAGE);
  const reading = file.readers.long(() => true);
  const [, read] = await Promise.allSettled([file.release(), reading]);
  assert.ok(read.status === "rejected" && read.reason instanceof StoreError && read.reason.code === "closed");
});
