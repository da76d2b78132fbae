/**
 * Reads objects of a pack in chunks, for a verifier. It reads synchronously, as a verification has a thread or a
 * process of its own. A turn of the event loop for each chunk took a third of the time.
 */

import { setImmediate } from "node:timers/promises";

/** Bytes of one buffer, which stay in the processor's cache until they are hashed. */
const BUFFER_BYTES = 256 * 1024;
/**
 * Bytes after which the event loop gets a turn, for cancellations and other verifications of the thread: a few
 * milliseconds.
 */
const TURN_BYTES = 4 * 1024 * 1024;
/** Buffers that are kept for later files: enough for four concurrent reads. */
const KEPT_BUFFERS = 4;

/** Reads a file in chunks, up to one byte more than the limit. A chunk is valid until the next one is requested. */
export type ChunkReader = (path: string, maximumBytes: number) => AsyncGenerator<Uint8Array>;

/** A reader with buffers of its own. */
export function createChunkReader(): ChunkReader {
  const free: Uint8Array<ArrayBuffer>[] = [];
  let sinceTurn = 0;
  return async function* (path, maximumBytes): AsyncGenerator<Uint8Array> {
    using file = Deno.openSync(path);
    const buffer = free.pop() ?? new Uint8Array(BUFFER_BYTES);
    try {
      for (let left = maximumBytes + 1; left > 0;) {
        const read = file.readSync(buffer.subarray(0, Math.min(BUFFER_BYTES, left)));
        if (read === null) return;
        left -= read;
        yield buffer.subarray(0, read);
        sinceTurn += read;
        if (sinceTurn < TURN_BYTES) continue;
        sinceTurn = 0;
        await setImmediate();
      }
    } finally {
      if (free.length < KEPT_BUFFERS) free.push(buffer);
    }
  };
}
