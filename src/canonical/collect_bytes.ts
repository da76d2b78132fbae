/**
 * Bytes that arrive in pieces of whatever size the other side likes.
 *
 * @module
 */

/** Pieces as one. */
export interface ByteCollector {
  /** Takes a copy of the next piece; false, and nothing is taken, where there are too many bytes. */
  readonly add: (piece: Uint8Array) => boolean;
  /** All that was taken. */
  readonly bytes: () => Uint8Array<ArrayBuffer>;
}

/** Bytes that are made room for at first. */
const FIRST_BYTES = 4096;

/**
 * Collects up to so many bytes. Pieces are copied, not kept: each would hold on to the buffer that it was read into, so that a
 * body sent byte by byte would take thousands of times its size.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { collectBytes } from "@/canonical/collect_bytes.ts";
 *
 * const collector = collectBytes(3);
 * assert.ok(collector.add(Uint8Array.of(1)) && collector.add(Uint8Array.of(2, 3)));
 * assert.equal(collector.add(Uint8Array.of(4)), false);
 * assert.deepEqual(collector.bytes(), Uint8Array.of(1, 2, 3));
 * ```
 */
export function collectBytes(maximumBytes: number): ByteCollector {
  let kept = new Uint8Array(0);
  let length = 0;
  return {
    add: (piece) => {
      const needed = length + piece.length;
      if (needed > maximumBytes) return false;
      if (needed > kept.length) {
        const grown = new Uint8Array(Math.min(maximumBytes, Math.max(needed, 2 * kept.length, FIRST_BYTES)));
        grown.set(kept.subarray(0, length));
        kept = grown;
      }
      kept.set(piece, length);
      length = needed;
      return true;
    },
    bytes: () => kept.slice(0, length),
  };
}
