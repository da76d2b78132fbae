/** Collects bytes that arrive in pieces of any size. */

/** Collects pieces up to a limit. */
export interface ByteCollector {
  /** Adds a copy of the next piece. Returns false, and adds nothing, if the limit would be exceeded. */
  readonly add: (piece: Uint8Array) => boolean;
  /** All bytes added so far. */
  readonly bytes: () => Uint8Array<ArrayBuffer>;
}

/** The least size of the buffer from the second piece on. */
const FIRST_BYTES = 4096;

/**
 * Collects up to `maximumBytes`. Pieces are copied: each would keep the buffer that it was read into, so a body sent
 * byte by byte would need thousands of times its size.
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
        // Most bodies are one piece, which is kept in a buffer of its size.
        const room = length === 0 ? needed : Math.max(needed, 2 * kept.length, FIRST_BYTES);
        const grown = new Uint8Array(Math.min(maximumBytes, room));
        grown.set(kept.subarray(0, length));
        kept = grown;
      }
      kept.set(piece, length);
      length = needed;
      return true;
    },
    // A full buffer is never written again: a further piece takes another one.
    bytes: () => length === kept.length ? kept : kept.slice(0, length),
  };
}
