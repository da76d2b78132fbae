/** The examples of docstrings, run: `test` checks their types. Each is a module of its own, over one copy of the program. */

import assert from "node:assert/strict";
import { readTree } from "./checks/tree.ts";

const SOURCES = new URL("../src/", import.meta.url);

/** The lines of code in the blocks of a source file. */
function examplesOf(text: string): string[] {
  const blocks = text.matchAll(/^( *) \* ```ts\n((?:\1 \*.*\n)*?)\1 \* ```$/gm);
  return [...blocks].map(([, , lines = ""]) => lines.replace(/^ *\* ?/gm, ""));
}

const folder = await Deno.makeTempDir({ prefix: "gate-examples-" });
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

let count = 0;
for (const { path, text } of await readTree()) {
  if (!/^src\/.*(?<!_test)\.ts$/.test(path)) continue;
  const examples = examplesOf(text);
  assert.equal(examples.length, text.split("* ```ts\n").length - 1, path);
  for (const [index, example] of examples.entries()) {
    Deno.test(`example ${index + 1} of ${path} holds`, async () => {
      const file = `${folder}/example_${++count}.ts`;
      await Deno.writeTextFile(file, example.replaceAll('"@/', `"${SOURCES}`));
      await import(`file://${file}`);
    });
  }
}
