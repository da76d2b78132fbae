/** `gate doctor` under the permissions that `gate permissions` prints, and folders that no permission can name. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, gateArgs, inFolder } from "../gate_command.ts";

/** What is done after `gate init` and before the flags are printed, and before `gate doctor` runs. */
const STATES: readonly (readonly [what: string, before: readonly string[], then: readonly string[]])[] = [
  ["no data folder", [], []],
  ["a data folder since then", [], [".gate"]],
  ["an empty data folder", [".gate"], []],
];

for (const [what, before, then] of STATES) {
  Deno.test(`gate doctor finds no fault under the printed permissions: ${what}`, () =>
    inFolder(async (folder) => {
      assert.equal((await gate(folder, "init", "gate.toml")).code, 0);
      for (const name of before) await Deno.mkdir(join(folder, name));
      const { stdout: flags } = await gate(folder, "permissions", "--flags", "--config", "gate.toml");
      for (const name of then) await Deno.mkdir(join(folder, name));
      const args = gateArgs("doctor", "--config", join(folder, "gate.toml"), "--json")
        .flatMap((word) => word === "-P=serve" ? flags.trim().split("\n") : [word]);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder }).output();
      const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(code, 0, `${out}${errors}`);
      const { result } = JSON.parse(out ?? "") as { result: { findings: readonly { status: string }[] } };
      assert.deepEqual(result.findings.filter(({ status }) => status !== "ok"), []);
      const left = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
      assert.deepEqual(left, [...before, ...then, "evidence", "gate.toml"]);
    }));
}

Deno.test("gate init and gate doctor print no line with a comma in a path, which would grant something else", () =>
  inFolder(async (above) => {
    const folder = join(above, "a,b");
    await Deno.mkdir(folder);
    const made = await gate(folder, "init", "gate.toml");
    const fault = `no flag can name a path or a variable with a comma: rename ${folder}/.gate`;
    assert.equal(made.code, 0);
    assert.ok(made.stderr.includes(`No line serves it with the permissions that it needs alone: ${fault}\n`));
    assert.doesNotMatch(made.stderr, /--allow-/);
    const { result } = JSON.parse((await gate(folder, "doctor", "--json")).stdout) as {
      result: { client: unknown; findings: readonly { message: string }[] };
    };
    assert.equal(result.client, null);
    assert.ok(result.findings.some(({ message }) => message === fault), JSON.stringify(result.findings));
  }));
