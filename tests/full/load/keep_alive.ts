/**
 * Requests over bare keep-alive connections. So the time of an answer is the server's, and not that of a client library
 * which shares its processor.
 *
 * @module
 */

/** Sends requests to one server. */
export interface KeepAlive {
  /** Sends one, on a connection that is free or a new one. */
  readonly send: (method: "GET" | "POST", path: string, body?: string) => Promise<KeptAnswer>;
  readonly close: () => void;
}

/** An answer. */
export interface KeptAnswer {
  readonly status: number;
  readonly text: string;
}

/** Bytes of an answer for which there is room at first. */
const BUFFER_BYTES = 1 << 17;
/** Bytes in which the head of an answer ends. */
const HEAD_BYTES = 2048;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Makes a sender whose requests all have the same fields. */
export function createKeepAlive(url: string, fields: Readonly<Record<string, string>> = {}): KeepAlive {
  const { hostname, port } = new URL(url);
  const free: Deno.TcpConn[] = [];
  const head = [`Host: ${hostname}:${port}`, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)];
  return {
    send: async (method, path, body = "") => {
      const connection = free.pop() ?? await Deno.connect({ hostname, port: Number(port) });
      connection.setNoDelay(true);
      const bytes = encoder.encode(body);
      const lines = [`${method} ${path} HTTP/1.1`, ...head, `Content-Length: ${bytes.length}`, "", ""];
      await writeAll(connection, joined(encoder.encode(lines.join("\r\n")), bytes));
      const answer = await readAnswer(connection);
      free.push(connection);
      return answer;
    },
    close: () => {
      for (const connection of free.splice(0)) connection.close();
    },
  };
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Reads one answer by its length. */
async function readAnswer(connection: Deno.Conn): Promise<KeptAnswer> {
  let buffer = new Uint8Array(BUFFER_BYTES);
  let filled = 0;
  let body = 0;
  let status = 0;
  let end = Infinity;
  while (filled < end) {
    if (filled === buffer.length) buffer = joined(buffer, new Uint8Array(buffer.length));
    const count = await connection.read(buffer.subarray(filled));
    if (count === null) throw new Error("Cannot read answer: the connection has ended");
    filled += count;
    if (end < Infinity) continue;
    const head = decoder.decode(buffer.subarray(0, Math.min(filled, HEAD_BYTES)));
    const headEnd = head.indexOf("\r\n\r\n");
    if (headEnd < 0) continue;
    const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head.slice(0, headEnd + 2))?.[1];
    if (length === undefined) throw new Error(`Cannot read answer: it has no length: ${head.slice(0, headEnd)}`);
    [status, body] = [Number(head.slice(9, 12)), headEnd + 4];
    end = body + Number(length);
  }
  return { status, text: decoder.decode(buffer.subarray(body, end)) };
}
