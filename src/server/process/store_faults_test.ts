import assert from "node:assert/strict";
import { failure, success } from "../../tools/framework/errors.ts";
import { REPEAT_MILLISECONDS, watchStoreFaults } from "./store_faults.ts";

Deno.test("watchStoreFaults() tells of each fault once a minute, and of nothing that is not the store's", () => {
  const told: string[] = [];
  let time = 0;
  const look = watchStoreFaults(
    (level, message, fields) => told.push(`${level} ${message} ${fields?.["code"]}`),
    () => time,
  );
  look(success({}));
  look(failure("store_busy", "Busy"));
  assert.deepEqual(told, []);
  for (let answer = 0; answer < 3; answer++) look(failure("store_full", "Full"));
  look(failure("store_failed", "Failed"));
  assert.deepEqual(told, ["error Full store_full", "error Failed store_failed"]);
  time = REPEAT_MILLISECONDS - 1;
  look(failure("store_full", "Full"));
  assert.equal(told.length, 2);
  time = REPEAT_MILLISECONDS;
  look(failure("store_full", "Full"));
  assert.deepEqual(told.slice(2), ["error Full store_full"]);
});
