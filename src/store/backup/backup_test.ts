import assert from "node:assert/strict";

import { appendTo, identified, LAW, runKey, sha256 } from "../../../tests/simulation/store/fixture.ts";
import {
  IMPLEMENTATIONS,
  storesOptions,
  WAL_FULL,
  withFolder,
  withStores,
} from "../../../tests/simulation/store/open.ts";
import { backupStore } from "./backup.ts";
import { closeStores, openStores } from "../open.ts";
import { type AppendResult, StoreError } from "../types.ts";

const RUN = runKey("one");
const MATERIAL = [identified("payload", { kind: "json", value: "payload" })];
const APPEND = appendTo(RUN, null, "create", { operation: "a", material: MATERIAL });

async function names(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map((entry) => entry.name).sort();
}

for (const implementation of [...IMPLEMENTATIONS].filter(({ changes }) => changes.type === "sqlite")) {
  Deno.test(`backupStore() (${implementation.name}) copies a store in use into one file`, () =>
    withStores(implementation, {}, async ({ runs }, folder) => {
      await runs.laws.put(LAW);
      await runs.append(APPEND);
      await Deno.mkdir(`${folder}/copies`);
      // Records accepted during the copy may be in it; records accepted before must be.
      const later: Promise<AppendResult>[] = [];
      const copying = backupStore(`${folder}/gate.db`, `${folder}/copies/gate.db`, { sha256 });
      for (let index = 0; index < 50; index++) {
        later.push(runs.append(appendTo(runKey(`${index}`), null, `create ${index}`)));
      }
      const report = await copying;
      await Promise.all(later);
      assert.deepEqual([report.sound, report.path], [true, `${folder}/copies/gate.db`]);
      assert.deepEqual(await names(`${folder}/copies`), ["gate.db"]);
      if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(report.path)).mode ?? 0) & 0o777, 0o600);
      const copy = await openStores(storesOptions(`${folder}/copies`, implementation), sha256);
      assert.deepEqual(await copy.runs.listRecords(RUN, 0, 10), [...APPEND.records]);
      await closeStores(copy);
    }));
}

Deno.test("backupStore() overwrites no file and leaves no temporary file", () =>
  withStores(WAL_FULL, {}, async ({ runs }, folder) => {
    await runs.append(APPEND);
    await Deno.mkdir(`${folder}/copies`);
    await Deno.writeTextFile(`${folder}/copies/taken`, "mine");
    const refused: readonly [string, string, RegExp][] = [
      ["gate.db", "copies/taken", /the target already exists/],
      ["gate.db", "copies", /the target already exists/],
      ["gate.db", "nowhere/gate.db", /Cannot back up/],
      ["missing.db", "copies/a.db", /missing\.db/],
      ["copies/taken", "copies/a.db", /the file is not a database/],
    ];
    for (const [source, target, message] of refused) {
      const copying = backupStore(`${folder}/${source}`, `${folder}/${target}`, { sha256 });
      await assert.rejects(copying, (error) => error instanceof StoreError && message.test(error.message));
    }
    assert.deepEqual(await names(`${folder}/copies`), ["taken"]);
    assert.equal(await Deno.readTextFile(`${folder}/copies/taken`), "mine");
    assert.ok(!(await names(folder)).includes("missing.db"));
  }));

Deno.test("backupStore() removes a copy that is not sound", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.append(APPEND);
    await closeStores(stores);
    const copying = backupStore(`${folder}/gate.db`, `${folder}/copy.db`, { sha256 });
    await assert.rejects(copying, (error) => {
      assert.ok(error instanceof StoreError && error.code === "corrupt");
      assert.match(error.message, /its copy is not sound: its law ".*" is missing/);
      return true;
    });
    assert.ok(!(await names(folder)).includes("copy.db"));
  }));
