import assert from "node:assert/strict";
import { inTurn } from "./keyed_lock.ts";

Deno.test("inTurn() shares an execution among those who wait for it, and begins none before its callers", async () => {
  let value = 0;
  const begun: number[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const read = inTurn(async () => {
    begun.push(value);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
  });
  const first = read();
  await Promise.resolve();
  await Promise.resolve();
  value = 1;
  const later = [read(), read()];
  gates[0]?.reject(new Error("unreadable"));
  await assert.rejects(first, /unreadable/);
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(begun, [0, 1], "one execution for both, after the change, and after a failure");
  gates[1]?.resolve();
  await Promise.all(later);
});
