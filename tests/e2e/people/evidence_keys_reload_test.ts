/** A server that runs on while keys of people are added and removed. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { startServer, type Wire } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, listening, send } from "../http_fixture.ts";
import { waitingLaw } from "./waiting_law.ts";

Deno.test("a key that is added or removed counts from the next start of a run, without a restart of the server", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(
      join(folder, "http.toml"),
      `${STORES}[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n`,
    );
    await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw(1));
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "http.toml"), cwd: folder }),
    );
    const remote = (...words: readonly string[]): Promise<Ended> => gate(folder, ...words, "--server", server.url);
    const approve = (run: string, ...flags: readonly string[]): Promise<Ended> =>
      remote("approve", run, "--key", "alice.key", "--yes", ...flags);
    const start = async (key: string): Promise<string> => {
      const { code, stdout, stderr } = await remote("run", "law.yaml", "--run-key", key, "--json");
      assert.equal(code, 4, stderr);
      return JSON.parse(stdout).result.run_id;
    };

    const before = await start("before");
    assert.equal((await gate(folder, "key", "create", "alice.key")).code, 0);
    assert.equal((await gate(folder, "key", "trust", "alice.key.pub", "--name", "alice")).code, 0);
    for (const ended of [await remote("waiting"), await approve(before)]) {
      assert.deepEqual([ended.code, /no key that may sign/.test(ended.stderr)], [3, true], "no run has started since");
    }

    const added = await start("added");
    assert.match((await approve(added)).stdout, /Stage release: complete/);
    const pack = ["--namespace", "2", "--run", added, "--archive", "added.runpack"];
    assert.equal((await gate(folder, "runpack", "export", ...pack)).code, 0);
    assert.equal((await gate(folder, "runpack", "verify", "added.runpack")).code, 0, "its records name their own keys");
    assert.match(
      (await remote("waiting")).stdout,
      new RegExp(`${before.slice(0, 8)}.* 0 of 1 +alice`),
      "a run goes by now",
    );

    const file = join(folder, "evidence-keys", "alice.pub");
    const key = await Deno.readFile(file);
    await Deno.writeTextFile(file, "half a key");
    const unread = await remote("run", "law.yaml", "--run-key", "unread");
    assert.equal(unread.code, 8, unread.stdout);
    assert.match(unread.stderr, /Cannot start run: the keys of people cannot be read; gate config check says why\n$/);
    await Deno.remove(file);
    const removed = await start("removed");
    for (const run of [removed, before]) {
      const refused = await approve(run);
      assert.deepEqual([refused.code, /no key that may sign/.test(refused.stderr)], [3, true], "the key is gone");
    }

    await Deno.writeFile(file, key);
    await start("back");
    assert.match((await approve(removed)).stdout, /Stage release: complete/);

    // A list records the keys that its start has read, which no run had before.
    await gate(folder, "key", "create", "bob.key");
    assert.equal((await gate(folder, "key", "trust", "bob.key.pub", "--name", "bob")).code, 0);
    const listed = await startInList(server.url);
    assert.equal(JSON.stringify(listed).match(/"outcome":"accepted"/g)?.length, 2, JSON.stringify(listed));
    const { code, stdout } = await gate(folder, "store", "check");
    assert.equal(code, 0, stdout);
  }));

/** Starts a run and opens its stage by one list. */
async function startInList(url: string): Promise<Wire> {
  const law = JSON.parse(waitingLaw(1, { scenario: "listed" })) as Wire;
  const { scenario_law_identity } = await call(url, "scenario_define", { spec: law });
  const started = { scenario_id: law["scenario_id"], scenario_law_identity };
  return await call(url, "scenario_apply", {
    operations: [{
      tool: "scenario_start",
      arguments: {
        ...{ namespace_id: 2, ...started, creation_request_id: "1".repeat(32) },
        ...{ correlation: { kind: "unset" }, genesis: { kind: "empty" } },
      },
    }, {
      tool: "scenario_open_stage",
      arguments: {
        ...{ namespace_id: 2, scenario_id: law["scenario_id"], run_id: { operation: 0 } },
        ...{ expected_head: { operation: 0 }, operation_id: "2".repeat(32), stage_id: "release" },
      },
    }],
  });
}

async function call(url: string, name: string, input: unknown): Promise<Wire> {
  const { text } = await send(`${url}/mcp`, callText(1, name, input));
  return (JSON.parse(text) as { result: { structuredContent: Wire } }).result.structuredContent;
}
