/**
 * HTTP services that misbehave, and what a typed check makes of each.
 *
 * @module
 */

import { answering, type Behaviour, ok, pause, readHead, write } from "../providers/fixtures.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const VALUE = '{"failed":3}';

/** Bytes that a response of these tests may have. */
export const RESPONSE_BYTES = 256;

/** Sends a beginning, then repeats one piece endlessly. */
function endless(beginning: string, piece: string): Behaviour {
  return async (connection) => {
    await readHead(connection);
    await write(connection, beginning);
    for (;;) await write(connection, piece);
  };
}

/** Sends single characters with pauses between them. */
function dripping(text: string, millis: number): Behaviour {
  return async (connection) => {
    await readHead(connection);
    for (const one of text) {
      await write(connection, one);
      await pause(millis);
    }
  };
}

function bodyOf(bytes: number): string {
  return `{"failed":3${" ".repeat(bytes - VALUE.length)}}`;
}

function answers(status: string, more = ""): Behaviour {
  return answering(`HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n${more}\r\n{}`);
}

/** Behaviour of the service, outcome of the check. */
export const PEERS: readonly (readonly [what: string, behaviour: Behaviour, outcome: string])[] = [
  ["that answers", answering(ok(VALUE)), "value: 3"],
  [
    "that answers in chunks",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\nc\r\n${VALUE}\r\n0\r\n\r\n`),
    "value: 3",
  ],
  ["whose body has one byte less than the limit", answering(ok(bodyOf(RESPONSE_BYTES - 1))), "value: 3"],
  ["whose body is as long as the limit", answering(ok(bodyOf(RESPONSE_BYTES))), "value: 3"],
  ["whose body has one byte more", answering(ok(bodyOf(RESPONSE_BYTES + 1))), "failed: response_too_large"],
  ["that accepts and says nothing", () => pause(60_000), "failed: timeout"],
  ["that reads and says nothing", async (connection) => void await readHead(connection), "failed: timeout"],
  ["whose headers drip", dripping(`${HEAD}x-slow: ${"x".repeat(99)}`, 50), "failed: timeout"],
  ["whose body drips", dripping(`${HEAD}content-length: 99\r\n\r\n${"x".repeat(99)}`, 50), "failed: timeout"],
  ["whose body has no end", endless(`${HEAD}\r\n`, "x".repeat(65_536)), "failed: response_too_large"],
  ["whose headers have no end", endless(HEAD, `x: ${"x".repeat(1000)}\r\n`), "failed: response_too_large"],
  [
    "that announces more than it may send",
    answering(`${HEAD}content-length: 99999999\r\n\r\nx`),
    "failed: response_too_large",
  ],
  [
    "that announces more than it sends",
    answering(`${HEAD}content-length: 99\r\n\r\n${VALUE}`),
    "failed: response_truncated",
  ],
  [
    "that announces less than it sends",
    answering(`${HEAD}content-length: 3\r\n\r\n${VALUE}`),
    "failed: provider_protocol_error",
  ],
  ["that closes at once", (connection) => Promise.resolve(connection.close()), "failed: connection_failed"],
  [
    "that closes after the request",
    async (connection) => {
      await readHead(connection);
      connection.close();
    },
    "failed: connection_failed",
  ],
  [
    "that closes within the body",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\nc\r\n{"fa`),
    "failed: response_truncated",
  ],
  ["that is no HTTP service", answering("SSH-2.0-OpenSSH_9.2\r\n"), "failed: provider_protocol_error"],
  ["that speaks HTTP/2", answering("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), "failed: provider_protocol_error"],
  [
    "that switches protocols",
    answering("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    "failed: provider_protocol_error",
  ],
  ["that answers HTML", answering(ok(VALUE, "content-type: text/html\r\n")), "observed: content_type_invalid"],
  ["that names no content type", answering(ok(VALUE, "")), "observed: content_type_invalid"],
  [
    "that compresses",
    answering(ok(VALUE, "content-type: application/json\r\ncontent-encoding: gzip\r\n")),
    "observed: content_encoding_unsupported",
  ],
  ["that redirects", answers("302 Found", "location: http://127.0.0.1:1/\r\n"), "observed: status_unexpected"],
  ["that fails", answers("500 Internal Server Error"), "observed: status_unexpected"],
  [
    "that fails with an endless body",
    endless("HTTP/1.1 500 No\r\ncontent-type: application/json\r\n\r\n", "x".repeat(65_536)),
    "observed: status_unexpected",
  ],
  ["without content", answering("HTTP/1.1 204 No Content\r\n\r\n"), "observed: status_unexpected"],
  ["whose body is empty", answering(ok("")), "observed: invalid_json"],
  ["whose body is no JSON", answering(ok("{failed: 3}")), "observed: invalid_json"],
  ["whose body repeats a name", answering(ok('{"failed":3,"failed":0}')), "observed: invalid_json"],
  ["whose number is not exact", answering(ok('{"failed":9007199254740993}')), "observed: invalid_json"],
  ["whose body is deep", answering(ok("[".repeat(RESPONSE_BYTES))), "observed: invalid_json"],
  ["whose body lacks the result", answering(ok('{"passed":3}')), "observed: result_pointer_not_found"],
  ["whose result is of another kind", answering(ok('["failed"]')), "observed: result_pointer_not_found"],
];
