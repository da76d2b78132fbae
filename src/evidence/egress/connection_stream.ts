/**
 * Wraps a connection of the runtime as a stream for node's HTTP client. The runtime's connections throw permission errors that
 * can be caught, and need no permission to read the trusted certificates.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";

const CHUNK_BYTES = 65_536;

/**
 * Creates the stream, which owns the connection: destroying the stream closes the connection.
 *
 * @param maximumBytes Bytes that may arrive in total
 * @param tooMany The error when more arrive
 */
export function streamOf(connection: Deno.Conn, maximumBytes: number, tooMany: Error): Duplex {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let left = maximumBytes;
  return new Duplex({
    read(): void {
      connection.read(chunk).then(
        (count) => {
          left -= count ?? 0;
          if (left < 0) this.destroy(tooMany);
          // A copy: retaining a few bytes must not retain the whole buffer.
          else this.push(count === null ? null : Buffer.from(chunk.subarray(0, count)));
        },
        (error) => this.destroy(error),
      );
    },
    write(chunk: Uint8Array, _encoding, done): void {
      writeAll(connection, chunk).then(() => done(), done);
    },
    destroy(error, done): void {
      closeQuietly(connection);
      done(error);
    },
  });
}

async function writeAll(connection: Deno.Conn, chunk: Uint8Array): Promise<void> {
  let rest = chunk;
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

/** Closes a connection, which may be closed already. */
export function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It was closed already.
  }
}
