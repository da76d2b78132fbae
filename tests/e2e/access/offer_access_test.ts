/** Documents, prompts and completions are read under the same roles as the tool that searches them, and are audited. */

import assert from "node:assert/strict";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { listening, send } from "../http_fixture.ts";
import { type Open, openHttp, openSse, openStdio } from "../protocol/transports_wire.ts";

const TRANSPORTS: readonly (readonly [name: string, open: Open])[] = [
  ["stdio", openStdio],
  ["http", openHttp()],
  ["sse", openSse],
];

/** A configuration in which a local caller has a role, or none. */
function settings(role: string | null): string {
  const roles = role === null ? "" : `{ name = "${role}", namespace_id = 2 }`;
  const subjects = ["stdio", "loopback"];
  return `[server.audit]\npath = "audit.jsonl"\n` +
    subjects.map((subject) => `[[server.auth.principals]]\nsubject = "${subject}"\nroles = [${roles}]\n`).join("");
}

/** What is asked, and what names it in the audit log. */
const READS: readonly (readonly [method: string, params: Wire, names: Wire])[] = [
  ["resources/list", {}, {}],
  ["resources/templates/list", {}, {}],
  ["resources/read", { uri: "gate://docs/security" }, { uri: "gate://docs/security" }],
  ["prompts/list", {}, {}],
  ["prompts/get", { name: "audit_runpack", arguments: { runpack_identity: "0".repeat(64) } }, {
    prompt: "audit_runpack",
  }],
  [
    "completion/complete",
    { ref: { type: "ref/resource", uri: "gate://docs/tools/{page}" }, argument: { name: "page", value: "s" } },
    { uri: "gate://docs/tools/{page}" },
  ],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "author_scenario" }, argument: { name: "kind", value: "r" } },
    { prompt: "author_scenario" },
  ],
];

/** What is asked for that is not there. */
const MISSES: readonly (readonly [method: string, params: Wire, names: Wire])[] = [
  ["resources/list", { cursor: "x" }, {}],
  ["resources/read", { uri: "gate://docs/no" }, { uri: "gate://docs/no" }],
  ["prompts/get", { name: "no" }, { prompt: "no" }],
];

interface Line extends Wire {
  readonly kind: string;
  readonly outcome: string;
  readonly reason: string;
  readonly details?: Wire;
}

/** Asks everything over a transport; gives the answers, and the lines that it left in the audit log. */
async function asked(open: Open, role: string | null): Promise<{ answers: Wire[]; lines: Line[] }> {
  const answers: Wire[] = [];
  let lines: Line[] = [];
  await inFolder(async (folder) => {
    await using conversation = await open(folder, settings(role));
    for (const [method, params] of [...READS, ...MISSES]) {
      const { id: _, ...answer } = await conversation.ask(method, params);
      answers.push(answer);
    }
    // Nobody waits for the line of what only reads.
    while (lines.length < answers.length) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      lines = await linesOf(`${folder}/audit.jsonl`);
    }
  });
  return { answers, lines };
}

/** The lines about what was asked: not those of the process, nor of who was let in over a connection. */
async function linesOf(path: string): Promise<Line[]> {
  const whole = (await Deno.readTextFile(path)).split("\n").slice(0, -1);
  const lines = whole.map((line) => JSON.parse(line) as Line);
  return lines.filter(({ kind }) => kind !== "process" && kind !== "authentication");
}

for (const [name, open] of TRANSPORTS) {
  Deno.test(`a caller with a role reads documents and prompts over ${name}, and each read is audited`, async () => {
    const { answers, lines } = await asked(open, "NamespaceReader");
    const subject = name === "stdio" ? "stdio" : "loopback";
    const granted = { auth_method: "local", granted_by: ["role:NamespaceReader"] };
    const expected = [
      ...READS.map(([tool, , names]) => ["request", "done", "ok", tool, { ...granted, ...names }]),
      ...MISSES.map(([tool, , names]) => {
        const details = { ...granted, ...names, error_code: "invalid_params" };
        return ["request", "refused", "invalid_params", tool, details];
      }),
    ];
    assert.deepEqual(lines.map((line) => [line.kind, line.outcome, line.reason, line["tool"], line.details]), expected);
    for (const line of lines) assert.deepEqual([line["subject"], line["transport"]], [subject, name]);
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer["error"] === undefined, index < READS.length, JSON.stringify(answer));
    }
  });

  Deno.test(`a caller without a role reads nothing over ${name}, and learns nothing of what there is`, async () => {
    const { answers, lines } = await asked(open, null);
    for (const [index, [tool]] of [...READS, ...MISSES].entries()) {
      const { code, message } = answers[index]?.["error"] as { code: number; message: string };
      assert.equal(code, -32003, tool);
      const subject = name === "stdio" ? "stdio" : "loopback";
      assert.equal(message, `Cannot use ${tool}: no role of "${subject}" in server.auth.principals grants it`);
      const { kind, outcome, reason, details } = lines[index] ?? assert.fail(`${tool} left no line`);
      assert.deepEqual([kind, outcome, reason], ["authorization", "refused", "no_role_grants"]);
      assert.deepEqual(details, { auth_method: "local", error_code: "unauthorized" });
    }
    assert.equal(lines.length, READS.length + MISSES.length);
  });
}

Deno.test("a remote caller without a role reads in the answer that it lacks one, and nothing of what there is", () =>
  inFolder(async (folder) => {
    const token = "a-token";
    const auth = `auth = { mode = "bearer_token", bearer_tokens = ["${token}"], ` +
      `principals = [{ subject = "nobody", roles = [] }] }\n`;
    await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${auth}`);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }),
    );
    const denials = await Promise.all([...READS, ...MISSES].map(async ([method, params]) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { status, text } = await send(server.url, body, { headers: { authorization: `Bearer ${token}` } });
      return `${status} ${text.replace(method, "METHOD")}`;
    }));
    const data = '{"kind":"unauthorized","retryable":false,"request_id":1}';
    const message = "Cannot use METHOD: none of the caller's roles grants it";
    const denial = `200 {"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"${message}","data":${data}}}`;
    for (const said of denials) assert.equal(said, denial);
  }));
