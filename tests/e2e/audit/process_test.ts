import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { AUDITED, call, define, end, ENVELOPE, linesOf, pause, startGate, verified } from "./fixture.ts";
import type { Wire } from "../client.ts";
import { until } from "../../until.ts";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";
import { listening, modernHeaders, send } from "../http_fixture.ts";

Deno.test("gate audit verify reports the first line that breaks the chain, and ends with 6", () =>
  inFolder(async (folder) => {
    const server = startGate(folder, AUDITED);
    await call(server, "scenario_define", define("a"));
    await end(server);
    const path = `${folder}/audit.jsonl`;
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace('"reason":"authorized"', '"reason":"authorised"'));
    const { code, stdout } = await gate(folder, "audit", "verify", "audit.jsonl");
    assert.equal(code, 6);
    assert.match(stdout, /broken \(1 line/);
    assert.match(stdout, /line 2: The line was changed: its hash does not match its content \(hash_mismatch\)/);
    assert.equal((await verified(folder, "audit.jsonl")).code, 6);
    const missing = await gate(folder, "audit", "verify", "nothing.jsonl");
    assert.deepEqual([missing.code, missing.stdout], [2, ""]);
    const below = await gate(folder, "audit", "verify", "audit.jsonl/below");
    const why = "a part of its path is not a folder";
    assert.deepEqual([below.code, below.stderr], [2, `gate: Cannot read "${path}/below": ${why}\n`]);
    await Deno.remove(`${path}.head`);
    await Deno.symlink(`${path}.head`, `${path}.head`);
    const headless = await gate(folder, "audit", "verify", "audit.jsonl");
    assert.deepEqual([headless.code, headless.stderr], [
      2,
      `gate: Cannot read "${path}.head": its links form a loop\n`,
    ]);
  }));

Deno.test("gate serve killed at work leaves a chain that the next one continues", () =>
  inFolder(async (folder) => {
    for (let round = 0; round < 3; round++) {
      await using server = startGate(folder, AUDITED);
      await call(server, "scenario_define", define(`kept-${round}`));
      for (let at = 0; at < 50; at++) {
        const params = { name: "scenario_define", arguments: define(`${round}-${at}`), _meta: ENVELOPE };
        await server.send({ jsonrpc: "2.0", id: at, method: "tools/call", params });
      }
      server.signal("SIGKILL");
      await server.ended();
    }
    assert.equal((await verified(folder, "audit.jsonl")).code, 0);
    const kept = linesOf(`${folder}/audit.jsonl`).filter(({ details }) =>
      String(details?.["scenario_id"]).startsWith("kept-")
    );
    assert.equal(kept.length, 3, "what was answered is in the log");
  }));

Deno.test("gate serve refuses what changes anything while its audit file cannot be written, and still reads", () =>
  inFolder(async (folder) => {
    const logs = `${folder}/logs`;
    Deno.mkdirSync(logs);
    await using server = startGate(folder, '[server.audit]\npath = "logs/audit.jsonl"\n');
    await call(server, "scenario_define", define("a"));
    Deno.removeSync(logs, { recursive: true });
    await pause(50);
    const refused = await call(server, "scenario_define", define("b")) as { error?: Wire };
    assert.deepEqual([refused.error?.["code"], refused.error?.["retryable"]], ["audit_unavailable", true]);
    const listed = await call(server, "scenarios_list", { namespace_id: 2 });
    assert.deepEqual((listed["items"] as Wire[]).map((item) => item["scenario_id"]), ["a"]);
    await server.logged("Cannot write the audit log: calls that change anything are refused");
    Deno.mkdirSync(logs);
    // Lines that were on their way before the folder came back are lost with what they are for.
    let refusals = 0;
    await until("the log is written", async () => {
      const again = await call(server, "scenario_define", define("b")) as { error?: Wire };
      if (again.error !== undefined) refusals++;
      return again.error === undefined;
    });
    await server.logged("The audit log is written again");
    await end(server);
    const lines = linesOf(`${logs}/audit.jsonl`);
    const lost = lines.filter(({ reason }) => reason === "events_lost")
      .reduce((sum, { details }) => sum + Number(details?.["count"]), 0);
    const listing = lines.filter(({ tool }) => tool === "scenarios_list").length;
    // The beginning that was refused, its refusal, and the list, whose line may have found the folder again.
    assert.equal(lost + listing, 3 + 2 * refusals);
    const rest = lines.filter(({ tool, reason }) => tool !== "scenarios_list" && reason !== "events_lost");
    assert.deepEqual(rest.map(({ reason }) => reason), ["chain_continued", "authorized", "ok", "process_stopped"]);
  }));

Deno.test("two gates share one audit file and one chain", () =>
  inFolder(async (folder) => {
    const servers = ["a", "b"].map(() => startGate(folder, AUDITED));
    const calls = 150;
    await Promise.all(servers.map(async (server, index) => {
      for (let at = 0; at < calls; at++) {
        const defined = await call(server, "scenario_define", define(`${index}-${at}`));
        assert.ok(defined["scenario_law_identity"], JSON.stringify(defined));
      }
    }));
    for (const server of servers) assert.equal(await end(server), 0);
    const { code, files } = await verified(folder, "audit.jsonl");
    assert.deepEqual([code, files[0]?.["lines"]], [0, 2 * (2 * calls + 2)]);
  }));

const UNUSABLE: readonly (readonly [what: string, path: string, content: string | null, says: RegExp])[] = [
  ["a folder that is not there", "no/audit.jsonl", null, /Cannot open audit log \\".*audit\.jsonl\\": No such file/],
  [
    "a file of something else",
    "gate.db",
    "SQLite format 3\0",
    /audit log \\"[^"]*gate\.db\\": it is not an audit log.*move it away, or name another/,
  ],
];

for (const [what, path, content, says] of UNUSABLE) {
  Deno.test(`gate serve ends with 8 where server.audit.path names ${what}`, () =>
    inFolder(async (folder) => {
      if (content !== null) Deno.writeTextFileSync(`${folder}/${path}`, content);
      await using server = startGate(folder, `[server.audit]\npath = "${path}"\n`);
      await server.logged('"level":"error"');
      await server.closeInput();
      assert.equal(await server.ended(), 8);
      assert.match(server.errors(), says);
      if (content !== null) assert.equal(Deno.readTextFileSync(`${folder}/${path}`), content);
    }));
}

Deno.test("gate serve answers while its standard error is not read", () =>
  inFolder(async (folder) => {
    const calls = 4000;
    // On a slow machine many calls are in work at once: none is refused, so each is audited under its tool.
    Deno.writeTextFileSync(`${folder}/gate.toml`, `[server.limits]\nmax_inflight = ${calls}\n`);
    const { command, args } = processOf(gateArgs("serve", "--config", "gate.toml"));
    const child = new Deno.Command(command, {
      args: [...args],
      cwd: folder,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    const params = { name: "scenarios_list", arguments: { namespace_id: 2 }, _meta: ENVELOPE };
    const sending = (async () => {
      for (let id = 1; id <= calls; id++) {
        await writer.write(
          new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`),
        );
      }
    })();
    let lines = 0;
    for await (const chunk of child.stdout) {
      for (const byte of chunk) if (byte === 10) lines++;
      if (lines >= calls) break;
    }
    await sending;
    assert.ok(lines >= calls);
    // Read at last, and before the end, which waits for a reader only a second: the drops are counted, and the chain is whole.
    const reading = new Response(child.stderr).text();
    await writer.close();
    const errors = await reading;
    await child.status;
    const audit = errors.split("\n").filter((line) => line.startsWith('{"chain_id"')).map((line) => JSON.parse(line));
    const kept = audit.filter((line) => line.tool === "scenarios_list").length;
    const lost = audit.filter((line) => line.reason === "events_lost")
      .reduce((sum, line) => sum + line.details.count, 0);
    assert.ok(lost > 0, "more was written than a pipe and the queue hold");
    assert.equal(kept + lost, calls);
    audit.forEach((line, index) => assert.equal(line.sequence, index + 1));
  }));

/** Each is put where secrets must never be, or must not be written down. */
const SECRETS = {
  token: "s3cret-token-5f2a",
  wrongToken: "s3cret-guess-77b1",
  payload: "s3cret-payload-91c4",
  evidence: "s3cret-evidence-0d3e",
  argument: "s3cret-argument-6b6f",
  header: "s3cret-header-4e8d",
  ledger: "s3cret-ledger-aa07",
};

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A configuration that requires a token, and an external namespace authority. */
function secretConfig(ledgerPort: number): string {
  return `
[server]
transport = "http"
bind = "127.0.0.1:0"
auth = { mode = "bearer_token", bearer_tokens = ["${SECRETS.token}"] }
audit.path = "audit.jsonl"
[namespace.authority]
mode = "ledger_http"
ledger = { base_url = "http://127.0.0.1:${ledgerPort}", auth_token = "${SECRETS.ledger}" }
`;
}

/** Calls a tool over HTTP with the token; gives the status and the structured content. */
async function askOverHttp(
  url: string,
  name: string,
  input: Wire,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly content: Wire }> {
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta: ENVELOPE } };
  const { status, text } = await send(url, JSON.stringify(body), {
    headers: {
      ...modernHeaders("tools/call", name),
      authorization: `Bearer ${SECRETS.token}`,
      "x-correlation-id": "client-7",
      traceparent: TRACE,
      ...headers,
    },
  });
  const { result } = JSON.parse(text) as { readonly result?: Wire };
  return { status, content: (result?.["structuredContent"] ?? {}) as Wire };
}

/** Puts each secret where it goes. */
async function spread(url: string): Promise<void> {
  const defined = await askOverHttp(url, "scenario_define", define("a"));
  const law = { namespace_id: 2, scenario_id: "a", ...defined.content };
  const { scenario_law_identity } = law as Wire;
  const started = await askOverHttp(url, "scenario_start", {
    namespace_id: 2,
    scenario_id: "a",
    scenario_law_identity,
    creation_request_id: "0".repeat(32),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const { run_key, head } = (started.content["outcome"] as Wire)["result"] as { run_key: Wire; head: Wire };
  const submitted = await askOverHttp(url, "scenario_submit", {
    ...run_key,
    scenario_id: "a",
    expected_head: head,
    operation_id: "1".repeat(32),
    content_type: "application/json",
    payload: { kind: "json", value: SECRETS.payload },
    scope: { kind: "run_wide" },
  });
  assert.equal((submitted.content["outcome"] as Wire)["outcome"], "accepted");
  const value = { value: SECRETS.evidence, value_type: "String" };
  await askOverHttp(url, "scenario_precheck_stage", {
    namespace_id: 2,
    scenario_id: "a",
    scenario_law_identity,
    stage_id: "build",
    caller_evidence: [{ condition_id: "built", retention: { retention: "RetainCanonicalValue" }, value }],
  });
  await askOverHttp(url, "scenario_status", { [SECRETS.argument]: SECRETS.argument, run_id: SECRETS.argument });
  await askOverHttp(url, "scenario_status", {}, { "x-secret": SECRETS.header, cookie: SECRETS.header });
  const guessed = await askOverHttp(url, "scenario_status", {}, { authorization: `Bearer ${SECRETS.wrongToken}` });
  assert.equal(guessed.status, 401);
}

Deno.test("no token, payload, evidence or header value is written to the audit log or standard error", () =>
  inFolder(async (folder) => {
    const ledger = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => new Response("{}"));
    const config = secretConfig(ledger.addr.port);
    await using server = await listening(startGate(folder, config, "--log-level", "debug"));
    await spread(server.url);
    server.process.signal("SIGTERM");
    await server.process.ended();
    await ledger.shutdown();
    const written = Deno.readTextFileSync(`${folder}/audit.jsonl`) + server.process.errors();
    for (const [what, secret] of Object.entries(SECRETS)) assert.ok(!written.includes(secret), `${what} was written`);
    assert.equal((await verified(folder, "audit.jsonl")).code, 0);
    const lines = linesOf(`${folder}/audit.jsonl`);
    const subject = `token:${createHash("sha256").update(SECRETS.token).digest("hex")}`;
    const submitted = lines.filter(({ tool }) => tool === "scenario_submit");
    const origin = {
      subject,
      correlation_id: "client-7",
      traceparent: TRACE,
      transport: "http",
      peer_address: "127.0.0.1",
    };
    const expected = ["mutation begun authorized", "mutation done accepted"];
    assert.deepEqual(submitted.map(({ kind, outcome, reason }) => `${kind} ${outcome} ${reason}`), expected);
    for (const line of submitted) assert.deepEqual({ ...line, ...origin }, line);
    const granted = ["namespace:namespace_open", "namespace:authority_grants_cached"];
    assert.deepEqual(submitted[0]?.details?.["granted_by"], granted);
    const unknown = lines.filter(({ kind, outcome }) => kind === "authentication" && outcome === "refused");
    assert.deepEqual(unknown.map(({ outcome, reason, subject }) => [outcome, reason, subject]), [
      ["refused", "token_unknown", undefined],
    ]);
  }));
