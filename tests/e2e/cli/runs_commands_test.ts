import assert from "node:assert/strict";
import type { ScenarioLaw } from "../../../src/law/types.ts";
import type { RunRecord } from "../../../src/run/types.ts";
import { drawLaw } from "../../../src/runpack/picture/draw_law.ts";
import { pictureOfRecords } from "../../../src/runpack/picture/run_picture.ts";
import { openSqliteRunStore } from "../../../src/store/sqlite/open.ts";
import { appendTo, LAW, runKey, sha256, STORAGE } from "../../simulation/store/fixture.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { startServer } from "../client.ts";
import { listening } from "../http_fixture.ts";
import { startRun, TWO_STAGES, withStore } from "../store/calls.ts";

const REQUESTS = ["1".repeat(32), "2".repeat(32), "3".repeat(32)] as const;

/** Three runs: complete, failed in its second stage, just begun. */
function fill(folder: string): Promise<readonly string[]> {
  return withStore(folder, async (call) => [
    await startRun(call, REQUESTS[0], [true, true]),
    await startRun(call, REQUESTS[1], [true, false]),
    await startRun(call, REQUESTS[2], []),
  ]);
}

async function withRuns(body: (folder: string, runs: readonly string[]) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    await body(folder, await fill(folder));
  });
}

Deno.test("gate runs lists the runs of the store, newest first, and filters them", () =>
  withRuns(async (folder, [complete = "", failed = "", begun = ""]) => {
    const { code, stdout, stderr } = await gate(folder, "runs");
    assert.deepEqual([code, stderr], [0, ""]);
    const [head, ...lines] = stdout.trimEnd().split("\n");
    assert.match(head ?? "", /^RUN +NAMESPACE +SCENARIO +STATUS +REVISION +BEGUN$/);
    const cells = lines.map((line) => line.split(/ {2,}/));
    assert.deepEqual(cells.map(([run, ...others]) => [run, ...others.slice(0, 4)]), [
      [begun.slice(0, 8), "2", "release", "active", "1"],
      [failed.slice(0, 8), "2", "release", "active", "5"],
      [complete.slice(0, 8), "2", "release", "complete", "5"],
    ]);
    // Flags, and the runs.
    const rows: readonly [readonly string[], readonly string[]][] = [
      [["--status", "complete"], [complete]],
      [["--status", "active", "--limit", "1"], [begun]],
      [["--correlation", REQUESTS[1]], [failed]],
      [["--scenario", "other"], []],
      [["--namespace", "3"], []],
    ];
    for (const [flags, expected] of rows) {
      const listed = await gate(folder, "runs", "--json", ...flags);
      const { result } = JSON.parse(listed.stdout);
      assert.deepEqual(
        result.runs.map((run: { run_key: { run_id: string } }) => run.run_key.run_id),
        expected,
        flags.join(" "),
      );
    }
    const cut = await gate(folder, "runs", "--limit", "2");
    assert.equal(cut.stderr, "Only the newest 2 runs: --limit lists more\n");
  }));

Deno.test("gate status --svg draws the run as its records show it, to a file that must not exist", () =>
  withRuns(async (folder, [complete = "", failed = "", begun = ""]) => {
    const law = TWO_STAGES as unknown as ScenarioLaw;
    for (const [run, code] of [[complete, 0], [failed, 3], [begun, 4]] as const) {
      const file = `${folder}/${run}.svg`;
      const drawn = await gate(folder, "status", run, "--svg", file);
      assert.deepEqual([drawn.code, drawn.stderr], [code, ""]);
      const history = JSON.parse((await gate(folder, "history", run, "--json")).stdout) as {
        readonly result: { readonly records: readonly { readonly record: RunRecord }[] };
      };
      const records = history.result.records.map(({ record }) => record);
      const isFailed = run === failed;
      const picture = pictureOfRecords(
        law,
        records,
        ({ condition_id }) => String(!isFailed || condition_id !== "deployed"),
      );
      assert.equal(await Deno.readTextFile(file), `${drawLaw(law, picture, { as: "file" }).markup}\n`);
      const again = await gate(folder, "status", run, "--svg", file);
      assert.match(again.stderr, /Cannot write ".*\.svg": it exists already/);
      assert.equal(again.code, 2);
    }
  }));

Deno.test("gate status and gate history take the first digits of a run id", () =>
  withRuns(async (folder, [complete = "", failed = "", begun = ""]) => {
    // Run, exit code, and a part of the output.
    const rows: readonly [string, number, RegExp][] = [
      [
        complete,
        0,
        /is complete at revision 5\n2 of 2 stages complete\n {2}● build {3}complete\n {2}● deploy {2}complete\nNothing is missing\.\n$/,
      ],
      [
        failed.slice(0, 8),
        3,
        /is active at revision 5\n1 of 2 stages complete\n {2}● build +complete\n {2}✗ deploy +held, attempt 2 was false\n {4}✗ /,
      ],
      [
        begun.slice(0, 12),
        4,
        /is active at revision 1\n0 of 2 stages complete\n {2}○ build {3}ready to be opened\n {2}· deploy {2}blocked\n/,
      ],
    ];
    for (const [run, code, text] of rows) {
      const shown = await gate(folder, "status", run);
      assert.deepEqual([shown.code, shown.stderr], [code, ""]);
      assert.match(shown.stdout, text);
      const { ok, result } = JSON.parse((await gate(folder, "status", run, "--json")).stdout);
      assert.deepEqual([ok, result.run_id.startsWith(run)], [code === 0, true]);
    }
    const history = await gate(folder, "history", failed.slice(0, 8));
    assert.deepEqual([history.code, history.stderr], [0, ""]);
    assert.deepEqual(
      history.stdout.trimEnd().split("\n").map((line) =>
        line.startsWith(" ") ? [line.trim()] : line.split(/ {2,}/).filter((_, at) => at !== 1)
      ),
      [
        ["REVISION", "WHAT", "BY"],
        ["1", "run created of scenario release", "stdio"],
        ["2", "opened build", "stdio"],
        ["3", "evaluated build, attempt 1: true, stage complete", "stdio"],
        ["built ✓"],
        ["4", "opened deploy", "stdio"],
        ["5", "evaluated deploy, attempt 2: false", "stdio"],
        ["deployed: found false ✗"],
      ],
    );
    const { result } = JSON.parse((await gate(folder, "history", failed, "--json")).stdout);
    assert.deepEqual([result.run_id, result.records.length], [failed, 5]);
  }));

Deno.test("gate runs, status and history show the same of a server that discloses values", () =>
  withServed("[evidence]\nallow_raw_values = true\n", async (folder, failed, url) => {
    for (const args of [["runs"], ["status", failed.slice(0, 8)], ["history", failed.slice(0, 8)]]) {
      const local = await gate(folder, ...args);
      const remote = await gate(folder, ...args, "--server", url);
      assert.deepEqual(remote, local, args.join(" "));
    }
  }));

Deno.test("the owner of a store sees the values that a server hides from its callers, which says so", () =>
  withServed("", async (folder, failed, url) => {
    const local = await gate(folder, "status", failed);
    assert.match(local.stdout, /\n {4}✗ deployed +not met, found false\n[^]*\n {4}deployed: found false ✗\n/);
    const remote = await gate(folder, "status", failed, "--server", url);
    const hidden = "found a value that is hidden from callers of the server (evidence.allow_raw_values)";
    assert.ok(remote.stdout.includes(`\n    deployed: ${hidden} ✗\n`), remote.stdout);
    assert.ok(!remote.stdout.includes("found false"), remote.stdout);
  }));

/** Runs a body with the run that failed, and a server of its store with further settings. */
function withServed(
  settings: string,
  body: (folder: string, failed: string, url: string) => Promise<void>,
): Promise<void> {
  return withRuns(async (folder, [, failed = ""]) => {
    const http = `${STORES}\n[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${settings}`;
    await Deno.writeTextFile(`${folder}/http.toml`, http);
    await using server = await listening(
      startServer({ args: gateArgs("serve", "--config", `${folder}/http.toml`), cwd: folder }),
    );
    await body(folder, failed, server.url);
  });
}

/** Two runs whose ids begin with the same four digits. */
function alike(): [string, string] {
  const seen = new Map<string, string>();
  for (let number = 0;; number++) {
    const name = `alike ${number}`;
    const digits = runKey(name).run_id.slice(0, 4);
    const other = seen.get(digits);
    if (other !== undefined) return [other, name];
    seen.set(digits, name);
  }
}

Deno.test("the first digits of several runs are refused, as are those of none", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const storage = { ...STORAGE, type: "sqlite", path: `${folder}/gate.db`, max_versions: null } as const;
    const runs = await openSqliteRunStore(storage, sha256);
    const names = alike();
    for (const name of names) await runs.append(appendTo(runKey(name), null, { operation: name }));
    await runs.laws.put(LAW);
    await runs.close();
    const [first, second] = names.map((name) => runKey(name).run_id);
    const digits = first?.slice(0, 4) ?? "";
    for (const command of ["status", "history"]) {
      const several = await gate(folder, command, digits);
      assert.deepEqual([several.code, several.stdout], [2, ""]);
      assert.match(
        several.stderr,
        new RegExp(`^gate: Cannot use run "${digits}": it begins [0-9a-f, ]{66} \\(name more digits\\)\n$`),
      );
      assert.ok(several.stderr.includes(first ?? "") && several.stderr.includes(second ?? ""));
      const none = await gate(folder, command, "0123456789abcdef0123456789abcdef");
      assert.deepEqual(none, {
        code: 2,
        stdout: "",
        stderr: 'gate: Cannot find run "0123456789abcdef0123456789abcdef" (gate runs lists the runs)\n',
      });
      const short = await gate(folder, command, "abc");
      assert.equal(short.stderr, 'gate: Cannot use run "abc": must be 4 to 32 lower-case hex digits\n');
    }
  }));

Deno.test("gate runs needs a store that exists, and names what is wrong with its flags", () =>
  inFolder(async (folder) => {
    // Flags, exit code and message.
    const rows: readonly [readonly string[], number, RegExp][] = [
      [[], 2, /run_state_store\.type is "memory"/],
      [["--limit", "0"], 2, /Cannot use --limit "0": must be an integer from 1 to 999999/],
      [["--server", "http://127.0.0.1:1"], 8, /Cannot reach the server/],
      [["--server", "127.0.0.1:1"], 2, /Cannot use --server "127\.0\.0\.1:1": expected http:\/\/ or https:\/\//],
      [["--token-file", "token"], 2, /Flag --token-file needs --server/],
      [["--server", "http://127.0.0.1:1", "--config", "a.toml"], 2, /omit --config/],
    ];
    for (const [flags, code, message] of rows) {
      const ended = await gate(folder, "runs", ...flags);
      assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
      assert.match(ended.stderr, message);
    }
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const missing = await gate(folder, "runs");
    assert.deepEqual([missing.code, missing.stderr], [
      8,
      `gate: Cannot open store "${folder}/gate.db": it does not exist\n`,
    ]);
    const namespace = await gate(folder, "status", "abcd", "--namespace", "x");
    assert.equal(namespace.code, 8);
  }));

Deno.test("gate status reads the keys of people from --evidence-keys", () =>
  withRuns(async (folder, [complete = ""]) => {
    await Deno.mkdir(`${folder}/keys`);
    // Flags, exit code and message.
    const rows: readonly [readonly string[], number, RegExp][] = [
      [["--evidence-keys", "keys"], 0, /^$/],
      [["--evidence-keys", "none"], 2, /--evidence-keys: it is not a folder that can be read/],
      [["--evidence-keys", "keys", "--server", "http://127.0.0.1:1"], 2, /omit --evidence-keys/],
    ];
    for (const [flags, code, message] of rows) {
      const ended = await gate(folder, "status", complete, ...flags);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stderr, message);
    }
  }));
