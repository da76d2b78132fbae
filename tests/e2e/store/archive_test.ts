/** `gate store archive` as a process: what it moves, what stays, what a server beside it notices, and what a kill leaves. */

import assert from "node:assert/strict";
import { join } from "node:path";

import type { JsonObject } from "@/canonical/json.ts";
import { openLocalRepository } from "@/runpack/host/local_repository.ts";
import { openContents } from "@/runpack/host/contents.ts";
import { closeStores, openStores, type Stores } from "@/store/open.ts";
import { StoreError } from "@/store/types.ts";
import { sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { startServer, type Wire } from "../client.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, listening, send } from "../http_fixture.ts";
import { evidence, LAW, startGate } from "../cli/run_command_fixture.ts";

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"
${STORES}`;

/** A folder with a configuration, a law and evidence. */
async function inWorld(body: (folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), CONFIG);
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    await Deno.writeTextFile(join(folder, "all.json"), evidence({ built: true, deployed: true }));
    await Deno.writeTextFile(join(folder, "half.json"), evidence({ built: true }));
    await body(folder);
  });
}

/** Drives a run with a key; returns its id. */
async function drive(folder: string, key: string, file = "all.json"): Promise<string> {
  const { stdout, stderr } = await gate(folder, "run", "law.yaml", "--evidence", file, "--run-key", key, "--json");
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout).result.run_id;
}

/** An instant that no record so far reaches. */
async function instantAfterAll(): Promise<string> {
  const now = Date.now();
  while (Date.now() <= now) await new Promise((resolve) => setTimeout(resolve, 2));
  return new Date().toISOString();
}

async function archive(folder: string, before: string, ...flags: readonly string[]): Promise<JsonObject> {
  const { code, stdout, stderr } = await gate(folder, "store", "archive", "--before", before, "--json", ...flags);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).result;
}

function idsOf({ archived }: JsonObject): string[] {
  return (archived as { run_id: string }[]).map(({ run_id }) => run_id).sort();
}

Deno.test("gate store archive moves exactly the complete runs whose last record is older, once", () =>
  inWorld(async (folder) => {
    const old = [await drive(folder, "a"), await drive(folder, "b")].sort();
    const active = await drive(folder, "c", "half.json");
    const before = await instantAfterAll();
    const young = await drive(folder, "d");

    assert.deepEqual(idsOf(await archive(folder, "2020-01-01T00:00:00Z")), []);
    assert.deepEqual(idsOf(await archive(folder, before, "--dry-run")), old);
    assert.equal((await gate(folder, "history", old[0] ?? "")).stdout.split("\n").length, 9);

    const moved = await archive(folder, before);
    assert.deepEqual(idsOf(moved), old);
    assert.deepEqual(idsOf(await archive(folder, before)), []);
    assert.deepEqual(idsOf(await archive(folder, before, "--dry-run")), []);

    const { stdout } = await gate(folder, "runs", "--json");
    const runs = JSON.parse(stdout).result.runs as {
      run_key: { run_id: string };
      archived?: JsonObject;
      status: string;
    }[];
    for (const { run_key: { run_id }, archived, status } of runs) {
      assert.equal(archived !== undefined, old.includes(run_id));
      assert.equal(status, run_id === active ? "active" : "complete");
    }
    assert.ok(runs.some(({ run_key }) => run_key.run_id === young));
    const sound = await gate(folder, "store", "check");
    assert.match(sound.stdout, /: sound \(1 law, 4 runs, 2 of them archived, 10 records, /);
  }));

Deno.test("gate store archive warns where other servers of a database cannot read the runpacks", () =>
  inFolder(async (folder) => {
    const database = 'type = "postgres"\nurl = "postgres://a:b@127.0.0.1:1/gate"\n';
    const stores = `[run_state_store]\n${database}\n[schema_registry]\n${database}`;
    const bucket = '\n[runpack_storage]\ntype = "object_store"\nprovider = "s3"\nbucket = "b"\n';
    const warning = /^gate warn: runpack_storage is not set: .* in ".*\/runpacks" alone, where other machines cannot/;
    const before = ["store", "archive", "--before", "2020-01-01T00:00:00Z", "--config", "pg.toml"];
    // The configuration, and whether it is warned of. There is no database, so the command ends with 8.
    for (const [config, isWarned] of [[stores, true], [stores + bucket, false]] as const) {
      await Deno.writeTextFile(join(folder, "pg.toml"), config);
      const ended = await gate(folder, ...before);
      assert.equal(ended.code, 8, ended.stderr);
      assert.equal(warning.test(ended.stderr), isWarned, ended.stderr);
    }
  }));

Deno.test("gate store check reads the runpacks of archived runs, wherever they are", () =>
  inWorld(async (folder) => {
    const run = await drive(folder, "a");
    const { archived } = await archive(folder, await instantAfterAll(), "--data-dir", "data");
    const { runpack_identity: runpack } = (archived as [{ runpack_identity: string }])[0];
    const missing = new RegExp(
      `gate.db: 1 problem .*\n  run in namespace 2 of run ${run}: its runpack ${runpack} is not in ".*" \\(--data-dir`,
    );
    const objects = join(folder, "data/runpacks/objects");
    const damage = async (): Promise<void> => {
      const [first] = [...Deno.readDirSync(objects)];
      await Deno.remove(join(objects, first?.name ?? ""), { recursive: true });
    };
    // What happens before, the arguments, the exit code, and what is printed.
    const rows: readonly (readonly [(() => Promise<void>) | null, readonly string[], number, RegExp])[] = [
      [null, [], 6, missing],
      [null, ["gate.db"], 6, missing],
      [null, ["--data-dir", "data"], 0, /: sound \(/],
      [null, ["gate.db", "--data-dir", "data"], 0, /: sound \(/],
      [damage, ["--data-dir", "data"], 6, /1 problem .*\n +run in namespace 2 of run .*: Cannot read/],
    ];
    for (const [before, args, code, printed] of rows) {
      await before?.();
      const ended = await gate(folder, "store", "check", ...args);
      assert.equal(ended.code, code, ended.stdout + ended.stderr);
      assert.match(ended.stdout, printed);
    }
  }));

Deno.test("an archived run is shown, exported, and driven again to the same answer", () =>
  inWorld(async (folder) => {
    const run = await drive(folder, "a");
    await gate(folder, "runpack", "export", "--namespace", "2", "--run", run, "--archive", "before.runpack");
    const { archived } = await archive(folder, await instantAfterAll());
    const { runpack_identity } = (archived as [{ runpack_identity: string }])[0];

    const line = new RegExp(`^Archived .*Z: its records are in runpack ${runpack_identity}$`, "m");
    // A command, its exit code, and what it prints.
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["runs"], 0, /release +archived +5/],
      [["status", run], 0, line],
      [["history", run], 0, line],
      [["explain", run], 0, line],
      [["run", "law.yaml", "--evidence", "all.json", "--run-key", "a"], 0, /is complete at revision 5/],
      [["runpack", "export", "--namespace", "2", "--run", run], 0, new RegExp(`^${runpack_identity}\n$`)],
      [["runpack", "export", "--namespace", "2", "--run", run, "--archive", "after.runpack"], 0, /./],
      [["runpack", "export", "--namespace", "2", "--run", run, "--redact", "built"], 2, /the run is archived/],
      [["runpack", "verify", "after.runpack"], 0, /^Complete; /],
      [["runpack", "show", runpack_identity], 0, /./],
      [["run", "law.yaml", "--evidence", "all.json", "--run-key", "a", "--export", "run.runpack"], 0, /./],
      [["store", "archive", "--before", "soon"], 2, /Cannot read --before "soon"/],
      [["store", "archive", "--before", "2999-01-01T00:00:00Z"], 2, /it is in the future/],
      [["store", "archive", "--before", "2020-01-01T00:00:00Z", "--owner", "env:OWNER"], 2, /run_state_store.type/],
    ];
    for (const [args, code, output] of rows) {
      const ended = await gate(folder, ...args);
      assert.equal(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
      assert.match(`${ended.stdout}${ended.stderr}`, output, args.join(" "));
    }
    const [first, ...others] = ["before", "after", "run"].map((name) =>
      Deno.readFileSync(join(folder, `${name}.runpack`))
    );
    for (const other of others) assert.deepEqual(other, first);
    await Deno.rename(join(folder, "runpacks"), join(folder, "elsewhere"));
    const gone = await gate(
      folder,
      "run",
      "law.yaml",
      "--evidence",
      "all.json",
      "--run-key",
      "a",
      "--export",
      "x.runpack",
    );
    assert.equal(gone.code, 2);
    assert.match(gone.stderr, /it is not in the data folder .*gate runpack pull fetches it/);
  }));

Deno.test("a running server notices that a run which it has read is archived", () =>
  inWorld(async (folder) => {
    const run_id = await drive(folder, "a");
    const run = { namespace_id: 2, scenario_id: "release", run_id };
    await using process = startServer({ args: gateArgs("serve"), cwd: folder, env: { GATE_CONFIG: "" } });
    const { url } = await listening(process);
    const call = async (name: string, input: JsonObject): Promise<Wire> => {
      const { text } = await send(url, callText(1, name, input), {});
      return JSON.parse(text).result.structuredContent;
    };
    const before = await call("scenario_status", run);
    const submission = (head: unknown, operation_id: string): JsonObject => ({
      ...run,
      expected_head: head as JsonObject,
      operation_id,
      content_type: "application/json",
      payload: { kind: "json", value: 1 },
      scope: { kind: "run_wide" },
    });
    const first = submission(before["accepted_head"], "1".repeat(32));
    const accepted = await call("scenario_submit", first);
    const { accepted_head } = await call("scenario_status", run);
    const { archived } = await archive(folder, await instantAfterAll());
    const [{ runpack_identity }] = archived as [{ runpack_identity: string }];

    const history = await call("scenario_history", run) as { records: unknown[]; archived: JsonObject };
    assert.deepEqual([history.records, history.archived["runpack_identity"]], [[], runpack_identity]);
    assert.deepEqual(await call("scenario_submit", first), accepted);
    const { outcome } = await call("scenario_submit", submission(accepted_head, "2".repeat(32))) as {
      outcome: { outcome: string; result: JsonObject };
    };
    assert.deepEqual([outcome.outcome, outcome.result["reason"]], ["payload_rejected", "run_archived"]);
    const { publication } = await call("runpack_export", { namespace_id: 2, run_id }) as { publication: JsonObject };
    assert.deepEqual([publication["outcome"], publication["runpack_identity"]], ["published", runpack_identity]);
  }));

/** Requires that each run is whole in the store, or has a tombstone and a complete runpack; returns how many have a tombstone. */
async function assertNeverNeither(folder: string, { runs }: Stores): Promise<number> {
  const repository = openLocalRepository(join(folder, "runpacks"));
  let archived = 0;
  for (const run of await runs.listRuns(null, 100)) {
    const { run_key, head } = run;
    if (run.archived === undefined) {
      assert.equal((await runs.listRecords(run_key, 0, 100)).length, head.revision);
      continue;
    }
    archived += 1;
    await assert.rejects(
      runs.listRecords(run_key, 0, 1),
      (error) => error instanceof StoreError && error.code === "archived",
    );
    const contents = await openContents(sha256, repository, run.archived.runpack_identity);
    assert.deepEqual(contents?.decoded.head, head);
    for await (const object of contents?.objects() ?? []) await object.bytes();
    assert.equal((await runs.receipts.list(run_key, 0, 100)).length, head.revision);
  }
  return archived;
}

/** Entries of a folder; none where it does not exist. */
function entriesIn(folder: string): number {
  try {
    return [...Deno.readDirSync(folder)].length;
  } catch {
    return 0;
  }
}

Deno.test("a process that is killed at any step leaves each run whole or archived, and the next one goes on", () =>
  inWorld(async (folder) => {
    const RUNS = 6;
    for (let index = 0; index < RUNS; index++) await drive(folder, `run ${index}`);
    const before = await instantAfterAll();
    const options = storesOptions(folder, WAL_FULL);
    const objects = join(folder, "runpacks", "objects");
    const manifests = join(folder, "runpacks", "manifests");
    // What a process has done when it is killed: written the first objects, or published another runpack.
    for (const written of [objects, manifests, manifests, manifests]) {
      const there = entriesIn(written);
      const killed = startGate(folder, "store", "archive", "--before", before);
      let isEnded = false;
      void killed.process.status.then(() => isEnded = true);
      while (entriesIn(written) === there && !isEnded) await new Promise((resolve) => setTimeout(resolve, 1));
      if (!isEnded) await killed.kill();
      const stores = await openStores(options, sha256);
      await assertNeverNeither(folder, stores);
      await closeStores(stores);
      assert.equal((await gate(folder, "store", "check", "gate.db")).code, 0);
    }
    await archive(folder, before);
    const stores = await openStores(options, sha256);
    assert.equal(await assertNeverNeither(folder, stores), RUNS);
    await closeStores(stores);
  }));

Deno.test("a run whose runpack does not verify stays in the store, and others are archived", () =>
  inWorld(async (folder) => {
    const [bad, good] = [await drive(folder, "a"), await drive(folder, "b")];
    const before = await instantAfterAll();
    const { stdout } = await gate(folder, "runpack", "export", "--namespace", "2", "--run", bad);
    const manifest = join(folder, "runpacks", "manifests", `${stdout.trim()}.json`);
    await Deno.chmod(manifest, 0o600).catch(() => {});
    await Deno.writeTextFile(manifest, (await Deno.readTextFile(manifest)).replace('"revision":5', '"revision":6'));
    const ended = await gate(folder, "store", "archive", "--before", before, "--json");
    assert.equal(ended.code, 6, ended.stderr);
    const { ok, result } = JSON.parse(ended.stdout);
    assert.deepEqual([ok, idsOf(result), result.problems[0].run_id], [false, [good], bad]);
    assert.equal((await gate(folder, "history", bad)).stdout.split("\n").length, 9);
  }));

Deno.test("a run stays in the store while its runpack cannot be mirrored", () =>
  inWorld(async (folder) => {
    const run = await drive(folder, "a");
    const before = await instantAfterAll();
    const storage = 'provider = "s3"\nbucket = "b"\nendpoint = "http://127.0.0.1:9"\nallow_http = true\n';
    const text = `${CONFIG}\n[runpack_storage]\ntype = "object_store"\n${storage}`;
    await Deno.writeTextFile(join(folder, "s3.toml"), text);
    const ended = await gate(folder, "store", "archive", "--before", before, "--config", "s3.toml");
    assert.deepEqual([ended.code, ended.stdout], [8, ""], ended.stderr);
    assert.match(ended.stderr, /^gate: Cannot .* the bucket "b".*\(nothing is lost: run the command again\)\n$/);
    assert.equal((await gate(folder, "history", run)).stdout.split("\n").length, 9);
  }));
