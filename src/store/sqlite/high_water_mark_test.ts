import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { appendTo, makeSchema, runKey, sha256 } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { closeStores, openStores } from "../open.ts";
import { markPath } from "./high_water_mark.ts";

interface Mark {
  readonly laws: number;
  readonly records: number;
  readonly schemas: number;
  readonly record_id: string | null;
}

/** A text padded to the size of a mark. */
function sized(text: string, bytes = 512): string {
  return `${text.padEnd(bytes - 1)}\n`;
}

const LOST = "it holds ";

/** The content of the mark of a store with one record and one schema, and the notice at a start. */
const MARKS: readonly (readonly [what: string, write: (mark: Mark) => string | null, says: string | null])[] = [
  ["what the store holds", (mark) => sized(JSON.stringify(mark)), null],
  ["less than it holds", (mark) => sized(JSON.stringify({ ...mark, records: 0, record_id: null })), null],
  ["one record more", (mark) => sized(JSON.stringify({ ...mark, records: 2 })), `${LOST}1 of at least 2 records`],
  [
    "more laws and schemas",
    (mark) => sized(JSON.stringify({ ...mark, laws: 3, schemas: 9 })),
    `${LOST}0 of at least 3 laws, 1 of at least 9 schemas`,
  ],
  [
    "another last record",
    (mark) => sized(JSON.stringify({ ...mark, record_id: "c".repeat(64) })),
    "its record 1 differs from the accepted one",
  ],
  ["nothing, as it does not exist", () => null, null],
  ["nothing, of 511 bytes", (mark) => sized(JSON.stringify({ ...mark, records: 2 }), 511), null],
  ["nothing, of 513 bytes", (mark) => sized(JSON.stringify({ ...mark, records: 2 }), 513), null],
  ["nothing, as it is no JSON", () => sized("{"), null],
  ["nothing, with a member more", (mark) => sized(JSON.stringify({ ...mark, records: 2, more: 1 })), null],
  ["nothing, with a number below 0", (mark) => sized(JSON.stringify({ ...mark, records: 2, laws: -1 })), null],
  ["nothing, with a text for a number", (mark) => sized(JSON.stringify({ ...mark, records: "2" })), null],
];

for (const [what, write, says] of MARKS) {
  Deno.test(`a mark of ${what}: ${says ?? "no notice"}`, () =>
    withFolder(async (folder) => {
      const options = storesOptions(folder, WAL_FULL);
      const path = markPath(await Deno.realPath(folder) + "/gate.db");
      const first = await openStores(options, sha256);
      await first.runs.append(appendTo(runKey("one"), null, "create"));
      await first.schemas.register(makeSchema("report", "1"));
      await closeStores(first);
      const mark = JSON.parse(await Deno.readTextFile(path)) as Mark;
      assert.deepEqual([mark.laws, mark.records, mark.schemas, (await Deno.stat(path)).size], [0, 1, 1, 512]);
      const text = write(mark);
      if (text === null) await Deno.remove(path);
      else await Deno.writeTextFile(path, text);
      const said: string[] = [];
      const second = await openStores(options, sha256, (message) => said.push(message));
      await second.runs.ready();
      await closeStores(second);
      const message = `Store "${options.run.path}" lost data: ${says}.`;
      assert.deepEqual(said.map((line) => line.slice(0, message.length)), says === null ? [] : [message]);
      if (says !== null) assert.equal(await Deno.readTextFile(path), text, "a loss stays in the mark");
    }));
}

Deno.test("a store whose records cannot be read still opens, and its mark stays", () =>
  withFolder(async (folder) => {
    const options = storesOptions(folder, WAL_FULL);
    const first = await openStores(options, sha256);
    await first.runs.append(appendTo(runKey("one"), null, "create"));
    await first.schemas.register(makeSchema("report", "1"));
    await closeStores(first);
    const mark = await Deno.readTextFile(markPath(`${folder}/gate.db`));
    const database = new DatabaseSync(`${folder}/gate.db`);
    const { rootpage, page_size } = database
      .prepare("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'records'").get() ?? {};
    database.close();
    using file = await Deno.open(`${folder}/gate.db`, { write: true });
    await file.seek((Number(rootpage) - 1) * Number(page_size), Deno.SeekMode.Start);
    await file.write(new Uint8Array(Number(page_size)).fill(255));
    const second = await openStores(options, sha256, (message) => assert.fail(message));
    assert.equal((await second.schemas.list(2, null, 10)).length, 1);
    await assert.rejects(second.runs.listRecords(runKey("one"), 0, 10), /the file is damaged/);
    await closeStores(second);
    assert.equal(await Deno.readTextFile(markPath(`${folder}/gate.db`)), mark);
  }));

Deno.test("only the owner may read the mark, and a store without a mark gets one at the start", {
  ignore: Deno.build.os === "windows",
}, () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    const { mode } = await Deno.stat(markPath(`${folder}/gate.db`));
    assert.equal((mode ?? 0) & 0o777, 0o600);
    await closeStores(stores);
  }));
