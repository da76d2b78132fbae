/** The files of the guide to authoring are what a reader can save and check. */

import assert from "node:assert/strict";
import { gate, inFolder } from "./gate_command.ts";

const GUIDE = new URL("../../docs/authoring.md", import.meta.url);

/** The blocks of the guide in a language. */
async function blocks(language: "yaml" | "toml"): Promise<readonly string[]> {
  const text = await Deno.readTextFile(GUIDE);
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .flatMap(([, name, block = ""]) => name === language ? [block] : []);
}

/** A file with its part of that name replaced, or with the part at its end. */
function withPart(whole: string, part: string): string {
  const name = /^\w+:/.exec(part)?.[0] ?? "";
  const rest = whole.split(/^(?=\w)/m).filter((member) => !member.startsWith(name));
  return [...rest, part].join("");
}

Deno.test("the whole file of the guide is a law, and so it is with each of its parts", () =>
  inFolder(async (folder) => {
    const [whole = "", ...parts] = await blocks("yaml");
    assert.equal(parts.length, 2);
    await Deno.writeTextFile(`${folder}/gate.toml`, (await blocks("toml")).join(""));
    await Deno.mkdir(`${folder}/evidence`);
    const files = [whole, ...parts.map((part) => withPart(whole, part)), parts.reduce(withPart, whole)];
    for (const text of files) {
      await Deno.writeTextFile(`${folder}/tests.yaml`, text);
      const { code, stdout, stderr } = await gate(folder, "scenario", "check", "tests.yaml", "--config", "gate.toml");
      assert.equal(code, 0, `${text}\n${stdout}${stderr}`);
    }
  }));
