/** Files of a store that are removed, renamed, replaced or cut short under a running server. */

import assert from "node:assert/strict";

import { markPath } from "@/store/sqlite/high_water_mark.ts";
import { schemaRecord, spec } from "@/tools/tests/tools_fixture.ts";
import { until } from "../../until.ts";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder, logText } from "../gate_command.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"

[run_state_store]
type = "sqlite"
path = "RUNS"
journal_mode = "MODE"

[schema_registry]
type = "sqlite"
path = "SCHEMAS"
journal_mode = "MODE"
acl = { allow_local_only = true }
`;

type JournalMode = "wal" | "delete";

async function configure(folder: string, mode: JournalMode, runs = "gate.db", schemas = "gate.db"): Promise<void> {
  const text = CONFIG.replaceAll("MODE", mode).replace("RUNS", runs).replace("SCHEMAS", schemas);
  await Deno.writeTextFile(`${folder}/gate.toml`, text);
}

function serve(folder: string): ServerProcess {
  return startServer({
    args: gateArgs("serve", "--config", `${folder}/gate.toml`),
    cwd: folder,
    env: { GATE_CONFIG: "" },
  });
}

/** What a tool answers: its result, or the code and the message of its error. */
async function call(server: HttpServer, name: string, input: unknown): Promise<Wire & { readonly says?: string }> {
  const { text } = await send(server.url, callText(1, name, input), {});
  const { structuredContent } = (JSON.parse(text) as { result: { structuredContent: Wire } }).result;
  const { error } = structuredContent as { error?: { code: string; message: string } };
  return error === undefined ? structuredContent : { says: `${error.code}: ${error.message}` };
}

/** Registers a version of the schema "report"; returns undefined where it was accepted. */
async function register(server: HttpServer, version: number): Promise<string | undefined> {
  return (await call(server, "schemas_register", { record: schemaRecord({ version: `${version}` }) })).says;
}

async function versions(server: HttpServer): Promise<readonly string[] | string> {
  const { says, items } = await call(server, "schemas_list", { namespace_id: 2 });
  return says ?? (items as readonly { version: string }[]).map(({ version }) => version);
}

async function stop(server: HttpServer): Promise<string> {
  server.process.signal("SIGTERM");
  assert.equal(await server.process.ended(), 0, server.process.errors());
  return server.process.errors();
}

/** Waits until the mark beside a store knows of so many schemas. */
async function marked(folder: string, file: string, schemas: number): Promise<void> {
  await until("the mark", async () => {
    const text = await Deno.readTextFile(markPath(`${folder}/${file}`)).catch(() => "{}");
    return (JSON.parse(text) as Wire)["schemas"] === schemas;
  });
}

async function readiness(server: HttpServer): Promise<string> {
  const { status, text } = await send(server.url, null, { path: "/readyz" });
  return `${status} ${text}`;
}

type Act = (db: string) => Promise<void>;

const remove = (...ends: readonly string[]): Act => async (db) => {
  for (const end of ends) await Deno.remove(`${db}${end}`);
};
const rename = (...ends: readonly string[]): Act => async (db) => {
  for (const end of ends) await Deno.rename(`${db}${end}`, `${db}${end}.away`);
};
const replace = (end: string): Act => async (db) => {
  await Deno.copyFile(`${db}${end}`, `${db}${end}.copy`);
  await Deno.rename(`${db}${end}.copy`, `${db}${end}`);
};
const cut = (length: number): Act => (db) => Deno.truncate(`${db}-wal`, length);

const LOST = "it holds 0 of at least 1 laws, 0 of at least 3 schemas";
const ORPHAN = "its file is missing, but its log ";

/** What is done to the files, why nothing is answered from then on, and what the next start finds: nothing, or in these words. */
const ATTACKS: readonly (readonly [what: string, mode: JournalMode, act: Act, why: string, next: string | null])[] = [
  ["rm db", "wal", remove(""), "its file was removed or renamed", ORPHAN],
  ["rm db*", "wal", remove("", "-wal", "-shm"), "its file was removed or renamed", LOST],
  ["mv db", "wal", rename(""), "its file was removed or renamed", ORPHAN],
  ["mv db*", "wal", rename("", "-wal", "-shm"), "its file was removed or renamed", LOST],
  ["rm db-shm", "wal", remove("-shm"), 'its "-shm" file was removed or renamed', null],
  [
    "rm db-wal",
    "wal",
    remove("-wal"),
    'its "-wal" file was removed or renamed',
    "it holds ",
  ],
  ["a copy in the place of db", "wal", replace(""), "its file was replaced by another", null],
  ["a copy in the place of db-wal", "wal", replace("-wal"), 'its "-wal" file was replaced by another', null],
  ["a copy in the place of db-shm", "wal", replace("-shm"), 'its "-shm" file was replaced by another', null],
  ["db-wal without a byte", "wal", cut(0), 'its "-wal" file was cut short', "it holds "],
  ["db-wal of 4096 bytes", "wal", cut(4096), 'its "-wal" file was cut short', "it holds "],
  ["rm db", "delete", remove(""), "its file was removed or renamed", LOST],
  ["mv db", "delete", rename(""), "its file was removed or renamed", LOST],
  ["a copy in the place of db", "delete", replace(""), "its file was replaced by another", null],
];

for (const [what, mode, act, why, next] of ATTACKS) {
  Deno.test(`journal_mode ${mode}, ${what}: store_failed and not ready, since ${why}; then ${next ?? "all is there"}`, () =>
    inFolder(async (folder) => {
      await configure(folder, mode);
      {
        await using server = await listening(serve(folder));
        assert.equal((await call(server, "scenario_define", { spec: spec() })).says, undefined);
        for (const version of [1, 2, 3]) assert.equal(await register(server, version), undefined);
        await marked(folder, "gate.db", 3);
        await act(`${folder}/gate.db`);
        const failed =
          `store_failed: Cannot answer: the store lost a file that it has open, the server has to be restarted: ${why}`;
        assert.equal(await register(server, 4), failed);
        assert.equal(await versions(server), failed);
        assert.equal((await call(server, "scenarios_list", { namespace_id: 2 })).says, failed);
        assert.equal((await call(server, "scenario_define", { spec: spec({ scenario_id: "other" }) })).says, failed);
        const reasons = [`run_state_store: ${why}`, `schema_registry: ${why}`];
        assert.equal(await readiness(server), `503 ${JSON.stringify({ status: "not_ready", reasons })}`);
        assert.equal((await send(server.url, null, { path: "/healthz" })).status, 200);
        assert.ok(logText(await stop(server)).includes(`gate error: ${failed.replace("store_failed: ", "")}`));
      }
      await using again = serve(folder);
      if (next === ORPHAN) {
        assert.equal(await again.ended(), 8);
        assert.ok(logText(again.errors()).includes(next), again.errors());
        return;
      }
      const server = await listening(again);
      if (next === null) assert.deepEqual(await versions(server), ["1", "2", "3"]);
      const errors = logText(await stop(server));
      const found = errors.split("\n").filter((line) => line.startsWith("gate error: "));
      assert.equal(found.length, next === null ? 0 : 1, errors);
      assert.ok(next === null || found[0]?.includes(`gate.db" lost data: ${next}`), errors);
    }));
}

Deno.test("one of two store files removed: the other store goes on, and readiness names the one", () =>
  inFolder(async (folder) => {
    await configure(folder, "wal", "runs.db", "schemas.db");
    await using server = await listening(serve(folder));
    assert.equal(await register(server, 1), undefined);
    await remove("", "-wal", "-shm")(`${folder}/schemas.db`);
    assert.match(await register(server, 2) ?? "", /^store_failed: .*removed/);
    assert.equal((await call(server, "scenario_define", { spec: spec() })).says, undefined);
    const reasons = ["schema_registry: its file was removed or renamed"];
    assert.equal(await readiness(server), `503 ${JSON.stringify({ status: "not_ready", reasons })}`);
    await stop(server);
  }));

Deno.test("db-wal without a byte, as the first of two processes found it, after the second wrote: the first accepts nothing", () =>
  inFolder(async (folder) => {
    await configure(folder, "wal");
    {
      await using server = await listening(serve(folder));
      assert.equal(await register(server, 1), undefined);
      await stop(server);
    }
    await using first = await listening(serve(folder));
    assert.deepEqual(await versions(first), ["1"]);
    assert.equal((await Deno.stat(`${folder}/gate.db-wal`)).size, 0);
    await using second = await listening(serve(folder));
    assert.equal(await register(second, 2), undefined);
    await cut(0)(`${folder}/gate.db`);
    const why = 'its "-wal" file was cut short';
    assert.match(
      (await call(first, "scenario_define", { spec: spec() })).says ?? "",
      new RegExp(`^store_failed: .*${why}`),
    );
    const reasons = [`run_state_store: ${why}`, `schema_registry: ${why}`];
    assert.equal(await readiness(first), `503 ${JSON.stringify({ status: "not_ready", reasons })}`);
    for (const server of [first, second]) await stop(server);
  }));

/** Which of two processes ends first, and whether the first one sees that its file was removed before it ends. */
const ENDINGS: readonly (readonly [what: string, sees: boolean, endsFirst: "first" | "second"])[] = [
  ["the first answers and ends before the second", true, "first"],
  ["the first answers and ends after the second", true, "second"],
  ["the first is asked nothing and ends before the second", false, "first"],
  ["the first is asked nothing and ends after the second", false, "second"],
];

for (const [what, sees, endsFirst] of ENDINGS) {
  Deno.test(`rm db-shm, then a second process, ${what}: what either accepted is there`, () =>
    inFolder(async (folder) => {
      await configure(folder, "wal");
      await using first = await listening(serve(folder));
      for (const version of [1, 2, 3]) assert.equal(await register(first, version), undefined);
      await Deno.remove(`${folder}/gate.db-shm`);
      await using second = await listening(serve(folder));
      assert.equal(await register(second, 4), undefined);
      if (sees) assert.match(await register(first, 5) ?? "", /^store_failed: .*"-shm" file/);
      assert.equal(await register(second, 6), undefined);
      for (const server of endsFirst === "first" ? [first, second] : [second, first]) await stop(server);
      await using third = await listening(serve(folder));
      assert.deepEqual(await versions(third), ["1", "2", "3", "4", "6"]);
      assert.ok(!third.process.errors().includes('"error"'), third.process.errors());
      assert.equal((await gate(folder, "store", "check")).code, 0);
      await stop(third);
    }));
}

Deno.test("a store cut back to an older state is recognised at every start until something new is accepted", () =>
  inFolder(async (folder) => {
    await configure(folder, "wal");
    const db = `${folder}/gate.db`;
    {
      await using server = await listening(serve(folder));
      assert.equal(await register(server, 1), undefined);
      assert.equal((await gate(folder, "store", "backup", "old.db")).code, 0);
      for (const version of [2, 3]) assert.equal(await register(server, version), undefined);
      await stop(server);
    }
    await Deno.rename(`${folder}/old.db`, db);
    const says = `gate error: Store "${db}" lost data: it holds 1 of at least 3 schemas`;
    const checked = await gate(folder, "store", "check");
    assert.deepEqual([checked.code, checked.stdout.includes("1 of at least 3 schemas")], [6, true], checked.stdout);
    for (const version of [null, 4, null]) {
      await using server = await listening(serve(folder));
      const isSaid = logText(server.process.errors()).includes(says);
      assert.equal(isSaid, !(await versions(server)).includes("4"));
      if (version !== null) assert.equal(await register(server, version), undefined);
      await stop(server);
    }
    assert.equal((await gate(folder, "store", "check")).code, 0);
  }));
