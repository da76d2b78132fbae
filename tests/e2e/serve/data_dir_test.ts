/** A start with `--data-dir` alone, as packages have it: what it accepts is there at the next start. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@/canonical/json.ts";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { initializeParams, startServer } from "../client.ts";
import { gate, gateArgs, inFolder } from "../gate_command.ts";

/** Calls a tool of a server that is started for this call alone; returns its structured answer and the log. */
async function callOnce(
  folder: string,
  flags: readonly string[],
  name: string,
  input: JsonObject,
): Promise<{ readonly answer: JsonObject; readonly log: string }> {
  await using server = startServer({ args: gateArgs("serve", ...flags), cwd: folder, env: { GATE_CONFIG: "" } });
  await server.request("initialize", initializeParams());
  const { result } = await server.request("tools/call", { name, arguments: input });
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  return { answer: (result as JsonObject)["structuredContent"] as JsonObject, log: server.errors() };
}

async function resultOf(folder: string, ...words: readonly string[]): Promise<JsonObject> {
  const { code, stdout, stderr } = await gate(folder, ...words, "--json");
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as { result: JsonObject }).result;
}

const CONSOLE = new URL("../../../src/console/assets.json", import.meta.url);
const LISTED = { namespace_id: 2 };

Deno.test("gate serve --data-dir without a configuration keeps what it accepts in that folder", () =>
  inFolder(async (folder) => {
    const flags = ["--data-dir", "a/data"];
    const { answer, log } = await callOnce(folder, flags, "scenario_define", { spec: spec() });
    assert.match(log, new RegExp(`starter configuration in ${folder}/a/data; .*runs in ${folder}/a/data/gate\\.db`));
    // The set of the checkout grants whole classes: those that are needed in part stay wider, the others are given up.
    assert.match(log, /permissions are wider than the configuration needs: narrower are --allow-read=gate\.toml,/);
    assert.doesNotMatch(log, /--(allow|deny)-(net|ffi|import)|--allow-run/);
    // What is kept stays wider, and is named.
    const isBundled = Deno.env.has("GATE_BINARY") || existsSync(CONSOLE);
    assert.equal(/ --deny-run\b/.test(log), !isBundled, log);
    const { answer: listed } = await callOnce(folder, flags, "scenarios_list", LISTED);
    assert.deepEqual(
      (listed["items"] as JsonObject[]).map((item) => item["scenario_law_identity"]),
      [answer["scenario_law_identity"]],
    );
    const { answer: providers } = await callOnce(folder, flags, "providers_list", {});
    assert.match(JSON.stringify(providers), /"json"/);
    const record = { namespace_id: 2, schema_id: "a", version: "1", description: "", schema: {} };
    const created_at = { kind: "unix_millis", value: 1 };
    const { answer: stored } = await callOnce(folder, flags, "schemas_register", { record: { ...record, created_at } });
    assert.equal(stored["error"], undefined, "local callers may register schemas");
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["a"]);
    const checked = await gate(folder, "store", "check", "--data-dir", "a/data");
    assert.match(checked.stdout, /a\/data\/gate\.db: sound \(1 law, 0 runs/);
    const { stdout } = await gate(folder, "permissions", "--data-dir", "a/data");
    assert.match(stdout, new RegExp(`--allow-write=[^ ]*${folder}/a/data`));
    const comma = await gate(folder, "permissions", "--flags", "--data-dir", "w,y");
    assert.deepEqual([comma.code, comma.stdout], [2, ""]);
    assert.match(comma.stderr, new RegExp(`no flag can name a path or a variable with a comma: rename ${folder}/w,y`));
  }));

Deno.test("every command on runs follows --data-dir as gate serve does", () =>
  inFolder(async (folder) => {
    const flags = ["--data-dir", "data"];
    const words = ["run", "--when", "tests_failed==0", "--set", "tests_failed=0", ...flags];
    const { run_id } = await resultOf(folder, ...words);
    const run = String(run_id);
    const listed = await resultOf(folder, "runs", ...flags);
    assert.deepEqual((listed["runs"] as JsonObject[]).map((one) => (one["run_key"] as JsonObject)["run_id"]), [run]);
    const { answer } = await callOnce(folder, flags, "runs_list", LISTED);
    assert.equal((answer["items"] as JsonObject[]).length, 1, "the server has the run of gate run");
    const rows: readonly (readonly string[])[] = [
      ["status", run],
      ["explain", run],
      ["history", run],
      ["runpack", "export", "--namespace", "2", "--run", run, "--archive", "a.runpack"],
      ["store", "backup", "copy.db"],
      ["store", "migrate"],
      ["store", "check"],
      ["store", "archive", "--before", new Date().toISOString()],
      ["store", "check"],
    ];
    for (const row of rows) {
      const { code, stderr } = await gate(folder, ...row, ...flags);
      assert.equal(code, 0, `${row.join(" ")}: ${stderr}`);
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["a.runpack", "copy.db", "data"]);
    for (const name of ["data", "data/evidence", "data/runpacks", "data/runpacks/objects"]) {
      assert.equal((Deno.statSync(join(folder, name)).mode ?? 0) & 0o777, 0o700, name);
    }
  }));

/** Where a configuration comes from, which goes before the data folder. */
const NAMED: readonly (readonly [what: string, file: string, flags: readonly string[]])[] = [
  ["a gate.toml in the working folder", "gate.toml", []],
  ["--config", "other.toml", ["--config", "other.toml"]],
];

for (const [what, file, flags] of NAMED) {
  Deno.test(`gate serve --data-dir beside ${what}: the configuration says where runs are`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(join(folder, file), "[docs]\nenabled = false\n");
      const { log } = await callOnce(folder, [...flags, "--data-dir", "data"], "scenarios_list", LISTED);
      assert.match(log, new RegExp(`configuration ${folder}/${file}; .*runs in memory`));
    }));
}

Deno.test("gate serve --data-dir in a place that cannot be a folder ends with the reason", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "data"), "");
    const { code, stderr } = await gate(folder, "serve", "--data-dir", "data");
    assert.equal(code, 2, stderr);
    assert.match(stderr, /Cannot write \\"?.*data\/evidence/);
  }));
