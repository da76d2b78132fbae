/** A start never waits for a writer of a named pipe: such a start answers no client and ends at no signal. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { readAtMost } from "@/config/files.ts";
import { gate, inFolder } from "../gate_command.ts";

const KEYS = '[trust]\ndefault_policy = { require_signature = { keys = ["keys/a.pub"] } }\n';

const POSTGRES = ["run_state_store", "schema_registry"]
  .map((section) =>
    `[${section}]\ntype = "postgres"\nurl = "postgres://a:b@127.0.0.1:1/c"\ntls_ca_path = "keys/a.pub"\n`
  )
  .join("");

/** Configuration, command, exit code, and the end of standard error or output. */
const ROWS: readonly (readonly [config: string, command: readonly string[], code: number, said: RegExp])[] = [
  [KEYS, ["serve"], 2, /Cannot read public key \\".*a\.pub\\": it is not a file/],
  [KEYS, ["doctor"], 2, /Cannot read public key ".*a\.pub": it is not a file/],
  ["", ["serve", "--evidence-keys", "keys"], 2, /cannot read public key \\"a\.pub\\": expected 32 raw bytes/],
  ["", ["config", "check", "--evidence-keys", "keys"], 2, /cannot read public key "a\.pub": expected 32 raw bytes/],
  [POSTGRES, ["serve"], 8, /Cannot read \\".*a\.pub\\", which tls_ca_path names/],
];

Deno.test("a key or certificate that is a named pipe ends the command with its reason", async (test) => {
  for (const [config, command, code, said] of ROWS) {
    await test.step(`${command.join(" ")} with ${config.slice(0, 20).trim() || "a folder of keys"}`, () =>
      inFolder(async (folder) => {
        const pipe = join(folder, "keys", "a.pub");
        await Deno.mkdir(join(folder, "keys"));
        await new Deno.Command("mkfifo", { args: [pipe] }).output();
        await Deno.writeTextFile(join(folder, "gate.toml"), config);
        // A command that opens the pipe reads a key and goes on, so a failing test ends too.
        let isRead = false;
        const writing = Deno.writeFile(pipe, new Uint8Array(32).fill(7)).then(() => isRead = true);
        const ended = await gate(folder, ...command, "--config", "gate.toml");
        if (!isRead) await Promise.all([writing, readAtMost(pipe, 32)]);
        assert.equal(ended.code, code, ended.stderr);
        assert.match(ended.stdout + ended.stderr, said);
      }));
  }
});
