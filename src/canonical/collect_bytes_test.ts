import assert from "node:assert/strict";
import { collectBytes } from "./collect_bytes.ts";

Deno.test("collectBytes() accepts bytes up to its limit, in pieces of any size", () => {
  for (const maximum of [0, 1, 4095, 4096, 4097, 10_000]) {
    for (const size of [1, 7, 4096, 10_000]) {
      const collector = collectBytes(maximum);
      let taken = 0;
      for (let at = 0; at + size <= maximum; at += size, taken += size) {
        assert.ok(collector.add(new Uint8Array(size).fill(at % 251)));
      }
      assert.equal(collector.add(new Uint8Array(maximum - taken + 1)), false, "one byte too many");
      assert.ok(collector.add(new Uint8Array(maximum - taken)), "the last that fit");
      const bytes = collector.bytes();
      assert.equal(bytes.length, maximum);
      assert.ok(bytes.subarray(0, taken).every((byte, at) => byte === (at - at % size) % 251));
    }
  }
});

Deno.test("collectBytes() copies each piece", () => {
  const collector = collectBytes(9);
  const piece = Uint8Array.of(1, 2, 3);
  for (let count = 0; count < 3; count++) collector.add(piece);
  piece.fill(9);
  const bytes = collector.bytes();
  assert.deepEqual(bytes, Uint8Array.of(1, 2, 3, 1, 2, 3, 1, 2, 3));
  assert.equal(bytes.buffer.byteLength, 9);
});
