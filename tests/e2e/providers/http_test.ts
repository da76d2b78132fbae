import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JsonValue } from "../../../src/canonical/json.ts";
import {
  answering,
  askProvider,
  type Behaviour,
  ok,
  outcomeOf,
  pause,
  readHead,
  withProvider,
  withServer,
  write,
} from "./fixtures.ts";

const OPEN = { allow_http: true, allow_private_networks: true, timeout_ms: 20_000 };
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

function digest(text: string): string {
  return `value: {"algorithm":"sha256","value":"${createHash("sha256").update(text).digest("hex")}"}`;
}

function gzipped(): Behaviour {
  return answering(ok("x", "content-type: application/json\r\ncontent-encoding: gzip\r\n"));
}

/** Sends pieces with pauses between them. */
function dripping(pieces: readonly string[], millis: number): Behaviour {
  return async (connection) => {
    await readHead(connection);
    for (const piece of pieces) {
      await write(connection, piece);
      await pause(millis);
    }
    connection.close();
  };
}

/** Sends a beginning, then repeats one piece endlessly. */
function endless(beginning: string, part: string): Behaviour {
  return async (connection) => {
    await readHead(connection);
    await write(connection, beginning);
    for (;;) await write(connection, part);
  };
}

const ENDLESS_BODY = endless(`${HEAD}\r\n`, "x".repeat(65_536));
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
/** A response whose head has so many bytes. */
function headOf(bytes: number, line = ""): string {
  const start = `HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${line.repeat(2000)}x: `;
  return `${start}${"x".repeat(bytes - start.length - 4)}\r\n\r\n`;
}

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** Behaviour of the server, check, outcome; `body_hash` has a limit of 16 bytes. */
const ROWS: readonly (readonly [name: string, behaviour: Behaviour, check: string, outcome: string])[] = [
  ["a body", answering(ok("hello")), "body_hash", digest("hello")],
  ["an empty body", answering(ok("")), "body_hash", digest("")],
  ["a body of 15 bytes of 16", answering(ok("x".repeat(15))), "body_hash", digest("x".repeat(15))],
  ["a body of 16 bytes of 16", answering(ok("x".repeat(16))), "body_hash", digest("x".repeat(16))],
  ["a body of 17 bytes of 16", answering(ok("x".repeat(17))), "body_hash", "failed: response_too_large"],
  ["a body of an error", answering("HTTP/1.1 500 No\r\ncontent-length: 1\r\n\r\nx"), "body_hash", digest("x")],
  ["no body", answering("HTTP/1.1 204 No Content\r\n\r\n"), "body_hash", digest("")],
  ["a body up to the end of the connection", answering(`${HEAD}\r\nhello`), "body_hash", digest("hello")],
  [
    "a chunked body",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
    "body_hash",
    digest("hello"),
  ],
  [
    "a chunked body that is too large",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\n11\r\n${"x".repeat(17)}\r\n0\r\n\r\n`),
    "body_hash",
    "failed: response_too_large",
  ],
  [
    "a chunked body that ends too early",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhel`),
    "body_hash",
    "failed: response_truncated",
  ],
  [
    "an invalid chunk size",
    answering(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\nhello`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  [
    "a length that is too large",
    answering(`${HEAD}content-length: 9999999\r\n\r\nx`),
    "body_hash",
    "failed: response_too_large",
  ],
  [
    "a length that lies, too long",
    answering(`${HEAD}content-length: 9\r\n\r\nx`),
    "body_hash",
    "failed: response_truncated",
  ],
  [
    "a length that lies, too short",
    answering(`${HEAD}content-length: 1\r\n\r\nxyz`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  [
    "an invalid length",
    answering(`${HEAD}content-length: x\r\n\r\nx`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  [
    "two lengths",
    answering(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nxy`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  [
    "a body of another transfer coding",
    answering(`${HEAD}transfer-encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  [
    "a length and chunks",
    answering(`${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    "body_hash",
    "failed: provider_protocol_error",
  ],
  ["a body without end", ENDLESS_BODY, "body_hash", "failed: response_too_large"],
  ["chunks of a byte", answering(`${CHUNKED}${"1\r\nx\r\n".repeat(16)}0\r\n\r\n`), "body_hash", digest("x".repeat(16))],
  ["a chunk that never begins", endless(`${CHUNKED}1;`, "x".repeat(65_536)), "body_hash", "failed: response_too_large"],
  [
    "trailers without end",
    endless(`${CHUNKED}0\r\n`, "x: y\r\n".repeat(999)),
    "body_hash",
    "failed: response_too_large",
  ],
  ["answers before the answer", endless("", CONTINUE.repeat(999)), "status", "failed: response_too_large"],
  ["empty lines before the answer", endless("", "\r\n".repeat(9999)), "status", "failed: response_too_large"],
  ["an encoded body", gzipped(), "body_hash", "observed: content_encoding_unsupported"],
  ["an encoded body that is not read", gzipped(), "status", "value: 200"],
  ["a status", answering("HTTP/1.1 418 Teapot\r\ncontent-length: 0\r\n\r\n"), "status", "value: 418"],
  ["a redirect", answering("HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\n\r\n"), "status", "value: 301"],
  ["a status before its body", dripping([`${HEAD}content-length: 9\r\n\r\n`, "x"], 10), "status", "value: 200"],
  ["a status before an endless body", ENDLESS_BODY, "status", "value: 200"],
  ["continue, then a status", answering(`${CONTINUE}${ok("x")}`), "status", "value: 200"],
  [
    "a body drop by drop",
    dripping([`${HEAD}content-length: 15\r\n\r\n`, ..."x".repeat(15)], 200),
    "body_hash",
    "failed: timeout",
  ],
  ["headers drop by drop", dripping([..."HTTP/1.1 200 OK\r\nx-very-slow: 1\r\n"], 100), "status", "failed: timeout"],
  ["no answer", (connection) => readHead(connection).then(() => {}), "status", "failed: timeout"],
  ["headers without end", endless(HEAD, `x: ${"x".repeat(1000)}\r\n`), "status", "failed: response_too_large"],
  [
    "headers of 12 KiB",
    answering(`${HEAD}x-much: ${"x".repeat(12_000)}\r\ncontent-length: 0\r\n\r\n`),
    "status",
    "value: 200",
  ],
  ["a head of 16383 bytes", answering(headOf(16_383)), "status", "value: 200"],
  ["a head of 16384 bytes", answering(headOf(16_384)), "status", "value: 200"],
  ["a head of 16385 bytes", answering(headOf(16_385)), "status", "failed: response_too_large"],
  [
    "a head of 16385 bytes in short lines",
    answering(headOf(16_385, "a: b\r\n")),
    "status",
    "failed: response_too_large",
  ],
  ["no HTTP", answering("SSH-2.0-OpenSSH_9.2\r\n\r\n"), "status", "failed: provider_protocol_error"],
  ["an end before an answer", answering(), "status", "failed: connection_failed"],
  ["an end amid the headers", answering("HTTP/1.1 200 OK\r\nx-a: "), "status", "failed: connection_failed"],
];

for (const [name, behaviour, check, expected] of ROWS) {
  Deno.test(`http.${check} of ${name}: ${expected.slice(0, 60)}`, async () => {
    const limit = expected === "failed: timeout" ? { timeout_ms: 1500 } : {};
    const config = { ...OPEN, ...limit, max_response_bytes: 16 };
    const outcome = await withServer(
      behaviour,
      ({ port }) =>
        withProvider(
          { name: "http", config },
          async (provider) => outcomeOf(await askProvider(provider, check, { url: `http://127.0.0.1:${port}/` })),
        ),
    );
    assert.equal(outcome, expected);
  });
}

Deno.test("http sends exactly the documented request", async () => {
  let head = "";
  const behaviour: Behaviour = async (connection) => {
    head = await readHead(connection);
    await write(connection, ok("{}"));
    connection.close();
  };
  await withServer(
    behaviour,
    ({ port }) =>
      withProvider({ name: "http", config: { ...OPEN, user_agent: "probe/1" } }, async (provider) => {
        const answer = await askProvider(provider, "status", { url: `http://127.0.0.1:${port}/a%20b/../c?d=e#f` });
        assert.equal(outcomeOf(answer), "value: 200");
        assert.ok(answer.ok);
        const url = `http://127.0.0.1:${port}/c?d=e`;
        assert.deepEqual(answer.result.evidence_anchor, { anchor_type: "url", anchor_value: JSON.stringify({ url }) });
        assert.deepEqual(answer.result.evidence_ref, { uri: url });
        assert.deepEqual(answer.grant, { sandbox: "worker", env: [], net: [`127.0.0.1:${port}`], read: [] });
        assert.deepEqual(head.split("\r\n"), [
          "GET /c?d=e HTTP/1.1",
          `Host: 127.0.0.1:${port}`,
          "User-Agent: probe/1",
          "Accept: */*",
          "Accept-Encoding: identity",
          "Connection: close",
          "",
          "",
        ]);
      }),
  );
});

Deno.test("a name whose address becomes private after the check does not reach the private address", async () => {
  await withServer(answering(ok("secret")), async (server) => {
    let asked = 0;
    const resolver = (): Promise<readonly string[]> => Promise.resolve([asked++ === 0 ? "192.31.196.1" : "127.0.0.1"]);
    const config = { allow_http: true, timeout_ms: 1000 };
    await withProvider({ name: "http", config, options: { resolver } }, async (provider) => {
      const answer = await askProvider(provider, "body_hash", { url: `http://rebind.example:${server.port}/` });
      // The outcome at the public address depends on the network; a response is not possible.
      assert.equal(answer.ok, false, outcomeOf(answer));
      assert.equal(asked, 1);
      assert.equal(server.accepted(), 0);
      const again = await askProvider(provider, "body_hash", { url: `http://rebind.example:${server.port}/` });
      assert.equal(outcomeOf(again), "failed: destination_blocked");
      assert.equal(server.accepted(), 0);
    });
  });
});

Deno.test("a request goes to the address that was checked, and the name is resolved once", async () => {
  await withServer(answering(ok("first")), (server) => {
    let asked = 0;
    const resolver = (): Promise<readonly string[]> => Promise.resolve([asked++ === 0 ? "127.0.0.1" : "127.0.0.2"]);
    return withProvider({ name: "http", config: OPEN, options: { resolver } }, async (provider) => {
      // No other resolver knows the name, so a second resolution would not reach this server.
      const answer = await askProvider(provider, "body_hash", { url: `http://name.example:${server.port}/` });
      assert.equal(outcomeOf(answer), digest("first"));
      assert.deepEqual([asked, server.accepted()], [1, 1]);
    });
  });
});

Deno.test("one private address among public ones refuses the host", async () => {
  await withServer(answering(ok("secret")), (server) => {
    const resolver = (): Promise<readonly string[]> => Promise.resolve(["192.31.196.1", "127.0.0.1"]);
    return withProvider({ name: "http", config: { allow_http: true }, options: { resolver } }, async (provider) => {
      const answer = await askProvider(provider, "status", { url: `http://mixed.example:${server.port}/` });
      assert.equal(outcomeOf(answer), "failed: destination_blocked");
      assert.equal(server.accepted(), 0);
    });
  });
});

Deno.test("http tries the next address if one accepts no connection", async () => {
  await withServer(answering(ok("x")), (server) => {
    const resolver = (): Promise<readonly string[]> => Promise.resolve(["127.0.0.2", "127.0.0.1"]);
    return withProvider({ name: "http", config: OPEN, options: { resolver } }, async (provider) => {
      const answer = await askProvider(provider, "status", { url: `http://two.example:${server.port}/` });
      // The tests have permission for 127.0.0.1 only: the runtime or the system refuses 127.0.0.2.
      assert.match(outcomeOf(answer), /^(value: 200|failed: provider_unreachable)$/);
    });
  });
});

Deno.test("http sends 64 requests concurrently", async () => {
  const all = Promise.withResolvers<void>();
  // No request is answered before all of them were read.
  const behaviour: Behaviour = async (connection, count) => {
    await readHead(connection);
    if (count === 64) all.resolve();
    await all.promise;
    await write(connection, ok('{"a":1}'));
    connection.close();
  };
  await withServer(
    behaviour,
    ({ port }) =>
      withProvider({ name: "rest", config: { ...OPEN, timeout_ms: 60_000 } }, async (provider) => {
        const params = { url: `http://127.0.0.1:${port}/`, jsonpath: "$.a" };
        const ask = async (): Promise<string> => outcomeOf(await askProvider(provider, "json_path", params));
        const outcomes = await Promise.all(Array.from({ length: 64 }, ask));
        assert.deepEqual([...new Set(outcomes)], ["value: 1"]);
      }),
  );
});

Deno.test("a cancelled check ends its request", async () => {
  const caller = new AbortController();
  const closed = Promise.withResolvers<boolean>();
  const behaviour: Behaviour = async (connection) => {
    await readHead(connection);
    caller.abort();
    closed.resolve((await connection.read(new Uint8Array(1)).catch(() => null)) === null);
  };
  await withServer(
    behaviour,
    ({ port }) =>
      withProvider({ name: "http", config: { ...OPEN, timeout_ms: 30_000 } }, async (provider) => {
        const url = `http://127.0.0.1:${port}/`;
        const answer = await askProvider(provider, "status", { url }, undefined, caller.signal);
        assert.equal(outcomeOf(answer), "failed: cancelled");
        assert.equal(await closed.promise, true);
      }),
  );
});

/** Status of a response, and the outcome of an absent header. A present header counts with every status. */
const HEADER_STATUSES: readonly (readonly [status: string, absent: string])[] = [
  ["200 OK", "nothing"],
  ["204 No Content", "nothing"],
  ["299 Odd", "nothing"],
  ["300 Multiple Choices", "observed: status_unexpected"],
  ["302 Found", "observed: status_unexpected"],
  ["304 Not Modified", "observed: status_unexpected"],
  ["308 Permanent Redirect", "observed: status_unexpected"],
  ["399 Odd", "observed: status_unexpected"],
  ["400 Bad Request", "observed: status_unexpected"],
  ["404 Not Found", "observed: status_unexpected"],
  ["500 Internal Server Error", "observed: status_unexpected"],
  ["599 Odd", "observed: status_unexpected"],
];

/** Params of `rest`, response, outcome. */
const REST: readonly (readonly [string, string, Record<string, JsonValue>, string])[] = [
  ["json_path", ok('{"a":[1,2]}'), { jsonpath: "$.a[0]" }, "value: 1"],
  ["json_path", ok('{"a":[1,2]}'), { jsonpath: "$.a[*]" }, "value: [1,2]"],
  ["json_path", ok("null"), { jsonpath: "$" }, "value: null"],
  ["json_path", ok("1", "content-type: application/vnd.x+json; charset=utf-8\r\n"), { jsonpath: "$" }, "value: 1"],
  ["json_path", ok("1", "Content-Type: APPLICATION/JSON\r\n"), { jsonpath: "$" }, "value: 1"],
  ["json_path", ok("1", ""), { jsonpath: "$" }, "observed: content_type_invalid"],
  ["json_path", ok("1", "content-type: text/json\r\n"), { jsonpath: "$" }, "observed: content_type_invalid"],
  ["json_path", ok("9007199254740993"), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok("1e400"), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok("["), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok(""), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok("\ufeff1"), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok(`${"[".repeat(100_000)}`), { jsonpath: "$" }, "observed: invalid_json"],
  ["json_path", ok("1").replace("200 OK", "404 No"), { jsonpath: "$" }, "observed: status_not_successful"],
  ["json_path", ok("1").replace("200 OK", "201 Created"), { jsonpath: "$" }, "value: 1"],
  ["header", ok("", "x-a: 1\r\n"), { header_name: "X-A" }, 'value: "1"'],
  ["header", ok("", "x-a: 1\r\nX-A: 2\r\n"), { header_name: "x-a" }, 'value: "1, 2"'],
  ["header", ok("", `${"b: 1\r\n".repeat(2000)}x-a: 1\r\n`), { header_name: "x-a" }, 'value: "1"'],
  ["header", ok("", "x-a:\r\n"), { header_name: "x-a" }, 'value: ""'],
  ["header", ok("", ""), { header_name: "x-a" }, "nothing"],
  ["header", ok("", ""), { header_name: "constructor" }, "nothing"],
  ...HEADER_STATUSES.flatMap(([status, absent]) =>
    ([["x-a: 1\r\n", 'value: "1"'], ["x-b: 1\r\n", absent]] as const).map(([headers, expected]) =>
      ["header", ok("", headers).replace("200 OK", status), { header_name: "x-a" }, expected] as const
    )
  ),
  ["header", ok("", ""), { header_name: "" }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "x-a": 1 } }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "x a": "1" } }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "x-a": "1\r\nx-b: 2" } }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "x-a": "1", "X-A": "2" } }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: [] }, "observed: params_invalid"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "X-Tenant": "1" } }, "observed: header_reserved"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { Host: "other" } }, "observed: header_reserved"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { "x-forwarded-for": "1" } }, "observed: header_reserved"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { Range: "bytes=0-0" } }, "observed: header_reserved"],
  ["json_path", ok("1"), { jsonpath: "$", headers: { accept: "application/json" } }, "value: 1"],
];

for (const [check, response, params, expected] of REST) {
  Deno.test(`rest.${check} ${JSON.stringify(params)} of ${JSON.stringify(response.slice(9, 90))}: ${expected}`, async () => {
    const config = { ...OPEN, default_headers: { "X-Tenant": "t" } };
    const outcome = await withServer(
      answering(response),
      ({ port }) =>
        withProvider(
          { name: "rest", config },
          async (provider) =>
            outcomeOf(await askProvider(provider, check, { url: `http://127.0.0.1:${port}/`, ...params })),
        ),
    );
    assert.equal(outcome, expected);
  });
}

/** Credentials, the header that they become, the anchor. */
const CREDENTIALS: readonly (readonly [Record<string, string>, string])[] = [
  [{ bearer_token: "s3cret" }, "Authorization: Bearer s3cret"],
  [{ bearer_token: "env:PROBE_TOKEN" }, "Authorization: Bearer fr0m-env"],
  [{ basic_username: "u", basic_password: "s3cret" }, `Authorization: Basic ${btoa("u:s3cret")}`],
  [{ basic_username: "u" }, `Authorization: Basic ${btoa("u:")}`],
  [{ api_key_header: "X-Key", api_key_value: "s3cret" }, "X-Key: s3cret"],
];

for (const [auth, header] of CREDENTIALS) {
  Deno.test(`rest sends ${Object.keys(auth).join(", ")} and discloses it nowhere`, async () => {
    let head = "";
    const behaviour: Behaviour = async (connection) => {
      head = await readHead(connection);
      await write(connection, ok('{"a":1}'));
      connection.close();
    };
    const config = { ...OPEN, auth, default_headers: { "X-Tenant": "s3cret-tenant" } };
    const options = { environment: (name: string) => name === "PROBE_TOKEN" ? "fr0m-env" : undefined };
    await withServer(behaviour, ({ port }) =>
      withProvider({ name: "rest", config, options }, async (provider) => {
        const params = { url: `http://127.0.0.1:${port}/x`, jsonpath: "$.a", headers: { "X-Own": "mine" } };
        const answer = await askProvider(provider, "json_path", params);
        assert.ok(head.split("\r\n").includes(header), head);
        assert.ok(answer.ok);
        const anchor = JSON.parse(answer.result.evidence_anchor?.anchor_value ?? "") as Record<string, unknown>;
        const name = header.split(":")[0]?.toLowerCase() ?? "";
        assert.deepEqual(anchor, {
          method: "GET",
          url: params.url,
          status: 200,
          hash_algorithm: "sha256",
          body_hash: createHash("sha256").update('{"a":1}').digest("hex"),
          headers: { [name]: "<redacted>", "x-tenant": "<redacted>", "x-own": "mine" },
        });
        assert.doesNotMatch(JSON.stringify(answer), /s3cret|fr0m-env/);
      }));
  });
}
