import assert from "node:assert/strict";
import { WORKER_MODULES } from "./permissions.ts";
import { commaFaults } from "./plan.ts";

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

/** What a plan reads, its variables and its programs, and the item that no flag can name. */
const COMMAS: readonly (readonly [read: string[], env: "all" | string[], run: string[], named: string | null])[] = [
  [["/a"], ["A"], ["/bin/a"], null],
  [["/a"], "all", [], null],
  [["/a", "/w,y"], ["A,B"], ["/bin/a,b"], "/w,y"],
  [["/a"], ["A,B"], ["/bin/a,b"], "A,B"],
  [["/a"], [], ["/bin/a,b"], "/bin/a,b"],
];

for (const [read, env, run, named] of COMMAS) {
  Deno.test(`commaFaults() of ${[...read, env, ...run].join(" ")}: ${named}`, () => {
    const fault = `no flag can name a path or a variable with a comma: rename ${named}`;
    assert.deepEqual(commaFaults({ read, env, run }), named === null ? [] : [fault]);
  });
}
