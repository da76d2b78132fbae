/**
 * The load of the HTTP benchmarks: bare keep-alive connections, each sending the same request again as soon as its answer
 * is there, so that no client library is measured. Both sides of a comparison get the same.
 *
 * @module
 */

/** A load to run. */
export interface SocketLoad {
  readonly port: number;
  /** Connections at one time. */
  readonly connections: number;
  readonly milliseconds: number;
  /** The request, head and body. */
  readonly request: Uint8Array;
}

/** The text of a POST, as bytes. */
export function postBytes(
  port: number,
  path: string,
  fields: Readonly<Record<string, string>>,
  body: string,
): Uint8Array {
  const length = new TextEncoder().encode(body).length;
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${length}`,
  ];
  return new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/**
 * Runs a load.
 *
 * @returns Answers a second
 * @throws {Error} Where an answer is not 200, or a connection ends
 */
export async function runSocketLoad(load: SocketLoad): Promise<number> {
  const start = performance.now();
  const end = start + load.milliseconds;
  const counts = await Promise.all(Array.from({ length: load.connections }, () => oneConnection(load, end)));
  return counts.reduce((sum, count) => sum + count, 0) / (performance.now() - start) * 1000;
}

async function oneConnection(load: SocketLoad, end: number): Promise<number> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: load.port });
  connection.setNoDelay(true);
  const buffer = new Uint8Array(1 << 18);
  let count = 0;
  try {
    while (performance.now() < end) {
      await writeAll(connection, load.request);
      await readAnswer(connection, buffer);
      count++;
    }
  } finally {
    connection.close();
  }
  return count;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(at === 0 ? bytes : bytes.subarray(at));
}

const decoder = new TextDecoder("latin1");

/** Reads one answer, by its length or by its chunks. */
async function readAnswer(connection: Deno.Conn, buffer: Uint8Array): Promise<void> {
  let filled = 0;
  let needed = Infinity;
  let isChunked = false;
  while (filled < needed) {
    const count = await connection.read(buffer.subarray(filled));
    if (count === null) throw new Error("Cannot measure: the server closed the connection");
    filled += count;
    if (needed === Infinity && !isChunked) {
      const head = decoder.decode(buffer.subarray(0, Math.min(filled, 4096)));
      const body = head.indexOf("\r\n\r\n");
      if (body < 0) continue;
      if (!head.startsWith("HTTP/1.1 200")) throw new Error(`Cannot measure: ${head.slice(0, 200)}`);
      const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, body + 2))?.[1];
      if (length === undefined) isChunked = true;
      else needed = body + 4 + Number(length);
    }
    if (isChunked && decoder.decode(buffer.subarray(Math.max(0, filled - 5), filled)) === "0\r\n\r\n") return;
  }
}
