/**
 * Hostile and odd input over stdio. Each row is what a client writes, and the one answer that comes back; the server
 * then still answers a plain request.
 */

import assert from "node:assert/strict";
import { initializeParams, type ServerProcess, startFixture, type Wire } from "../client.ts";

const LIMIT = 4096;

/** A call of `names` with the arguments as written. */
const names = (id: string, input: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"names","arguments":${input}}}`;

/** A ping of exactly so many bytes. */
function sized(bytes: number, id: number): string {
  const head = `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"_meta":{"a":"`;
  return `${head}${"x".repeat(bytes - head.length - 4)}"}}}`;
}

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

type Row = readonly [what: string, line: string | Uint8Array, answer: string];

const ROWS: readonly Row[] = [
  ["a duplicate name", names("1", '{"a":1,"a":2}'), "-32600 duplicate_name $.params.arguments.a id 1"],
  [
    "a duplicate name under an escape",
    names("1", '{"a":1,"\\u0061":2}'),
    "-32600 duplicate_name $.params.arguments.a id 1",
  ],
  [
    "a duplicate method",
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}',
    "-32600 duplicate_name $.method id 1",
  ],
  ["a duplicate id", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', "-32600 duplicate_name $.id id null"],
  [
    "a duplicate __proto__",
    names("1", '{"__proto__":1,"__proto__":2}'),
    "-32600 duplicate_name $.params.arguments.__proto__ id 1",
  ],
  [
    "an integer beyond doubles",
    names("1", '{"a":9007199254740993}'),
    "-32600 number_not_exact $.params.arguments.a id 1",
  ],
  ["a number beyond doubles", names("1", '{"a":[1e400]}'), "-32600 number_not_exact $.params.arguments.a[0] id 1"],
  [
    "too many digits",
    names("1", '{"a":0.1000000000000000000001}'),
    "-32600 number_not_exact $.params.arguments.a id 1",
  ],
  ["numbers that doubles hold", names("1", '{"a":[0.1,1.0,1e21,-0,9007199254740992]}'), 'ok id 1 ["a"]'],
  [
    "an own __proto__",
    names("1", '{"__proto__":{"__proto__":1},"constructor":{"prototype":1}}'),
    'ok id 1 ["__proto__","__proto__","constructor","prototype"]',
  ],
  ["a lone high surrogate", names("1", '{"a":"\\ud800"}'), "-32600 lone_surrogate $.params.arguments.a id 1"],
  ["a lone low surrogate in a name", names("1", '{"\\udc00":1}'), "-32600 lone_surrogate $.params.arguments id 1"],
  ["a pair of surrogates", names("1", '{"\\ud83d\\ude00":1}'), 'ok id 1 ["😀"]'],
  ["a surrogate in the id", '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "-32600 lone_surrogate $.id id null"],
  // The message is depth 1, its params 2, the arguments 3, the array under test begins at 4.
  ["depth 63", names("1", `{"a":${nested(60)}}`), 'ok id 1 ["a"]'],
  ["depth 64", names("1", `{"a":${nested(61)}}`), 'ok id 1 ["a"]'],
  ["depth 65", names("1", `{"a":${nested(62)}}`), /* */ "-32600 depth_exceeded id 1"],
  ["depth 1000", nested(1000), "-32600 depth_exceeded id null"],
  ["one byte less than the limit", sized(LIMIT - 1, 1), "ok id 1"],
  ["exactly the limit", sized(LIMIT, 1), "ok id 1"],
  ["exactly the limit with CRLF", `${sized(LIMIT, 1)}\r`, "ok id 1"],
  ["one byte more than the limit", sized(LIMIT + 1, 1), "-32070 undefined undefined id 1"],
  ["a thousand times the limit", sized(LIMIT * 1000, 1), "-32070 undefined undefined id 1"],
  ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "-32700 undefined undefined id null"],
  ["an encoded surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), "-32700 undefined undefined id null"],
  ["a byte order mark", '\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}', "-32700 syntax $ id null"],
  ["a NUL", '{"jsonrpc":"2.0","id":1,"method":"ping"}\u0000', "-32700 syntax $ id null"],
  [
    "a raw control character in a string",
    '{"jsonrpc":"2.0","id":"\u0001","method":"ping"}',
    "-32700 syntax $.id id null",
  ],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', "-32600 undefined $ id null"],
  ["an empty batch", "[]", "-32600 undefined $ id null"],
  ["a text", '"ping"', "-32600 undefined $ id null"],
  ["nothing like JSON", "GET / HTTP/1.1", "-32700 syntax $ id null"],
  ["the header of another framing", "Content-Length: 42\r", "-32700 syntax $ id null"],
  ["a cut message", '{"jsonrpc":"2.0","id":1,', "-32700 syntax $ id null"],
  ["a trailing comma", '{"jsonrpc":"2.0","id":1,"method":"ping",}', "-32700 syntax $ id null"],
  ["NaN", names("1", '{"a":NaN}'), "-32700 syntax $.params.arguments.a id null"],
  [
    "two messages on a line",
    '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}',
    "-32700 syntax $ id null",
  ],
  ["no jsonrpc", '{"id":1,"method":"ping"}', "-32600 undefined $.jsonrpc id 1"],
  ["an older jsonrpc", '{"jsonrpc":"1.0","id":1,"method":"ping"}', "-32600 undefined $.jsonrpc id 1"],
  ["no method", '{"jsonrpc":"2.0","id":1}', "-32600 undefined $.method id 1"],
  ["an unknown member", '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}', "-32600 undefined $ id 1"],
  ["a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', "-32600 undefined $.id id null"],
  ["a fractional id", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "-32600 undefined $.id id null"],
  ["an id in another spelling", '{"jsonrpc":"2.0","id":1.0,"method":"ping"}', "ok id 1"],
  [
    "an id beyond exact integers",
    '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}',
    "-32600 number_not_exact $.id id null",
  ],
  ["the largest id", '{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}', "ok id 9007199254740991"],
  ["a long id", `{"jsonrpc":"2.0","id":"${"i".repeat(3000)}","method":"ping"}`, `ok id "${"i".repeat(3000)}"`],
  ["params in an array", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', "-32600 undefined $.params id 1"],
  [
    "_meta that is no object",
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}',
    "-32602 undefined $.params._meta id 1",
  ],
  ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"no/such"}', "-32601 undefined undefined id 1"],
  [
    "a method named like an inherited member",
    '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
    "-32601 undefined undefined id 1",
  ],
  [
    "an unknown tool",
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor"}}',
    "-32602 undefined $.params.name id 1",
  ],
  ["a message ended by CRLF", '{"jsonrpc":"2.0","id":1,"method":"ping"}\r', "ok id 1"],
];

/** Lines that get no answer at all. */
const SILENT: readonly (readonly [what: string, line: string])[] = [
  ["an empty line", ""],
  ["blanks", " \t "],
  ["a lone CR", "\r"],
  ["an unknown notification", '{"jsonrpc":"2.0","method":"no/such"}'],
  ["a notification of a request's method", '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"throws"}}'],
  ["the cancellation of nothing", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}'],
  ["a cancellation without id", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'],
  ["a result", '{"jsonrpc":"2.0","id":5,"result":{}}'],
  ["an error", '{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"m"}}'],
];

/** The answer in one line: code, fault and path of an error, or what a call gave. */
function summary(answer: Wire): string {
  const id = `id ${JSON.stringify(answer["id"])}`;
  const error = answer["error"] as { code: number; data: Wire } | undefined;
  if (error === undefined) {
    const given = (answer["result"] as Wire)["structuredContent"] as { names: string[] } | undefined;
    return given === undefined ? `ok ${id}` : `ok ${id} ${JSON.stringify(given.names)}`;
  }
  assert.deepEqual(error.data["request_id"], answer["id"]);
  assert.equal(error.data["retryable"], false);
  const fault = error.data["fault"];
  // Where a nesting goes too deep is as long a path as it is deep.
  return fault === "depth_exceeded"
    ? `${error.code} ${fault} ${id}`
    : `${error.code} ${fault} ${error.data["path"]} ${id}`;
}

async function start(): Promise<ServerProcess> {
  const server = startFixture({ server: { max_body_bytes: LIMIT } });
  await server.request("initialize", initializeParams());
  return server;
}

async function writeLine(server: ServerProcess, line: string | Uint8Array): Promise<void> {
  await server.write(line);
  await server.write("\n");
}

Deno.test("hostile input", async (test) => {
  await using server = await start();
  let count = server.lines().length;
  for (const [what, line, expected] of ROWS) {
    await test.step(what, async () => {
      await writeLine(server, line);
      const id = JSON.parse(/ id (null|"[^"]*"|-?\d+)/.exec(expected)?.[1] ?? "null") as string | number | null;
      assert.equal(summary(await server.answer(id)), expected);
      assert.deepEqual((await server.request("ping"))["result"], {});
      count += 2;
      assert.equal(server.lines().length, count, "one answer, and the ping's");
    });
  }
  for (const [what, line] of SILENT) {
    await test.step(`${what} is not answered`, async () => {
      await writeLine(server, line);
      assert.deepEqual((await server.request("ping"))["result"], {});
      assert.equal(server.lines().length, ++count);
    });
  }
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  assert.doesNotMatch(server.errors(), /Uncaught|panicked/);
});

/** What is left without an end of line when the input ends. */
const ENDS: readonly (readonly [what: string, rest: string, answer: string])[] = [
  ["a whole message", '{"jsonrpc":"2.0","id":1,"method":"ping"}', "ok id 1"],
  ["a cut message", '{"jsonrpc":"2.0","id":1,"meth', "-32700 syntax $ id null"],
  ["a cut message past the limit", `"${"x".repeat(LIMIT + 10)}`, "-32070 undefined undefined id null"],
];

for (const [what, rest, expected] of ENDS) {
  Deno.test(`the input ends after ${what} without an end of line`, async () => {
    await using server = await start();
    await server.write(rest);
    await server.closeInput();
    assert.equal(await server.ended(), 0);
    assert.equal(server.lines().length, 2);
    assert.equal(summary(JSON.parse(server.lines()[1] ?? "")), expected);
  });
}
