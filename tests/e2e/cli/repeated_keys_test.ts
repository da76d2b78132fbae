/** One public key under two ids would be two signers: no server starts with it, and every check of a configuration finds it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, inFolder } from "../gate_command.ts";

const REPEATED = /"keys\/b\.pub" and "keys\/a\.pub" are the same public key: one key must have one id/;
const TIME = '[[providers]]\nname = "time"\ntype = "builtin"\n';
const trust = (...keys: string[]): string => `{ require_signature = { keys = ${JSON.stringify(keys)} } }`;

/** A configuration, which files hold the first key, and the member at which a repetition is found; null where there is none. */
const ROWS: readonly (readonly [name: string, config: string, member: string | null])[] = [
  [
    "two ids of one key in one list",
    `[trust]\ndefault_policy = ${trust("keys/a.pub", "keys/b.pub")}\n`,
    "trust.default_policy.require_signature.keys[1]",
  ],
  [
    "two ids of one key in two lists",
    `[trust]\ndefault_policy = ${trust("keys/a.pub")}\n${TIME}trust = ${trust("keys/other.pub", "keys/b.pub")}\n`,
    "providers[0].trust.require_signature.keys[1]",
  ],
  [
    "one id in two lists",
    `[trust]\ndefault_policy = ${trust("keys/a.pub", "keys/other.pub")}\n${TIME}trust = ${trust("keys/a.pub")}\n`,
    null,
  ],
];

async function writeKeys(folder: string): Promise<void> {
  await Deno.mkdir(join(folder, "keys"));
  const key = new Uint8Array(32).fill(7);
  // The same key raw, and as base64.
  await Deno.writeFile(join(folder, "keys/a.pub"), key);
  await Deno.writeTextFile(join(folder, "keys/b.pub"), `${key.toBase64()}\n`);
  await Deno.writeFile(join(folder, "keys/other.pub"), key.with(0, 8));
}

for (const [name, config, member] of ROWS) {
  Deno.test(`a configuration with ${name}: ${member ?? "starts"}`, () =>
    inFolder(async (folder) => {
      await writeKeys(folder);
      await Deno.writeTextFile(join(folder, "gate.toml"), config);
      const said = member === null ? null : `${member}: "keys/b.pub"`;
      const [serve, check, doctor] = [
        await gate(folder, "serve", "--config", "gate.toml"),
        await gate(folder, "config", "check", "gate.toml"),
        await gate(folder, "doctor", "--config", "gate.toml"),
      ];
      assert.equal(serve.code, said === null ? 0 : 2, serve.stderr);
      assert.equal(check.code, said === null ? 0 : 2, check.stdout);
      for (const output of [serve.stderr.replaceAll('\\"', '"'), check.stdout, doctor.stdout]) {
        assert.equal(REPEATED.test(output), said !== null, output);
        if (said !== null) assert.ok(output.includes(said), output);
      }
    }));
}

Deno.test("gate config check compares the keys that it can read, and leaves others to the machine that has them", () =>
  inFolder(async (folder) => {
    await writeKeys(folder);
    const config = `[trust]\ndefault_policy = ${trust("keys/a.pub", "keys/missing.pub", "keys/b.pub")}\n`;
    await Deno.writeTextFile(join(folder, "gate.toml"), config);
    const { code, stdout } = await gate(folder, "config", "check", "gate.toml");
    assert.equal(code, 2);
    assert.match(stdout, REPEATED);
    assert.ok(!stdout.includes("missing.pub"), stdout);
  }));
