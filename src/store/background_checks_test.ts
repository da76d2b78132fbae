import assert from "node:assert/strict";
import { nextTurns } from "../../tests/until.ts";

import { createBackgroundChecks, WAITING_MAXIMUM } from "./background_checks.ts";

/** A check that ends when it is let go, and notes that it began. */
function heldCheck(begun: string[], name: string): { readonly check: () => Promise<void>; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = (): Promise<void> => {
    begun.push(name);
    return promise;
  };
  return { check, end: resolve };
}

Deno.test("checks run one at a time, in the order in which they were asked for, each once", async () => {
  const checks = createBackgroundChecks();
  const begun: string[] = [];
  const held = ["a", "b", "c"].map((name) => ({ name, ...heldCheck(begun, name) }));
  for (const { name, check } of [...held, ...held.slice(1)]) checks.add(name, check);
  for (const [index, { end }] of held.entries()) {
    assert.equal(begun.length, index + 1);
    end();
    await nextTurns();
  }
  assert.deepEqual(begun, ["a", "b", "c"]);
  const again = heldCheck(begun, "a");
  checks.add("a", again.check);
  again.end();
  assert.deepEqual(begun, ["a", "b", "c", "a"]);
});

for (const waiting of [WAITING_MAXIMUM - 1, WAITING_MAXIMUM, WAITING_MAXIMUM + 1]) {
  Deno.test(`of ${waiting} checks that wait, ${Math.min(waiting, WAITING_MAXIMUM)} run`, async () => {
    const checks = createBackgroundChecks();
    const begun: string[] = [];
    const first = heldCheck(begun, "first");
    checks.add("first", first.check);
    for (let index = 0; index < waiting; index++) {
      checks.add(`${index}`, () => {
        begun.push(`${index}`);
        return Promise.resolve();
      });
    }
    first.end();
    await nextTurns();
    assert.equal(begun.length, 1 + Math.min(waiting, WAITING_MAXIMUM));
  });
}
