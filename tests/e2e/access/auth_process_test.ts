import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder } from "../gate_command.ts";
import { type Answer, type HttpServer, listening, modernHeaders, send } from "../http_fixture.ts";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function startGate(folder: string, config: string, ...flags: readonly string[]): Promise<HttpServer> {
  await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${config}`);
  const args = gateArgs("serve", "--config", "gate.toml", ...flags);
  return await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "", READER_TOKEN: "reader-token" } }));
}

/** Calls a tool; gives status, challenge, and the code of the JSON-RPC error, of the tool's error, or `called`. */
async function call(
  { url }: HttpServer,
  name: string,
  input: Wire,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly said: string; readonly answer: Answer }> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta: ENVELOPE } };
  const answer = await send(url, JSON.stringify(body), {
    headers: { ...modernHeaders("tools/call", name), ...headers },
  });
  const { error, result } = JSON.parse(answer.text) as { readonly error?: Wire; readonly result?: Wire };
  const refusal = (result?.["structuredContent"] as Wire | undefined)?.["error"] as Wire | undefined;
  assert.equal(result?.["isError"], refusal === undefined ? undefined : true);
  const outcome = error === undefined ? refusal?.["code"] ?? "called" : `${error["code"]} ${error["message"]}`;
  const parts = [answer.status, outcome, answer.headers["www-authenticate"]];
  return { said: parts.filter((part) => part !== undefined).join(", "), answer };
}

function fingerprint(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

const ROLES = `
[server.auth]
mode = "bearer_token"
bearer_tokens = ["sha256:${fingerprint("owner-token")}", "env:READER_TOKEN", "nobody-token"]
allowed_tools = ["scenario_define", "scenarios_list", "scenario_status", "providers_list"]

[[server.auth.principals]]
subject = "token:${fingerprint("owner-token")}"
roles = [{ name = "NamespaceOwner", namespace_id = 2 }]

[[server.auth.principals]]
subject = "token:${fingerprint("reader-token")}"
roles = [{ name = "NamespaceReader", namespace_id = 2 }]
`;

const UNAUTHENTICATED = '401, -32001 Unauthenticated, Bearer realm="gate"';
const UNAUTHORIZED = "403, -32003 Unauthorized";
const NO_ROLE = "200, role_refused";
const NOT_ALLOWED = "200, tool_not_allowed";

const BEARER: readonly (readonly [token: string | null, tool: string, input: Wire, said: string])[] = [
  [null, "scenarios_list", { namespace_id: 2 }, UNAUTHENTICATED],
  ["", "scenarios_list", { namespace_id: 2 }, UNAUTHENTICATED],
  ["owner-toke", "scenarios_list", { namespace_id: 2 }, UNAUTHENTICATED],
  [fingerprint("owner-token"), "scenarios_list", { namespace_id: 2 }, UNAUTHENTICATED],
  ["owner-token", "scenario_define", { spec: spec() }, "200, called"],
  ["owner-token", "scenarios_list", { namespace_id: 3 }, NO_ROLE],
  ["owner-token", "schemas_list", { namespace_id: 2 }, NOT_ALLOWED],
  ["reader-token", "scenarios_list", { namespace_id: 2 }, "200, called"],
  ["reader-token", "providers_list", {}, "200, called"],
  ["reader-token", "scenario_define", { spec: spec({ scenario_id: "other" }) }, NO_ROLE],
  ["nobody-token", "scenarios_list", { namespace_id: 2 }, NO_ROLE],
  ["reader-token", "scenario_define", {}, NO_ROLE],
  ["reader-token", "scenario_status", { namespace_id: 3 }, NO_ROLE],
  ["reader-token", "scenario_status", {}, "200, invalid_input"],
  ["nobody-token", "providers_list", {}, NO_ROLE],
  ["nobody-token", "providers_list", { surprise: true }, NO_ROLE],
];

Deno.test("gate serve admits tokens, with the permissions of their roles", (test) =>
  inFolder(async (folder) => {
    await using server = await startGate(folder, ROLES);
    for (const [token, tool, input, said] of BEARER) {
      await test.step(`${token}: ${tool}: ${said}`, async () => {
        const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
        assert.equal((await call(server, tool, input, headers)).said, said);
      });
    }
    const warned = server.process.errors().match(/bearer_tokens\[\d\] is a token itself/g);
    assert.deepEqual(warned, ["bearer_tokens[2] is a token itself"]);
    assert.ok(!server.process.errors().includes("reader-token"), "the log shows no token");
  }));

Deno.test("a variable of bearer_tokens that is not set ends the start and the checks with 2", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${ROLES}`);
    const fault = /server\.auth\.bearer_tokens\[1\]: refers to variable "READER_TOKEN", which is not set/;
    for (
      const args of [["serve", "--config", "gate.toml"], ["config", "check", "gate.toml"], [
        "doctor",
        "--config",
        "gate.toml",
      ]]
    ) {
      const { code, stdout, stderr } = await gate(folder, ...args);
      assert.equal(code, 2, args[0]);
      assert.match(`${stdout}${stderr}`.replaceAll('\\"', '"'), fault);
    }
    const { stdout } = await gate(folder, "permissions", "--config", "gate.toml");
    assert.match(stdout, /--allow-env=[^ ]*READER_TOKEN/);
  }));

const SCRAPERS = `
[server.auth]
mode = "bearer_token"
bearer_tokens = ["owner-token", "reader-token", "scraper-token"]

[[server.auth.principals]]
subject = "token:${fingerprint("owner-token")}"
roles = [{ name = "NamespaceOwner", namespace_id = 2 }]

[[server.auth.principals]]
subject = "token:${fingerprint("reader-token")}"
roles = [{ name = "NamespaceReader", namespace_id = 3 }]

[[server.auth.principals]]
subject = "token:${fingerprint("scraper-token")}"
roles = [{ name = "NamespaceReader" }]
`;

/** Who scrapes, and the counts of runs that started. */
const SCRAPED: readonly (readonly [token: string, line: string])[] = [
  ["scraper-token", 'gate_runs_started_total{scenario="release"} 1'],
  ["reader-token", "gate_runs_started_total{} 1"],
  ["owner-token", "gate_runs_started_total{} 1"],
];

Deno.test("metrics name scenarios to callers who may read every namespace, and give others sums", (test) =>
  inFolder(async (folder) => {
    await using server = await startGate(folder, SCRAPERS);
    const owner = { authorization: "Bearer owner-token" };
    const law = spec();
    const { answer } = await call(server, "scenario_define", { spec: law }, owner);
    const { scenario_law_identity } = JSON.parse(answer.text).result.structuredContent;
    const start = {
      namespace_id: 2,
      scenario_id: law["scenario_id"],
      scenario_law_identity,
      creation_request_id: "1".repeat(32),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    };
    assert.equal((await call(server, "scenario_start", start, owner)).said, "200, called");
    for (const [token, line] of SCRAPED) {
      await test.step(`${token}: ${line}`, async () => {
        const headers = { authorization: `Bearer ${token}` };
        const { text } = await send(server.url, null, { path: "/metrics", headers });
        assert.deepEqual(text.split("\n").filter((one) => one.startsWith("gate_runs_started_total")), [line]);
        assert.equal(text.includes('"release"'), line.includes("release"));
      });
    }
  }));

const SUBJECT = "CN=client,O=Example Corp";

const MTLS = `
tls_termination = "upstream"
[server.auth]
mode = "mtls"
mtls_subjects = ["${SUBJECT}"]
`;

const PROXIED: readonly (readonly [flags: readonly string[], subject: string | null, said: string])[] = [
  [["--trusted-proxy", "127.0.0.1/32"], SUBJECT, "200, called"],
  [["--trusted-proxy", "127.0.0.1/32"], "CN=other", UNAUTHORIZED],
  [["--trusted-proxy", "127.0.0.1/32"], null, "401, -32001 Unauthenticated"],
  [["--trusted-proxy", "10.0.0.0/8"], SUBJECT, "401, -32001 Unauthenticated"],
];

for (const [flags, subject, said] of PROXIED) {
  Deno.test(`gate serve ${flags.join(" ")}, subject ${subject}: ${said}`, () =>
    inFolder(async (folder) => {
      await using server = await startGate(folder, MTLS, ...flags);
      const headers: Record<string, string> = subject === null ? {} : { "x-gate-client-subject": subject };
      assert.equal((await call(server, "scenarios_list", { namespace_id: 2 }, headers)).said, said);
    }));
}

Deno.test("gate serve in local_only accepts the loopback, but no forwarded request", () =>
  inFolder(async (folder) => {
    await using server = await startGate(folder, "");
    const ask = async (headers: Record<string, string>): Promise<string> =>
      (await call(server, "scenarios_list", { namespace_id: 2 }, headers)).said;
    assert.equal(await ask({}), "200, called");
    for (const name of ["forwarded", "via", "x-forwarded-for", "x-forwarded-host"]) {
      assert.equal(await ask({ [name]: "127.0.0.1" }), "401, -32001 Unauthenticated", name);
    }
  }));

Deno.test("gate serve on stdio applies the roles of stdio", () =>
  inFolder(async (folder) => {
    const roles = '[[server.auth.principals]]\nsubject = "stdio"\nroles = [{ name = "NamespaceReader" }]\n';
    await Deno.writeTextFile(`${folder}/gate.toml`, roles);
    const args = gateArgs("serve", "--config", "gate.toml");
    await using server = startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } });
    const ask = async (name: string, input: Wire): Promise<Wire> =>
      await server.request("tools/call", { name, arguments: input, _meta: ENVELOPE });
    const listed = await ask("scenarios_list", { namespace_id: 2 });
    assert.deepEqual((listed["result"] as Wire)["structuredContent"], { items: [], next_token: null });
    const { isError, content } = (await ask("scenario_define", { spec: spec() }))["result"] as Wire;
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /no role of \\+"stdio\\+" in server\.auth\.principals grants it/);
  }));
