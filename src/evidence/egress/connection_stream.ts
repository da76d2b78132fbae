/**
 * A connection of the runtime as a stream that node's HTTP can use. The runtime's own connections check permissions where
 * that can be caught, and need no permission to read the certificates that they trust.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";

const CHUNK_BYTES = 65_536;

/**
 * The connection as a stream, which owns it: destroying the one closes the other.
 *
 * @param maximumBytes What may arrive in all, whatever it is
 * @param tooMany The error once more has arrived
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
          // A copy: a few bytes that somebody keeps must not keep the whole buffer.
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

/** Closes a connection that may be closed already. */
export function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed; nothing else was wanted.
  }
}
