/** The laws that `gate new` writes: each is a law whose cases pass. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

for (const kind of ["release", "approval", "migration", "agent-task", "artifact"]) {
  Deno.test(`gate new ${kind} writes a law whose cases pass, and replaces nothing`, () =>
    inFolder(async (folder) => {
      const written = await gate(folder, "new", kind);
      assert.equal(written.stdout, `${kind}.yaml\n${kind}.cases.yaml\ngate.toml\n`);
      const checked = await gate(folder, "scenario", "check", `${kind}.yaml`);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.doesNotMatch(checked.stdout, /provider_not_found|parameter_unused/);
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
