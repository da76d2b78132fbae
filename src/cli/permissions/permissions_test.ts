import assert from "node:assert/strict";
import { WORKER_MODULES } from "./permissions.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Paths of the worker modules below a folder, from the root of the checkout. */
async function workersBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await workersBelow(path));
    else if (name.endsWith("_worker.ts")) found.push(path);
  }
  return found.sort();
}

Deno.test("a compiled program embeds every worker module", async () => {
  assert.deepEqual(WORKER_MODULES, await workersBelow("src"));
});
