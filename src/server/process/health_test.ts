import assert from "node:assert/strict";
import { createHealth, FREE_BYTES_LEAST, type HealthOptions } from "./health.ts";

const WELL: HealthOptions = {
  stores: () => Promise.resolve([]),
  folders: ["/data", "/missing"],
  auditFault: () => null,
  freeBytes: (folder) => Promise.resolve(folder === "/missing" ? null : FREE_BYTES_LEAST),
};

const ROWS: readonly (readonly [what: string, options: Partial<HealthOptions>, reasons: readonly string[]])[] = [
  ["all is well", {}, []],
  ["a store takes no write", { stores: () => Promise.resolve(["run_state_store"]) }, ["run_state_store"]],
  ["the stores cannot be asked", { stores: () => Promise.reject(new Error("no")) }, ["stores"]],
  ["a disk is a byte short of room", { freeBytes: () => Promise.resolve(FREE_BYTES_LEAST - 1) }, ["disk"]],
  ["a disk cannot be asked", { freeBytes: () => Promise.reject(new Error("no")) }, ["disk"]],
  ["the audit log takes no events", { auditFault: () => "disk full" }, ["audit"]],
];

for (const [what, options, reasons] of ROWS) {
  Deno.test(`reasons() where ${what}: ${JSON.stringify(reasons)}`, async () => {
    assert.deepEqual(await createHealth({ ...WELL, ...options }).reasons(), reasons);
  });
}

Deno.test("reasons() checks at most once a second", async () => {
  let time = 0;
  let looks = 0;
  const stores = (): Promise<readonly string[]> => Promise.resolve([`look ${++looks}`]);
  const health = createHealth({ ...WELL, stores, now: () => time });
  assert.deepEqual(await Promise.all([health.reasons(), health.reasons()]), [["look 1"], ["look 1"]]);
  time = 999;
  assert.deepEqual(await health.reasons(), ["look 1"]);
  time = 1000;
  assert.deepEqual(await health.reasons(), ["look 2"]);
});

Deno.test("reasons() finds room in a folder of this machine, and skips a missing one", async () => {
  const folder = await Deno.makeTempDir();
  const { freeBytes: _, ...real } = WELL;
  assert.deepEqual(await createHealth({ ...real, folders: [folder, `${folder}/missing`] }).reasons(), []);
  await Deno.remove(folder);
});
