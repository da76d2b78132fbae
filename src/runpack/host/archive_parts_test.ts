import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { objectName } from "../format/archive.ts";
import type { Manifest } from "../format/types.ts";
import { writeArchive } from "./archive_file.ts";
import { layOutArchive, PART_BYTES, readPart } from "./archive_parts.ts";
import type { WalkedObject } from "../walk.ts";
import type { PackContents } from "./contents.ts";
import { joinBytes } from "./files.ts";

const OBJECT = "ab".repeat(32);
/** Headers of manifest, object and signature, what the first and the last hold, and the end. */
const AROUND = 512 + 512 + 512 + 512 + 512 + 1024;

/** A pack with one object, which is in a file of a repository. */
function packWith(bytes: number): PackContents & { readonly object: Uint8Array } {
  const object = Uint8Array.from({ length: bytes }, (_, index) => index % 251 + 1);
  return {
    object,
    runpackIdentity: "cd".repeat(32),
    manifest: new TextEncoder().encode("{}"),
    decoded: {} as Manifest,
    signatures: [{ keyId: "ef".repeat(32), bytes: new TextEncoder().encode("signed") }],
    objects: async function* (): AsyncGenerator<WalkedObject> {
      yield await Promise.resolve({ reference: { object: OBJECT, bytes }, bytes: () => Promise.resolve(object) });
    },
  };
}

/** The bytes of an object, and the sizes of the parts of its pack. */
const ROWS: readonly (readonly [number, readonly number[]])[] = [
  [0, [AROUND]],
  [PART_BYTES - AROUND - 512, [PART_BYTES - 512]],
  [PART_BYTES - AROUND - 1, [PART_BYTES]],
  [PART_BYTES - AROUND, [PART_BYTES]],
  [PART_BYTES - AROUND + 1, [PART_BYTES, 512]],
  [3 * PART_BYTES - AROUND, [PART_BYTES, PART_BYTES, PART_BYTES]],
];

Deno.test("readPart() gives the file that writeArchive() writes, in parts of 512 KiB", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [bytes, sizes] of ROWS) {
      const pack = packWith(bytes);
      const file = join(folder, objectName(OBJECT));
      await Deno.mkdir(dirname(file), { recursive: true });
      await Deno.writeFile(file, pack.object);
      const path = join(folder, `${bytes}.runpack`);
      await writeArchive(path, pack);
      const layout = await layOutArchive(pack);
      const parts: Uint8Array[] = [];
      for (let part = await readPart(folder, layout, 0); part !== null;) {
        parts.push(part);
        part = await readPart(folder, layout, parts.length);
      }
      assert.deepEqual(parts.map(({ length }) => length), sizes, `${bytes}`);
      assert.deepEqual(joinBytes(parts), await Deno.readFile(path), `${bytes}`);
      assert.equal(layout.bytes, sizes.reduce((sum, size) => sum + size), `${bytes}`);
      if (bytes === 0) continue;
      await Deno.truncate(file, bytes - 1);
      await assert.rejects(
        readPart(folder, layout, sizes.length - (sizes.at(-1) === 512 ? 2 : 1)),
        /missing or too short/,
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
