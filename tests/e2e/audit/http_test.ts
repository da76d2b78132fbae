/** What the audit log says of those who are let in over the network, and of how their requests are named. */

import assert from "node:assert/strict";
import { startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { type HttpServer, listening, send } from "../http_fixture.ts";
import { connectSse } from "../protocol/transports_wire.ts";

const TOKEN = "a-token-of-the-suite";
const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };
const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

interface Line extends Wire {
  readonly kind: string;
  readonly details?: Wire;
}

/** Runs a body with a server over a transport, ends the server, and gives the lines of its log. */
async function linesAfter(
  folder: string,
  transport: "http" | "sse",
  body: (server: HttpServer) => Promise<void>,
): Promise<Line[]> {
  const auth = `auth = { mode = "bearer_token", bearer_tokens = ["${TOKEN}"] }`;
  const config = `[server]\ntransport = "${transport}"\nbind = "127.0.0.1:0"\n${auth}\naudit.path = "audit.jsonl"\n`;
  await Deno.writeTextFile(`${folder}/gate.toml`, config);
  const args = gateArgs("serve", "--config", "gate.toml");
  await using server = await listening(startServer({ args, cwd: folder }));
  await body(server);
  server.process.signal("SIGTERM");
  assert.equal(await server.process.ended(), 0);
  const text = await Deno.readTextFile(`${folder}/audit.jsonl`);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line) as Line);
}

function messageOf(id: number, method: string, params: Wire = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

const LIST = messageOf(3, "tools/call", { name: "scenarios_list", arguments: { namespace_id: 2 } });

Deno.test("an admitted caller has one line, also without a tool call, and one more for the rest of a minute", () =>
  inFolder(async (folder) => {
    const lines = await linesAfter(folder, "http", async ({ url }) => {
      assert.equal((await send(url, null, { path: "/metrics", headers: AUTHORIZATION })).status, 200);
      for (let id = 1; id <= 4; id++) {
        assert.equal((await send(url, messageOf(id, "ping"), { headers: AUTHORIZATION })).status, 200);
      }
      assert.equal((await send(url, messageOf(9, "ping"), {})).status, 401);
    });
    const authentications = lines.filter(({ kind }) => kind === "authentication");
    assert.deepEqual(
      authentications.map(({ outcome, reason, details }) => [outcome, reason, details?.["count"] ?? 1]),
      [
        ["allowed", "authenticated", 1],
        ["refused", "token_missing", 1],
        ["allowed", "authenticated", 4],
      ],
    );
    for (const line of authentications.filter(({ outcome }) => outcome === "allowed")) {
      assert.match(String(line["subject"]), /^token:[0-9a-f]{64}$/);
      assert.deepEqual([line["peer_address"], line.details?.["auth_method"]], ["127.0.0.1", "bearer_token"]);
    }
  }));

for (const transport of ["http", "sse"] as const) {
  Deno.test(`a call over ${transport} is logged with the ids of its request`, () =>
    inFolder(async (folder) => {
      const headers = { ...AUTHORIZATION, "x-correlation-id": "job-7", traceparent: TRACE };
      await using cleanup = new AsyncDisposableStack();
      const lines = await linesAfter(folder, transport, async (server) => {
        if (transport === "http") return void await send(server.url, LIST, { headers });
        const conversation = cleanup.use(await connectSse(server, headers));
        await conversation.askText(LIST, 3);
        await conversation.askText("no JSON", null);
      });
      const asked = lines.filter(({ kind }) => kind === "request");
      assert.deepEqual(asked.map(({ reason }) => reason), transport === "http" ? ["ok"] : ["ok", "parse_error"]);
      for (const { correlation_id, traceparent } of asked) {
        assert.deepEqual([correlation_id, traceparent], ["job-7", TRACE]);
      }
      // Opening the stream and each message are requests of their own.
      const ids = new Set(lines.flatMap((line) => line["server_correlation_id"] ?? []));
      assert.equal(ids.size, transport === "http" ? 1 : 3);
    }));
}
