/** The run view as clients find it: which tools name it, to whom, and what is read. */

import assert from "node:assert/strict";
import { envelope, initializeParams, startServer, type Wire } from "../client.ts";
import { gateArgs, inFolder } from "../gate_command.ts";
import { listening, message, send } from "../http_fixture.ts";
import { declaring } from "./waiting_world.ts";

const ARGS = gateArgs("serve", "--log-level", "error");
const TYPE = "text/html;profile=mcp-app";

function shows(settings: Wire): Wire {
  return { extensions: { "io.modelcontextprotocol/ui": settings } };
}

/** What a client declares, and whether the list names the view. */
const CLIENTS: readonly (readonly [capabilities: Wire, isListed: boolean])[] = [
  [shows({ mimeTypes: [TYPE] }), true],
  [shows({ mimeTypes: ["text/html", TYPE] }), true],
  [shows({}), true],
  [shows({ mimeTypes: ["text/html"] }), false],
  [shows({ mimeTypes: [] }), false],
  [{ extensions: {} }, false],
  [{}, false],
];

interface Listed {
  readonly tools: readonly { readonly name: string; readonly _meta?: unknown }[];
}

/** The tools that name the view. */
function named(result: unknown): readonly string[] {
  const { tools } = result as Listed;
  const view = { ui: { resourceUri: "ui://gate/run" } };
  return tools.filter(({ _meta }) => {
    if (_meta === undefined) return false;
    assert.deepEqual(_meta, view);
    return true;
  }).map(({ name }) => name);
}

const VIEWED = ["runs_list", "scenario_status", "scenario_next"];
const BYTES_MAXIMUM = 40_000;

function bytesOf(result: unknown): number {
  return new TextEncoder().encode(JSON.stringify(result)).length;
}

Deno.test("tools/list names the view to clients that show apps, within its size", () =>
  inFolder(async (folder) => {
    await using modern = startServer({ args: ARGS, cwd: folder });
    for (const [capabilities, isListed] of CLIENTS) {
      const { result } = await modern.request("tools/list", { _meta: declaring(capabilities) });
      assert.deepEqual(named(result), isListed ? VIEWED : [], JSON.stringify(capabilities));
      assert.ok(isListed || bytesOf(result) <= BYTES_MAXIMUM);
    }
    for (const [capabilities, isListed] of CLIENTS.slice(0, 1).concat(CLIENTS.slice(-1))) {
      await using older = startServer({ args: ARGS, cwd: folder });
      await older.request("initialize", { ...initializeParams(), capabilities });
      const { result } = await older.request("tools/list", {});
      assert.deepEqual(named(result), isListed ? VIEWED : []);
      assert.ok(bytesOf(result) <= BYTES_MAXIMUM);
    }
  }));

Deno.test("a client of the older era over HTTP finds the view in any case: it declares elsewhere what it shows", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n');
    const args = gateArgs("serve", "--config", "gate.toml");
    await using server = await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } }));
    const { text } = await send(`${server.url}/mcp`, message(1, "tools/list", {}));
    const { result } = JSON.parse(text) as { result: unknown };
    assert.deepEqual(named(result), VIEWED);
    assert.ok(bytesOf(result) <= BYTES_MAXIMUM);
  }));

Deno.test("the view is one document whose policy lets it load and send nothing", () =>
  inFolder(async (folder) => {
    await using server = startServer({ args: ARGS, cwd: folder });
    const params = { uri: "ui://gate/run", _meta: envelope() };
    const { result } = await server.request("resources/read", params) as { result: { contents: readonly Wire[] } };
    const [content] = result.contents;
    assert.deepEqual([content?.["uri"], content?.["mimeType"]], ["ui://gate/run", TYPE]);
    assert.deepEqual(content?.["_meta"], { ui: { csp: {}, prefersBorder: true } });
    const text = String(content?.["text"]);
    const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text) ?? [];
    assert.match(policy, /^default-src (&#39;|')none/);
    assert.ok(
      !policy.includes("unsafe") && !/<link|<img|<iframe| src=|@import|url\(http/.test(text.split("<script>")[0] ?? ""),
    );
    const { error } = await server.request("resources/read", { uri: "ui://gate/other", _meta: envelope() }) as {
      error: { code: number };
    };
    assert.equal(error.code, -32602);
  }));
