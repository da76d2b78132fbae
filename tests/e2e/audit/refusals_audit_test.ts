/** Messages that are turned away on a connection stand in the audit log, and a flood of them does not fill it. */

import assert from "node:assert/strict";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";
import { connectSse } from "../protocol/transports_wire.ts";

const FLOOD = 500;

/** A configuration that lets few requests in, and short ones. */
function configOf(server: string): string {
  return `[server]\n${server}\nmax_body_bytes = 2000\n[server.audit]\npath = "audit.jsonl"\n` +
    "[server.limits.rate_limit]\nmax_requests = 5\nwindow_ms = 60000\n";
}

interface Line {
  readonly kind: string;
  readonly outcome: string;
  readonly reason: string;
  readonly subject?: string;
  readonly transport?: string;
  readonly server_correlation_id?: string;
  readonly details?: { readonly count?: number };
}

/** The lines about messages that were turned away. */
async function refusalsIn(folder: string): Promise<Line[]> {
  const text = await Deno.readTextFile(`${folder}/audit.jsonl`);
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line) as Line);
  return lines.filter(({ kind, outcome }) => kind === "request" && outcome === "refused");
}

function ping(id: number): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
}

/** What is turned away, in lines: a kind of fault each, and how often it comes. */
const TURNED_AWAY: readonly (readonly [reason: string, line: string, times: number])[] = [
  ["rate_limited", ping(7), FLOOD],
  ["parse_error", "no JSON", FLOOD],
  ["invalid_request", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', FLOOD],
  ["request_too_large", "x".repeat(2001), 1],
];

Deno.test("a rejection on stdio is logged at once, and the rest of a flood in one line", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, configOf('transport = "stdio"'));
    await using server = startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder });
    for (let id = 1; id <= 5; id++) await server.request("ping");
    for (const [, line, times] of TURNED_AWAY) await server.write(`${line}\n`.repeat(times));
    await server.closeInput();
    assert.equal(await server.ended(), 0);
    const answers = server.lines().map((line) => JSON.parse(line) as Wire);
    const kinds = answers.flatMap(({ error }) => error === undefined ? [] : [(error as { data: Wire }).data["kind"]]);
    const lines = await refusalsIn(folder);
    for (const [reason, , times] of TURNED_AWAY) {
      assert.equal(kinds.filter((kind) => kind === reason).length, times, reason);
      const rejections = lines.filter((line) => line.reason === reason);
      const counts = times === 1 ? [undefined] : [undefined, times - 1];
      assert.deepEqual(rejections.map(({ details }) => details?.count), counts, reason);
      for (const { subject, transport } of rejections) assert.deepEqual([subject, transport], ["stdio", "stdio"]);
    }
    const ids = new Set(lines.map((line) => line.server_correlation_id));
    assert.equal(ids.size, lines.length);
  }));

Deno.test("rejections over SSE are logged in the same way", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, configOf('transport = "sse"\nbind = "127.0.0.1:0"'));
    const args = gateArgs("serve", "--config", "gate.toml");
    await using server = await listening(startServer({ args, cwd: folder }));
    const conversation = await connectSse(server);
    for (let times = 0; times < 3; times++) {
      const { error } = await conversation.askText("no JSON", null) as { error?: { code: number } };
      assert.equal(error?.code, -32700);
    }
    server.process.signal("SIGTERM");
    assert.equal(await server.process.ended(), 0);
    const rejections = (await refusalsIn(folder)).filter(({ reason }) => reason === "parse_error");
    assert.deepEqual(rejections.map(({ subject, transport, details }) => [subject, transport, details?.count]), [
      ["loopback", "sse", undefined],
      ["loopback", "sse", 2],
    ]);
    await conversation[Symbol.asyncDispose]();
  }));

Deno.test("a server without an audit log rejects messages too", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, "[server.audit]\nenabled = false\n");
    await using server = startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder });
    await server.write("no JSON\n");
    const { error } = await server.answer(null) as { error?: { code: number } };
    assert.equal(error?.code, -32700);
    await server.closeInput();
    assert.equal(await server.ended(), 0);
    assert.ok(!server.errors().includes("chain_id"));
  }));
