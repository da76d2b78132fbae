/**
 * Reads objects of a pack with read-ahead: the next chunk is read while the last one is hashed. Buffers are reused.
 *
 * @module
 */

/** Bytes of one buffer. Each read costs a turn of the event loop, and hashing of so many half a millisecond. */
const BUFFER_BYTES = 1024 * 1024;
/** Buffers that are kept for later files: enough for two concurrent reads. */
const KEPT_BUFFERS = 4;

/** Reads a file in chunks, up to one byte more than the limit. A chunk is valid until the next one is requested. */
export type ReadAhead = (path: string, maximumBytes: number) => AsyncGenerator<Uint8Array>;

/** A reader with buffers of its own. */
export function createReadAhead(): ReadAhead {
  const free: Uint8Array<ArrayBuffer>[] = [];
  return async function* (path, maximumBytes): AsyncGenerator<Uint8Array> {
    using file = await Deno.open(path);
    let current = free.pop() ?? new Uint8Array(BUFFER_BYTES);
    let other = free.pop() ?? new Uint8Array(BUFFER_BYTES);
    let left = maximumBytes + 1;
    let pending: Promise<number | null> = file.read(current.subarray(0, Math.min(BUFFER_BYTES, left)));
    try {
      for (;;) {
        const read = await pending;
        if (read === null) return;
        left -= read;
        const chunk = current.subarray(0, read);
        [current, other] = [other, current];
        pending = left > 0 ? file.read(current.subarray(0, Math.min(BUFFER_BYTES, left))) : Promise.resolve(null);
        // The next turn, or the code below, awaits it. A failure before that must not be unhandled.
        pending.catch(() => {});
        yield chunk;
      }
    } finally {
      // A buffer with a read in progress must not be reused.
      await pending.catch(() => null);
      if (free.length < KEPT_BUFFERS) free.push(current, other);
    }
  };
}
