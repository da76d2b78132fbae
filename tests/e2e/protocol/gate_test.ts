/** The protocol over the real tools: `gate serve` with a store on disk. */

import assert from "node:assert/strict";
import { gateArgs } from "../gate_command.ts";
import { envelope, type ServerProcess, startServer, type Wire } from "../client.ts";

const CONFIG = `
[run_state_store]
type = "sqlite"
path = "gate.db"

[schema_registry]
type = "sqlite"
path = "gate.db"
`;

async function withGate(work: (start: () => ServerProcess, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const args = gateArgs("serve", "--config", `${folder}/gate.toml`, "--log-level", "debug");
    await work(() => startServer({ args }), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const request = (server: ServerProcess, method: string, params: Wire = {}): Promise<Wire> =>
  server.request(method, { ...params, _meta: envelope() });

Deno.test("every tool is listed with a title, a description, four hints and closed object schemas", async () => {
  await withGate(async (start) => {
    await using server = start();
    const answer = await request(server, "tools/list");
    const { tools } = answer["result"] as { tools: Record<string, Record<string, unknown> | string>[] };
    assert.ok(tools.length > 0);
    for (const tool of tools) {
      const { name, title, description, annotations, inputSchema, outputSchema } = tool;
      assert.ok(
        typeof title === "string" && title !== "" && typeof description === "string" && description !== "",
        `${name}`,
      );
      assert.deepEqual(Object.keys(annotations ?? {}), [
        "title",
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
      ]);
      const input = inputSchema as Record<string, unknown>;
      const output = outputSchema as Record<string, unknown>;
      assert.deepEqual([input["type"], input["additionalProperties"]], ["object", false], `${name}`);
      assert.deepEqual([output["type"], Array.isArray(output["oneOf"])], ["object", true], `${name}`);
    }
    const again = await request(server, "tools/list");
    assert.deepEqual(again["result"], answer["result"]);
  });
});

Deno.test("a tool refuses bad arguments as a result, and the store is closed at the end", async () => {
  await withGate(async (start) => {
    await using server = start();
    const { result } = await request(server, "tools/call", { name: "schemas_list", arguments: { extra: 1 } });
    const { isError, structuredContent, content } = result as {
      isError: boolean;
      structuredContent: { error: { kind: string } };
      content: { text: string }[];
    };
    assert.deepEqual([isError, structuredContent.error.kind], [true, "invalid_request"]);
    assert.deepEqual(JSON.parse(content[0]?.text ?? ""), structuredContent);
    await server.closeInput();
    assert.equal(await server.ended(), 0);
  });
});
