/** A run with parameters whose approval waited: the approval covers the parameters, so it shows whose gate the runpack is of. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, inFolder, STORES } from "../gate_command.ts";
import { waitingLaw } from "./waiting_law.ts";

Deno.test("a runpack with parameters is admitted by the key of an approval that waited; two people who disagree are named", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    await Deno.writeTextFile(join(folder, "law.yaml"), waitingLaw("all", { hasVersion: true, scenario: "shipment" }));
    for (const name of ["alice", "bob"]) {
      assert.equal((await gate(folder, "key", "create", `${name}.key`)).code, 0);
      assert.equal((await gate(folder, "key", "trust", `${name}.key.pub`, "--name", name)).code, 0);
    }
    const parameter = ["--parameter", "version=1.2.0"];
    const started = await gate(folder, "run", "law.yaml", "--run-key", "one", ...parameter, "--json");
    assert.notEqual(started.stdout, "", started.stderr);
    const run = (JSON.parse(started.stdout) as { result: { run_id: string } }).result.run_id;
    const approve = async (name: string, ...more: readonly string[]): Promise<void> => {
      const flags = ["--yes", "--evidence-keys", "evidence-keys", "--key", `${name}.key`];
      const { code, stderr } = await gate(folder, "approve", run, ...flags, ...more);
      assert.equal(code, 0, stderr);
    };
    const waiting = async (): Promise<string> =>
      (await gate(folder, "waiting", "--evidence-keys", "evidence-keys")).stdout;
    await approve("bob", "--reject");
    assert.match(await waiting(), /^RUN +LAW +STAGE .*\n[0-9a-f]{32} +shipment +release +approved /);
    assert.match(await waiting(), / 0 of 1: bob refused at \S+ +alice +version="1.2.0"\n$/);
    await approve("alice");
    assert.match(await waiting(), / 1 of 1, disagree: alice signed; bob refused at \S+ +bob +version="1.2.0"\n$/);
    await approve("bob", "--withdraw");
    assert.equal(await waiting(), "Nothing waits for a signature\n");

    const pack = ["--namespace", "2", "--run", run, "--archive", "run.runpack"];
    assert.equal((await gate(folder, "runpack", "export", ...pack)).code, 0);
    const admit = async (...keys: readonly string[]): Promise<string> => {
      const { code, stdout } = await gate(
        folder,
        "runpack",
        "admit",
        "run.runpack",
        "--law",
        "law.yaml",
        ...parameter,
        ...keys,
      );
      return `${code} ${stdout.split("\n")[0]}`;
    };
    // The statement that was refused counted in an attempt too.
    const both = ["--key", "alice=alice.key.pub", "--key", "bob=bob.key.pub"];
    assert.match(await admit(...both), /^0 Admitted: Complete; /);
    assert.match(await admit("--key", "bob=bob.key.pub"), /^4 Not admitted \(signer_unknown|origin_unknown\)/);
    assert.match(await admit("--key", "alice=bob.key.pub"), /^6 Not admitted \(signer_differs\)/);
    assert.match(await admit(), /^4 Not admitted \((signer|origin)_unknown\)/);
  }));
