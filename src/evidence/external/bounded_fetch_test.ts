import assert from "node:assert/strict";
import { createBoundedFetch, transportFailure } from "./bounded_fetch.ts";
import { ExternalFailure } from "./failure.ts";
import { createRawResults } from "./messages.ts";

/** Code of the runtime, operational code, and whether it is retryable. */
const ROWS: readonly [string, string, boolean][] = [
  ["ENOTFOUND", "dns_failed", true],
  ["EAI_AGAIN", "dns_failed", true],
  ["ECONNREFUSED", "connection_failed", true],
  ["ECONNRESET", "connection_failed", true],
  ["EHOSTUNREACH", "connection_failed", true],
  ["", "connection_failed", true],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_failed", false],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_failed", false],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed", false],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_failed", false],
  ["CERT_HAS_EXPIRED", "tls_failed", false],
  ["UNABLE_TO_GET_ISSUER_CERT", "tls_failed", false],
  ["HPE_INVALID_CONSTANT", "provider_protocol_error", false],
  ["HPE_HEADER_OVERFLOW", "response_too_large", false],
];

for (const [code, expected, retryable] of ROWS) {
  Deno.test(`transportFailure() ${code || "without a code"}: ${expected}`, () => {
    const failure = transportFailure(Object.assign(new Error("10.0.0.1 secret"), { code }));
    assert.deepEqual([failure.code, failure.retryable], [expected, retryable]);
    assert.ok(!failure.message.includes("10.0.0.1"));
  });
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const REPLY = '{"jsonrpc":"2.0","id":1}';

/** Name, response of the host, and its status or the operational code. */
const ANSWERS: readonly (readonly [name: string, answer: string, outcome: number | string])[] = [
  ["a reply", `${HEAD}content-length: ${REPLY.length}\r\n\r\n${REPLY}`, 200],
  ["a reply in chunks of a byte", chunked([...REPLY]), 200],
  ["an empty answer", "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", 202],
  ["a redirect", "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", 307],
  ["a status without a body", "HTTP/1.1 304 Not Modified\r\n\r\n", 304],
  ["an invalid status", "HTTP/1.1 999 No\r\ncontent-length: 0\r\n\r\n", "provider_protocol_error"],
  ["no status", "HTTP/1.1 000 No\r\ncontent-length: 0\r\n\r\n", "provider_protocol_error"],
  ["another protocol", "HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "connection_failed"],
  ["no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "provider_protocol_error"],
  ["two lengths", `${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n1`, "provider_protocol_error"],
  ["a length and chunks", chunked(["1"]).replace("\r\n", "\r\ncontent-length: 1\r\n"), "provider_protocol_error"],
  ["a second answer behind the first", `${HEAD}content-length: 1\r\n\r\n1${HEAD}\r\n`, "provider_protocol_error"],
  ["trailers without end", `${chunked(["1"]).slice(0, -2)}${"x: y\r\n".repeat(9999)}`, "response_too_large"],
  ["a head of 16383 bytes", headOf(16_383), 202],
  ["a head of 16384 bytes", headOf(16_384), 202],
  ["a head of 16385 bytes", headOf(16_385), "response_too_large"],
  ["a head of 16385 bytes in short lines", headOf(16_385, "a: b\r\n"), "response_too_large"],
  ["a truncated body", `${HEAD}content-length: 9\r\n\r\n1`, "response_truncated"],
];

/** A response whose head has so many bytes. */
function headOf(bytes: number, line = ""): string {
  const start = `HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n${line.repeat(2000)}x: `;
  return `${start}${"x".repeat(bytes - start.length - 4)}\r\n\r\n`;
}

function chunked(chunks: readonly string[]): string {
  const body = [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return `${HEAD}transfer-encoding: chunked\r\n\r\n${body}`;
}

for (const [name, answer, outcome] of ANSWERS) {
  Deno.test(`createBoundedFetch() given ${name}: ${outcome}`, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const serving = (async () => {
      for await (const connection of listener) {
        await connection.read(new Uint8Array(4096));
        await connection.write(new TextEncoder().encode(answer)).catch(() => {});
        connection.close();
      }
    })();
    const url = new URL(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}/`);
    const timeouts = { connectTimeoutMillis: 20_000, requestTimeoutMillis: 20_000 };
    const bounded = createBoundedFetch({ url, ...timeouts, rawResults: createRawResults() });
    try {
      const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
      const asking = bounded.fetch(url, { method: "POST", body });
      const found = await asking.then(({ status }) => status, (error: unknown) => {
        assert.ok(error instanceof ExternalFailure, String(error));
        return error.code;
      });
      assert.equal(found, outcome);
    } finally {
      bounded.close();
      listener.close();
      await serving;
    }
  });
}
