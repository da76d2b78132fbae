/**
 * Reading small files that a command line names.
 *
 * @module
 */

/** The bytes of a file, one more than the limit at most. */
export async function readBounded(path: string, maximumBytes: number): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const buffer = new Uint8Array(maximumBytes + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const read = await file.read(buffer.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** The bytes of a text without the mark that some editors put before it; no line or column counts it. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return isMarked ? bytes.subarray(3) : bytes;
}
