import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JsonObject } from "@/canonical/json.ts";
import { errorResponse } from "@/server/process/edge_error.ts";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { startServer } from "../client.ts";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";
import { applyLists } from "./apply_case.ts";

const CONFIG = '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n';

/** Runs `gate client call` with arguments from a file, with the configuration of the folder. */
async function call(
  folder: string,
  tool: string,
  input: unknown,
): Promise<{ readonly code: number; readonly result: JsonObject }> {
  await Deno.writeTextFile(`${folder}/input.json`, JSON.stringify(input));
  const { code, stdout, stderr } = await gate(folder, "client", "call", tool, "--input", "input.json", "--json");
  assert.equal(stderr, "");
  return { code, result: JSON.parse(stdout).result };
}

/** The result of an accepted call. */
function accepted({ result }: { readonly result: JsonObject }): JsonObject {
  const { outcome, result: given } = result["outcome"] as { outcome: string; result: JsonObject };
  assert.equal(outcome, "accepted");
  return given;
}

Deno.test("gate client drives a run, and its exit codes reflect the answers", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const defined = await call(folder, "scenario_define", { spec: spec() });
    assert.equal(defined.code, 0);
    assert.equal((await call(folder, "scenario_define", { spec: spec() })).code, 2, "it is registered");
    const scenario = { namespace_id: 2, scenario_id: "release" };
    const started = await call(folder, "scenario_start", {
      ...scenario,
      scenario_law_identity: defined.result["scenario_law_identity"],
      creation_request_id: "1".repeat(32),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    });
    const { run_key: { run_id }, head } = accepted(started) as unknown as {
      run_key: { run_id: string };
      head: unknown;
    };
    const run = { ...scenario, run_id };
    const next = { ...run, expected_head: head, request_id: "2".repeat(32) };
    const held = await call(folder, "scenario_next", next);
    assert.equal(held.code, 4, "unknown: no evidence");
    assert.equal((await call(folder, "scenario_next", { ...next, request_id: "3".repeat(32) })).code, 5, "stale");
    const expected_head = accepted(held)["accepted_head"];
    const built = (value: boolean): unknown => ({
      ...run,
      expected_head,
      request_id: "4".repeat(32),
      caller_evidence: [{
        condition_id: "built",
        retention: { retention: "RetainCanonicalValue" },
        value: { value, value_type: "Boolean" },
      }],
    });
    const refused = await call(folder, "scenario_next", built(false));
    assert.equal(refused.code, 3, "false");
    const after = {
      ...built(true) as object,
      expected_head: accepted(refused)["accepted_head"],
      request_id: "5".repeat(32),
    };
    assert.equal((await call(folder, "scenario_next", after)).code, 0, "true");
    assert.equal((await call(folder, "scenarios_list", { namespace_id: 1 })).code, 7, "denied");
    const status = await gate(
      folder,
      "client",
      "call",
      "scenario_status",
      "--arg",
      "namespace_id=2",
      "--arg",
      "scenario_id=release",
      "--arg",
      `run_id=${run_id}`,
    );
    assert.equal(status.code, 0, status.stderr);
    assert.equal(JSON.parse(status.stdout).status, "active");
  }));

Deno.test("gate client apply makes the operations of a file, and its exit code is that of the first refusal", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await applyLists(folder, (...args) => gate(folder, ...args));
  }));

Deno.test("gate client warns that the result of a call is lost, unless it is stored or only read", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/kept.toml`, CONFIG);
    await Deno.writeTextFile(`${folder}/call.json`, JSON.stringify({ spec: spec() }));
    const define = ["scenario_define", "--input", "call.json"];
    const rows: readonly [args: readonly string[], message: RegExp][] = [
      [define, /^gate warn: the result of this call is lost: .*\n$/],
      [[...define, "--config", "kept.toml"], /^$/],
      [["scenarios_list", "--arg", "namespace_id=2"], /^$/],
    ];
    for (const [args, message] of rows) {
      const { code, stderr } = await gate(folder, "client", "call", ...args);
      assert.equal(code, 0, stderr);
      assert.match(stderr, message);
    }
  }));

Deno.test("gate client uses a server that it starts, and one over HTTP", () =>
  inFolder(async (folder) => {
    const { command, args } = processOf(gateArgs("serve", "--log-level", "error"));
    const started = await gate(folder, "client", "list", "--json", "--stdio", "--", command, ...args);
    assert.equal(started.code, 0, started.stderr);
    const { instructions, tools } = JSON.parse(started.stdout).result;
    assert.match(instructions, /scenario_define/);
    await Deno.writeTextFile(`${folder}/http.toml`, '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n');
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", `${folder}/http.toml`), cwd: folder }),
    );
    const listed = await gate(folder, "client", "list", "--json", "--url", server.url);
    assert.equal(listed.code, 0, listed.stderr);
    assert.deepEqual(JSON.parse(listed.stdout).result.tools, tools);
  }));

Deno.test("gate client reports immediately that a call is too large, with exit code 2", () =>
  inFolder(async (folder) => {
    const config = `${folder}/small.toml`;
    await Deno.writeTextFile(config, "[server]\nmax_body_bytes = 2000\n");
    await Deno.writeTextFile(
      `${folder}/http.toml`,
      '[server]\nmax_body_bytes = 2000\ntransport = "http"\nbind = "127.0.0.1:0"\n',
    );
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", `${folder}/http.toml`), cwd: folder }),
    );
    const about = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "a", version: "1" },
    };
    const tooLarge = errorResponse({ kind: "request_too_large", message: "Request too large: whatever it is" }, null);
    // The answer of a server that reads nothing of a line beyond its limit.
    const nameless = `while read -r line; do
      id=$(printf '%s' "$line" | sed 's/.*"id": *\\([0-9"a-z-]*\\).*/\\1/')
      case $line in
        *tools/call*) echo '${tooLarge}' ;;
        *) echo '{"jsonrpc":"2.0","id":'"$id"',"result":${JSON.stringify(about)}}' ;;
      esac
    done`;
    const message = "gate: Request too large: must be at most 2000 bytes (server.max_body_bytes)\n";
    const rows: readonly [server: readonly string[], message: string][] = [
      [["--config", config], message],
      [["--url", server.url], message],
      [["--stdio", "--", "sh", "-c", nameless], "gate: Request too large: whatever it is\n"],
    ];
    for (const [flags, expected] of rows) {
      const words = ["client", "call", "gate_docs_search", "--arg", `query=${"x".repeat(3000)}`];
      assert.deepEqual(await gate(folder, ...words, ...flags), { code: 2, stdout: "", stderr: expected });
    }
  }));

const GUARDED = `
[server]
transport = "http"
bind = "127.0.0.1:0"

[server.auth]
mode = "bearer_token"
bearer_tokens = ["known-token"]
allowed_tools = ["scenarios_list", "providers_list"]

[[server.auth.principals]]
subject = "token:${createHash("sha256").update("known-token").digest("hex")}"
roles = [{ name = "NamespaceReader", namespace_id = 2 }]
`;

Deno.test("gate client reports what a server rejects: the caller, the host, or the call", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/guarded.toml`, GUARDED);
    await Deno.writeTextFile(`${folder}/known`, "known-token\n");
    await Deno.writeTextFile(`${folder}/unknown`, "unknown-token\n");
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "guarded.toml"), cwd: folder }),
    );
    const known = ["--url", server.url, "--token-file", "known"];
    // The answer to a request with another host name; tests have no second name for this machine.
    const answer = errorResponse({ kind: "unauthorized", message: "Host is not allowed" }, null);
    await using other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      await request.text();
      return new Response(answer, { status: 403, headers: { "content-type": "application/json" } });
    });
    const rows: readonly [args: readonly string[], code: number, message: RegExp][] = [
      [["scenarios_list", "--arg", "namespace_id=2", ...known], 0, /"items": \[\]/],
      [["scenarios_list", "--arg", "namespace_id=3", ...known], 7, /"role_refused"[^]* in namespace 3: none of /],
      [["schemas_list", "--arg", "namespace_id=2", ...known], 7, /"tool_not_allowed"[^]*not among the tools /],
      [
        ["providers_list", "--url", server.url, "--token-file", "unknown"],
        7,
        /HTTP 401 \(the server must list the token of /,
      ],
      [["providers_list", "--url", server.url], 7, /HTTP 401 \(pass a bearer token with --token-file/],
      [
        ["providers_list", "--url", `http://127.0.0.1:${other.addr.port}`],
        7,
        /HTTP 403: Host is not allowed \(the server must allow /,
      ],
    ];
    for (const [args, code, message] of rows) {
      const ended = await gate(folder, "client", "call", ...args);
      assert.equal(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
      assert.match(`${ended.stdout}${ended.stderr}`, message);
    }
  }));

Deno.test("gate client reports why it cannot reach a server, with a distinct exit code", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/wrong.toml`, "colour = 1\n");
    await Deno.writeTextFile(`${folder}/list.json`, "[]");
    await Deno.writeTextFile(`${folder}/marked.json`, "\ufeff{}");
    const keyless = '[trust]\ndefault_policy = { require_signature = { keys = ["no.pub"] } }\n';
    await Deno.writeTextFile(`${folder}/keyless.toml`, keyless);
    const wrong = processOf(gateArgs("serve", "--config", "wrong.toml"));
    const wrongCommand = ["--stdio", "--", wrong.command, ...wrong.args];
    const rows: readonly [args: readonly string[], code: number, message: RegExp][] = [
      [["call", "scenarios_list", "--url", "http://127.0.0.1:1/mcp"], 8, /Cannot reach the server/],
      [["call", "scenarios_list", "--stdio", "--", "false"], 8, /Cannot reach the server: it ended with exit code 1\n/],
      [["list", "--stdio", "--", "false", "--json"], 8, /^gate: Cannot reach the server: it ended with exit code 1\n$/],
      [["list", "--json", "--stdio", "--", "false"], 8, /^\{"error":.*it ended with exit code 1"/],
      [["list", "--stdio", "--", "sh", "-c", "kill -9 $$"], 8, /Cannot reach the server: it was ended by SIGKILL\n/],
      [
        ["list", "--timeout", "1000", "--stdio", "--", "cat"],
        8,
        /does not know the first message .* not an MCP server$/m,
      ],
      [["call", "a", "--arg", "n=9007199254740993"], 2, /Cannot read --arg "n=9007199254740993": .*not kept exactly/],
      [["call", "no_tool", "--arg", "n=7e9167e1b1bf2ae66c3a4bfb01f03fe5"], 2, /Unknown tool "no_tool"/],
      [["call", "a", "--arg", "n=7e9167"], 2, /Cannot read --arg "n=7e9167": .*not kept exactly/],
      [["call", "a", "--arg", 'n={"n":1,"n":2}'], 2, /Cannot read --arg/],
      [["call", "a", "--arg", "n=1", "--arg", "n=2"], 2, /"n" is repeated/],
      [["list", "--stdio", "--", "cat", "--no-such-flag"], 8, /ended with exit code 1:\n.*no-such-flag/],
      [
        ["list", "--stdio", "--", "./no-such-program"],
        2,
        /Cannot start ".\/no-such-program": program not found/,
      ],
      [
        ["list", "--timeout", "50", "--stdio", "--", "sleep", "600"],
        8,
        /Cannot reach the server: no answer within 50 ms/,
      ],
      [
        ["list", "--config", "wrong.toml"],
        2,
        /did not start: it ended with exit code 2:\n.*\n.*colour: unknown member\n/,
      ],
      [["list", ...wrongCommand], 2, /did not start: it ended with exit code 2:\n.*\n.*colour: unknown member\n/],
      [
        ["call", "scenario_defin"],
        2,
        /^gate: Unknown tool "scenario_defin"; did you mean "scenario_define"\? \(gate client list/,
      ],
      [["call", "wholly_other"], 2, /^gate: Unknown tool "wholly_other" \(gate client list lists the tools\)\n$/],
      [["call", "scenarios_list", "--url", "ftp://host/"], 2, /expected http:\/\/ or https:\/\//],
      [["call", "scenarios_list", "--url", "http://127.0.0.1:1/mcp", "--config", "a.toml"], 2, /omit --stdio/],
      [["call", "scenarios_list", "--arg", "namespace_id"], 2, /expected NAME=VALUE/],
      [["call", "scenarios_list", "--input", "list.json"], 2, /expected one JSON object/],
      [["call", "scenarios_list", "--input", "none.json"], 2, /Cannot read "none\.json": it does not exist/],
      [["call", "scenarios_list", "--input", "."], 2, /Cannot read "\.": it is a folder\n/],
      [["call", "providers_list", "--input", "marked.json"], 0, /^$/],
      [["call", "scenarios_list", "--token-file", "none"], 2, /--token-file needs --url/],
      [["list", "--url", "http://127.0.0.1:1", "--token-file", "none"], 2, /token file "none": it does not exist\n/],
      [["list", "--timeout", "soon"], 2, /expected milliseconds, from 1 to 999999999/],
      [["list", "extra"], 2, /--stdio COMMAND/],
    ];
    for (const [args, code, message] of rows) {
      const ended = await gate(folder, "client", ...args);
      assert.equal(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
      assert.match(ended.stderr, message);
    }
    const { code, stdout, stderr } = await gate(folder, "client", "list", "--config", "wrong.toml", "--json");
    assert.deepEqual([code, stdout], [2, ""]);
    const { error } = JSON.parse(stderr);
    assert.equal(error.code, "usage");
    assert.match(error.message, /colour: unknown member/);
  }));

/** A server that answers a call as its argument selects, after a line that is not a message, such as a log line. */
const UNREADABLE = String.raw`
const say = (text) => Deno.stdout.writeSync(text instanceof Uint8Array ? text : new TextEncoder().encode(text));
const about = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "a", version: "1" } };
const bytes = (text) => Uint8Array.from(text, (one) => one.charCodeAt(0));
const answers = {
  utf: (id) => say(bytes('{"jsonrpc":"2.0","id":' + id + ',"result":{"a":"\xff"}}\n')),
  blank: (id) => say(bytes(' {"jsonrpc":"2.0","id":' + id + ',"result":{"a":"\xff"}}\n')),
  number: (id) => say('{"jsonrpc":"2.0","id":' + id + ',"result":5,"a":12345678901234567890}\n'),
  shape: (id) => say('{"jsonrpc":"2.0","id":' + id + ',"result":5}\n'),
  long: (id) => {
    say('{"jsonrpc":"2.0","id":' + id + ',"result":"');
    for (let mebibyte = 0; mebibyte < 34; mebibyte++) say("a".repeat(2 ** 20));
  },
};
let text = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (text += chunk).split("\n");
  text = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id === undefined) continue;
    say(Uint8Array.of(0xff, 0x0a));
    say('{"level":"info"}\n');
    if (method === "tools/call") answers[Deno.args[0]](id);
    else say(JSON.stringify({ jsonrpc: "2.0", id, result: method === "initialize" ? about : { tools: [] } }) + "\n");
  }
}
`;

Deno.test("gate client reports immediately that it cannot read an answer, with exit code 8", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/unreadable.js`, UNREADABLE);
    const server = ["--stdio", "--", Deno.execPath(), "run", "--no-prompt", "unreadable.js"];
    for (
      const [kind, message] of [
        ["utf", "is not UTF-8"],
        ["blank", "is not UTF-8"],
        ["long", "has more than 33554432 bytes"],
        ["shape", "is not a JSON-RPC message"],
        ["number", "is not a JSON-RPC message"],
      ] as const
    ) {
      const ended = await gate(folder, "client", "call", "a", "--timeout", "600000", ...server, kind);
      assert.deepEqual(ended, {
        code: 8,
        stdout: "",
        stderr: `gate: Cannot reach the server: its answer ${message}\n`,
      });
    }
  }));

const LAW = `law: release
parameters:
  commit: text(7..40)
evidence:
  tested_commit: caller
  tests_failed: count
  coverage: percent
stages:
  test: tested_commit == commit && tests_failed == 0 && coverage >= 80
  ship: { after: test, when: coverage >= 90 && tests_failed == 0 }
`;

Deno.test("gate client call --set gives evidence and parameters by the names of the law", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/commit.txt`, "4f2a9c1\n");
    const defined = await gate(folder, "scenario", "json", "law.yaml");
    const law = await call(folder, "scenario_define", JSON.parse(defined.stdout));
    const { scenario_law_identity } = law.result;
    const scenario = { namespace_id: 2, scenario_id: "release" };
    const setting = async (tool: string, input: unknown, ...set: readonly string[]): ReturnType<typeof gate> => {
      await Deno.writeTextFile(`${folder}/input.json`, JSON.stringify(input));
      const flags = set.flatMap((one) => ["--set", one]);
      return await gate(folder, "client", "call", tool, "--input", "input.json", ...flags);
    };
    const begin = {
      ...scenario,
      scenario_law_identity,
      creation_request_id: "1".repeat(32),
      correlation: { kind: "unset" },
    };
    const started = await setting("scenario_start", begin, "commit=@commit.txt");
    assert.equal(started.code, 0, started.stderr);
    const { run_key: { run_id }, head } = JSON.parse(started.stdout).outcome.result;
    const step = (expected_head: unknown, digit: string): JsonObject => ({
      ...scenario,
      run_id,
      expected_head,
      request_id: digit.repeat(32),
    } as JsonObject);
    const first = { ...step(head, "2"), stage_id: "test" };
    const held = await setting("scenario_next", first, "tested_commit=4f2a9c1", "tests_failed=2", "coverage=85.5");
    assert.equal(held.code, 3, held.stderr);
    const { accepted_head } = JSON.parse(held.stdout).outcome.result;
    const precheck = { ...scenario, scenario_law_identity, stage_id: "test" };
    const values = ["tested_commit=4f2a9c1", "tests_failed=0", "coverage=80"];
    // The tool, its arguments, --set, the exit code and what it says.
    const rows: readonly (readonly [string, unknown, readonly string[], number, RegExp])[] = [
      ["scenario_next", { ...step(accepted_head, "3"), stage_id: "test" }, values, 0, /"kind": "advance"/],
      // A name that is compared in two ways is given to the condition of the stage alone.
      ["scenario_precheck_stage", { ...precheck, stage_id: "ship" }, ["coverage=89", "tests_failed=0"], 3, /"false"/],
      ["scenario_precheck_stage", precheck, [...values, "commit=4f2a9c1"], 0, /"outcome": "true"/],
      ["scenario_precheck_stage", precheck, [...values, "commit=8d1f2c7"], 3, /"outcome": "false"/],
      ["scenario_precheck_stage", precheck, ["tests_faild=0"], 2, /no such name; did you mean "tests_failed"/],
      ["scenario_precheck_stage", precheck, ["tests_failed=none"], 2, /expected (?:integer|count)/],
      ["scenario_precheck_stage", { ...precheck, stage_id: "shp" }, values, 2, /the law has no stage "shp"/],
      ["scenario_precheck_stage", { ...scenario, stage_id: "test" }, values, 2, /names no law; expected scenario_law_/],
      ["scenario_next", step(accepted_head, "4"), ["commit=4f2a9c1"], 2, /a run has the parameters of its start/],
      ["scenario_start", begin, ["commit=4f2a9c1", "tests_failed=0"], 2, /takes evidence by scenario_next/],
      ["scenario_start", begin, ["commit=4f2"], 2, /--set commit=4f2: expected text\(7\.\.40\)/],
      ["scenario_status", step(head, "5"), values, 2, /Cannot use --set with scenario_status: expected one of/],
      ["scenario_next", { ...step(head, "6"), run_id: "0".repeat(32) }, values, 2, /run/],
    ];
    for (const [tool, input, set, code, text] of rows) {
      const ended = await setting(tool, input, ...set);
      assert.equal(ended.code, code, `${tool} ${set.join(" ")}: ${ended.stdout}${ended.stderr}`);
      assert.match(ended.stdout + ended.stderr, text);
    }
  }));
