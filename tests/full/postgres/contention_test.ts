import assert from "node:assert/strict";
import postgres from "postgres";
import { countDeadlocks, raceOnOneHead, runMixedLoad, startFleet } from "./contention.ts";
import { runSql, startPostgres } from "./server.ts";

Deno.test("200 writers over three servers on one head: one wins each round", async () => {
  await using fleet = await startFleet();
  assert.deepEqual(await raceOnOneHead(fleet, 200, 10), Array(10).fill(1));
});

Deno.test("15 seconds of mixed load over three servers: no deadlock, no failed call, and every answer is kept", async () => {
  await using fleet = await startFleet();
  const report = await runMixedLoad(fleet, 15);
  console.log(JSON.stringify(report));
  for (const [what, count] of Object.entries(report)) assert.ok(count > 10, `${count} ${what}`);
  assert.equal(await fleet.deadlocks(), 0);
});

Deno.test("the check of deadlocks counts one", async () => {
  await using database = await startPostgres();
  await runSql(database, "CREATE DATABASE gate");
  await runSql(database, "CREATE TABLE rows (id int PRIMARY KEY); INSERT INTO rows VALUES (1), (2)", "gate");
  assert.equal(await countDeadlocks(database), 0);
  const open = () => postgres(database.url("gate"), { max: 1, fetch_types: false });
  const [a, b] = [open(), open()];
  await a.unsafe("BEGIN; UPDATE rows SET id = id WHERE id = 1");
  await b.unsafe("BEGIN; UPDATE rows SET id = id WHERE id = 2");
  const both = await Promise.allSettled([
    a.unsafe("UPDATE rows SET id = id WHERE id = 2"),
    b.unsafe("UPDATE rows SET id = id WHERE id = 1"),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  await Promise.all([a.end({ timeout: 0 }), b.end({ timeout: 0 })]);
  assert.equal(await countDeadlocks(database), 1);
});
