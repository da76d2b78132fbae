/** The official clients, of both eras, talk to a real process: one suite for all of them. */

import assert from "node:assert/strict";
import { Client as ClientTwo, type VersionNegotiationMode } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportTwo } from "@modelcontextprotocol/client/stdio";
import { SERVER_INFO } from "@/server/protocol/identity.ts";
import { instructionsFor } from "@/server/protocol/offer.ts";
import { ClientOne, StdioOne as TransportOne } from "./first_sdk.ts";
import { fixtureArgs } from "../client.ts";

/** What both generations of the client give. */
interface Peer {
  readonly version: string | undefined;
  readonly instructions: string | undefined;
  readonly info: unknown;
  listTools(): Promise<unknown>;
  callTool(name: string, input: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

interface Generation {
  readonly name: string;
  readonly version: string;
  readonly connect: () => Promise<Peer>;
}

const INFO = { name: "suite", version: "1" };

const COMMAND: { command: string; args: string[]; stderr: "ignore"; cwd: string } = {
  command: Deno.execPath(),
  args: fixtureArgs(),
  stderr: "ignore",
  cwd: new URL("../../..", import.meta.url).pathname,
};

async function connectTwo(mode: VersionNegotiationMode): Promise<Peer> {
  const client = new ClientTwo(INFO, { versionNegotiation: { mode } });
  await client.connect(new TransportTwo(COMMAND));
  return {
    version: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    info: client.getServerVersion(),
    listTools: () => client.listTools(),
    callTool: (name, input, signal) =>
      client.callTool({ name, arguments: input }, signal === undefined ? {} : { signal }),
    close: () => client.close(),
  };
}

async function connectOne(): Promise<Peer> {
  const client = new ClientOne(INFO, { capabilities: { roots: { listChanged: true }, elicitation: {} } });
  const transport = new TransportOne(COMMAND);
  let version: string | undefined;
  Object.assign(transport, { setProtocolVersion: (given: string) => void (version = given) });
  await client.connect(transport);
  return {
    get version() {
      return version;
    },
    instructions: client.getInstructions(),
    info: client.getServerVersion(),
    listTools: () => client.listTools(),
    callTool: (name, input, signal) =>
      client.callTool({ name, arguments: input }, undefined, signal === undefined ? {} : { signal }),
    close: () => client.close(),
  };
}

const GENERATIONS: readonly Generation[] = [
  { name: "1.x", version: "2025-11-25", connect: connectOne },
  { name: "2.x, initialize", version: "2025-11-25", connect: () => connectTwo("legacy") },
  { name: "2.x, probing", version: "2026-07-28", connect: () => connectTwo("auto") },
  { name: "2.x, pinned", version: "2026-07-28", connect: () => connectTwo({ pin: "2026-07-28" }) },
];

interface Result {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: unknown;
  readonly isError?: boolean;
}

const REFUSAL = {
  error: {
    code: "schema_not_found",
    kind: "not_found",
    message: 'Cannot get schema "a": no such version',
    retryable: false,
    details: { schema_id: "a" },
  },
};

async function checkResults(peer: Peer): Promise<void> {
  const input = { a: [1, "é", { b: null }] };
  const echoed = await peer.callTool("echo", input) as Result;
  assert.deepEqual(echoed.structuredContent, { input });
  assert.deepEqual(echoed.content.map((block) => [block.type, JSON.parse(block.text)]), [["text", { input }]]);
  assert.equal(echoed.isError ?? false, false);
  const refused = await peer.callTool("refuse", {}) as Result;
  assert.equal(refused.isError, true);
  assert.deepEqual(refused.structuredContent, REFUSAL);
  assert.deepEqual(JSON.parse(refused.content[0]?.text ?? ""), REFUSAL);
}

interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly annotations: unknown;
  readonly outputSchema: unknown;
}

async function checkListing(peer: Peer): Promise<void> {
  const { tools } = await peer.listTools() as { tools: ListedTool[] };
  assert.deepEqual(tools.map((tool) => tool.name), [
    "echo",
    "echo_text",
    "names",
    "wait",
    "large",
    "memory",
    "refuse",
    "throws",
    "prints",
  ]);
  const [echo] = tools;
  assert.equal(echo?.title, "Fixture echo");
  assert.deepEqual(echo?.annotations, {
    title: "Fixture echo",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  });
  assert.ok(echo?.outputSchema !== undefined);
}

for (const { name, version, connect } of GENERATIONS) {
  Deno.test(`client ${name}`, async () => {
    const peer = await connect();
    try {
      assert.equal(peer.version, version);
      assert.equal(peer.instructions, instructionsFor(() => true));
      assert.deepEqual(peer.info, SERVER_INFO);
      await checkListing(peer);
      await checkResults(peer);
      const many = await Promise.all(Array.from({ length: 100 }, (_, index) => peer.callTool("echo", { index })));
      assert.deepEqual(
        many.map((result) => (result as Result).structuredContent),
        many.map((_, index) => ({ input: { index } })),
      );
      await assert.rejects(peer.callTool("nothing", {}), { code: -32602 });
      await assert.rejects(peer.callTool("throws", {}), { code: -32603, message: /Internal error/ });
      const controller = new AbortController();
      const waiting = peer.callTool("wait", { milliseconds: 60_000 }, controller.signal);
      controller.abort("enough");
      await assert.rejects(waiting);
      await checkResults(peer);
    } finally {
      await peer.close();
    }
  });
}

Deno.test("a client that listens for changes is acknowledged with none, and told that there is an end", async () => {
  const client = new ClientTwo(INFO, { versionNegotiation: { mode: "auto" } });
  await client.connect(new TransportTwo(COMMAND));
  try {
    const subscription = await client.listen({ toolsListChanged: true });
    assert.deepEqual(subscription.honoredFilter, {});
    assert.equal(await subscription.closed, "graceful");
    assert.equal((await client.listTools()).tools.length, 9);
  } finally {
    await client.close();
  }
});
