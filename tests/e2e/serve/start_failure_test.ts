/** A server whose store cannot be opened reports the reason to clients, and ends with exit code 8. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID, CREATE_TABLES, FORMAT_VERSION } from "@/store/sqlite/format.ts";
import { initializeParams, type ServerProcess, startServer, type Wire } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder } from "../gate_command.ts";

/** Releases what prevents the opening of the store. */
type Release = () => void;

interface Obstacle {
  readonly what: string;
  /** Path of the store in the folder. */
  readonly path: string;
  readonly place: (path: string) => Release;
  readonly message: RegExp;
  /** Exit code of `gate store check`; an existing but changed file fails verification. */
  readonly check: number;
}

function nothing(): void {}

const OBSTACLES: readonly Obstacle[] = [
  {
    what: "is no database",
    path: "gate.db",
    place: (path) => {
      Deno.writeTextFileSync(path, "not a database, but long enough to be taken for one".repeat(100));
      return nothing;
    },
    message: /^Cannot open store ".*gate\.db": the file is not a database$/,
    check: 6,
  },
  {
    what: "is of a newer version",
    path: "gate.db",
    place: (path) => {
      using database = new DatabaseSync(path);
      const version = FORMAT_VERSION + 1;
      database.exec(`CREATE TABLE t (a); PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}`);
      return nothing;
    },
    message: /^Cannot open store ".*gate\.db": its format version \d+ is newer than \d+/,
    check: 8,
  },
  {
    what: "has an index of others",
    path: "gate.db",
    place: (path) => {
      using database = new DatabaseSync(path);
      database.exec(`${CREATE_TABLES}; CREATE INDEX mine ON laws (seal)`);
      return nothing;
    },
    message:
      /^Cannot open store ".*gate\.db": its index "mine" is not part of a gate store: drop it or restore a backup$/,
    check: 6,
  },
  {
    what: "has lost every byte",
    path: "gate.db",
    place: (path) => {
      Deno.writeTextFileSync(path, "");
      return nothing;
    },
    message: /^Cannot open store ".*gate\.db": it is empty: restore a backup, or remove it to create a new store$/,
    check: 6,
  },
  {
    what: "is held by another process",
    path: "gate.db",
    place: (path) => {
      const database = new DatabaseSync(path);
      database.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE");
      return () => database.close();
    },
    message: /^Cannot open store ".*gate\.db": another process holds the database$/,
    check: 8,
  },
  {
    what: "is a folder",
    path: "gate.db",
    place: (path) => {
      Deno.mkdirSync(path);
      return nothing;
    },
    message: /^Cannot open store ".*gate\.db": it is a folder, expected a file$/,
    check: 8,
  },
  {
    what: "cannot be written",
    path: "file/gate.db",
    place: (path) => {
      Deno.writeTextFileSync(path.slice(0, path.lastIndexOf("/")), "");
      return nothing;
    },
    message: /^Cannot create store ".*gate\.db": a part of its path is not a folder/,
    check: 8,
  },
];

interface Obstructed {
  readonly serve: () => ServerProcess;
  readonly run: (...command: readonly string[]) => Promise<Ended>;
}

/** Runs a test in a folder whose store cannot be opened. */
async function obstructed(
  { path, place }: Obstacle,
  server: string,
  test: (world: Obstructed) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const store = `type = "sqlite"\npath = "${path}"\nbusy_timeout_ms = 50\n`;
    const config = `[server]\n${server}\n[run_state_store]\n${store}[schema_registry]\n${store}`;
    await Deno.writeTextFile(`${folder}/gate.toml`, config);
    const release = place(`${folder}/${path}`);
    try {
      await test({
        serve: () => startServer({ args: gateArgs("serve", "--config", "gate.toml"), cwd: folder }),
        run: (...command) => gate(folder, ...command, "--config", "gate.toml"),
      });
    } finally {
      release();
    }
  });
}

/** The message of an error of a server that cannot serve. */
function messageOf(answer: Wire): string {
  const { code, message, data } = answer["error"] as { code: number; message: string; data: Wire };
  assert.deepEqual([code, data["kind"], data["retryable"]], [-32074, "unavailable", false]);
  return message;
}

/** The failure on standard error, once it is written. */
async function logged(server: ServerProcess): Promise<string> {
  await server.logged('"level":"error"');
  const entries = server.errors().split("\n").filter((line) => line.includes('"level":"error"'));
  assert.equal(entries.length, 1, server.errors());
  return String((JSON.parse(entries[0] ?? "") as Wire)["message"]);
}

for (const obstacle of OBSTACLES) {
  const { what, message, check } = obstacle;

  Deno.test(`a store that ${what}: a pending request is answered with the reason, and the process ends with 8`, () =>
    obstructed(obstacle, "", async ({ serve }) => {
      await using server = serve();
      await server.request("initialize", initializeParams());
      assert.match(messageOf(await server.request("tools/call", { name: "scenarios_list", arguments: {} })), message);
      assert.equal(await server.ended(), 8);
      assert.match(await logged(server), message);
    }));

  Deno.test(`a store that ${what}: the first request after the failure is answered with the reason`, () =>
    obstructed(obstacle, "", async ({ serve }) => {
      for (const method of ["initialize", "tools/list", "ping", "resources/list"]) {
        await using server = serve();
        assert.match(await logged(server), message);
        assert.match(
          messageOf(await server.request(method, method === "initialize" ? initializeParams() : {})),
          message,
        );
        assert.equal(await server.ended(), 8);
      }
    }));

  Deno.test(`a store that ${what}: over HTTP nothing is served, and the process ends with 8`, () =>
    obstructed(obstacle, 'transport = "http"\nbind = "127.0.0.1:0"', async ({ serve }) => {
      await using server = serve();
      assert.equal(await server.ended(), 8);
      assert.match(await logged(server), message);
    }));

  Deno.test(`a store that ${what}: gate client and gate doctor end with 8, gate store check with ${check}`, () =>
    obstructed(obstacle, "", async ({ run }) => {
      const client = await run("client", "list");
      assert.equal(client.code, 8);
      assert.match(client.stderr.trimEnd().replace(/^gate: /, ""), message);
      assert.equal((await run("doctor")).code, 8);
      const checked = await run("store", "check");
      assert.equal(checked.code, check);
      assert.match(checked.stdout + checked.stderr, /: Cannot /);
    }));
}

Deno.test("a server without a store ends with its input if there is no request", () =>
  obstructed(OBSTACLES[0] ?? assert.fail(), "", async ({ serve }) => {
    await using server = serve();
    await logged(server);
    await server.closeInput();
    assert.equal(await server.ended(), 8);
  }));

Deno.test("a server without a store reports the reason if its input is empty", () =>
  obstructed(OBSTACLES[0] ?? assert.fail(), "", async ({ run }) => {
    const { code, stderr } = await run("serve");
    assert.equal(code, 8);
    assert.match(stderr, /"level":"error".*the file is not a database/);
  }));

Deno.test("stores on two databases: the reason names both members, and no password", () =>
  inFolder(async (folder) => {
    const config = ["run_state_store", "schema_registry"]
      .map((section) => `[${section}]\ntype = "postgres"\nurl = "postgres://a:secret@127.0.0.1:1/${section}"\n`);
    await Deno.writeTextFile(`${folder}/gate.toml`, config.join(""));
    const { code, stderr } = await gate(folder, "runs", "--config", "gate.toml");
    assert.equal(code, 2);
    assert.match(stderr, /: 1 problem\ngate: schema_registry\.url: must be the same as run_state_store\.url\n$/);
    assert.doesNotMatch(stderr, /secret/);
  }));
