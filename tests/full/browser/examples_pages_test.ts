/** What the pages of the examples say to type, typed: every shell block that needs nothing filled in runs to its end. */

import assert from "node:assert/strict";
import { gateArgs, inFolder, processOf } from "../../e2e/gate_command.ts";

const EXAMPLES = new URL("../../../docs/examples/", import.meta.url);
/** Words that stand for what only the reader knows; and the demo, which is a test of its own. */
const NOT_TO_BE_PASTED = /\b(LAW_IDENTITY|RUN_ID|RECORD_ID)\b|\/demo\.ts/;

interface Block {
  readonly name: string;
  readonly commands: string;
}

async function blocksOf(page: string): Promise<Block[]> {
  const text = await Deno.readTextFile(new URL(page, EXAMPLES));
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map((match) => match[1] ?? "");
  return blocks.map((commands, index) => ({ name: `docs/examples/${page} block ${index + 1}`, commands }));
}

const folders = (await Array.fromAsync(Deno.readDir(EXAMPLES))).filter(({ isDirectory }) => isDirectory);
/** The blocks of the page on pipelines follow on each other: `tests/e2e/docs/pipelines_test.ts` runs them together. */
const ELSEWHERE = ["mcp_provider/README.md", "pipelines/README.md"];
const pages = ["README.md", ...folders.map(({ name }) => `${name}/README.md`).sort()]
  .filter((page) => !ELSEWHERE.includes(page));
/** The blocks of this page follow on each other too: it shows what two people decide, and what comes of it. */
const CONSECUTIVE = "change_approval/README.md";
const blocks = (await Promise.all(pages.filter((page) => page !== CONSECUTIVE).map(blocksOf))).flat().filter((
  { commands },
) => !NOT_TO_BE_PASTED.test(commands));

Deno.test("the pages of the examples have blocks to paste", () => assert.ok(blocks.length >= 8, `${blocks.length}`));

/** Puts a program `gate` into a folder. */
async function installGate(folder: string): Promise<void> {
  const { command, args } = processOf(gateArgs());
  const line = [command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // "gate explain" of a run that goes on exits with 3 or 4, which is no fault of the block.
  const script = `#!/bin/sh\n${line} "$@"\ncode=$?\n[ "$1" = explain ] && [ $code -eq 4 ] && exit 0\nexit $code\n`;
  await Deno.writeTextFile(`${folder}/gate`, script, { mode: 0o755 });
}

/** Runs commands as a reader of the pages does who is in the checkout; gives what they print. */
async function paste(commands: string): Promise<string> {
  let said = "";
  await inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/bin`);
    await installGate(`${folder}/bin`);
    await Deno.mkdir(`${folder}/docs`);
    const copied = await new Deno.Command("cp", { args: ["-R", EXAMPLES.pathname, `${folder}/docs/examples`] })
      .output();
    assert.equal(copied.code, 0);
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-eu", "-o", "pipefail", "-c", commands],
      cwd: folder,
      env: { PATH: `${folder}/bin:${Deno.env.get("PATH") ?? ""}`, NO_COLOR: "1", GATE_CONFIG: "" },
      stdin: "null",
    }).output();
    said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, said);
  });
  return said;
}

for (const { name, commands } of blocks) {
  Deno.test(`${name} runs to its end`, async () => assert.ok((await paste(commands)).length > 0));
}

/** What the commands of the page print, in this order. */
const DECIDED = [
  /1 of 2 stages complete[^]*exit code 4/,
  /PARAMETERS\n[0-9a-f]{32} +\S+ +approval +approved +0 of 2 +alice bob +commit="4f2a9c1"\n/,
  /You sign {3}true\nComment {4}Reviewed\n[^]*as key alice\nStage approval: hold\n {4}[^\n]+ \?\n/,
  new RegExp(
    "Signed {5}1 of 2 by the server's word: alice signed; bob may\\nYou sign {3}false\\nComment {4}Not on a Friday\\n" +
      "[^]*as key bob\\nStage approval: hold\\n {4}[^\\n]+ \\?\\n",
  ),
  /You sign {3}a withdrawal of your last statement\n[^]*Stage approval: hold\n {4}[^\n]+ \?\n/,
  /approved +0 of 2: bob refused at \S+: "Not on a Friday"; alice withdrew at \S+: "Bob is right" +alice +commit=/,
  /as key bob\nStage approval: complete\n/,
  /2 of 2 stages complete/,
  /0 violated/,
  /bob refused approved: false[^]*Not on a Friday[^]*alice withdrew its statement on approved[^]*run complete/,
];

Deno.test(`docs/examples/${CONSECUTIVE}: one approves, one refuses, one withdraws, then both agree`, async () => {
  let said = await paste((await blocksOf(CONSECUTIVE)).map(({ commands }) => commands).join("\n"));
  for (const shown of DECIDED) {
    const at = shown.exec(said);
    assert.ok(at !== null, `${shown} in ${said}`);
    said = said.slice(at.index);
  }
});
