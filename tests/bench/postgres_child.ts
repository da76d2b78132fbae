/**
 * One server of the benchmark of several servers: a store on a database and its callers, in a process of its own.
 * `postgres_child.ts URL NAME CALLERS APPENDS` prints a line when a round is planned, runs it for each line that it reads, and prints
 * a line when it is done.
 *
 * @module
 */

import { newCallers, openStore, plansOf, runPlans } from "./postgres_load.ts";

const [url = "", name = "", callers = "", appends = ""] = Deno.args;
const stores = await openStore(url);
const all = newCallers(name, Number(callers));
let plans = plansOf(all, Number(appends));
console.log("planned");
for await (const _ of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  await runPlans(stores, plans, []);
  console.log("done");
  plans = plansOf(all, Number(appends));
  console.log("planned");
}
Deno.exit(0);
