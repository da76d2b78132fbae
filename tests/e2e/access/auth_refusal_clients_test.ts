/** Both official clients show a model why its call was refused, over every transport of a real process. */

import assert from "node:assert/strict";
import { Client as ClientTwo, StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTwo } from "@modelcontextprotocol/client/stdio";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { ClientOne, HttpOne, SseOne, StdioOne } from "../protocol/first_sdk.ts";
import { startServer } from "../client.ts";
import { gateArgs, inFolder, processOf } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";

/** A token that has the role of a reader, and the list that leaves `schemas_list` out. */
const TOKEN = "reader-token";

async function fingerprint(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(TOKEN));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function settings(transport: "http" | "sse" | "stdio"): Promise<string> {
  const lists = 'allowed_tools = ["scenario_define", "scenarios_list"]\n';
  const principal = (subject: string): string =>
    `[[server.auth.principals]]\nsubject = "${subject}"\nroles = [{ name = "NamespaceReader", namespace_id = 2 }]\n`;
  const audit = '[server.audit]\npath = "audit.jsonl"\n';
  if (transport === "stdio") return `${audit}[server.auth]\n${lists}${principal("stdio")}`;
  return `[server]\ntransport = "${transport}"\nbind = "127.0.0.1:0"\n${audit}[server.auth]\nmode = "bearer_token"\n` +
    `bearer_tokens = ["${TOKEN}"]\n${lists}${principal(`token:${await fingerprint()}`)}`;
}

/** What the two generations of the client have in common here. */
interface Peer {
  readonly callTool: (request: { name: string; arguments: Record<string, unknown> }) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const INFO = { name: "suite", version: "1" };
const HEADERS = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } };
const command = (cwd: string): { command: string; args: string[]; stderr: "ignore"; cwd: string } => {
  const { command, args } = processOf(gateArgs("serve", "--config", "gate.toml"));
  return { command, args: [...args], stderr: "ignore", cwd };
};

async function one(transport: Parameters<ClientOne["connect"]>[0]): Promise<Peer> {
  const client = new ClientOne(INFO);
  await client.connect(transport);
  return client;
}

async function two(transport: Parameters<ClientTwo["connect"]>[0], mode: "legacy" | "auto"): Promise<Peer> {
  const client = new ClientTwo(INFO, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

/** Client, transport, and how the client connects to an address, or over standard input and output in a folder. */
const CLIENTS: readonly (readonly [
  client: string,
  transport: "http" | "sse" | "stdio",
  connect: (where: string) => Promise<Peer>,
])[] = [
  ["1.x", "http", (url) => one(new HttpOne(new URL(url), HEADERS) as Parameters<ClientOne["connect"]>[0])],
  ["2.x, initialize", "http", (url) => two(new HttpTwo(new URL(url), HEADERS), "legacy")],
  ["2.x, probing", "http", (url) => two(new HttpTwo(new URL(url), HEADERS), "auto")],
  ["1.x", "sse", (url) => one(new SseOne(new URL(url), HEADERS))],
  ["1.x", "stdio", (folder) => one(new StdioOne(command(folder)))],
  ["2.x, probing", "stdio", (folder) => two(new StdioTwo(command(folder)), "auto")],
];

/** A call, its code, and what its text says to a remote caller and to a local one. */
const REFUSED = [
  [
    { name: "scenario_define", arguments: { spec: spec() } },
    "role_refused",
    "Cannot use scenario_define in namespace 2: none of the caller's roles grants it",
    'Cannot use scenario_define in namespace 2: no role of "stdio" in server.auth.principals grants it',
  ],
  [
    { name: "schemas_list", arguments: { namespace_id: 2 } },
    "tool_not_allowed",
    'Cannot call "schemas_list": it is not among the tools that callers may use',
    'Cannot call "schemas_list": server.auth.allowed_tools does not list it',
  ],
] as const;

async function checkRefusals(peer: Peer, isLocal: boolean): Promise<void> {
  for (const [request, code, remote, local] of REFUSED) {
    const { isError, content } = await peer.callTool(request) as {
      readonly isError?: boolean;
      readonly content: readonly [{ readonly text: string }];
    };
    assert.equal(isError, true);
    const { error } = JSON.parse(content[0].text) as { error: Record<string, unknown> };
    assert.deepEqual([error["code"], error["message"]], [code, isLocal ? local : remote]);
  }
  const { isError } = await peer.callTool({ name: "scenarios_list", arguments: { namespace_id: 2 } }) as {
    readonly isError?: boolean;
  };
  assert.equal(isError ?? false, false, "what the role grants is answered");
}

/** The audit log has both rejections, without the arguments. */
async function checkAudit(folder: string): Promise<void> {
  const lines = (await Deno.readTextFile(`${folder}/audit.jsonl`)).trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
  const refused = lines.filter(({ outcome, tool }) => outcome === "refused" && typeof tool === "string");
  assert.deepEqual(refused.map(({ kind, reason, tool, details }) => [kind, reason, tool, details.error_code]), [
    ["authorization", "no_role_grants", "scenario_define", "role_refused"],
    ["authorization", "tool_not_allowed", "schemas_list", "tool_not_allowed"],
  ]);
  assert.ok(refused.every(({ details }) => details.scenario_id === undefined), "arguments that were not read");
}

/** The metrics count both refusals by tool. */
async function checkMetrics(url: string): Promise<void> {
  const text = await (await fetch(`${url}/metrics`, HEADERS.requestInit)).text();
  for (const [{ name }] of REFUSED) {
    assert.ok(text.includes(`gate_tool_calls_total{tool="${name}",outcome="unauthorized"} 1\n`), text);
  }
}

for (const [client, transport, connect] of CLIENTS) {
  Deno.test(`the official client ${client} shows over ${transport} why a call was refused`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, await settings(transport));
      if (transport === "stdio") {
        const peer = await connect(folder);
        await checkRefusals(peer, true);
        await peer.close();
        return await checkAudit(folder);
      }
      const args = gateArgs("serve", "--config", "gate.toml");
      await using server = await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } }));
      const peer = await connect(`${server.url}/${transport === "sse" ? "sse" : "mcp"}`);
      await checkRefusals(peer, false);
      await peer.close();
      await checkMetrics(server.url);
      await checkAudit(folder);
    }));
}
