import assert from "node:assert/strict";
import { join } from "node:path";
import { type Ended, gate, inFolder, STORES } from "./gate_command.ts";

/** A law that two of three people have to sign. */
function lawWith(minimum: number): string {
  return `
spec_version: dag-v3
scenario_id: release
namespace_id: 2
conditions:
  - condition_id: approved
    observation_domain: { domain: Boolean }
    predicate: { predicate: Equals, expected: true }
    evidence_use_policy:
      allowed_channels: [accepted_submission]
      authorization: signature
      authorized_key_ids: [alice, bob]
      combination: { combination: Quorum, minimum: ${minimum} }
      freshness: { freshness: NotRequired }
      independence: distinct_acquisition
      integrity: canonical_content_only
      replay: full_semantic
      required_assurance: [content_integrity, scope, schema_compatibility]
      retention: retain_canonical_value
      scope: exact_condition
stages:
  - stage_id: release
    prerequisite: { kind: root }
    completion_requirement: { Condition: approved }
completion_requirement: { Condition: release }
`;
}

/** Commands of one folder. `approve` and `waiting` get the keys of people. */
interface World {
  readonly folder: string;
  readonly run: string;
  readonly approve: (...args: readonly string[]) => Promise<Ended>;
  readonly waiting: () => Promise<string>;
}

const KEYS = ["--evidence-keys", "evidence-keys"];

async function withRun(body: (world: World) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(join(folder, "law.yaml"), lawWith(2));
    await Deno.writeTextFile(join(folder, "other.yaml"), lawWith(1));
    await Deno.writeTextFile(join(folder, "pass.txt"), "open sesame\n");
    for (const name of ["alice", "bob", "eve"]) {
      const passphrase = name === "bob" ? ["--passphrase-file", "pass.txt"] : [];
      assert.equal((await gate(folder, "key", "create", `${name}.key`, ...passphrase)).code, 0);
      assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
    }
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", "--json");
    const run = (JSON.parse(started.stdout) as { result: { run_id: string } }).result.run_id;
    await body({
      folder,
      run,
      approve: (...args) => gate(folder, "approve", run.slice(0, 8), "--yes", ...KEYS, ...args),
      waiting: async () => {
        const { result } = JSON.parse((await gate(folder, "waiting", "--json", ...KEYS)).stdout) as {
          result: { waiting: readonly { have: number; needed: number; keys: readonly { key_id: string }[] }[] };
        };
        return result.waiting.map(({ have, needed, keys }) =>
          `${have} of ${needed}: ${keys.map(({ key_id }) => key_id).join(" ")}`
        ).join("; ");
      },
    });
  });
}

const BOB = ["--key", "bob.key", "--passphrase-file", "pass.txt"];

Deno.test("gate approve: one approves, one refuses, then changes their mind, and the run is complete", () =>
  withRun(async ({ folder, run, approve, waiting }) => {
    assert.equal(await waiting(), "0 of 2: alice bob");
    const alice = await approve("--key", "alice.key", "--law", "law.yaml", "--comment", "Looks fine");
    assert.equal(alice.code, 0, alice.stderr);
    assert.match(alice.stdout, /Condition {2}approved: a boolean that equals true\n.*\nYou sign {3}true\nComment/);
    assert.match(alice.stdout, /Stage release: hold/);
    assert.equal(await waiting(), "1 of 2: bob");
    assert.equal((await approve(...BOB, "--reject")).code, 0);
    assert.equal(await waiting(), "1 of 2: ");
    assert.equal((await approve("--key", "alice.key", "--withdraw")).code, 0);
    assert.equal(await waiting(), "0 of 2: alice");
    assert.equal((await approve("--key", "alice.key")).code, 0);
    const last = await approve(...BOB);
    assert.match(last.stdout, /Stage release: complete/);
    assert.equal(await waiting(), "");
    assert.equal((await gate(folder, "status", run)).code, 0);
    const pack = ["--namespace", "2", "--run", run, "--archive", "run.runpack"];
    const exported = await gate(folder, "runpack", "export", ...pack);
    assert.equal(exported.code, 0, exported.stderr);
    const verified = await gate(folder, "runpack", "verify", "run.runpack");
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const replayed = await gate(folder, "replay", "run.runpack", "--law", "other.yaml");
    assert.match(replayed.stdout, /unknown.*true|differ/s, "one signature is enough under the other law");
  }));

Deno.test("gate approve signs nothing for another law, key, stage or without a question", () =>
  withRun(async ({ folder, run, approve, waiting }) => {
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["--key", "alice.key", "--law", "other.yaml"], 6, /the run has law "[0-9a-f]{64}", and "other\.yaml" is/],
      [["--key", "eve.key"], 7, /no open stage takes a statement of key "eve"/],
      [["--key", "eve.key", "--key-id", "alice"], 2, /Signature of key "alice" does not verify/],
      [["--key", "bob.key"], 2, /it is encrypted, and --passphrase-file has no passphrase that opens it/],
      [["--key", "alice.key", "--reject", "--withdraw"], 2, /exclude each other/],
      [["--key", "alice.key.pub"], 2, /Cannot use key "alice\.key\.pub"/],
      [[], 2, /Flag --key is missing/],
    ];
    for (const [args, code, message] of rows) {
      const ended = await approve(...args);
      assert.match(ended.stderr, message, args.join(" "));
      assert.equal(ended.code, code, args.join(" "));
    }
    const asked = await gate(folder, "approve", run, "--key", "alice.key", ...KEYS);
    assert.deepEqual([asked.code, asked.stdout], [2, ""]);
    assert.match(asked.stderr, /standard input is no terminal.*--yes/);
    assert.equal(await waiting(), "0 of 2: alice bob");
  }));

Deno.test("the older spellings print the new ones", () =>
  inFolder(async (folder) => {
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [["approve", "keygen", "a.key"], /gate approve keygen is now gate key create/],
      [["approve", "--key", "a.key", "--run", "0".repeat(32), "--any-head"], /now gate evidence sign/],
    ];
    for (const [args, message] of rows) {
      const { code, stderr } = await gate(folder, ...args);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  }));

Deno.test("gate key trust keeps one id for one key, and gate serve names both ids of a key with two", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    assert.equal((await gate(folder, "key", "create", "a.key")).code, 0);
    assert.equal((await gate(folder, "key", "create", "b.key")).code, 0);
    const trust = (file: string, name: string): Promise<Ended> => gate(folder, "key", "trust", file, "--name", name);
    assert.equal((await trust("a.key.pub", "alice")).code, 0);
    assert.equal((await trust("a.key.pub", "alice")).code, 0, "the same again");
    assert.match((await trust("a.key.pub", "eve")).stderr, /it is trusted as "alice" already/);
    assert.match((await trust("b.key.pub", "alice")).stderr, /it is the key of that name already/);
    assert.match((await trust("b.key", "bob")).stderr, /Cannot read public key "b\.key"/);
    assert.match((await trust("b.key.pub", "../bob")).stderr, /Cannot use --name/);
    if (Deno.build.os !== "windows") {
      assert.equal(((await Deno.stat(join(folder, "a.key"))).mode ?? 0) & 0o777, 0o600);
    }
    await Deno.copyFile(join(folder, "a.key.pub"), join(folder, "evidence-keys", "mallory.pub"));
    const served = await gate(folder, "serve", ...KEYS);
    assert.notEqual(served.code, 0);
    assert.match(served.stdout + served.stderr, /"mallory\\*" and \\*"alice\\*" are the same public key/);
  }));
