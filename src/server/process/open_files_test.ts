import assert from "node:assert/strict";
import { connectionRoom, countOpenable, LEAST_CONNECTIONS, RESERVED_FILES } from "./open_files.ts";

Deno.test("countOpenable() opens as many files as it is asked for, and closes them", async () => {
  const path = await Deno.makeTempFile();
  for (let round = 0; round < 3; round++) assert.equal(countOpenable(path, 100), 100);
  assert.equal(countOpenable(path, 0), 0);
  await Deno.remove(path);
  assert.throws(() => countOpenable(path, 1), /ENOENT/);
});

Deno.test("connectionRoom() keeps files free, and wants room for a few connections", () => {
  for (const files of [RESERVED_FILES + 1023, RESERVED_FILES + 1024, RESERVED_FILES + 1025]) {
    assert.equal(connectionRoom(files, 1024), Math.min(1024, files - RESERVED_FILES));
  }
  const least = RESERVED_FILES + LEAST_CONNECTIONS;
  assert.deepEqual([least - 1, least, least + 1].map((files) => connectionRoom(files, 1024)), [
    null,
    LEAST_CONNECTIONS,
    LEAST_CONNECTIONS + 1,
  ]);
});
