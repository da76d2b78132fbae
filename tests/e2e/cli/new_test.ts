/** The laws that `gate new` writes: each is a law whose cases pass. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

/** Each kind with the identity of its law, which that of its long form is too. */
const KINDS = [
  ["release", "c08b9307f51aa6c4f2d18d790d1bd51e132528ef3d1d709e2e8207433135a09b"],
  ["approval", "49fefa39d5436654d298b5b6d7210799a998ee226a589aba5247f34ed037a1b0"],
  ["migration", "9cd21bad35b15b11dc2aa7b09dd96a63c6e1218f81e692fbe3af7a5afbbf5139"],
  ["agent-task", "1046ff14ed83b1498ebe8e0e88dcd5d126bbe77b75da56f1064d9f16456419b2"],
  ["artifact", "6257b37fe2de19367ed8fe9cb01e8f32ac1b2a6b105d5248a445384df830bc3d"],
] as const;

for (const [kind, identity] of KINDS) {
  Deno.test(`gate new ${kind} writes a law whose cases pass, and replaces nothing`, () =>
    inFolder(async (folder) => {
      const written = await gate(folder, "new", kind);
      assert.equal(written.stdout, `${kind}.yaml\n${kind}.cases.yaml\ngate.toml\n`);
      const checked = await gate(folder, "scenario", "check", `${kind}.yaml`);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.doesNotMatch(checked.stdout, /provider_not_found|parameter_unused/);
      await Deno.writeTextFile(`${folder}/long.json`, (await gate(folder, "scenario", "build", `${kind}.yaml`)).stdout);
      for (const file of [`${kind}.yaml`, "long.json"]) {
        const { result } = JSON.parse((await gate(folder, "scenario", "check", "--json", file)).stdout);
        assert.equal(result.scenario_law_identity, identity, file);
      }
      assert.equal((await gate(folder, "scenario", "format", "--check", `${kind}.yaml`)).code, 0);
      const run = await gate(folder, "scenario", "test", `${kind}.yaml`);
      assert.match(run.stdout, /^[2-9] passed, 0 failed$/m, run.stdout + run.stderr);
      const again = await gate(folder, "new", kind);
      assert.deepEqual([again.code, again.stdout], [2, ""]);
      assert.match(again.stderr, /it exists already/);
      const other = kind === "release" ? "approval" : "release";
      assert.equal((await gate(folder, "new", other)).stdout, `${other}.yaml\n${other}.cases.yaml\n`);
    }));
}

Deno.test("gate new names the kinds that there are", () =>
  inFolder(async (folder) => {
    const { code, stderr } = await gate(folder, "new", "relese");
    assert.equal(code, 2);
    assert.match(stderr, /Cannot write a law of kind "relese" \(expected release, approval, migration/);
  }));
