/** The first screen of the README, line by line as a reader would type it. */
import assert from "node:assert/strict";
import { gate, inFolder } from "./gate_command.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;
const EXAMPLES = "docs/examples";

/** The blocks of a page before a heading, with their languages. */
function blocksBefore(page: string, heading: string): { readonly language: string; readonly text: string }[] {
  const screen = page.slice(0, page.indexOf(heading));
  return [...screen.matchAll(/^```(\w+)\n([^]*?)\n```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** A text without the ids of runs, which are random. */
function withoutRuns(text: string): string {
  return text.replace(/\b[0-9a-f]{32}\b/g, "RUN");
}

/** The exit codes of the commands, in order. */
const EXIT_CODES = [3, 0, 0, 6];

Deno.test("the first screen of the README shows what its commands print, with their exit codes", () =>
  inFolder(async (folder) => {
    const page = await Deno.readTextFile(`${CHECKOUT}README.md`);
    const blocks = blocksBefore(page, "\n## Try it");
    const [law] = blocks;
    assert.equal(`${law?.text}\n`, await Deno.readTextFile(`${CHECKOUT}${EXAMPLES}/first_gate/release.yaml`));
    await Deno.mkdir(`${folder}/${EXAMPLES}/agent_task`, { recursive: true });
    await Deno.mkdir(`${folder}/${EXAMPLES}/first_gate`);
    const files = ["release.yaml", "two_tests_failed.yaml", "all_tests_passed.yaml"].map((name) =>
      `first_gate/${name}`
    );
    for (const file of [...files, "agent_task/scenario.yaml"]) {
      await Deno.copyFile(`${CHECKOUT}${EXAMPLES}/${file}`, `${folder}/${EXAMPLES}/${file}`);
    }
    const commands = blocks.filter(({ text }) => text.startsWith("gate "));
    const printed = blocks.filter(({ language }) => language === "text");
    assert.equal(commands.length, EXIT_CODES.length);
    for (const [index, { text }] of commands.entries()) {
      const { code, stdout } = await gate(folder, ...text.split(" ").slice(1));
      assert.equal(code, EXIT_CODES[index], text);
      assert.ok(withoutRuns(stdout).startsWith(withoutRuns(printed[index]?.text ?? "none")), stdout);
    }
  }));
