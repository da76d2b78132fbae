/** Commands name a file that they cannot use, with the reason; and they follow links to files that they can use. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, inFolder } from "../gate_command.ts";
import { evidence, LAW } from "./run_command_fixture.ts";

/** Command, exit code, and standard error. */
const ROWS: readonly (readonly [command: readonly string[], code: number, said: RegExp])[] = [
  [["run", "empty.yaml"], 2, /^gate: Cannot use law "empty\.yaml": expected an object\n$/],
  [["init"], 2, /^gate: Cannot write ".*\/evidence": File exists\n$/],
  [["init", "evidence/gate.toml"], 2, /^gate: Cannot write ".*\/gate\.toml": a part of its path is not a folder\n$/],
  [["run", "folder"], 2, /^gate: Cannot read "folder": it is a folder\n$/],
  [["provider", "import", "openapi", "loop"], 2, /^gate: Cannot read "loop": its links form a loop\n$/],
  [["provider", "import", "openapi", "empty.yaml"], 2, /^gate: Cannot import "empty\.yaml": The document has another /],
  [["runpack", "show", "loop"], 8, /^gate: Cannot read "loop": its links form a loop\n$/],
  [["runpack", "sign", "folder", "--key", "loop"], 2, /^gate: Cannot use key "loop": its links form a loop\n$/],
  [["runpack", "sign", "folder", "--key", "folder"], 2, /^gate: Cannot use key "folder": it is not a file\n$/],
  [["key", "trust", "absent", "--name", "a"], 2, /^gate: Cannot read public key "absent": it does not exist /],
  [
    ["key", "create", "new", "--passphrase-file", "folder"],
    2,
    /^gate: Cannot read passphrase "folder": it is a folder\n$/,
  ],
  [
    ["key", "create", "new", "--passphrase-file", "bytes"],
    2,
    /^gate: Cannot use passphrase "bytes": expected text in UTF-8\n$/,
  ],
  [
    ["audit", "verify", "audit.jsonl"],
    6,
    /^gate: Cannot read ".*audit\.jsonl\.head": it is not the head of an audit log\n$/,
  ],
];

Deno.test("a command names the file that it cannot use, with the reason", async (test) => {
  await inFolder(async (folder) => {
    for (const name of ["folder", "audit.jsonl.head"]) await Deno.mkdir(join(folder, name));
    for (const name of ["empty.yaml", "audit.jsonl", "evidence"]) await Deno.writeTextFile(join(folder, name), "");
    await Deno.writeFile(join(folder, "bytes"), new Uint8Array(32).fill(0xff));
    await Deno.symlink("loop", join(folder, "loop"));
    for (const [command, code, said] of ROWS) {
      await test.step(command.join(" "), async () => {
        const ended = await gate(folder, ...command);
        assert.deepEqual([ended.code, ended.stdout], [code, ""], ended.stderr);
        assert.match(ended.stderr, said);
        await assert.rejects(Deno.lstat(join(folder, "gate.toml")), Deno.errors.NotFound);
      });
    }
  });
});

const SIGNED = ["--profile", "integrity_only_v1", "--trusted-key", "a.key.pub", "--require-signature"];

Deno.test("gate run --export, gate runpack sign and verify follow links to the key and to the runpack, and leave them", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "law.yaml"), LAW);
    await Deno.writeTextFile(join(folder, "all.json"), evidence({ built: true, deployed: true }));
    await Deno.writeTextFile(join(folder, "a.runpack"), "");
    await Deno.symlink("a.runpack", join(folder, "link.runpack"));
    await Deno.symlink("a.key", join(folder, "link.key"));
    for (
      const command of [
        ["run", "law.yaml", "--evidence", "all.json", "--export", "link.runpack"],
        ["key", "create", "a.key"],
        ["runpack", "sign", "link.runpack", "--key", "link.key"],
        ["runpack", "verify", "link.runpack", ...SIGNED],
        ["runpack", "verify", "a.runpack", ...SIGNED],
      ]
    ) {
      const { code, stderr } = await gate(folder, ...command);
      assert.equal(code, 0, `${command.join(" ")}: ${stderr}`);
    }
    assert.equal(await Deno.readLink(join(folder, "link.runpack")), "a.runpack");
  }));
