/**
 * Packs in memory as folders on disk.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { objectName } from "../../../src/runpack/format/archive.ts";
import type { MemoryPack } from "./memory.ts";

/** Writes a pack in folder form, valid or not. */
export async function writeTree(folder: string, { manifest, objects }: MemoryPack): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeFile(join(folder, "manifest.json"), manifest);
  for (const [identity, bytes] of objects) {
    const path = join(folder, objectName(identity));
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeFile(path, bytes);
  }
}
