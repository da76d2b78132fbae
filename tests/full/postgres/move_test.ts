/**
 * A run moves from a server on a file to a server on a database, and a database from a backup to another one: with real servers, under a
 * clock that stands still.
 */
import assert from "node:assert/strict";
import { join } from "node:path";

import type { JsonObject } from "@/canonical/json.ts";
import { id } from "@/tools/tests/tools_fixture.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  type OpenRun,
  openRun,
  startGate,
} from "../../e2e/evidence/acquisition_serve.ts";
import { type Ended, gate, inFolder } from "../../e2e/gate_command.ts";
import { evidence, LAW } from "../../e2e/cli/run_command_fixture.ts";
import { dumpOf } from "../../simulation/store/dump.ts";
import { createMigrated, dump, type PostgresServer, restore, runSql, startPostgres, startStandby } from "./server.ts";

const server: PostgresServer = await startPostgres();
await runSql(server, "CREATE ROLE gate_server LOGIN");

/** As Debian installs it. */
const LIBRARY = `/usr/lib/${Deno.build.arch}-linux-gnu/faketime/libfaketimeMT.so.1`;

/** The clock of a process that stands still, tomorrow. Waiting goes by the monotonic clock, which runs. */
const FIXED_CLOCK = {
  LD_PRELOAD: LIBRARY,
  FAKETIME: new Date(Date.now() + 86_400_000).toISOString().slice(0, 19).replace("T", " "),
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
  TZ: "UTC",
};

/** A configuration with both stores in one place, in a folder of its own. */
async function configure(folder: string, store: string): Promise<string> {
  await Deno.mkdir(folder);
  const sections = ["run_state_store", "schema_registry"].map((name) => `[${name}]\n${store}\n`).join("");
  const provider = '[[providers]]\nname = "env"\ntype = "builtin"\nconfig = { allowlist = ["BUILT"] }\n';
  await Deno.writeTextFile(join(folder, "gate.toml"), sections + provider);
  return join(folder, "gate.toml");
}

/** A gate that opens where the environment says what was built and a caller says `true`. */
function releaseGate(): JsonObject {
  const text = { domain: "String", minimum_bytes: 0, maximum_bytes: 100 };
  const isTrue = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
  return oneStage([
    acquiredCondition("built", text, { predicate: "Exists" }),
    acquiredCondition("approved", { domain: "Boolean" }, isTrue, { allowed_channels: ["caller_submission"] }),
  ], [binding("source", "built", "env", "get", { key: "BUILT" })]);
}

function submission(open: OpenRun, operation: number, note: string): JsonObject {
  return {
    ...open.run,
    expected_head: open.head,
    operation_id: id(operation),
    content_type: "application/json",
    payload: { kind: "json", value: { note } },
    scope: { kind: "run_wide" },
  };
}

async function submit(gate: Gate, open: OpenRun, note: string): Promise<JsonObject> {
  const input = submission(open, ++open.operations, note);
  const { outcome, result } = await gate.decide("scenario_submit", input);
  assert.equal(outcome, "accepted", JSON.stringify(result));
  open.head = result["accepted_head"] as JsonObject;
  return input;
}

async function attempt(gate: Gate, open: OpenRun, approved: boolean): Promise<string> {
  const caller_evidence = [{
    condition_id: "approved",
    retention: { retention: "RetainCanonicalValue" },
    value: { value: approved, value_type: "Boolean" },
  }];
  const { outcome, result } = await evaluate(gate, open, { caller_evidence });
  assert.equal(outcome, "accepted", JSON.stringify(result));
  return attemptOf(result).outcome;
}

/** Every file of the runpacks in a data folder, by its path. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) { for (const [below, text] of await filesIn(path)) found.set(`${name}/${below}`, text); }
    else found.set(name, await Deno.readTextFile(path));
  }
  return found;
}

async function exportRun(gate: Gate, open: OpenRun): Promise<string> {
  const { namespace_id = null, run_id = null } = open.run;
  const { publication } = await gate.call("runpack_export", { namespace_id, run_id });
  const { outcome, runpack_identity } = publication as { outcome: string; runpack_identity: string };
  assert.equal(outcome, "published");
  return runpack_identity;
}

function assertDone(ended: Ended): string {
  assert.equal(ended.code, 0, `${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

Deno.test("a run begun on SQLite goes on on PostgreSQL, and its runpacks have the bytes of the SQLite server's", () =>
  inFolder(async (folder) => {
    const database = await createMigrated(server, "moved", "gate_server");
    const url = server.url(database, "gate_server");
    const [file, base] = [join(folder, "file"), join(folder, "base")];
    await configure(file, 'type = "sqlite"\npath = "gate.db"');
    await configure(base, `type = "postgres"\nurl = "${url}"`);
    const environment = { BUILT: "yes", ...FIXED_CLOCK };

    await using first = await startGate(file, { BUILT: "yes" });
    const open = await openRun(first, releaseGate());
    const repeated = await submit(first, open, "begun on the file");
    assert.equal(await attempt(first, open, false), "false");
    const original = await first.call("scenario_submit", repeated);
    const prefix = await exportRun(first, open);
    // The server of the source is still there.
    assertDone(await gate(folder, "store", "copy", "file/gate.toml", "base/gate.toml"));
    await first.server.closeInput();

    await using before = await startGate(file, environment);
    await using after = await startGate(base, environment);
    assert.equal(await exportRun(after, open), prefix);
    const packs = (): Promise<ReadonlyMap<string, string>[]> =>
      Promise.all([join(file, "runpacks"), join(base, ".gate/runpacks")].map(filesIn)) as never;
    const [ofFile, ofBase] = await packs();
    assert.ok(ofFile !== undefined && ofFile.size > 3);
    assert.deepEqual(ofBase, ofFile);
    assert.deepEqual(await after.call("scenario_submit", repeated), original);

    const heads: JsonObject[] = [];
    const identities: string[] = [];
    for (const one of [before, after]) {
      const own = { ...open };
      await submit(one, own, "continued");
      assert.equal(await attempt(one, own, true), "true");
      heads.push(own.head);
      identities.push(await exportRun(one, own));
    }
    assert.deepEqual(heads[1], heads[0]);
    assert.equal(identities[1], identities[0]);
    assert.notEqual(identities[0], prefix);
    const [continuedFile, continuedBase] = await packs();
    assert.ok((continuedFile?.size ?? 0) > ofFile.size);
    assert.deepEqual(continuedBase, continuedFile);
    for (const one of [before, after]) await one.server.closeInput();
    assert.ok([...continuedFile?.keys() ?? []].some((path) => path.includes(identities[0] ?? "?")));
    // Both servers accepted the same records, so there is nothing to copy in either direction.
    const again = JSON.parse(
      assertDone(await gate(folder, "store", "copy", "base/gate.toml", "file/gate.toml", "--json")),
    );
    assert.equal(again.result.copies[0].written.records, 0);
  }));

Deno.test("a database is backed up and restored into another one, where it passes the check and its runs go on", () =>
  inFolder(async (folder) => {
    const database = await createMigrated(server, "backed_up", "gate_server");
    const source = join(folder, "source");
    await configure(source, `type = "postgres"\nurl = "${server.url(database, "gate_server")}"`);
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    await Deno.writeTextFile(join(folder, "built.json"), evidence({ built: true }));
    await Deno.writeTextFile(join(folder, "deployed.json"), evidence({ deployed: true }));
    const drive = (store: string, file: string): Promise<Ended> =>
      gate(folder, "run", "law.yaml", "--config", `${store}/gate.toml`, "--evidence", file, "--run-key", "7", "--json");
    const started = JSON.parse((await drive("source", "built.json")).stdout).result;
    assert.equal(started.status, "active");
    await dump(server, database, join(folder, "gate.dump"));
    // The backup has one moment: what was accepted afterwards is not in it.
    await drive("source", "deployed.json");

    await runSql(server, "CREATE DATABASE restored ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0");
    await restore(server, "restored", join(folder, "gate.dump"));
    await configure(join(folder, "restored"), `type = "postgres"\nurl = "${server.url("restored", "gate_server")}"`);
    const migrate = [
      "--config",
      "restored/gate.toml",
      "--owner",
      server.url("restored"),
      "--server-role",
      "gate_server",
    ];
    assertDone(await gate(folder, "store", "migrate", ...migrate));
    const checked = assertDone(await gate(folder, "store", "check", "--config", "restored/gate.toml"));
    assert.match(checked, /: sound \(1 law, 1 run, 5 records, /);
    const continued = JSON.parse((await drive("restored", "deployed.json")).stdout).result;
    assert.deepEqual([continued.status, continued.run_id], ["complete", started.run_id]);
    assertDone(await gate(folder, "store", "check", server.url("restored")));
    const pack = join(folder, "restored.runpack");
    const named = ["--config", "restored/gate.toml", "--namespace", "2", "--run", started.run_id];
    assertDone(await gate(folder, "runpack", "export", ...named, "--archive", pack));
    assertDone(await gate(folder, "runpack", "verify", pack));
  }));

Deno.test("a standby that pg_basebackup made passes the check and can be copied, while it is one", () =>
  inFolder(async (folder) => {
    const database = await createMigrated(server, "with_standby", "gate_server");
    const source = join(folder, "source");
    await configure(source, `type = "postgres"\nurl = "${server.url(database, "gate_server")}"`);
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    await Deno.writeTextFile(join(folder, "built.json"), evidence({ built: true }));
    const drive = ["run", "law.yaml", "--config", "source/gate.toml", "--evidence", "built.json", "--run-key", "8"];
    await gate(folder, ...drive);
    await using standby = await startStandby(server);
    const checked = assertDone(await gate(folder, "store", "check", standby.url(database, "gate_server")));
    assert.match(checked, /: sound \(1 law, 1 run, 5 records, /);
    assertDone(await gate(folder, "store", "copy", standby.url(database, "gate_server"), "copy.db"));
    assert.equal(dumpOf(join(folder, "copy.db"))["records"]?.length, 5);
    // A standby accepts no writes, so it cannot be a target.
    const refused = await gate(folder, "store", "copy", "copy.db", standby.url(database, "gate_server"));
    assert.deepEqual([refused.code, refused.stdout], [8, ""]);
    assert.match(refused.stderr, /the server accepts no writes/);
  }));

Deno.test.afterAll(() => server[Symbol.asyncDispose]());
