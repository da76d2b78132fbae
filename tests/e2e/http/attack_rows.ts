/**
 * The attack table: the bytes that are sent, and their outcome. Every row is rejected, logged with its reason, and
 * leaves the server as it was.
 *
 * @module
 */

import { callText, message, modernHeaders } from "../http_fixture.ts";
import { envelope } from "../client.ts";

/** The token of the server under attack. */
export const TOKEN = "correct-horse-battery-staple";

/** Bytes that a body of that server may have. */
export const BODY_BYTES = 4096;

/** One attack. `status` 0: the connection ends without an answer; `word` stands in the log afterwards. */
export interface AttackRow {
  readonly attack: string;
  readonly bytes: string | Uint8Array;
  readonly status: number;
  readonly word: string;
}

const GOOD: Readonly<Record<string, string>> = {
  Host: "localhost",
  Authorization: `Bearer ${TOKEN}`,
  "Content-Type": "application/json",
  Connection: "close",
};

const ECHO = callText(1, "echo", { a: 1 });

/** A POST whose fields replace or add to good ones; null leaves one out. */
function post(
  body: string | Uint8Array,
  change: Readonly<Record<string, string | null>> = {},
  line = "POST /mcp HTTP/1.1",
): string | Uint8Array {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const fields = { ...GOOD, "Content-Length": String(bytes.length), ...change };
  const head = Object.entries(fields).filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}`);
  const text = `${line}\r\n${head.join("\r\n")}\r\n\r\n`;
  return typeof body === "string" ? text + body : joined(text, bytes);
}

function joined(text: string, bytes: Uint8Array): Uint8Array {
  return new Uint8Array([...new TextEncoder().encode(text), ...bytes]);
}

/** A good POST with raw lines for its head added. */
function withLines(...lines: readonly string[]): string {
  return (post(ECHO) as string).replace("\r\n\r\n", `\r\n${lines.join("\r\n")}\r\n\r\n`);
}

/** A good POST whose body is sent in chunks as written. */
function chunked(chunks: string): string {
  return `${post("", { "Content-Length": null, "Transfer-Encoding": "chunked" }) as string}${chunks}`;
}

function bytesOf(...codes: readonly number[]): Uint8Array {
  return new Uint8Array([...new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"'), ...codes, 0x22, 0x7d]);
}

const row = (attack: string, bytes: string | Uint8Array, status: number, word: string): AttackRow => ({
  attack,
  bytes,
  status,
  word,
});

/** Frames that are no HTTP, or HTTP that two readers would read in two ways. */
const FRAMES: readonly AttackRow[] = [
  row("noise", "\x00\x01\x02\x03noise\r\n\r\n", 400, "HPE_ERROR"),
  row("the start of TLS", new Uint8Array([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]), 400, "HPE_ERROR"),
  row("HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "HPE_PAUSED_H2_UPGRADE"),
  row("an unknown version", post(ECHO, {}, "POST /mcp HTTP/9.9"), 400, "HPE_ERROR"),
  row("a request line without version", "GET /mcp\r\n\r\n", 505, "http_version_unsupported"),
  row("lines that end in LF alone", (post(ECHO) as string).replaceAll("\r\n", "\n"), 400, "HPE_ERROR"),
  row("a folded field", withLines("X-Long: a", " b"), 400, "HPE_ERROR"),
  row("a space before the colon", withLines("X-Odd : a"), 400, "HPE_ERROR"),
  row("a zero byte in a field", withLines("X-Odd: a\0b"), 400, "HPE_ERROR"),
  row("a field without name", withLines(": a"), 400, "HPE_ERROR"),
  row("no Host", post(ECHO, { Host: null }), 400, "host_missing"),
  row("two Hosts", withLines("Host: evil.example.com"), 400, "header_field_repeated"),
  row("length and chunks", withLines("Transfer-Encoding: chunked"), 400, "HPE_INVALID_TRANSFER_ENCODING"),
  row("two lengths", withLines("Content-Length: 3"), 400, "HPE_ERROR"),
  row("a negative length", post(ECHO, { "Content-Length": "-1" }), 400, "HPE_ERROR"),
  row("a length with a sign", post(ECHO, { "Content-Length": `+${ECHO.length}` }), 400, "HPE_ERROR"),
  row("a length beyond all numbers", post(ECHO, { "Content-Length": "9".repeat(30) }), 400, "HPE_ERROR"),
  row(
    "an encoding after chunks",
    post(ECHO, { "Content-Length": null, "Transfer-Encoding": "chunked, gzip" }),
    400,
    "HPE_ERROR",
  ),
  row("a chunk with an invalid size", chunked("zz\r\n{}\r\n0\r\n\r\n"), 400, "HPE_ERROR"),
  row("a chunk larger than all numbers", chunked(`${"f".repeat(20)}\r\n`), 400, "HPE_ERROR"),
  row("a method with a space", post(ECHO, {}, "PO ST /mcp HTTP/1.1"), 400, "HPE_ERROR"),
  row("a tunnel", "CONNECT evil.example.com:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, "method_not_allowed"),
  row("a message to a probe", post(ECHO, {}, "POST /healthz HTTP/1.1"), 405, "method_not_allowed"),
  row("a trace", post("", { "Content-Length": null }, "TRACE /mcp HTTP/1.1"), 405, "method_not_allowed"),
  row("a head of 17 kB", withLines(`X-Long: ${"a".repeat(17_000)}`), 431, "HPE_HEADER_OVERFLOW"),
  row(
    "a hundred fields more",
    withLines(...Array.from({ length: 100 }, (_, index) => `X-${index}: 1`)),
    431,
    "too_many_header_fields",
  ),
  row("another version of HTTP", post(ECHO, {}, "POST /mcp HTTP/2.0"), 505, "http_version_unsupported"),
  row("an older version of HTTP", post(ECHO, {}, "POST /mcp HTTP/0.9"), 505, "http_version_unsupported"),
  row(
    "chunks of one that knows no chunks",
    chunked("5\r\nhello\r\n0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0"),
    400,
    "transfer_coding_unexpected",
  ),
  row(
    "chunks that are coded",
    chunked("5\r\nhello\r\n0\r\n\r\n").replace("chunked", "gzip, chunked"),
    501,
    "transfer_coding_unknown",
  ),
  row(
    "what is no request, behind one in work",
    `${post(ECHO, { Connection: "keep-alive" })}GARBAGE\r\n\r\n`,
    0,
    "HPE_ERROR",
  ),
  row("a target of 20 kB", post(ECHO, {}, `POST /${"a".repeat(20_000)} HTTP/1.1`), 431, "HPE_HEADER_OVERFLOW"),
  row(
    "two requests, one hidden in a body that is not read",
    post(post(ECHO), { Authorization: null, Connection: null }),
    401,
    "token_missing",
  ),
];

/** Bodies that are too much, or no message that all readers agree on. */
const BODIES: readonly AttackRow[] = [
  row("a byte over the limit", post(`"${"a".repeat(BODY_BYTES - 1)}"`), 413, "request_too_large"),
  row("a terabyte announced", post("{}", { "Content-Length": "1000000000000" }), 413, "request_too_large"),
  row("chunks without end", chunked(`1000\r\n${"a".repeat(4096)}\r\n1\r\na\r\n`), 413, "request_too_large"),
  row(
    "chunks with more about them than in them",
    chunked(`1;${"a".repeat(1 << 19)}\r\n{\r\n`),
    413,
    "request_too_large",
  ),
  row("many chunks with extensions", chunked(`1;${"a".repeat(300)}\r\n \r\n`.repeat(1000)), 413, "request_too_large"),
  row(
    "fields without end after the last chunk",
    chunked(`2\r\n{}\r\n0\r\nX: ${"a".repeat(1 << 19)}`),
    431,
    "HPE_HEADER_OVERFLOW",
  ),
  row("65 levels", post("[".repeat(65) + "]".repeat(65)), 400, "invalid_request"),
  row("2,000 levels", post("[".repeat(2_000) + "]".repeat(2_000)), 400, "invalid_request"),
  row("levels that never close", post('{"a":'.repeat(800)), 400, "invalid_request"),
  row("a member twice", post('{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}'), 400, "invalid_request"),
  row(
    "a member twice, once escaped",
    post('{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"x"}'),
    400,
    "invalid_request",
  ),
  row("half a character", post('{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'), 400, "invalid_request"),
  row(
    "a number that no double holds",
    post('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1e400}}'),
    400,
    "invalid_request",
  ),
  row(
    "an id that no double holds",
    post('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'),
    400,
    "invalid_request",
  ),
  row(
    "digits without end",
    post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"9".repeat(3000)}}}`),
    400,
    "invalid_request",
  ),
  row("bytes that are no UTF-8", post(bytesOf(0xff, 0xfe)), 400, "parse_error"),
  row("UTF-8 that is too long", post(bytesOf(0xc0, 0xaf)), 400, "parse_error"),
  row("half a character in UTF-8", post(bytesOf(0xed, 0xa0, 0x80)), 400, "parse_error"),
  row("a byte order mark", post(`\ufeff${ECHO}`), 400, "parse_error"),
  row("JSON as others write it", post('{jsonrpc:"2.0",id:1,method:"ping",}'), 400, "parse_error"),
  row("not a number", post('{"jsonrpc":"2.0","id":NaN,"method":"ping"}'), 400, "parse_error"),
  row("something after the message", post(`${ECHO}{}`), 400, "parse_error"),
  row("nothing", post(""), 400, "parse_error"),
  row("a batch", post(`[${Array.from({ length: 50 }, () => message(1, "ping")).join(",")}]`), 400, "invalid_request"),
  row("an id that is an object", post(message({}, "ping")), 400, "invalid_request"),
  row("a method that is a number", post(message(1, 7 as unknown as string)), 400, "invalid_request"),
  row("an unknown member", post('{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}'), 400, "invalid_request"),
];

function modern(fields: Readonly<Record<string, string>>): AttackRow["bytes"] {
  return post(callText(1, "echo", {}, envelope()), fields);
}

/** Fields that say something else than the message, or say it twice. */
const FIELDS: readonly AttackRow[] = [
  row("text", post(ECHO, { "Content-Type": "text/plain" }), 415, "invalid_request"),
  row(
    "a form, as pages send without asking",
    post("a=b", { "Content-Type": "application/x-www-form-urlencoded" }),
    415,
    "invalid_request",
  ),
  row("two types", withLines("Content-Type: text/plain"), 400, "header_field_repeated"),
  row("a body that grows", post(ECHO, { "Content-Encoding": "gzip" }), 415, "invalid_request"),
  row(
    "a correlation id with a line end in it",
    post(ECHO, { "X-Correlation-Id": "a%0d%0aX: y z" }),
    400,
    "correlation_id_disallowed_character",
  ),
  row(
    "a correlation id of 129 characters",
    post(ECHO, { "X-Correlation-Id": "a".repeat(129) }),
    400,
    "correlation_id_too_long",
  ),
  row("the name of another tool", modern(modernHeaders("tools/call", "refuse")), 400, "header_mismatch"),
  row("the name of another method", modern(modernHeaders("tools/list", "echo")), 400, "header_mismatch"),
  row("a name in broken Base64", modern(modernHeaders("tools/call", "=?base64?!!!?=")), 400, "header_mismatch"),
  row("two names", withLines("Mcp-Name: a", "Mcp-Name: b"), 400, "header_field_repeated"),
  row(
    "an unknown version",
    post(ECHO, { "Mcp-Protocol-Version": "../../etc/passwd" }),
    400,
    "unsupported_protocol_version",
  ),
];

/** Pages that call from elsewhere, and names that were pointed here. */
const NAMES: readonly AttackRow[] = [
  row("the name of an attacker", post(ECHO, { Host: "evil.example.com" }), 403, "host_not_allowed"),
  row("our name with the port of another service", post(ECHO, { Host: "localhost:1" }), 403, "host_not_allowed"),
  row("a name that begins like ours", post(ECHO, { Host: "localhost.evil.example.com" }), 403, "host_not_allowed"),
  row("our name as a user", post(ECHO, { Host: "localhost@evil.example.com" }), 403, "host_not_allowed"),
  row("an address written otherwise", post(ECHO, { Host: "2130706433" }), 403, "host_not_allowed"),
  row("any address", post(ECHO, { Host: "0.0.0.0" }), 403, "host_not_allowed"),
  row(
    "a whole target",
    post(ECHO, { Host: "evil.example.com" }, "POST http://localhost/mcp HTTP/1.1"),
    403,
    "host_not_allowed",
  ),
  row("a page of an attacker", post(ECHO, { Origin: "https://evil.example.com" }), 403, "origin_not_allowed"),
  row("a page of nowhere", post(ECHO, { Origin: "null" }), 403, "origin_not_allowed"),
  row(
    "a page whose name begins like ours",
    post(ECHO, { Origin: "http://localhost.evil.example.com" }),
    403,
    "origin_not_allowed",
  ),
  row("a page with a path", post(ECHO, { Origin: "http://localhost/x" }), 403, "origin_not_allowed"),
  row(
    "two origins",
    withLines("Origin: http://localhost", "Origin: https://evil.example.com"),
    400,
    "header_field_repeated",
  ),
  row(
    "asking for a page's leave",
    post("", { "Content-Length": null, Origin: "http://localhost:1", Authorization: null }, "OPTIONS /mcp HTTP/1.1"),
    405,
    "method_not_allowed",
  ),
];

/** Tokens that are guessed, and names that are claimed. */
const CALLERS: readonly AttackRow[] = [
  row("no token", post(ECHO, { Authorization: null }), 401, "token_missing"),
  row("another token", post(ECHO, { Authorization: "Bearer guess" }), 401, "token_unknown"),
  row(
    "the token but its last letter",
    post(ECHO, { Authorization: `Bearer ${TOKEN.slice(0, -1)}` }),
    401,
    "token_unknown",
  ),
  row("the token and a letter", post(ECHO, { Authorization: `Bearer ${TOKEN}x` }), 401, "token_unknown"),
  row("the token in capitals", post(ECHO, { Authorization: `Bearer ${TOKEN.toUpperCase()}` }), 401, "token_unknown"),
  row("the token and another", post(ECHO, { Authorization: `Bearer guess ${TOKEN}` }), 401, "authorization_malformed"),
  row(
    "the token as a password",
    post(ECHO, { Authorization: `Basic ${btoa(`a:${TOKEN}`)}` }),
    401,
    "authorization_malformed",
  ),
  row("no scheme", post(ECHO, { Authorization: TOKEN }), 401, "authorization_malformed"),
  row("a token of 9 kB", post(ECHO, { Authorization: `Bearer ${"a".repeat(9000)}` }), 401, "authorization_too_long"),
  row(
    "the token in the target",
    post(ECHO, { Authorization: null }, `POST /mcp?access_token=${TOKEN} HTTP/1.1`),
    401,
    "token_missing",
  ),
  row("the token in a cookie", post(ECHO, { Authorization: null, Cookie: `token=${TOKEN}` }), 401, "token_missing"),
  row("a token after another", withLines("Authorization: Bearer guess"), 400, "header_field_repeated"),
  row(
    "a subject that is claimed",
    post(ECHO, { Authorization: null, "X-Gate-Client-Subject": "CN=alice" }),
    401,
    "token_missing",
  ),
  row(
    "an address that is claimed",
    post(ECHO, { Authorization: null, "X-Forwarded-For": "127.0.0.1" }),
    401,
    "token_missing",
  ),
];

/** Paths that mean another place. */
const PATHS: readonly AttackRow[] = [
  ...[
    "/mcp/",
    "/MCP",
    "//mcp",
    "/./mcp",
    "/%6dcp",
    "/mcp%00",
    "/mcp;a=b",
    "/x/../mcp",
    "/../../../etc/passwd",
    "/mcp%2f..",
    "*",
  ]
    .map((path) => row(`the path ${path}`, post(ECHO, {}, `POST ${path} HTTP/1.1`), 404, "path_unknown")),
  row(
    "metrics without a token",
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    401,
    "token_missing",
  ),
  row(
    "metrics by way of health",
    post(ECHO, { Authorization: null }, "POST /healthz/../metrics HTTP/1.1"),
    404,
    "path_unknown",
  ),
  row(
    "a socket of another kind",
    "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    405,
    "method_not_allowed",
  ),
];

/** Every attack that is one request. */
export const ATTACK_ROWS: readonly AttackRow[] = [...FRAMES, ...BODIES, ...FIELDS, ...NAMES, ...CALLERS, ...PATHS];
