import assert from "node:assert/strict";
import { memorySource, packOf } from "../../../tests/simulation/runpack/memory.ts";
import { playSigners } from "../../../tests/simulation/pack_vectors/signers_run.ts";
import { readOnce } from "./open.ts";

Deno.test("readOnce() returns the manifest of the first reading, whatever the folder holds later", async () => {
  const first = await packOf(playSigners());
  const second = await packOf(playSigners({ isPinned: true }));
  let current = memorySource(first);
  const swapped = { ...current, manifest: () => current.manifest() };
  const { source } = readOnce({ source: swapped });
  assert.deepEqual(await source.manifest(), first.manifest);
  current = memorySource(second);
  assert.deepEqual(await swapped.manifest(), second.manifest);
  assert.deepEqual(await source.manifest(), first.manifest);
});
