import assert from "node:assert/strict";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportTwo } from "@modelcontextprotocol/client/stdio";
import { ClientOne, countTokens, StdioOne as TransportOne } from "./first_sdk.ts";
import { envelope, initializeParams, startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder, processOf } from "../gate_command.ts";

/** What a whole `tools/list` may take: bytes of its result, and tokens of what a model reads of it. */
const BYTES_MAXIMUM = 40_000;
const TOKENS_MAXIMUM = 5_500;

const ARGS = gateArgs("serve", "--log-level", "error");

const ERAS: readonly (readonly [era: string, params: Wire])[] = [
  ["2025-11-25", {}],
  ["2026-07-28", { _meta: envelope() }],
];

for (const [era, params] of ERAS) {
  Deno.test(`gate serve lists its tools in at most ${BYTES_MAXIMUM} bytes and ${TOKENS_MAXIMUM} tokens, ${era}`, () =>
    inFolder(async (folder) => {
      await using server = startServer({ args: ARGS, cwd: folder });
      if (era !== "2026-07-28") await server.request("initialize", initializeParams(era));
      await server.request("tools/list", params);
      const line = server.lines().at(-1) ?? "";
      const { result } = JSON.parse(line) as { result: { tools: readonly Wire[] } };
      const bytes = new TextEncoder().encode(JSON.stringify(result)).length;
      assert.ok(line.includes(JSON.stringify(result)), "the result is written without white space");
      assert.ok(result.tools.length >= 24 && bytes <= BYTES_MAXIMUM, `${result.tools.length} tools, ${bytes} bytes`);
      const read = result.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      const tokens = countTokens(JSON.stringify(read));
      assert.ok(tokens <= TOKENS_MAXIMUM, `${tokens} tokens`);
    }));
}

interface Peer {
  readonly listTools: () => Promise<{ readonly tools: readonly { readonly outputSchema?: unknown }[] }>;
  readonly callTool: (params: { name: string; arguments: Record<string, unknown> }) => Promise<object>;
  readonly readResource: (params: { uri: string }) => Promise<{ readonly contents: readonly object[] }>;
  readonly close: () => Promise<void>;
}

type Connect = (parameters: { command: string; args: string[]; cwd: string; stderr: "ignore" }) => Promise<Peer>;

const INFO = { name: "suite", version: "1" };

const CLIENTS: Readonly<Record<string, Connect>> = {
  "client 2.x": async (parameters) => {
    const client = new ClientTwo(INFO, { versionNegotiation: { mode: "auto" } });
    await client.connect(new TransportTwo(parameters));
    return client as Peer;
  },
  "client 1.x": async (parameters) => {
    const client = new ClientOne(INFO);
    await client.connect(new TransportOne(parameters));
    return client as Peer;
  },
};

/** Tool, arguments, and what the answer is: both kinds meet the listed schema, which client 1.x checks. */
const CALLS: readonly (readonly [name: string, input: Record<string, unknown>, answer: "error" | "result"])[] = [
  ["providers_list", {}, "result"],
  ["scenarios_list", { namespace_id: 2 }, "result"],
  ["scenarios_list", { namespace_id: 2, limit: 0 }, "error"],
  ["runs_list", { namespace_id: 2 }, "result"],
  ["scenarios_get", { namespace_id: 2, scenario_law_identity: "0".repeat(64) }, "error"],
  ["scenario_define", { spec: {} }, "error"],
  ["runpack_export", { namespace_id: 2, run_id: "0".repeat(32) }, "result"],
];

for (const [name, connect] of Object.entries(CLIENTS)) {
  Deno.test(`${name} lists the tools, takes results and errors, and reads the whole schemas`, () =>
    inFolder(async (folder) => {
      const { command, args } = processOf(ARGS);
      const peer = await connect({ command, args: [...args], cwd: folder, stderr: "ignore" });
      try {
        const { tools } = await peer.listTools();
        assert.ok(tools.length >= 24 && tools.every(({ outputSchema }) => outputSchema !== undefined));
        for (const [tool, input, expected] of CALLS) {
          const { isError } = await peer.callTool({ name: tool, arguments: input }) as { isError?: boolean };
          assert.equal(isError === true ? "error" : "result", expected, tool);
        }
        const { contents } = await peer.readResource({ uri: "gate://schemas/scenario_submit" });
        const [whole] = contents as readonly { readonly text: string }[];
        assert.match(whole?.text ?? "", /"stage_open_mismatch"/);
      } finally {
        await peer.close();
      }
    }));
}
