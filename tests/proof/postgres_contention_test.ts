import assert from "node:assert/strict";
import { runMixedLoad, startFleet } from "../full/postgres/contention.ts";

Deno.test("ten minutes of mixed load over three servers: no deadlock, no failed call, and every answer is kept", async () => {
  await using fleet = await startFleet();
  const report = await runMixedLoad(fleet, 600);
  console.log(JSON.stringify(report));
  for (const [what, count] of Object.entries(report)) assert.ok(count > 100, `${count} ${what}`);
  assert.equal(await fleet.deadlocks(), 0);
});
