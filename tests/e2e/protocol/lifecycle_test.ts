/** How a server process lives and ends: signals, end of input, slow readers, its two output streams. */

import assert from "node:assert/strict";
import {
  envelope,
  fixtureArgs,
  initializeParams,
  type ServerProcess,
  startFixture,
  startServer,
  type Wire,
} from "../client.ts";
import { until } from "../../until.ts";

const call = (id: number, name: string, input: Wire = {}): Wire => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: input, _meta: envelope() },
});

const ids = (server: ServerProcess): unknown[] => server.lines().map((line) => (JSON.parse(line) as Wire)["id"]);

Deno.test("2,000 requests in one write are all answered, each once", async () => {
  await using server = startFixture();
  const wanted = Array.from({ length: 2000 }, (_, index) => index);
  await server.write(wanted.map((id) => `${JSON.stringify(call(id, "echo", { id }))}\n`).join(""));
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  const answers = server.lines().map((line) => JSON.parse(line) as { id: number; result?: Wire });
  assert.deepEqual(answers.map((answer) => answer.id).sort((a, b) => a - b), wanted);
  for (const { id, result } of answers) assert.deepEqual(result?.["structuredContent"], { input: { id } });
});

Deno.test("the end of input lets requests finish, then closes the stores", async () => {
  await using server = startFixture();
  await server.send(call(1, "wait", { milliseconds: 300 }));
  await server.send(call(2, "wait", { milliseconds: 10 }));
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  assert.deepEqual(ids(server).sort(), [1, 2]);
  assert.match(server.errors(), /wait done[^]*wait done[^]*stores closed/);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`${signal} lets requests finish, reads no more, exits with 0`, async () => {
    await using server = startFixture();
    await server.send(call(1, "wait", { milliseconds: 500 }));
    await server.send(call(2, "echo"));
    await server.answer(2);
    server.signal(signal);
    assert.deepEqual((await server.answer(1))["result"] !== undefined, true);
    assert.equal(await server.ended(), 0);
    assert.match(server.errors(), /stores closed/);
  });
}

Deno.test("a cancelled request is aborted and not answered", async () => {
  await using server = startFixture();
  await server.request("initialize", initializeParams());
  await server.send({
    jsonrpc: "2.0",
    id: "w",
    method: "tools/call",
    params: { name: "wait", arguments: { milliseconds: 60_000 } },
  });
  await server.request("ping");
  await server.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "w", reason: "enough" },
  });
  await server.logged("wait aborted");
  await server.request("ping");
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  assert.equal(ids(server).includes("w"), false);
});

Deno.test("what tools print goes to standard error", async () => {
  await using server = startFixture();
  const answer = await server.request("tools/call", { name: "prints" });
  assert.deepEqual((answer["result"] as Wire)["structuredContent"], {});
  await server.logged("printed to the console");
  assert.equal(server.lines().length, 1);
});

Deno.test("an unexpected failure shows only its id", async () => {
  await using server = startFixture();
  const { error } = await server.request("tools/call", { name: "throws" }) as {
    error: { message: string; data: Wire };
  };
  assert.equal(error.message, "Internal error");
  assert.doesNotMatch(server.lines().join(), /secret|shadow/);
  await server.logged("secret path /etc/shadow");
  await server.logged(String(error.data["correlation_id"]));
});

for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130]] as const) {
  Deno.test(`a second ${signal} ends the process at once with ${code}`, async () => {
    await using server = startFixture();
    await server.send(call(1, "wait", { milliseconds: 60_000 }));
    await server.send(call(2, "echo"));
    await server.answer(2);
    // Two signals that wait for the process are one to it, so the second one is repeated until it has come.
    const ended = server.ended();
    let isEnded = false;
    ended.finally(() => isEnded = true);
    await until("the process has ended", () => {
      try {
        server.signal(signal);
      } catch {
        // It has ended since.
      }
      return isEnded;
    });
    assert.equal(await ended, code);
  });
}

Deno.test("every message is answered without a package", async () => {
  const empty = await Deno.makeTempDir();
  try {
    const [command = "", ...rest] = fixtureArgs();
    await using server = startServer({
      args: [command, "--cached-only", "--no-lock", ...rest],
      env: { DENO_DIR: empty },
    });
    const codes: unknown[] = [];
    for (const method of ["ping", "tools/list", "tools/call", "resources/list", "no/such"]) {
      const { error } = await server.request(method, { name: "echo" }) as { error?: { code: number } };
      codes.push(error?.code ?? "ok");
    }
    assert.deepEqual(codes, ["ok", "ok", "ok", -32601, -32601]);
    await server.closeInput();
    assert.equal(await server.ended(), 0);
  } finally {
    await Deno.remove(empty, { recursive: true });
  }
});

Deno.test("a process whose tools cannot be loaded logs why and ends with 1", async () => {
  await using server = startFixture({ broken: 'Cannot open store "gate.db": disk I/O error' });
  await server.request("initialize", initializeParams());
  const { error } = await server.request("tools/list") as { error: Wire };
  assert.deepEqual([error["code"], error["message"]], [-32074, 'Cannot open store "gate.db": disk I/O error']);
  assert.equal(await server.ended(), 1);
  assert.match(server.errors(), /Cannot open store \\"gate\.db\\": disk I\/O error/);
});

Deno.test("a process without a client loads its tools all the same", async () => {
  await using server = startFixture({ broken: "Cannot open store" });
  await server.logged("Cannot open store");
  await server.closeInput();
  assert.equal(await server.ended(), 1);
});

/** Starts the fixture with streams that the test does not read unless it says so. */
function startUnread(options: unknown): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: fixtureArgs(options),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function residentBytes(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/status`] }).output();
  return Number(/VmRSS:\s+(\d+) kB/.exec(new TextDecoder().decode(stdout))?.[1]) * 1024;
}

Deno.test("a reader that does not read stops the server from reading, and memory from growing", async () => {
  const child = startUnread({});
  const input = child.stdin.getWriter();
  let written = 0;
  // 1,000 answers of 200 kB each would be 200 MB.
  const pump = (async () => {
    for (; written < 1000; written++) {
      await input.write(
        new TextEncoder().encode(`${JSON.stringify(call(written, "large", { characters: 100_000 }))}\n`),
      );
    }
    await input.close();
  })();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const resident = await residentBytes(child.pid);
  assert.ok(resident < 160 * 1024 * 1024, `${resident} bytes`);
  const errors = new Response(child.stderr).text();
  let answers = 0;
  for await (const chunk of child.stdout) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) answers++;
  }
  await pump;
  assert.deepEqual([answers, (await child.status).code], [1000, 0]);
  await errors;
});

Deno.test("an unread standard error blocks nothing", async () => {
  const child = startUnread({});
  const input = child.stdin.getWriter();
  const lines = Array.from({ length: 3000 }, (_, id) => `${JSON.stringify(call(id, "throws"))}\n`).join("");
  const pump = input.write(new TextEncoder().encode(lines)).then(() => input.close());
  const text = await new Response(child.stdout).text();
  await pump;
  assert.equal(text.trim().split("\n").length, 3000);
  assert.equal((await child.status).code, 0);
  await child.stderr.cancel();
});

Deno.test("a reader that goes away ends the server", async () => {
  const child = startUnread({});
  const input = child.stdin.getWriter();
  await child.stdout.cancel();
  await input.write(new TextEncoder().encode(`${JSON.stringify(call(1, "echo"))}\n`));
  const errors = await new Response(child.stderr).text();
  assert.equal((await child.status).code, 0);
  assert.match(errors, /stores closed/);
  await input.close().catch(() => undefined);
});
