/** `gate serve` over HTTP: where it refuses to listen, what it says at the start, and what it counts. */

import assert from "node:assert/strict";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { type ServerProcess, startServer } from "../client.ts";
import { until } from "../../until.ts";
import { callText, listening, message, send } from "../http_fixture.ts";
import { gateArgs, inFolder, logText } from "../gate_command.ts";

const BEARER = 'auth = { mode = "bearer_token", bearer_tokens = ["a-token-of-this-test"] }';

function serve(folder: string, flags: readonly string[], env: Record<string, string> = {}): ServerProcess {
  return startServer({
    args: gateArgs("serve", "--config", `${folder}/gate.toml`, ...flags),
    cwd: folder,
    env: { GATE_CONFIG: "", ...env },
  });
}

async function withServer(server: string, body: (folder: string) => Promise<void>, rest = ""): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\n${server}\n${rest}`);
    await body(folder);
  });
}

const UPSTREAM = `${BEARER}\ntls_termination = "upstream"`;
const OPEN = 'transport = "http"\nbind = "0.0.0.0:0"';

/** Settings, flags and environment that do not go together, with what is said. */
const REFUSALS:
  readonly (readonly [server: string, flags: readonly string[], env: Record<string, string>, says: string])[] = [
    [`${OPEN}\n${UPSTREAM}`, [], {}, 'Cannot listen: "0.0.0.0:0" is reachable from other machines'],
    [`${OPEN}\n${UPSTREAM}`, [], { GATE_ALLOW_NON_LOOPBACK: "no" }, 'Cannot listen: "0.0.0.0:0" is reachable'],
    [`${OPEN}\n${UPSTREAM}`, [], { GATE_ALLOW_NON_LOOPBACK: "maybe" }, "Cannot read GATE_ALLOW_NON_LOOPBACK"],
    [`${OPEN}\n${BEARER}`, ["--allow-non-loopback"], {}, "server.tls: is required when server.bind is not a loopback"],
    [OPEN, ["--allow-non-loopback"], {}, "server.bind: must be a loopback address"],
    [
      'transport = "http"\nbind = "127.0.0.1:0"',
      ["--trusted-proxy", "10.0.0.0/33"],
      {},
      'Cannot use --trusted-proxy "10.0.0.0/33"',
    ],
    ['transport = "http"\nbind = "127.0.0.1:0"', ["--allowed-host", "a/b"], {}, 'Cannot use --allowed-host "a/b"'],
    ['transport = "http"\nbind = "127.0.0.1:0"', ["--allowed-origin", "a"], {}, 'Cannot use --allowed-origin "a"'],
  ];

for (const [server, flags, env, says] of REFUSALS) {
  Deno.test(`gate serve ${flags.join(" ")} ${JSON.stringify(env)} refuses: ${says}`, () =>
    withServer(server, async (folder) => {
      await using started = serve(folder, flags, env);
      assert.equal(await started.ended(), 2);
      assert.ok(logText(started.errors()).includes(says), started.errors());
    }));
}

Deno.test("gate serve reports every invalid flag and reason not to listen at once", () =>
  withServer(`${OPEN}\n${UPSTREAM}`, async (folder) => {
    const flags = ["--allowed-host", "a/b", "--allowed-origin", "c", "--trusted-proxy", "d", "--trusted-proxy", "e"];
    await using started = serve(folder, flags);
    assert.equal(await started.ended(), 2);
    assert.deepEqual(logText(started.errors()).trimEnd().split("\n"), [
      "gate error: Cannot serve: 5 problems",
      'gate error: Cannot use --allowed-host "a/b": must be a name, or name:port',
      'gate error: Cannot use --allowed-origin "c": must be scheme://name, or scheme://name:port',
      'gate error: Cannot use --trusted-proxy "d": must be an address, or a network such as 10.0.0.0/8',
      'gate error: Cannot use --trusted-proxy "e": must be an address, or a network such as 10.0.0.0/8',
      'gate error: Cannot listen: "0.0.0.0:0" is reachable from other machines (say so with --allow-non-loopback)',
    ]);
  }));

Deno.test("gate serve reports flags without effect", async () => {
  await withServer('transport = "http"\nbind = "127.0.0.1:0"', async (folder) => {
    await using server = await listening(serve(folder, ["--trusted-proxy", "127.0.0.1"]));
    assert.match(
      logText(server.process.errors()),
      /gate warn: --trusted-proxy has no effect: it needs server\.auth\.mode "mtls"/,
    );
  });
  await withServer('transport = "stdio"', async (folder) => {
    await using server = serve(folder, ["--trusted-proxy", "127.0.0.1", "--allowed-host", "a"]);
    await server.closeInput();
    assert.equal(await server.ended(), 0);
    assert.match(
      logText(server.errors()),
      /gate warn: no effect while server\.transport is "stdio": --trusted-proxy, --allowed-host\n/,
    );
  });
});

Deno.test("gate serve listens beyond the machine with all flags for that, and logs it", () =>
  withServer(`${OPEN}\n${BEARER}\ntls_termination = "upstream"`, async (folder) => {
    await using server = await listening(serve(folder, ["--allow-non-loopback", "--allowed-host", "gate.example.com"]));
    const url = server.url.replace("0.0.0.0", "127.0.0.1");
    const headers = { authorization: "Bearer a-token-of-this-test" };
    assert.equal((await send(url, callText(1, "schemas_list", { namespace_id: 2 }), { headers })).status, 200);
    for (const [host, status] of [["gate.example.com", 200], ["evil.example.com", 403]] as const) {
      assert.equal(
        (await send(url, callText(1, "schemas_list", { namespace_id: 2 }), { headers: { ...headers, host } })).status,
        status,
      );
    }
    for (const says of ["reachable from other machines", "authentication bearer_token; TLS ends upstream"]) {
      assert.ok(server.process.errors().includes(says), server.process.errors());
    }
    assert.ok(!server.process.errors().includes("a-token-of-this-test"));
  }));

Deno.test("gate serve over HTTP survives SIGHUP, with or without files to read again", () =>
  withServer('transport = "http"\nbind = "127.0.0.1:0"', async (folder) => {
    await using server = await listening(serve(folder, []));
    server.process.signal("SIGHUP");
    assert.equal((await send(server.url, callText(1, "schemas_list", { namespace_id: 2 }), {})).status, 200);
    server.process.signal("SIGTERM");
    assert.equal(await server.process.ended(), 0);
    const said = [...server.process.errors().matchAll(/"info","message":"(Listening|Stop[a-z]+)/g)].map((match) =>
      match[1]
    );
    assert.deepEqual(said, ["Listening", "Stopping", "Stopped"]);
  }));

Deno.test("gate serve ends with 8 where its address is in use, names it, and says what to do", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr as Deno.NetAddr;
  await withServer(`transport = "http"\nbind = "127.0.0.1:${port}"`, async (folder) => {
    await using server = serve(folder, []);
    assert.equal(await server.ended(), 8);
    assert.match(
      server.errors(),
      /Cannot listen on \\"127\.0\.0\.1:\d+\\": .*EADDRINUSE.* \(end the process .*, or choose another port\)/,
    );
  });
});

const STORES = `
[run_state_store]
type = "sqlite"
path = "gate.db"

[[providers]]
name = "time"
type = "builtin"
`;

Deno.test("gate serve counts the batches of its store and the queries of its providers", () =>
  withServer('transport = "http"\nbind = "127.0.0.1:0"', async (folder) => {
    await using server = await listening(serve(folder, []));
    const call = (name: string, input: unknown): Promise<unknown> => send(server.url, callText(1, name, input));
    await call("scenario_define", { spec: spec() });
    await call("evidence_query", {
      query: { provider_id: "time", check_id: "now" },
      context: { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } },
    });
    const { text } = await send(server.url, null, { path: "/metrics" });
    const value = (name: string): number =>
      Number(new RegExp(`^${RegExp.escape(name)} (\\S+)$`, "m").exec(text)?.[1] ?? NaN);
    assert.ok(value('gate_store_batches_total{store="run_state_store"}') >= 1, text);
    assert.ok(value('gate_store_batched_operations_total{store="run_state_store"}') >= 1);
    assert.equal(value('gate_store_queue_depth{store="run_state_store"}'), 0);
    assert.equal(value('gate_provider_queries_total{provider="time",outcome="answered"}'), 1, text);
    assert.equal((await send(server.url, null, { path: "/readyz" })).status, 200);
  }, STORES));

/** An object store that accepts connections and never answers. */
function silentStore(): { readonly port: number; readonly asked: () => number } & Disposable {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open: Deno.Conn[] = [];
  (async () => {
    for await (const connection of listener) open.push(connection);
  })();
  return {
    port: listener.addr.port,
    asked: () => open.length,
    [Symbol.dispose]: () => {
      listener.close();
      for (const connection of open) connection.close();
    },
  };
}

Deno.test("calls that wait for an object store leave the server with their callers", async () => {
  using store = silentStore();
  const storage = `[runpack_storage]\ntype = "object_store"\nprovider = "s3"\nbucket = "packs"\nallow_http = true\n` +
    `endpoint = "http://127.0.0.1:${store.port}"\nforce_path_style = true\n`;
  const settings = 'transport = "http"\nbind = "127.0.0.1:0"\nlimits = { max_inflight = 2 }';
  await withServer(settings, async (folder) => {
    await using server = await listening(serve(folder, [], { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" }));
    const call = async (name: string, input: unknown): Promise<Record<string, unknown>> => {
      const { text } = await send(server.url, callText(1, name, input));
      const { result } = JSON.parse(text) as { result: { structuredContent: Record<string, unknown> } };
      return result.structuredContent;
    };
    const { scenario_id, scenario_law_identity } = await call("scenario_define", { spec: spec() });
    const named = { namespace_id: 2, scenario_id, scenario_law_identity };
    const own = { creation_request_id: "1".repeat(32), correlation: { kind: "unset" }, genesis: { kind: "empty" } };
    const { outcome } = await call("scenario_start", { ...named, ...own });
    const { run_key } = (outcome as { result: { run_key: { run_id: string } } }).result;
    const calls = [
      ["runpack_verify", { runpack_identity: "0".repeat(64) }],
      ["runpack_export", { namespace_id: 2, run_id: run_key.run_id }],
    ] as const;
    for (const [name, input] of calls) {
      const before = store.asked();
      const gone = new AbortController();
      const headers = { "content-type": "application/json" };
      const body = callText(1, name, input);
      const left = [1, 2].map(() =>
        fetch(`${server.url}/mcp`, { method: "POST", headers, body, signal: gone.signal }).catch(() => null)
      );
      await until(`${name} asks the store`, () => store.asked() === before + 2);
      assert.equal((await send(server.url, message(2, "ping"))).status, 503);
      gone.abort();
      await Promise.all(left);
      const ping = async (): Promise<boolean> => (await send(server.url, message(3, "ping"))).status === 200;
      await until(`${name} is no longer in work`, ping, 10);
    }
  }, `${STORES}${storage}`);
});
