import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { closeStores, openStores } from "../../../src/store/open.ts";
import { appendTo, LAW, makeSchema, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";
import { startGate } from "../cli/run_command_fixture.ts";

/** Creates a store with one law and one schema in a folder, and its configuration. */
async function makeStore(folder: string): Promise<string> {
  const options = storesOptions(folder, WAL_FULL);
  const stores = await openStores(options, sha256);
  await stores.runs.laws.put(LAW);
  await stores.schemas.register(makeSchema("release", "1"));
  await closeStores(stores);
  const { path } = options.run;
  assert.ok(path !== null);
  const section = (name: string): string => `[${name}]\ntype = "sqlite"\npath = ${JSON.stringify(path)}\n`;
  await Deno.writeTextFile(join(folder, "gate.toml"), section("run_state_store") + section("schema_registry"));
  return path;
}

Deno.test("gate store check and backup need a store file", async () => {
  await inFolder(async (folder) => {
    for (const args of [["store", "check"], ["store", "backup", "copy.db"]]) {
      const memory = await gate(folder, ...args);
      assert.deepEqual([memory.code, memory.stdout], [2, ""]);
      assert.match(
        memory.stderr,
        /^gate: Cannot find a store file: .*memory.* \(name the configuration with --config\)\n$/,
      );
    }
    await gate(folder, "init");
    const path = join(folder, ".gate/gate.db");
    for (const args of [["store", "check"], ["store", "backup", "copy.db"]]) {
      const missing = await gate(folder, ...args);
      assert.deepEqual(missing, {
        code: 8,
        stdout: "",
        stderr: `gate: Cannot open store "${path}": it does not exist\n`,
      });
    }
    const other = await gate(folder, "store", "backup", "copy.db", "--store", "runs");
    assert.equal(other.code, 2);
    assert.match(other.stderr, /^gate: Cannot use --store "runs": must be one of run_state_store, schema_registry\n$/);
  });
});

Deno.test("gate store check finds changes that another program made", async () => {
  await inFolder(async (folder) => {
    const path = await makeStore(folder);
    const sound = await gate(folder, "store", "check");
    assert.deepEqual(sound, {
      code: 0,
      stdout: `${path}: sound (1 law, 0 runs, 0 records, 1 schema, 0 snapshots)\n`,
      stderr: "",
    });

    const database = new DatabaseSync(path);
    database.exec("UPDATE laws SET law = replace(law, 'release', 'relaxed')");
    database.close();
    const changed = await gate(folder, "store", "check");
    assert.deepEqual([changed.code, changed.stderr], [6, ""]);
    assert.match(changed.stdout, /: \d+ problems? \(1 law, .*\)\n {2}law in namespace 2: /);
    const asJson = await gate(folder, "store", "check", "--json", path);
    const { ok, result } = JSON.parse(asJson.stdout);
    assert.deepEqual([asJson.code, ok, result.stores[0].sound, result.stores[0].problems[0].what], [
      6,
      false,
      false,
      "law",
    ]);

    await Deno.writeTextFile(path, "no database ".repeat(500));
    const foreign = await gate(folder, "store", "check", "--json");
    assert.deepEqual([foreign.code, JSON.parse(foreign.stderr).error.code], [6, "store_corrupt"]);
  });
});

Deno.test("gate store backup writes a sound copy, and replaces no file", async () => {
  await inFolder(async (folder) => {
    const path = await makeStore(folder);
    const copy = join(folder, "copy.db");
    assert.deepEqual(await gate(folder, "store", "backup", "copy.db"), { code: 0, stdout: `${copy}\n`, stderr: "" });
    const checked = await gate(folder, "store", "check", copy);
    assert.deepEqual([checked.code, checked.stdout.startsWith(`${copy}: sound (1 law`)], [0, true]);

    const again = await gate(folder, "store", "backup", "copy.db");
    assert.deepEqual(again, {
      code: 2,
      stdout: "",
      stderr: `gate: Cannot write "${copy}": it exists already (name a new file)\n`,
    });
    const below = await gate(folder, "store", "backup", "copy.db/below");
    const why = "a part of its path is not a folder";
    assert.deepEqual([below.code, below.stderr], [2, `gate: Cannot write "${copy}/below": ${why}\n`]);
    const asJson = await gate(folder, "store", "backup", "other.db", "--json");
    const { result } = JSON.parse(asJson.stdout);
    assert.deepEqual([result.store, result.path, result.backup.sound], ["run_state_store", path, true]);
  });
});

Deno.test("gate store backup names the file when the disk is full", () =>
  inFolder(async (folder) => {
    const path = await makeStore(folder);
    const { command, args } = processOf(gateArgs("store", "backup", "copy.db"));
    // Files are limited to 64 blocks of 512 or 1024 bytes; a larger write fails instead of ending the process.
    const limited = `trap '' XFSZ; ulimit -f 64; exec "$@"`;
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", limited, "sh", command, ...args],
      cwd: folder,
      env: { NO_COLOR: "1", GATE_CONFIG: "" },
      stdin: "null",
    }).output();
    assert.equal(code, 8);
    const message = new TextDecoder().decode(stderr);
    assert.ok(message.startsWith(`gate: Cannot back up "${path}" to "${join(folder, "copy.db")}": `), message);
    assert.ok(!(await gate(folder, "store", "check", "copy.db")).stdout.includes("sound"));
  }));

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`gate store backup ended by ${signal}: exit code ${code}, and no part of the copy is left`, () =>
    inFolder(async (folder) => {
      await makeStore(folder);
      await Deno.mkdir(join(folder, "copies"));
      const namesOf = (): readonly string[] => [...Deno.readDirSync(join(folder, "copies"))].map(({ name }) => name);
      // A signal that comes after the end of the command ends nothing: the next copy is tried.
      for (let copies = 0, ended = 0; ended !== code;) {
        const { process } = startGate(folder, "store", "backup", `copies/${copies}.db`);
        while (namesOf().length === copies) await new Promise((resolve) => setTimeout(resolve, 1));
        try {
          process.kill(signal);
        } catch {
          // It has ended.
        }
        ended = (await process.status).code;
        if (ended === 0) copies += 1;
        else assert.equal(ended, code);
        assert.deepEqual(namesOf().filter((name) => !name.endsWith(".db")), []);
      }
    }));
}

Deno.test("gate store migrate adds the runs of an older store to the index, once", () =>
  inFolder(async (folder) => {
    const none = await gate(folder, "store", "migrate");
    assert.deepEqual([none.code, none.stderr], [
      2,
      'gate: Cannot find a store file: run_state_store.type is "memory" (name the configuration with --config)\n',
    ]);
    const path = await makeStore(folder);
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.append(appendTo(runKey("a"), null, "create a"));
    await closeStores(stores);
    const database = new DatabaseSync(path);
    database.exec("DELETE FROM run_index");
    database.close();
    const first = await gate(folder, "store", "migrate");
    assert.deepEqual(first, { code: 0, stdout: `${path}: 1 run added to the index of runs\n`, stderr: "" });
    const again = await gate(folder, "store", "migrate", "--json");
    assert.deepEqual(JSON.parse(again.stdout), { ok: true, command: "store migrate", result: { path, runs_added: 0 } });
    for (const flag of ["--owner", "--server-role"]) {
      const message = `gate: Cannot use ${flag}: run_state_store.type is "sqlite"\n`;
      assert.deepEqual(await gate(folder, "store", "migrate", flag, "x"), { code: 2, stdout: "", stderr: message });
    }
  }));
