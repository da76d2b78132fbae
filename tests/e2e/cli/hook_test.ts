/**
 * Hosts of agents ask `gate hook` before an agent stops or uses a tool. An agent that wants to stop early changes all that
 * it can write; none of it lets the hook end with 0 while a law whose evidence the agent cannot write is not satisfied.
 */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { sha256 } from "@/evidence/host_primitives.ts";
import { startServer } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder, processOf, STORES } from "../gate_command.ts";
import { listening } from "../http_fixture.ts";

const EXAMPLE = new URL("../../../docs/examples/agent_hooks/", import.meta.url);
const LAW = await Deno.readTextFile(new URL("scenario.yaml", EXAMPLE));
const CONFIG = await Deno.readTextFile(new URL("gate.toml", EXAMPLE));
const HOOKS = await Deno.readTextFile(new URL("gate.hooks.yaml", EXAMPLE));

const PASSED = '{"run":12,"failed":0}';
const FAILED = '{"run":12,"failed":3}';

/** The folder of an agent, and what it can reach. */
interface World {
  readonly folder: string;
  readonly write: (name: string, text: string) => Promise<void>;
  /** Calls gate as the agent. */
  readonly gate: (...words: readonly string[]) => Promise<Ended>;
}

/** An event of a host in JSON. */
function eventOf(members: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ session_id: "demo", cwd: ".", hook_event_name: "Stop", stop_hook_active: false, ...members });
}

function worldIn(folder: string): World {
  return {
    folder,
    gate: (...words) => gate(folder, ...words),
    write: async (name, text) => {
      const path = join(folder, name);
      await Deno.mkdir(join(path, ".."), { recursive: true });
      await Deno.writeTextFile(path, text);
    },
  };
}

/** Runs a body with the folder of an agent, whose hooks ask a law of the folder. */
async function withWorld(body: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const world = worldIn(folder);
    await world.write("gate.hooks.yaml", HOOKS);
    await world.write("scenario.yaml", LAW);
    await world.write("event.json", eventOf());
    await body(world);
  });
}

/** Runs `gate hook stop` in a process of its own, which runs a script first. */
async function stopAfter({ folder, write }: World, script: string, ...more: readonly string[]): Promise<Ended> {
  await write("before.ts", script);
  const [run = "", ...rest] = gateArgs("hook", "stop", "--input", "event.json", ...more);
  const args = [run, "--preload=before.ts", ...rest];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function makePipe(path: string): Promise<void> {
  assert.ok((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
}

const NOT_SATISFIED = new RegExp(
  "^gate: Cannot stop yet: the law is not satisfied\n(?:gate: .*\n)*" +
    "gate: +✗ tests_failed == 0 +not met, found (?:3|a value that is hidden from callers)",
);
const UNREAD = /^gate: Cannot read (?:what the host says|"(?:-|event\.json)"): /;
const NO_HOOKS = /^gate: Cannot use ".*gate\.hooks\.yaml"/;

/** What an agent does, and what the hook says then; what it adds to the command of the hook. */
type Cheat = readonly [
  way: string,
  act: (world: World, server: readonly string[]) => Promise<unknown> | unknown,
  said: RegExp,
];

const event = (text: string) => (world: World): Promise<void> => world.write("event.json", text);
const hooks = (text: string) => (world: World): Promise<void> => world.write("gate.hooks.yaml", text);
const law = (text: string) => (world: World): Promise<void> => world.write("scenario.yaml", text);

/** Against a server whose store, results and law the agent cannot write; it may run and read, and has a token for that. */
const AGAINST_SERVER: readonly Cheat[] = [
  ["says that it was asked before", event(eventOf({ stop_hook_active: true })), NOT_SATISFIED],
  ["says that it is another event", event(eventOf({ hook_event_name: "SessionEnd" })), NOT_SATISFIED],
  ["says nothing", event(""), UNREAD],
  ["says what is no JSON", event("{"), UNREAD],
  ["says what is no object", event("[]"), UNREAD],
  ["names its session twice", event('{"session_id":"a","session_id":"b","cwd":"."}'), UNREAD],
  ["names no session", event(eventOf({ session_id: undefined })), UNREAD],
  ["names a session that is none", event(eventOf({ session_id: ["demo"] })), UNREAD],
  ["names a folder without hooks", event(eventOf({ cwd: "/" })), /^gate: Cannot find gate\.hooks\.yaml in "\/"/],
  ["names a new session", event(eventOf({ session_id: "another" })), NOT_SATISFIED],
  [
    "removes the file of hooks",
    ({ folder }) => Deno.remove(join(folder, "gate.hooks.yaml")),
    /^gate: Cannot find gate\.hooks/,
  ],
  ["empties the file of hooks", hooks(""), NO_HOOKS],
  ["takes the stop out of the file of hooks", hooks("tool:\n  - { match: x, law: scenario.yaml }\n"), NO_HOOKS],
  ["adds a member to the file of hooks", hooks(`${HOOKS}allow: true\n`), NO_HOOKS],
  ["puts a folder in place of the file of hooks", async ({ folder }) => {
    await Deno.remove(join(folder, "gate.hooks.yaml"));
    await Deno.mkdir(join(folder, "gate.hooks.yaml"));
  }, /^gate: Cannot /],
  ["names another run in the file of hooks", hooks("stop: { law: scenario.yaml, run_key: fresh }\n"), NOT_SATISFIED],
  ["removes the law", ({ folder }) => Deno.remove(join(folder, "scenario.yaml")), /^gate: Cannot read/],
  ["weakens the law", law(LAW.replace("tests_failed == 0", "tests_failed >= 0")), /scenario_define/],
  ["asks itself in the law", law(LAW.replaceAll(/count from json.*/g, "count")), /scenario_define/],
  ["writes another law", law("law: mine\nevidence: { done: caller }\nstages: { done: done }\n"), /scenario_define/],
  ["writes results of its own", ({ write }) => write("reports/tests.json", PASSED), NOT_SATISFIED],
  ["writes a configuration of its own", async ({ write }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", PASSED);
  }, NOT_SATISFIED],
  ["makes a store of its own, in which the run is complete", async ({ write, gate: run }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", PASSED);
    assert.equal((await run("hook", "stop", "--input", "event.json")).code, 0, "its own store says yes");
  }, NOT_SATISFIED],
  ["sends the evidence by a flag", async ({ gate: run }, server) => {
    const { stderr } = await run("run", "scenario.yaml", "--run-key", "demo", "--set", "tests_failed=0", ...server);
    assert.match(stderr, /the law takes it from no caller/);
  }, NOT_SATISFIED],
  ["sends the evidence in a file", async ({ gate: run, write }, server) => {
    const value = { value: { value: 0, value_type: "Integer" }, retention: { retention: "RetainCanonicalValue" } };
    await write("items.json", JSON.stringify([{ condition_id: "tests_failed", ...value }]));
    const sent = await run("run", "scenario.yaml", "--run-key", "demo", "--evidence", "items.json", ...server);
    assert.notEqual(sent.code, 0);
  }, NOT_SATISFIED],
  ["claims in its words that all is done", async ({ write }) => {
    await write("gate.hooks.json", HOOKS);
    await write(".gate/hooks/demo", "complete");
  }, NOT_SATISFIED],
  ["removes its token", ({ folder }) => Deno.remove(join(folder, "agent")), /^gate: Cannot read token file/],
  ["takes another token", ({ write }) => write("agent", "x".repeat(32)), /did not authenticate/],
];

Deno.test("an agent that cheats does not get 0 from gate hook stop where a server decides", () =>
  inFolder(async (operator) => {
    const { write } = worldIn(operator);
    const principals = [["owner", "NamespaceOwner"], ["agent", "NamespaceWriter"]].map(([name, role]) => {
      const token = (name ?? "").padEnd(32, "0");
      const subject = `token:${sha256(new TextEncoder().encode(token))}`;
      return { name, token, text: `{ subject = "${subject}", roles = [{ name = "${role}", namespace_id = 2 }] }` };
    });
    for (const { name, token } of principals) await write(name ?? "", token);
    const providers = CONFIG.slice(CONFIG.indexOf("[[providers]]"));
    const auth = `bearer_tokens = ${JSON.stringify(principals.map(({ token }) => token))}\n` +
      `principals = [${principals.map(({ text }) => text)}]`;
    const network = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n[server.auth]\nmode = "bearer_token"\n';
    await write("http.toml", `${STORES}${network}${auth}\n${providers}`);
    await Deno.chmod(join(operator, "http.toml"), 0o600);
    await write("reports/tests.json", FAILED);
    await write("scenario.yaml", LAW);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", "http.toml"), cwd: operator }),
    );
    const as = (token: string): readonly string[] => ["--server", new URL(server.url).origin, "--token-file", token];
    assert.equal((await gate(operator, "run", "scenario.yaml", ...as("owner"))).code, 3, "the owner defines the law");

    const hook = (world: World, ...more: readonly string[]): Promise<Ended> =>
      world.gate("hook", "stop", "--input", "event.json", ...more);
    for (const [way, act, said] of AGAINST_SERVER) {
      await withWorld(async (world) => {
        await world.write("agent", principals[1]?.token ?? "");
        await act(world, as("agent"));
        const { code, stdout, stderr } = await hook(world, ...as("agent"));
        assert.deepEqual([code, stdout], [2, ""], `${way}: ${stderr}`);
        assert.match(stderr, said, `${way}: ${stderr}`);
      });
    }
    await withWorld(async (world) => {
      await world.write("agent", principals[1]?.token ?? "");
      const clock = "const now = Date.now; Date.now = () => now() + 315_360_000_000;\n";
      const late = await stopAfter(world, clock, ...as("agent"));
      assert.equal(late.code, 2, "turns the clock");
      assert.match(late.stderr, NOT_SATISFIED);
      assert.equal((await hook(world, "--server", "http://127.0.0.1:1")).code, 2, "no server");

      await write("reports/tests.json", PASSED);
      const done = await hook(world, ...as("agent"));
      assert.deepEqual([done.code, done.stdout, done.stderr], [0, "", ""], "the tests pass");
    });
  }));

/** Without a server: the store is a file that the agent can write. Whole records that fit each other need the system's help. */
const AGAINST_STORE: readonly Cheat[] = [
  ["removes the store", ({ folder }) => Deno.remove(join(folder, ".gate"), { recursive: true }), NOT_SATISFIED],
  ["writes over the store", ({ write }) => write(".gate/gate.db", "complete"), /^gate: Cannot /],
  ["cuts the store", ({ folder }) => Deno.truncate(join(folder, ".gate/gate.db"), 5000), /^gate: Cannot /],
  [
    "says in the log that the attempt was true",
    sql("UPDATE records SET record = replace(record, 'false', 'true')"),
    /^gate: /,
  ],
  ["says in the log that it found 0", sql("UPDATE records SET material = replace(material, '3', '0')"), /^gate: /],
  ["takes the last record out of the log", sql("DELETE FROM records WHERE revision = 3"), /^gate: /],
  [
    "says that the run is complete",
    sql("UPDATE snapshots SET state = replace(state, 'active', 'complete')"),
    /^gate: /,
  ],
  [
    "puts another law under the name of the law",
    sql("UPDATE laws SET law = replace(law, 'Equals', 'NotEquals')"),
    /^gate: /,
  ],
];

function sql(statement: string): ({ folder }: World) => void {
  return ({ folder }) => {
    using database = new DatabaseSync(join(folder, ".gate", "gate.db"));
    database.exec(statement);
  };
}

Deno.test("an agent that changes the store does not get 0 from gate hook stop without a server", () =>
  withWorld(async (world) => {
    await world.write("gate.toml", CONFIG);
    await world.write("reports/tests.json", FAILED);
    const hook = (): Promise<Ended> => world.gate("hook", "stop", "--input", "event.json");
    assert.match((await hook()).stderr, NOT_SATISFIED);
    const kept = await Deno.readFile(join(world.folder, ".gate/gate.db"));
    for (const [way, act, said] of AGAINST_STORE) {
      for (const { name } of Deno.readDirSync(join(world.folder, ".gate"))) {
        if (name !== "gate.db") await Deno.remove(join(world.folder, ".gate", name), { recursive: true });
      }
      await Deno.writeFile(join(world.folder, ".gate/gate.db"), kept);
      await act(world, []);
      const { code, stdout, stderr } = await hook();
      assert.deepEqual([code, stdout], [2, ""], `${way}: ${stderr}`);
      assert.match(stderr, said, way);
    }
  }));

const WAY_OUT = /^gate: This is answer (\d+) in a row, and nothing has changed\. A person has to look: /m;

Deno.test("gate hook stop says after 8 answers in a row who can end this, and begins again after a change", () =>
  withWorld(async ({ write, gate: run }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", FAILED);
    const again = async (isAgain: boolean): Promise<string | null> => {
      await write("event.json", eventOf({ stop_hook_active: isAgain }));
      const { code, stderr } = await run("hook", "stop", "--input", "event.json");
      assert.equal(code, 2);
      return WAY_OUT.exec(stderr)?.[1] ?? null;
    };
    const answers = [await again(false)];
    for (let asked = 2; asked <= 9; asked++) answers.push(await again(true));
    assert.deepEqual(answers, [null, null, null, null, null, null, null, null, "9"]);
    await write("reports/tests.json", '{"run":12,"failed":2}');
    assert.equal(await again(true), null, "another value is a changed attempt");
    assert.equal(await again(false), null);
  }));

/** A file of hooks, the results of the tests at each stop in turn, and the exit codes. */
const STOPS: readonly (readonly [hooks: string, answers: readonly (readonly [results: string, code: number])[]])[] = [
  [HOOKS, [[PASSED, 0], [FAILED, 2], [FAILED, 2], [PASSED, 0], [PASSED, 0], [FAILED, 2]]],
  ["stop: { law: scenario.yaml, run_key: release-7 }\n", [[FAILED, 2], [PASSED, 0], [FAILED, 0]]],
];

for (const [hooksFile, answers] of STOPS) {
  const codes = answers.map(([, code]) => code);
  Deno.test(`gate hook stop asks the evidence of now, unless a run is named: ${codes}`, () =>
    withWorld(async ({ folder, write, gate: run }) => {
      await write("gate.toml", CONFIG);
      await write("gate.hooks.yaml", hooksFile);
      const stop = async (): Promise<number> => (await run("hook", "stop", "--input", "event.json")).code;
      for (const [at, [results, code]] of answers.entries()) {
        await write("reports/tests.json", results);
        assert.equal(await stop(), code, `stop ${at}`);
      }
      await write("reports/tests.json", FAILED);
      const last = codes.at(-1);
      for (const number of ["1", "2", "999999", "0", "x"]) {
        for (const { name } of await Array.fromAsync(Deno.readDir(join(folder, ".gate/hooks")))) {
          await write(`.gate/hooks/${name}`, number);
        }
        assert.equal(await stop(), last, `the agent keeps ${number}`);
      }
    }));
}

Deno.test("gate hook stop keeps what people have signed for the session", () =>
  withWorld(async ({ write, gate: run }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", FAILED);
    await write(
      "scenario.yaml",
      "law: signed\npeople: { owners: [alice] }\nevidence: { ok: 1 of owners }\nstages: { done: ok }\n",
    );
    assert.equal((await run("key", "create", "alice.key")).code, 0);
    assert.equal((await run("key", "trust", "alice.key.pub", "--name", "alice")).code, 0);
    const stop = (): Promise<Ended> => run("hook", "stop", "--input", "event.json");
    const waits = await stop();
    assert.equal(waits.code, 2, waits.stderr);
    const listed = await run("runs", "--json");
    assert.equal(listed.code, 0, listed.stderr + waits.stderr);
    const { result: { runs: [{ run_key }] } } = JSON.parse(listed.stdout);
    const approved = await run("approve", run_key.run_id, "--key", "alice.key", "--yes");
    assert.equal(approved.code, 0, approved.stderr);
    for (const at of [1, 2]) assert.equal((await stop()).code, 0, `stop ${at}`);
  }));

/** What an agent puts in place of its count, whose place is `.gate/hooks/RUN`. */
const PLANTED: readonly (readonly [way: string, plant: (folder: string, run: string) => Promise<void>])[] = [
  ["a pipe", (folder, run) => makePipe(join(folder, ".gate/hooks", run))],
  ["a folder", (folder, run) => Deno.mkdir(join(folder, ".gate/hooks", run))],
  ["a link to a file", (folder, run) => Deno.symlink("../../victim/file", join(folder, ".gate/hooks", run))],
  ["a link to no file", (folder, run) => Deno.symlink("../../victim/none", join(folder, ".gate/hooks", run))],
  ["a link in place of hooks", async (folder) => {
    await Deno.remove(join(folder, ".gate/hooks"));
    await Deno.symlink("../victim", join(folder, ".gate/hooks"));
  }],
  ["a link in place of .gate", async (folder) => {
    await Deno.remove(join(folder, ".gate"), { recursive: true });
    await Deno.symlink("victim", join(folder, ".gate"));
  }],
];

Deno.test("gate hook stop counts answers without a pipe that blocks it, or a link out of the folder of the agent", () =>
  withWorld(async ({ folder, write, gate: run }) => {
    await write("gate.toml", CONFIG.replace(".gate/gate.db", "gate.db"));
    await write("reports/tests.json", FAILED);
    const stop = (): Promise<Ended> => run("hook", "stop", "--input", "event.json");
    await stop();
    const [count] = [...Deno.readDirSync(join(folder, ".gate/hooks"))];
    assert.ok(count?.isFile);
    for (const [way, plant] of PLANTED) {
      await Deno.remove(join(folder, ".gate"), { recursive: true });
      await Deno.mkdir(join(folder, ".gate/hooks"), { recursive: true });
      await write("victim/file", "kept");
      await plant(folder, count.name);
      assert.match((await stop()).stderr, NOT_SATISFIED, way);
      assert.deepEqual([...Deno.readDirSync(join(folder, "victim"))].map(({ name }) => name), ["file"], way);
      assert.equal(await Deno.readTextFile(join(folder, "victim/file")), "kept", way);
    }
  }));

/** A deadline that is over at once, as after 50 s. */
const NO_TIME = `const timeout = AbortSignal.timeout;
AbortSignal.timeout = (millis) => timeout(millis === 50_000 ? 100 : millis);
`;

const NO_ANSWER = "gate: Cannot answer within 50 s: the server, a provider or a file is too slow\n";

Deno.test("gate hook stop blocks at its deadline, which is before that of hosts", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: (): void => {} },
    (): Promise<never> => new Promise(() => {}),
  );
  for (const name of [null, "gate.hooks.yaml", "scenario.yaml", "event.json"]) {
    await withWorld(async (world) => {
      if (name !== null) {
        await Deno.remove(join(world.folder, name));
        await makePipe(join(world.folder, name));
      }
      const { code, stdout, stderr } = await stopAfter(
        world,
        NO_TIME,
        "--server",
        `http://127.0.0.1:${server.addr.port}`,
      );
      assert.deepEqual([code, stdout, stderr], [2, "", NO_ANSWER], `${name}`);
    });
  }
});

/** How the shell of a host starts a hook, whose command is `$0 "$@"`; the exit code. */
const STARTS: readonly (readonly [way: string, script: string, code: number])[] = [
  ["its standard error is full", '"$0" "$@" 2> /dev/full', 2],
  ["its folder is gone", 'mkdir gone && cd gone && rmdir ../gone && "$0" "$@" || exit 2', 2],
  ["there is no such program", 'no-such-gate "$@" || exit 2', 2],
  ["a signal ends it", '("$0" "$@" & kill -9 $!; wait $!) || exit 2', 2],
];

for (const [way, script, code] of STARTS) {
  Deno.test(`gate hook stop, started as the settings of hosts have it, blocks where ${way}`, () =>
    withWorld(async ({ folder, write }) => {
      await write("gate.toml", CONFIG);
      await write("reports/tests.json", FAILED);
      const { command, args } = processOf(gateArgs("hook", "stop", "--input", "event.json"));
      const options = {
        args: ["-c", script, command, ...args],
        cwd: folder,
        stdout: "null" as const,
        stderr: "null" as const,
      };
      assert.equal((await new Deno.Command("/bin/sh", options).output()).code, code);
    }));
}

/** The tool that is about to be used, in a folder whose tests fail; the exit code. */
const TOOLS: readonly (readonly [string | undefined, number])[] = [
  ["Bash", 0],
  ["mcp__git__push", 2],
  ["mcp__git__push_tags", 2],
  ["mcp__git__pus", 0],
  ["", 2],
  [undefined, 2],
];

Deno.test("gate hook tool blocks the tools that the file names, and says nothing of others", () =>
  withWorld(async ({ write, gate: run }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", FAILED);
    for (const [tool_name, code] of TOOLS) {
      await write("event.json", eventOf({ tool_name }));
      const ended = await run("hook", "tool", "--input", "event.json");
      assert.deepEqual([ended.code, ended.stdout], [code, ""], tool_name);
      if (code === 0) assert.equal(ended.stderr, "");
      else if (tool_name) assert.match(ended.stderr, /^gate: Cannot use tool "mcp__git__push/);
    }
    await write("reports/tests.json", PASSED);
    await write("event.json", eventOf({ tool_name: "mcp__git__push" }));
    const { code, stdout, stderr } = await run("hook", "tool", "--input", "event.json", "--json");
    assert.deepEqual([code, stdout, stderr], [0, "", ""], "silence, so that the rules of the host stay");
  }));

Deno.test("gate hook tool blocks where the file says nothing of tools", () =>
  withWorld(async ({ write, gate: run }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", PASSED);
    await write("gate.hooks.yaml", "stop: { law: scenario.yaml }\n");
    await write("event.json", eventOf({ tool_name: "Bash" }));
    const { code, stdout, stderr } = await run("hook", "tool", "--input", "event.json");
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, NO_HOOKS);
    assert.match(stderr, /^gate: \$\.tool: Member is required: expected a list of objects with "match" and "law"$/m);
    assert.equal((await run("hook", "stop", "--input", "event.json")).code, 0);
  }));

const LIMIT = 16 * 1024 * 1024;

Deno.test("gate hook takes 16 MiB from a host, by standard input too, and not one byte more", () =>
  withWorld(async ({ folder, write }) => {
    await write("gate.toml", CONFIG);
    await write("reports/tests.json", FAILED);
    for (const [bytes, said] of [[LIMIT - 1, NOT_SATISFIED], [LIMIT, NOT_SATISFIED], [LIMIT + 1, UNREAD]] as const) {
      const { command, args } = processOf(gateArgs("hook", "stop"));
      const child = new Deno.Command(command, {
        args: [...args],
        cwd: folder,
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const input = new Blob([eventOf().padEnd(bytes)]).stream().pipeTo(child.stdin).catch(() => {});
      const [{ code, stderr }] = await Promise.all([child.output(), input]);
      assert.equal(code, 2);
      assert.match(new TextDecoder().decode(stderr), said, `${bytes}`);
    }
  }));

/** What is not in the folder of the agent, and what the agent can write then. */
const WRITABLE: readonly (readonly [change: (text: string) => string, written: readonly string[]])[] = [
  [(config) => config, ["gate.hooks.yaml", "scenario.yaml", "gate.toml", ".gate/gate.db", "evidence-keys", "reports"]],
  [(config) => config.replace('root = "reports"', 'root = "/usr"'), [
    "gate.hooks.yaml",
    "scenario.yaml",
    "gate.toml",
    ".gate/gate.db",
    "evidence-keys",
  ]],
];

Deno.test("gate hook check warns of what the agent can write", () =>
  withWorld(async ({ folder, write, gate: run }) => {
    await write("reports/tests.json", FAILED);
    // The tests may run as a user who can write everything.
    const granted = ["--allow-read", "--allow-env", "--allow-sys", `--allow-write=${folder}`];
    const check = gateArgs("hook", "check", "--config", "gate.toml", "--json")
      .flatMap((word) => word === "-P=serve" ? granted : [word]);
    for (const [change, written] of WRITABLE) {
      await write("own.toml", change(CONFIG));
      await write("gate.toml", change(CONFIG));
      await run("hook", "stop", "--input", "event.json", "--config", "own.toml");
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: check, cwd: folder }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const { result } = JSON.parse(new TextDecoder().decode(stdout));
      const { writable } = result as { writable: readonly { path: string }[] };
      const real = await Deno.realPath(folder);
      assert.deepEqual(writable.map(({ path }) => path.replace(`${real}/`, "")), written);
    }
    assert.match(
      (await run("hook", "check", "--config", "own.toml")).stdout,
      /^warning: .*gate\.hooks\.yaml: this user can write which laws are asked\n/,
    );
  }));

Deno.test("the page of the example does what it says, and the settings of the hosts call commands that there are", () =>
  inFolder(async (folder) => {
    for (const { name } of Deno.readDirSync(EXAMPLE)) await Deno.copyFile(new URL(name, EXAMPLE), join(folder, name));
    const page = await Deno.readTextFile(join(folder, "README.md"));
    const [, block = ""] = /```sh\n([^`]*)```/.exec(page) ?? [];
    const codes: number[] = [];
    for (const line of block.split("\n")) {
      const [, text, file] = /^echo '(.*)' > (.*)$/.exec(line) ?? [];
      if (text !== undefined && file !== undefined) await worldIn(folder).write(file, text);
      const [, words] = /^gate (.*?) (?:\|\||&&) /.exec(line) ?? [];
      if (words !== undefined) codes.push((await gate(folder, ...words.split(" "))).code);
    }
    assert.deepEqual(codes, [2, 0]);
    assert.equal((await gate(folder, "scenario", "test", "scenario.yaml")).code, 0);
    for (const host of ["claude", "gemini"]) {
      const { hooks: events } = JSON.parse(await Deno.readTextFile(join(folder, `${host}_settings.json`))) as {
        hooks: Record<string, readonly { hooks: readonly { command: string }[] }[]>;
      };
      const commands = Object.values(events).flat().flatMap(({ hooks: own }) => own.map(({ command }) => command));
      assert.deepEqual(commands, ["gate hook stop || exit 2", "gate hook tool || exit 2"], host);
    }
  }));
