import assert from "node:assert/strict";
import { join } from "node:path";
import { createChunkReader } from "./chunk_reader.ts";

const BUFFER = 256 * 1024;

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const copies: number[] = [];
  for await (const chunk of chunks) for (const byte of chunk) copies.push(byte);
  return new Uint8Array(copies);
}

async function withFile(bytes: Uint8Array, test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeFile(join(folder, "object"), bytes);
    await test(join(folder, "object"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const size of [0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER + 7]) {
  Deno.test(`createChunkReader() reads ${size} bytes, and one more than a limit`, () =>
    withFile(Uint8Array.from({ length: size }, (_, index) => index % 251), async (path) => {
      const read = createChunkReader();
      const whole = await Deno.readFile(path);
      for (const limit of [size + 5, size, Math.max(0, size - 1), 0]) {
        const expected = whole.subarray(0, limit + 1);
        assert.deepEqual(await bytesOf(read(path, limit)), new Uint8Array(expected), `limit ${limit}`);
      }
    }));
}

Deno.test("createChunkReader() reads several files at once, and ones that were left off, without mixing them", () =>
  withFile(new Uint8Array(3 * BUFFER).fill(1), (ones) =>
    withFile(new Uint8Array(3 * BUFFER).fill(2), async (twos) => {
      const read = createChunkReader();
      for await (const chunk of read(ones, 3 * BUFFER)) {
        assert.ok(chunk.every((byte) => byte === 1));
        break;
      }
      const a = read(ones, 3 * BUFFER);
      const b = read(twos, 3 * BUFFER);
      for (;;) {
        const left = await a.next();
        const right = await b.next();
        if (left.done === true || right.done === true) break;
        assert.ok(left.value.every((byte) => byte === 1) && right.value.every((byte) => byte === 2));
      }
      await assert.rejects(bytesOf(read(join(ones, "none"), 1)));
    })));
