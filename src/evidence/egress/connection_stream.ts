/**
 * Wraps a connection of the runtime as a stream for node's HTTP client. The runtime's connections throw permission
 * errors that can be caught, and need no permission to read the trusted certificates.
 */

import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";

const CHUNK_BYTES = 65_536;

/** How much a stream may receive. */
export interface StreamBounds {
  /** Bytes that may arrive in total. */
  readonly maximumBytes: number;
  /** The error when more arrive. */
  readonly tooMany: Error;
}

/** Creates the stream, which owns the connection: destroying the stream closes the connection. */
export function streamOf(connection: Deno.Conn, { maximumBytes, tooMany }: StreamBounds): Duplex {
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
      // A peer that refuses the request may close before it has read it. Its response or its TLS alert can still be
      // read, and a connection without either ends the reading too.
      writeAll(connection, chunk).then(() => done(), () => done());
    },
    destroy(error, done): void {
      closeQuietly(connection);
      done(error);
    },
  });
}

/** A stream over a socket that ends with an error when more arrives than it may receive. It owns the socket. */
export function boundedStream(socket: Duplex, { maximumBytes, tooMany }: StreamBounds): Duplex {
  let left = maximumBytes;
  const stream = new Duplex({
    read(): void {
      socket.resume();
    },
    write(chunk: Uint8Array, _encoding, done): void {
      socket.write(chunk, done);
    },
    destroy(error, done): void {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) stream.destroy(tooMany);
    else if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("close", () => stream.destroy());
  socket.on("error", (error) => stream.destroy(error));
  // An error before the stream is in use ends the request that uses it; unhandled it would end the worker.
  stream.on("error", () => {});
  return stream;
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
