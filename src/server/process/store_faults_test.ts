import assert from "node:assert/strict";
import { failure, success } from "../../tools/framework/errors.ts";
import { REPEAT_MILLISECONDS, watchStoreFaults } from "../protocol/dispatcher.ts";

Deno.test("watchStoreFaults() logs each fault of a store once a minute, and no other", () => {
  const logged: string[] = [];
  let time = 0;
  const look = watchStoreFaults(
    (level, message, fields) => logged.push(`${level} ${message} ${fields?.["code"]}`),
    () => time,
  );
  look(success({}));
  look(failure("store_busy", "Busy"));
  assert.deepEqual(logged, []);
  for (let answer = 0; answer < 3; answer++) look(failure("store_full", "Full"));
  look(failure("store_failed", "Failed"));
  assert.deepEqual(logged, ["error Full store_full", "error Failed store_failed"]);
  time = REPEAT_MILLISECONDS - 1;
  look(failure("store_full", "Full"));
  assert.equal(logged.length, 2);
  time = REPEAT_MILLISECONDS;
  look(failure("store_full", "Full"));
  assert.deepEqual(logged.slice(2), ["error Full store_full"]);
});
