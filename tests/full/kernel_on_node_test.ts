import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../packages/fast_check.ts";
import { canonicalize } from "@/canonical/canonicalize.ts";
import { identify } from "@/canonical/identity.ts";
import { readJson } from "@/canonical/scan.ts";
import { layerOf } from "../checks/layering.ts";
import { KERNEL_LAYERS } from "../checks/layering_rules.ts";
import { sourceModules } from "../checks/tidy_code.ts";
import { readTree, ROOT_URL } from "../checks/tree.ts";

const ROOT = ROOT_URL.pathname;

/** Every module of the kernel, by its path from the root. */
async function kernelPaths(): Promise<string[]> {
  const paths = sourceModules(await readTree()).map((file) => file.path);
  return paths.filter((path) => KERNEL_LAYERS.some((layer) => layer === layerOf(path)));
}

/** All code of the kernel as one script, which leaves what is called here, and a list of all modules, in `module.exports`. */
async function bundleKernel(folder: string, paths: readonly string[]): Promise<string> {
  const lines = [
    ...["canonicalize", "identity", "scan"].map((name) => `export * from "${ROOT}src/canonical/${name}.ts";`),
    ...paths.map((path, index) => `import * as module${index} from "${ROOT}${path}";`),
    `export const modules = [${paths.map((_, index) => `module${index}`).join(", ")}];`,
  ];
  await Deno.writeTextFile(`${folder}/kernel.ts`, lines.join("\n"));
  const args = ["bundle", "--quiet", "--platform=browser", "--format=cjs", `--output=${folder}/kernel.js`];
  const command = new Deno.Command(Deno.execPath(), { args: [...args, `${folder}/kernel.ts`], stdin: "null" });
  const { success, stderr } = await command.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return await Deno.readTextFile(`${folder}/kernel.js`);
}

interface NodeAnswers {
  readonly modules: number;
  readonly answers: readonly { readonly text: string; readonly identity: string }[];
}

/** What the bundled kernel says on Node about JSON texts. */
async function askNode(folder: string, bundle: string, documents: readonly string[]): Promise<NodeAnswers> {
  await Deno.copyFile(new URL("kernel_on_node.js", import.meta.url), `${folder}/ask.cjs`);
  const child = new Deno.Command("node", {
    args: [`${folder}/ask.cjs`],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify({ bundle, documents })));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)) as NodeAnswers;
}

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

Deno.test("the kernel loads on Node with the language alone, and names 2,000 documents as it does here", async () => {
  const documents = fc.sample(fc.jsonValue({ noUnicodeString: false }), { numRuns: 2_000, seed: 7 })
    .map((value) => canonicalize(value as Parameters<typeof canonicalize>[0]));
  documents.push(`{"\\u20ac":1,"\\ud83d\\ude00":2,"\\ufb33":3,"__proto__":{"a":[1e21,0.1,-0]}}`);
  const folder = await Deno.makeTempDir({ prefix: "gate-kernel-" });
  try {
    const paths = await kernelPaths();
    const { modules, answers } = await askNode(folder, await bundleKernel(folder, paths), documents);
    assert.equal(modules, paths.length);
    const expected = documents.map(readJson).map((value) => ({
      text: canonicalize(value),
      identity: identify(sha256, "payload", value),
    }));
    assert.deepEqual(answers, expected);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (
  const impure of [
    "Date.now()",
    "Math.random()",
    "process.env",
    "require('fs')",
    "globalThis.setTimeout(f)",
    "new Intl.Collator()",
  ]
) {
  Deno.test(`a module that needs ${impure} does not load there`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "gate-kernel-" });
    try {
      await assert.rejects(askNode(folder, `module.exports = { modules: [${impure}] };`, []), assert.AssertionError);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
