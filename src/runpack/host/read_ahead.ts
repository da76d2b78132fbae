/**
 * Reading the objects of a pack fast and in little memory: the next chunk is read while the last one is hashed, into
 * buffers that are used again.
 *
 * @module
 */

/** Bytes of one buffer. */
const BUFFER_BYTES = 256 * 1024;
/** Buffers that are kept for the next file: those of two that are read at the same time. */
const KEPT_BUFFERS = 4;

/**
 * Reads a file in chunks: all of it, or one byte more than the limit. A chunk holds until the next one is asked for.
 */
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
        // It is waited for in the next turn, or below; until then nobody would hear it fail.
        pending.catch(() => {});
        yield chunk;
      }
    } finally {
      // A buffer that is being read into is nobody else's yet.
      await pending.catch(() => null);
      if (free.length < KEPT_BUFFERS) free.push(current, other);
    }
  };
}
