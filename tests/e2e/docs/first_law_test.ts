/** The page "Your first law": its files and commands, in order, do what the page says, within its size. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

const PAGE = await Deno.readTextFile(new URL("../../../docs/guide/first_law.md", import.meta.url));

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : []
  );
}

/** Exit codes of commands that do not end with 0, by their begin. */
const CODES: readonly (readonly [string, number])[] = [
  ["run release.yaml --parameter commit=4f2a9c1 --run-key 4f2a9c1 --set tested_commit=4f2a9c1 --set tests_failed=2", 3],
];

Deno.test("the commands of the first law take it from its text to a complete run", () =>
  inFolder(async (folder) => {
    const [law = "", cases = "", ...others] = blocks("yaml");
    assert.deepEqual(others, []);
    await Deno.writeTextFile(`${folder}/release.yaml`, law);
    await Deno.writeTextFile(`${folder}/release.cases.yaml`, cases);
    const commands = blocks("sh").flatMap((block) => block.trim().split("\n"));
    const outputs = new Map<string, string>();
    let run = "";
    for (const command of commands) {
      const words = command.replace("RUN", run).split(" ").slice(1);
      const { code, stdout, stderr } = await gate(folder, ...words);
      const wanted = CODES.find(([begin]) => words.join(" ").startsWith(begin))?.[1] ?? 0;
      assert.equal(code, wanted, `${command}\n${stdout}${stderr}`);
      outputs.set(command, stdout);
      run = /^Run ([0-9a-f]{32}) /.exec(stdout)?.[1] ?? run;
    }
    const printed = [...outputs.values()].join("\n");
    for (const text of blocks("text")) assert.ok(printed.includes(text.trim()), text);
    assert.match(printed, /\n4 passed, 0 failed\n/);
    assert.match(printed, / is complete at revision \d+\n1 of 1 stage complete\n/);
  }));

Deno.test("the page of the first law has at most 2,500 words and names at most 12 concepts", () => {
  assert.ok(PAGE.split(/\s+/).length <= 2500);
  const concepts = new Set([...PAGE.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name));
  assert.ok(concepts.size >= 8 && concepts.size <= 12, [...concepts].join(", "));
});
