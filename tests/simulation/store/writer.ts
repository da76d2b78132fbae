/**
 * A process that appends to a store until it is told to stop or killed. It prints a line for each accepted append, after the answer:
 * the run's number and the revision. Started with a folder, a name, a count of runs and a count of appends a run.
 *
 * @module
 */

import { closeStores, openStores } from "../../../src/store/open.ts";
import type { RunStore } from "../../../src/store/types.ts";
import type { Head } from "../../../src/run/types.ts";
import { appendTo, headAfter, runKey, sha256 } from "./fixture.ts";
import { storesOptions, WAL_FULL } from "./open.ts";

const [folder = "", name = "", runCount = "1", appendCount = "1"] = Deno.args;
const encoder = new TextEncoder();

/** Appends to one run of its own, two records at every third append. */
async function appendAlone(runs: RunStore, run: number): Promise<void> {
  const key = runKey(`${name} ${run}`);
  let head: Head | null = null;
  for (let index = 0; index < Number(appendCount); index++) {
    const operations = [`${name} ${run} ${index} a`, ...(index % 3 === 2 ? [`${name} ${run} ${index} b`] : [])];
    const append = appendTo(key, head, ...operations.map((operation) => ({ operation, filling: 300 })));
    const result = await runs.append(append);
    if (result.outcome !== "accepted") throw new Error(`Append became ${JSON.stringify(result)}`);
    head = headAfter(append);
    Deno.stdout.writeSync(encoder.encode(`${run} ${head.revision}\n`));
  }
}

/** Appends to the one run that every process appends to, at whatever head it finds, until its own count is accepted. */
async function appendTogether(runs: RunStore): Promise<void> {
  const key = runKey("contended");
  let accepted = 0;
  for (let attempt = 0; accepted < Number(appendCount); attempt++) {
    const head: Head | null = (await runs.getHead(key))?.head ?? null;
    const append = appendTo(key, head, `${name} contended ${attempt}`);
    const { outcome } = await runs.append(append);
    if (outcome !== "accepted") continue;
    accepted += 1;
    Deno.stdout.writeSync(encoder.encode(`contended ${headAfter(append).revision}\n`));
  }
}

const stores = await openStores(storesOptions(folder, WAL_FULL, { busy_timeout_ms: 20_000 }), sha256);
const alone = Array.from({ length: Number(runCount) }, (_, run) => appendAlone(stores.runs, run));
await Promise.all([...alone, ...(name.startsWith("together") ? [appendTogether(stores.runs)] : [])]);
await closeStores(stores);
