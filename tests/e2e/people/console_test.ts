/** `gate serve --console` without a browser: what is served to whom, and which pages may call. */

import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { until } from "../../until.ts";
import { startServer } from "../client.ts";
import { ADDRESS, type ConsoleProcess, startConsole } from "./console_process.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { evidence } from "../cli/run_command_fixture.ts";
import { type HttpServer, listening, message, modernHeaders, send, type Sending } from "../http_fixture.ts";

const HTTP = `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n`;
const BEARER = 'auth = { mode = "bearer_token", bearer_tokens = ["a-token-of-this-test"] }\n';
const TOKEN = { authorization: "Bearer a-token-of-this-test" };

/** A law that completes with one value of the caller. */
const LAW = `
law: release
evidence:
  ready: boolean
stages:
  release: ready
`;

async function withConsole(
  settings: string,
  flags: readonly string[],
  body: (server: HttpServer, folder: string) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, `${settings}${STORES}`, { mode: 0o600 });
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    const args = gateArgs("serve", "--config", "gate.toml", "--console", ...flags);
    await using server = await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } }));
    await body(server, folder);
  });
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const LIST = message(1, "tools/list", { _meta: META });

/** The answer to one GET with its raw bytes. */
async function get(server: HttpServer, path: string, headers: Record<string, string> = {}): Promise<{
  readonly status: number;
  readonly fields: Headers;
  readonly bytes: Uint8Array;
}> {
  // The client decodes no content coding that it did not ask for itself.
  const { request } = await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof get>>>();
  request(`${server.url}${path}`, { headers, agent: false }, (response) => {
    const chunks: Uint8Array[] = [];
    response.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    response.on("end", () => {
      const fields = new Headers();
      for (const [name, value] of Object.entries(response.headers)) fields.set(name, String(value));
      resolve({ status: response.statusCode ?? 0, fields, bytes: new Uint8Array(chunks.flatMap((one) => [...one])) });
    });
  }).on("error", reject).end();
  return await promise;
}

const pathsOf = (html: string): string[] => [...html.matchAll(/"(\/console\/[^"]+)"/g)].map(([, path]) => path ?? "");

Deno.test("the console's document and files need no credential, data does, and the first view is small", () =>
  withConsole(`${HTTP}${BEARER}`, [], async (server) => {
    const document = await get(server, "/console");
    assert.equal(document.status, 200);
    const html = new TextDecoder().decode(document.bytes);
    const policy = document.fields.get("content-security-policy") ?? "";
    for (
      const directive of [
        "default-src 'none'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ]
    ) {
      assert.ok(policy.includes(directive), directive);
    }
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const fields = [
      ["x-frame-options", "DENY"],
      ["cross-origin-opener-policy", "same-origin"],
      ["cross-origin-resource-policy", "same-origin"],
      ["referrer-policy", "no-referrer"],
      ["x-content-type-options", "nosniff"],
      ["cache-control", "no-store"],
    ] as const;
    for (const [name, value] of fields) assert.equal(document.fields.get(name), value, name);
    const nonce = /script-src 'nonce-([^']{20,})'/.exec(policy)?.[1] ?? "";
    assert.equal(html.split(`nonce="${nonce}"`).length, 3);
    assert.equal((html.match(/<script|<link rel="stylesheet"/g) ?? []).length, 2);
    assert.doesNotMatch(html, /<script[^>]*>[^<]|<style/, "nothing is inline");
    const other = new TextDecoder().decode((await get(server, "/console")).bytes);
    assert.ok(!other.includes(nonce), "a nonce is used once");
    let total = document.bytes.length;
    const paths = pathsOf(html);
    assert.equal(paths.length, 2);
    for (const path of paths) {
      const plain = await get(server, path);
      const gzip = await get(server, path, { "accept-encoding": "gzip" });
      const brotli = await get(server, path, { "accept-encoding": "gzip, br" });
      assert.equal(brotli.fields.get("content-encoding"), "br");
      assert.deepEqual(new Uint8Array(brotliDecompressSync(brotli.bytes)), plain.bytes);
      assert.deepEqual(new Uint8Array(gunzipSync(gzip.bytes)), plain.bytes);
      assert.equal(plain.fields.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(plain.fields.get("cross-origin-resource-policy"), "same-origin");
      const etag = brotli.fields.get("etag") ?? "";
      const again = await get(server, path, { "accept-encoding": "br", "if-none-match": etag });
      assert.deepEqual([again.status, again.bytes.length], [304, 0]);
      total += gzip.bytes.length;
    }
    // The document and its two files: three requests, with gzip, which every browser reads.
    assert.ok(total <= 150_000, `${total} bytes`);
    const rows = [
      [{}, 401],
      [{ authorization: "Bearer another" }, 401],
      [TOKEN, 200],
    ] as const;
    for (const [headers, status] of rows) {
      const answer = await send(server.url, LIST, { headers: { ...modernHeaders("tools/list"), ...headers } });
      assert.equal(answer.status, status);
    }
    assert.equal((await send(server.url, null, { path: "/metrics" })).status, 401);
    const posted = await send(server.url, null, { path: "/console", method: "POST" });
    assert.equal(posted.status, 405);
    assert.equal((await send(server.url, null, { path: "/console/other.js" })).status, 404);
  }));

/** Requests as a browser would send them, and whether they are answered. */
const ATTACKS: readonly (readonly [what: string, sending: Sending, body: string | null, status: number])[] = [
  ["the page's own call", { headers: { host: "gate.test", origin: "https://gate.test" } }, LIST, 200],
  ["the page's own call in capitals", { headers: { host: "gate.test", origin: "HTTPS://GATE.TEST" } }, LIST, 200],
  ["the page's own call, without TLS", { headers: { host: "gate.test", origin: "http://gate.test" } }, LIST, 200],
  ["CSRF from another site", { headers: { host: "gate.test", origin: "https://evil.test" } }, LIST, 403],
  ["CSRF from a sandboxed frame", { headers: { host: "gate.test", origin: "null" } }, LIST, 403],
  [
    "CSRF from another port of the name",
    { headers: { host: "gate.test", origin: "https://gate.test:444" } },
    LIST,
    403,
  ],
  ["CSRF by a form", { headers: { host: "gate.test", "content-type": "text/plain" } }, LIST, 415],
  [
    "CSRF by a preflight",
    { method: "OPTIONS", headers: { host: "gate.test", origin: "https://evil.test" } },
    null,
    403,
  ],
  ["rebinding of a call", { headers: { host: "evil.test", origin: "http://evil.test" } }, LIST, 403],
  ["rebinding of the page", { path: "/console", headers: { host: "evil.test" } }, null, 403],
  ["the page by its name", { path: "/console", headers: { host: "gate.test" } }, null, 200],
  ["the page from another site's script", { path: "/console", headers: { origin: "https://evil.test" } }, null, 403],
];

Deno.test("pages of other sites and rebound names reach neither the console nor its data", () =>
  withConsole(HTTP, ["--allowed-host", "gate.test"], async (server) => {
    for (const [what, sending, body, status] of ATTACKS) {
      const headers = { ...(body === null ? {} : modernHeaders("tools/list")), ...sending.headers };
      const answer = await send(server.url, body, { ...sending, headers });
      assert.equal(answer.status, status, `${what}: ${answer.text}`);
      assert.equal(answer.headers["access-control-allow-origin"], undefined, what);
    }
  }));

Deno.test("one stream announces the records of a run, also those of another process", () =>
  withConsole(HTTP, [], async (server, folder) => {
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", "--json");
    const { run_id } = (JSON.parse(started.stdout) as { result: { run_id: string } }).result;
    const uri = `gate://runs/2/${run_id}`;
    const stopping = new AbortController();
    const listen = (uris: readonly string[]): Promise<Response> =>
      fetch(`${server.url}/mcp`, {
        method: "POST",
        signal: stopping.signal,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...modernHeaders("subscriptions/listen"),
        },
        body: message(7, "subscriptions/listen", { notifications: { resourceSubscriptions: uris }, _meta: META }),
      });
    const foreign = await (await listen(["gate://docs/x", "gate://runs/2/nothing"])).text();
    assert.match(foreign, /"notifications":\{\}.*\n\n.*\n.*"resultType":"complete"/, "nothing to announce: it ends");
    const response = await listen([uri]);
    assert.ok(response.body !== null);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        assert.ok(!done, `the stream ended before ${wanted}: ${text}`);
        text += value;
      }
    };
    await until(`"resourceSubscriptions":["${uri}"]`);
    await Deno.writeTextFile(
      `${folder}/evidence.json`,
      evidence({ ready: true }),
    );
    const done = await gate(folder, "run", "law.yaml", "--run-key", "one", "--evidence", "evidence.json");
    assert.notEqual(done.code, 2, done.stdout + done.stderr);
    await until(`"method":"notifications/resources/updated","params":{"uri":"${uri}"`);
    server.process.signal("SIGTERM");
    await until('"resultType":"complete"');
    stopping.abort();
    assert.equal(await server.process.ended(), 0);
  }));

Deno.test("a caller that may not read a namespace hears nothing of its runs", () =>
  withConsole(
    `${HTTP}auth = { mode = "bearer_token", bearer_tokens = ["a-token-of-this-test"], principals = [` +
      `{ subject = "another", roles = [{ name = "Approver", namespace_id = 2 }] }] }\n`,
    [],
    async (server) => {
      const uri = `gate://runs/2/${"0".repeat(32)}`;
      const answer = await send(
        server.url,
        message(7, "subscriptions/listen", { notifications: { resourceSubscriptions: [uri] }, _meta: META }),
        { headers: { ...modernHeaders("subscriptions/listen"), ...TOKEN } },
      );
      assert.match(answer.text, /"notifications":\{\}/);
    },
  ));

Deno.test("--console needs the HTTP transport, and says so", () =>
  inFolder(async (folder) => {
    for (const settings of ["", '[server]\ntransport = "sse"\nbind = "127.0.0.1:0"\n']) {
      await Deno.writeTextFile(`${folder}/gate.toml`, `${settings}${STORES}`);
      const { code, stderr } = await gate(folder, "serve", "--console");
      assert.equal(code, 2, stderr);
      assert.match(stderr, /Cannot use --console: server\.transport is/);
    }
    await Deno.writeTextFile(`${folder}/gate.toml`, `${HTTP}${STORES}`);
    await using plain = await listening(
      startServer({ args: gateArgs("serve"), cwd: folder, env: { GATE_CONFIG: "" } }),
    );
    assert.equal((await send(plain.url, null, { path: "/console" })).status, 404);
    const own = { ...modernHeaders("tools/list"), host: "localhost", origin: "https://gate.test" };
    assert.equal((await send(plain.url, LIST, { headers: own })).status, 403);
  }));

/** Secrets of sessions, as pages make them. */
const [SESSION, OTHER] = ["s".repeat(43), "o".repeat(43)];

/** Requests to `gate console` in their order, with the bearer token of each; `LINK` stands for the secret of the address. */
const CALLERS: readonly (readonly [what: string, token: string | null, status: number, sending?: Sending])[] = [
  ["the document, which has no data", null, 200, { method: "GET", path: "/console" }],
  ["another user of the machine", null, 401],
  ["another user who reads metrics", null, 401, { method: "GET", path: "/metrics" }],
  ["a guess of the link", `${"x".repeat(43)}.${OTHER}`, 401],
  ["the link without a session", "LINK", 401],
  ["the link with a session that is too short", `LINK.${OTHER.slice(1)}`, 401],
  ["the link with a session that is too long", `LINK.${OTHER}o`, 401],
  ["the link with two sessions", `LINK.${OTHER}.${OTHER}`, 401],
  ["an empty session before there is one", ".", 401],
  ["the link through a proxy", `LINK.${OTHER}`, 401, { headers: { "x-forwarded-for": "192.0.2.1" } }],
  ["the link from a page of another site", `LINK.${OTHER}`, 403, { headers: { origin: "https://evil.test" } }],
  ["the link by a rebound name", `LINK.${OTHER}`, 403, { headers: { host: "evil.test" } }],
  ["the page that opens the link first", `LINK.${SESSION}`, 200],
  ["its session", SESSION, 200],
  ["its session, for metrics", SESSION, 200, { method: "GET", path: "/metrics" }],
  ["the same page, which got no answer before", `LINK.${SESSION}`, 200],
  ["a stolen link", `LINK.${OTHER}`, 401],
  ["a session of its own choice", OTHER, 401],
  ["the link in place of a session", "LINK", 401],
  ["a stolen session through a proxy", SESSION, 401, { headers: { via: "1.1 proxy" } }],
  ["the session in a cookie", null, 401, { headers: { cookie: `gate-console-session=${SESSION}` } }],
  ["the session in the address", null, 401, { path: `/mcp?session=${SESSION}` }],
  ["a stolen session at a rebound name", SESSION, 403, { headers: { host: "evil.test" } }],
  ["the session after all of that", SESSION, 200],
];

Deno.test("gate console answers the browser that opened its link first, and no other user of the machine", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "stdio"\n${STORES}`);
    const wrong = await gate(folder, "console", "--port", "70000");
    assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
    await using served = await startConsole(folder, ["--no-open"]);
    for (const [what, token, status, { method = "POST", ...sending } = {}] of CALLERS) {
      const own = token === null ? {} : { authorization: `Bearer ${token.replace("LINK", served.secret)}` };
      const headers = { ...method === "POST" ? modernHeaders("tools/list") : {}, ...own, ...sending.headers };
      const answer = await send(served.url, method === "POST" ? LIST : null, { ...sending, method, headers });
      assert.equal(answer.status, status, `${what}: ${answer.text}`);
      const isForwarded = "via" in headers || "x-forwarded-for" in headers;
      const challenge = status === 401 && !isForwarded ? 'Bearer realm="gate console"' : undefined;
      assert.equal(answer.headers["www-authenticate"], challenge, what);
    }
    const { process, secret } = served;
    process.signal("SIGTERM");
    assert.equal(await process.ended(), 0);
    assert.equal(process.errors().split("was opened again, and refused").length, 2, process.errors());
    for (const one of [secret, SESSION, OTHER]) assert.ok(!process.errors().includes(one), "no secret in the log");
  }));

Deno.test("gate console names a permission that its configuration needs and that is missing, as gate serve does", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const granted = ["read", "env", "net", "run", "sys"].map((name) => `--allow-${name}`);
    const args = gateArgs("console", "--no-open").flatMap((word) => word === "-P=serve" ? granted : [word]);
    const options = { args, cwd: folder, env: { GATE_CONFIG: "" }, signal: AbortSignal.timeout(60_000) };
    const { code, stderr } = await new Deno.Command(Deno.execPath(), options).output();
    assert.equal(code, 2);
    assert.match(
      new TextDecoder().decode(stderr),
      /^gate: Cannot serve: this process was started without --allow-write=\S*gate\.db/m,
    );
  }));

/** Starts `gate console` with an opener that notes what it opens. */
async function startOpened(folder: string): Promise<ConsoleProcess & { readonly path: string }> {
  await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
  await Deno.mkdir(`${folder}/bin`, { recursive: true });
  const opener = Deno.build.os === "darwin" ? "open" : "xdg-open";
  await Deno.writeTextFile(`${folder}/bin/${opener}`, `#!/bin/sh\necho "$1" > "${folder}/opened"\n`, { mode: 0o755 });
  await Deno.remove(`${folder}/opened`).catch(() => {});
  const served = await startConsole(folder, [], { PATH: `${folder}/bin:${Deno.env.get("PATH")}` });
  const opened = async (): Promise<string> => (await Deno.readTextFile(`${folder}/opened`).catch(() => "")).trim();
  await until("the browser opens", async () => await opened() !== "");
  return { ...served, path: await opened() };
}

Deno.test("gate console hands its address to the browser in a file of its user, and removes the file once it is opened", () =>
  inFolder(async (folder) => {
    await using served = await startOpened(folder);
    const { path } = served;
    assert.ok(!path.includes(served.secret), "every user of the machine can see the arguments of a process");
    const { mode } = await Deno.stat(path);
    assert.equal((mode ?? 0) & 0o777, 0o600);
    assert.ok((await Deno.readTextFile(path)).includes(`content="0;url=${served.address}"`));
    const headers = { ...modernHeaders("tools/list"), authorization: `Bearer ${served.secret}.${SESSION}` };
    assert.equal((await send(served.url, LIST, { headers })).status, 200);
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  }));

Deno.test("gate console removes the file of a killed process, and no file of a running one or of another kind", () =>
  inFolder(async (folder) => {
    const killed = await startOpened(folder);
    killed.process.signal("SIGKILL");
    await killed.process.ended();
    await using running = await startOpened(folder);
    const own = `${folder}/gate-console-notes.html`;
    await Deno.writeTextFile(own, "<!doctype html>\n<title>Notes</title>\n");
    await using last = await startOpened(folder);
    const rows = [["killed", killed.path, false], ["running", running.path, true], ["own", last.path, true], [
      "another file",
      own,
      true,
    ]] as const;
    for (const [what, path, expected] of rows) {
      const isThere = await Deno.stat(path).then(() => true, () => false);
      assert.equal(isThere, expected, what);
    }
    await killed.process[Symbol.asyncDispose]();
  }));

/** What a new user is told on standard error: the configuration, the flags, and what the text has. */
const HINTS: readonly (readonly [what: string, config: string | null, flags: readonly string[], has: string[]])[] = [
  ["no configuration", null, [], ["gate init", "--evidence-keys DIR"]],
  ["a store on disk", STORES, [], ["--evidence-keys DIR"]],
  ["a store on disk and keys of people", STORES, ["--evidence-keys", "keys"], []],
];

Deno.test("gate console says what its page will miss: a store that lasts, and keys of people", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/keys`);
    for (const [what, config, flags, has] of HINTS) {
      if (config !== null) await Deno.writeTextFile(`${folder}/gate.toml`, config);
      await using served = await startConsole(folder, ["--no-open", ...flags]);
      const errors = served.process.errors();
      for (const text of ["gate init", "--evidence-keys DIR"]) {
        assert.equal(errors.includes(text), has.includes(text), `${what}: ${errors}`);
      }
    }
  }));

Deno.test("gate console --json prints its address as one object", () =>
  inFolder(async (folder) => {
    const args = gateArgs("console", "--no-open", "--json");
    await using served = startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } });
    await until("the address", () => served.lines().length > 0);
    const { result, ...rest } = JSON.parse(served.lines()[0] ?? "");
    assert.deepEqual([rest, Object.keys(result)], [{ ok: true, command: "console" }, ["address"]]);
    assert.match(result.address, ADDRESS);
  }));

/** What ends `gate console` whose address no browser opened, and its exit code. */
const ENDS: readonly (readonly [signal: Deno.Signal, code: number])[] = [["SIGTERM", 0], ["SIGINT", 0], [
  "SIGHUP",
  129,
]];

Deno.test("gate console ends with its terminal, and leaves no file with its address", () =>
  inFolder(async (folder) => {
    for (const [signal, code] of ENDS) {
      await using served = await startOpened(folder);
      served.process.signal(signal);
      assert.equal(await served.process.ended(), code, signal);
      await assert.rejects(Deno.stat(served.path), Deno.errors.NotFound, signal);
    }
  }));
