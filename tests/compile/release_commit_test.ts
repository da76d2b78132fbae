/** A release is built from a commit alone: `deno task release` refuses a checkout that differs from it. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { inFolder } from "../e2e/gate_command.ts";
import { uncommittedFiles } from "../release/main.ts";

async function git(folder: string, ...words: readonly string[]): Promise<void> {
  const args = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false", ...words];
  const { success, stderr } = await new Deno.Command("git", { args, cwd: folder, stdin: "null" }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

/** What is done to a checkout with the files `a` and `.gitignore`, and the files that then differ. */
const ROWS: readonly (readonly [what: string, change: (folder: string) => Promise<void>, files: readonly string[]])[] =
  [
    ["nothing", () => Promise.resolve(), []],
    ["a changed file", (folder) => Deno.writeTextFile(join(folder, "a"), "2"), ["a"]],
    ["a changed file that is staged", async (folder) => {
      await Deno.writeTextFile(join(folder, "a"), "2");
      await git(folder, "add", "a");
    }, ["a"]],
    ["a removed file", (folder) => Deno.remove(join(folder, "a")), ["a"]],
    ["a new file in a new folder", async (folder) => {
      await Deno.mkdir(join(folder, "src"));
      await Deno.writeTextFile(join(folder, "src/b.ts"), "");
    }, ["src/b.ts"]],
    ["an ignored file", (folder) => Deno.writeTextFile(join(folder, "ignored"), ""), []],
  ];

for (const [what, change, files] of ROWS) {
  Deno.test(`a checkout with ${what}: ${files.length} files differ from the commit`, () =>
    inFolder(async (folder) => {
      await git(folder, "init", "--quiet");
      await Deno.writeTextFile(join(folder, "a"), "1");
      await Deno.writeTextFile(join(folder, ".gitignore"), "ignored\n");
      await git(folder, "add", ".");
      await git(folder, "commit", "--quiet", "--message", "first");
      await change(folder);
      assert.deepEqual(await uncommittedFiles(folder), files);
    }));
}
