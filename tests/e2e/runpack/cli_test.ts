import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { stringify } from "yaml";
import { openStores } from "../../../src/store/open.ts";
import { SHA256 } from "../../simulation/kernel/fixture.ts";
import { GOLDEN_FOLDER, goldenSigner } from "../../simulation/runpack/packs.ts";
import { playGoldenRun, storeRun } from "../../simulation/runpack/run.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { initializeParams, startServer } from "../client.ts";
import { type Ended, gate, gateArgs, inFolder } from "../gate_command.ts";

const RUN = playGoldenRun(0, () => "gate-kernel-1");
const { run_id } = RUN.state.run_key;
const exportOf = (run: string, namespace = "2") => ["runpack", "export", "--namespace", namespace, "--run", run];
const EXPORT = exportOf(run_id);
const CONFIG = 'run_state_store = { type = "sqlite", path = "gate.db" }\n';

/** Runs a test in a folder with a configuration whose store holds the golden run. */
async function withGoldenRun(test: (folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), SHA256);
    await storeRun(stores.runs, RUN);
    await stores.runs.close();
    await stores.schemas.close();
    await Deno.writeTextFile(join(folder, "gate.toml"), CONFIG);
    const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
    await Deno.writeTextFile(join(folder, "release.key"), `${seed.toString("base64")}\n`);
    await test(folder);
  });
}

async function filesIn(folder: string, prefix = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(join(folder, prefix))) {
    const path = prefix === "" ? name : `${prefix}/${name}`;
    if (isDirectory) { for (const [inner, text] of await filesIn(folder, path)) found.set(inner, text); }
    else found.set(path, await Deno.readTextFile(join(folder, path)));
  }
  return new Map([...found].sort());
}

async function identityOf(pack: string): Promise<string> {
  return SHA256(`gate:runpack:v1\0${await Deno.readTextFile(join(GOLDEN_FOLDER, pack, "manifest.json"))}`);
}

// The flags of an export, and the golden runpack that it creates.
const GOLDEN: readonly [readonly string[], string][] = [
  [[], "plain"],
  [["--redact", "log", "--redact", "approved"], "withheld"],
  [["--signing-key", "release.key"], "signed"],
];

for (const [flags, pack] of GOLDEN) {
  Deno.test(`gate runpack export ${flags.join(" ")} writes the golden runpack "${pack}" as folder and as file`, () =>
    withGoldenRun(async (folder) => {
      const targets = ["--out", "pack", "--archive", "a.runpack", "--json"];
      const end = await gate(folder, ...EXPORT, ...flags, ...targets);
      assert.deepEqual([end.code, end.stderr], [0, ""]);
      assert.deepEqual(JSON.parse(end.stdout), {
        ok: true,
        command: "runpack export",
        result: {
          runpack_identity: await identityOf(pack),
          namespace_id: 2,
          run_id,
          key_id: pack === "signed" ? goldenSigner().keyId : null,
          out: join(folder, "pack"),
          archive: join(folder, "a.runpack"),
        },
      });
      const golden = await filesIn(join(GOLDEN_FOLDER, pack));
      assert.deepEqual(await filesIn(join(folder, "pack")), golden);
      await Deno.mkdir(join(folder, "unpacked"));
      const args = ["-xf", join(folder, "a.runpack"), "-C", join(folder, "unpacked")];
      assert.equal((await new Deno.Command("tar", { args }).output()).code, 0);
      assert.deepEqual(await filesIn(join(folder, "unpacked")), golden);
    }));
}

Deno.test("gate replay reads a law in YAML, and reports the line of an error", () =>
  inFolder(async (folder) => {
    const replay = async (text: string): Promise<Ended> => {
      await Deno.writeTextFile(join(folder, "next.yaml"), text);
      return await gate(folder, "replay", join(GOLDEN_FOLDER, "plain"), "--law", "next.yaml");
    };
    const law = `# The law of the run.\n${stringify(JSON.parse(RUN.law.law))}`;
    const same = await replay(law);
    assert.equal(same.code, 0, same.stderr);
    assert.match(same.stdout, /\nNone of \d+ decisions differs\n/);
    const start = 'gate: Cannot use law "next.yaml": 1 error\ngate: next.yaml:';
    const rows: readonly [string, string][] = [
      [law.replace("\n", "\ncolour: red\n"), '2:1: error: $.colour: Member "colour" is unknown'],
      ["# Nothing but this is wrong.\n[", '2:1: error: Expected "]", which closes what begins here'],
    ];
    for (const [text, fault] of rows) {
      const { code, stderr } = await replay(text);
      assert.equal(code, 2);
      assert.ok(stderr.startsWith(`${start}${fault}`), stderr);
    }
  }));

Deno.test("gate runpack export prints only the identity, which is the same for the same head", () =>
  withGoldenRun(async (folder) => {
    const [first, second] = [await gate(folder, ...EXPORT), await gate(folder, ...EXPORT)];
    assert.deepEqual(first, { code: 0, stdout: `${await identityOf("plain")}\n`, stderr: "" });
    assert.deepEqual(second, first);
    assert.deepEqual(await gate(folder, ...exportOf(run_id.slice(0, 6))), first);
  }));

// A mistake, its exit code and message.
const REFUSED: readonly [string, readonly string[], number, RegExp, ((folder: string) => Promise<void>)?][] = [
  ["no namespace", ["runpack", "export", "--run", run_id], 2, /--namespace/],
  ["an invalid namespace", exportOf(run_id, "0"), 2, /must be an integer of at least 1/],
  ["an invalid run", exportOf("xyz"), 2, /must be 4 to 32 lower-case hex digits/],
  ["the first digits of no run", exportOf("fedcba98"), 2, /Cannot find run/],
  ["a run that is not there", exportOf("f".repeat(32)), 2, /Cannot find run "f{32}" in namespace 2/],
  ["a run of another namespace", exportOf(run_id, "3"), 2, /Cannot find run/],
  ["a condition that is not there", [...EXPORT, "--redact", "aproved"], 2, /Cannot withhold condition "aproved"/],
  ["an invalid key", [...EXPORT, "--signing-key", "gate.toml"], 2, /Cannot use key "gate.toml"/],
  ["a folder that is in use", [...EXPORT, "--out", "."], 2, /is not an empty folder/],
  ["a file that exists", [...EXPORT, "--archive", "gate.toml"], 2, /exists already/],
  ["a store in memory", [...EXPORT, "--config", "memory.toml"], 2, /is "memory"/, (folder) => {
    return Deno.writeTextFile(join(folder, "memory.toml"), "");
  }],
  ["a store that is not there", [...EXPORT, "--config", "other.toml"], 8, /does not exist/, (folder) => {
    return Deno.writeTextFile(join(folder, "other.toml"), CONFIG.replace("gate.db", "other.db"));
  }],
  ["a data folder that is a file", [...EXPORT, "--data-dir", "gate.toml"], 8, /Cannot keep an object/],
  ["an object that was changed", EXPORT, 6, /holds other bytes/, async (folder) => {
    await gate(folder, ...EXPORT);
    for (const { name } of Deno.readDirSync(join(folder, "runpacks", "objects"))) {
      for (const file of Deno.readDirSync(join(folder, "runpacks", "objects", name))) {
        await Deno.writeTextFile(join(folder, "runpacks", "objects", name, file.name), "changed");
      }
    }
  }],
  [
    "a store that cannot be reached",
    [...EXPORT, "--config", "s3.toml"],
    8,
    /^gate: Cannot .* the bucket "b".*is in the local/,
    (folder) => {
      const storage =
        'type = "object_store", provider = "s3", bucket = "b", endpoint = "http://127.0.0.1:9", allow_http = true';
      return Deno.writeTextFile(join(folder, "s3.toml"), `${CONFIG}runpack_storage = { ${storage} }\n`);
    },
  ],
  ["a pull of no identity", ["runpack", "pull", "abc"], 2, /64 lower-case hex digits/],
  ["a pull without a bucket", ["runpack", "pull", "ab".repeat(32)], 2, /runpack_storage is not configured/],
  ["a signature without a key", ["runpack", "sign", "."], 2, /--key/],
  ["a signature with a public key", ["runpack", "sign", ".", "--key", "k.pub"], 2, /holds a public key/, (folder) => {
    return Deno.copyFile(join(folder, "release.key"), join(folder, "k.pub"));
  }],
  ["a signature of nothing", ["runpack", "sign", "none", "--key", "release.key"], 2, /Cannot find runpack "none"/],
  ["a signature of no runpack", ["runpack", "sign", ".", "--key", "release.key"], 6, /its manifest is missing/],
  ["a signature of no archive", ["runpack", "sign", "gate.toml", "--key", "release.key"], 6, /Cannot read archive/],
];

for (const [what, argv, code, message, prepare] of REFUSED) {
  Deno.test(`gate ${argv.slice(0, 2).join(" ")} given ${what}: exit code ${code}`, () =>
    withGoldenRun(async (folder) => {
      await prepare?.(folder);
      const end = await gate(folder, ...argv);
      assert.deepEqual([end.code, end.stdout], [code, ""], end.stderr);
      assert.match(end.stderr, message);
    }));
}

Deno.test("gate runpack sign signs a folder, a file and a published runpack", () =>
  withGoldenRun(async (folder) => {
    await gate(folder, ...EXPORT, "--out", "pack", "--archive", "a.runpack");
    const identity = await identityOf("plain");
    const { keyId } = goldenSigner();
    const signature = await Deno.readTextFile(join(GOLDEN_FOLDER, "signed", "signatures", `${keyId}.json`));
    for (const runpack of ["pack", "pack", "a.runpack", "a.runpack", identity]) {
      const end = await gate(folder, "runpack", "sign", runpack, "--key", "release.key");
      assert.deepEqual(end, { code: 0, stdout: `${identity} signed by ${keyId}\n`, stderr: "" });
    }
    assert.deepEqual(await filesIn(join(folder, "pack")), await filesIn(join(GOLDEN_FOLDER, "signed")));
    const published = join(folder, "runpacks", "signatures", identity, `${keyId}.json`);
    assert.equal(await Deno.readTextFile(published), signature);
    const again = await gate(folder, ...EXPORT, "--archive", "b.runpack");
    assert.equal(again.code, 0);
    const [a, b] = await Promise.all(["a", "b"].map((name) => Deno.readFile(join(folder, `${name}.runpack`))));
    assert.deepEqual(a, b);
  }));

Deno.test("gate runpack sign --out writes the signed runpack to a new file, and leaves the other as it is", () =>
  withGoldenRun(async (folder) => {
    await gate(folder, ...EXPORT, "--out", "pack", "--archive", "a.runpack");
    const identity = await identityOf("plain");
    const signed = await gate(
      folder,
      "runpack",
      "sign",
      "a.runpack",
      "--key",
      "release.key",
      "--out",
      "signed.runpack",
    );
    assert.deepEqual([signed.code, signed.stderr], [0, ""]);
    const expected = await Deno.readFile(join(folder, "signed.runpack"));
    await gate(folder, "runpack", "sign", "a.runpack", "--key", "release.key");
    assert.deepEqual(await Deno.readFile(join(folder, "a.runpack")), expected);
    // What is signed, to which file, the exit code, and the message.
    const rows: readonly (readonly [string, string, number, RegExp])[] = [
      ["pack", "folder.runpack", 0, /^$/],
      [identity, "published.runpack", 0, /^$/],
      ["signed.runpack", "again.runpack", 0, /^$/],
      ["pack", "signed.runpack", 2, /signed\.runpack": it exists already/],
      ["pack", "none/x.runpack", 2, /x\.runpack": its folder does not exist/],
    ];
    for (const [runpack, file, code, message] of rows) {
      const end = await gate(folder, "runpack", "sign", runpack, "--key", "release.key", "--out", file);
      assert.equal(end.code, code, end.stderr);
      assert.match(end.stderr, message);
      if (code === 0) assert.deepEqual(await Deno.readFile(join(folder, file)), expected, file);
    }
    assert.deepEqual(await filesIn(join(folder, "pack")), await filesIn(join(GOLDEN_FOLDER, "plain")));
    const { law } = JSON.parse(await Deno.readTextFile(join(folder, "pack", "manifest.json")));
    await Deno.remove(join(folder, "pack", "objects", law.object.slice(0, 2), law.object));
    const end = await gate(folder, "runpack", "sign", "pack", "--key", "release.key", "--out", "incomplete.runpack");
    assert.equal(end.code, 6, end.stderr);
    await assert.rejects(Deno.stat(join(folder, "incomplete.runpack")));
  }));

Deno.test("gate runpack sign rejects an incomplete runpack", () =>
  withGoldenRun(async (folder) => {
    await gate(folder, ...EXPORT, "--out", "pack");
    const { law } = JSON.parse(await Deno.readTextFile(join(folder, "pack", "manifest.json")));
    await Deno.remove(join(folder, "pack", "objects", law.object.slice(0, 2), law.object));
    const end = await gate(folder, "runpack", "sign", "pack", "--key", "release.key");
    assert.equal(end.code, 6);
    assert.match(end.stderr, /it is missing/);
  }));

Deno.test("every command of gate runpack has help with examples", () =>
  inFolder(async (folder) => {
    for (const name of ["export", "pull", "sign"]) {
      const { code, stdout, stderr } = await gate(folder, "runpack", name, "--help");
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, new RegExp(`^Usage: gate runpack ${name}`));
      assert.match(stdout, /--json/);
      assert.match(stdout, /\nExamples:\n {2}gate runpack /);
    }
  }));

/** Exports the run over a server, and compares what it publishes in a data folder with the golden pack and its signature. */
async function publishSigned(folder: string, args: readonly string[], dataDir: string): Promise<void> {
  await using server = startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } });
  await server.request("initialize", initializeParams());
  const answer = await server.request("tools/call", { name: "runpack_export", arguments: RUN.state.run_key });
  const identity = await identityOf("plain");
  assert.deepEqual((answer["result"] as { structuredContent: unknown }).structuredContent, {
    publication: { outcome: "published", runpack_identity: identity },
  }, server.errors());
  await server.closeInput();
  assert.equal(await server.ended(), 0);
  const signed = await filesIn(join(GOLDEN_FOLDER, "signed"));
  const published = await filesIn(join(folder, dataDir, "runpacks"));
  const { keyId } = goldenSigner();
  assert.equal(published.get(`manifests/${identity}.json`), signed.get("manifest.json"));
  assert.equal(published.get(`signatures/${identity}/${keyId}.json`), signed.get(`signatures/${keyId}.json`));
  assert.equal(published.size, signed.size);
}

Deno.test("gate serve publishes into its data folder, signed with its key", () =>
  withGoldenRun((folder) =>
    publishSigned(
      folder,
      gateArgs("serve", "--signing-key", "release.key", "--data-dir", "data", "--log-level", "error"),
      "data",
    )
  ));

for (const dataDir of ["there", "new", "new/and/deep", "link/new"]) {
  Deno.test(`gate permissions prints flags under which gate serve publishes into "${dataDir}", signed with its key`, () =>
    withGoldenRun(async (folder) => {
      // The process may read the whole folder of the store.
      const key = "keys/release.key";
      for (const name of ["there", "keys"]) await Deno.mkdir(join(folder, name));
      await Deno.rename(join(folder, "release.key"), join(folder, key));
      await Deno.symlink("there", join(folder, "link"));
      await Deno.mkdir(join(folder, "stores"));
      await Deno.rename(join(folder, "gate.db"), join(folder, "stores/gate.db"));
      await Deno.writeTextFile(join(folder, "gate.toml"), CONFIG.replace("gate.db", "stores/gate.db"));
      const flags = ["--signing-key", key, "--data-dir", dataDir];
      const { code, stdout, stderr } = await gate(folder, "permissions", ...flags, "--json");
      assert.equal(code, 0, stderr);
      const [deno, ...run] = (JSON.parse(stdout) as { result: { run: string[] } }).result.run;
      assert.equal(deno, "deno");
      await publishSigned(folder, run, dataDir);
      const without = run.map((word) =>
        word.startsWith("--allow-read=") ? word.split(",").filter((path) => !path.endsWith(key)).join() : word
      );
      await using server = startServer({ args: without, cwd: folder, env: { GATE_CONFIG: "" } });
      await server.logged(key);
      await server.closeInput();
      assert.notEqual(await server.ended(), 0, "it does not start without permission to read the key");
    }));
}

Deno.test("gate serve does not start with an invalid signing key", () =>
  withGoldenRun(async (folder) => {
    const args = gateArgs("serve", "--signing-key", "gate.toml");
    await using server = startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } });
    await server.logged('Cannot use key \\"gate.toml\\"');
    await server.closeInput();
    assert.equal(await server.ended(), 2);
  }));
