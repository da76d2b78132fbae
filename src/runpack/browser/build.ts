/** Builds the page that verifies runpacks in a browser: `deno task verifier:page FILE`. */

import { sha256 } from "../../evidence/host_primitives.ts";
import { verifierDocument } from "./document.ts";

/**
 * Bundles a script for browsers with the source that it imports.
 *
 * @param entry The module that the page starts
 * @throws {Error} If the bundler fails
 */
export async function bundleScript(entry: URL): Promise<string> {
  const root = new URL("../../../", import.meta.url).pathname;
  const args = ["bundle", "--quiet", "--platform=browser", "--format=iife", "--minify", entry.pathname];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: root, stdin: "null" });
  const { success, stdout, stderr } = await withBundler(() => command.output());
  if (!success) throw new Error(`Cannot bundle the page: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/**
 * Runs the bundler, and once more where another process installed it at the same moment: that one removes the file that
 * this one copies.
 */
export async function withBundler<Output extends { readonly success: boolean; readonly stderr: Uint8Array }>(
  run: () => Promise<Output>,
): Promise<Output> {
  const output = await run();
  const isInstalled = !output.success && /failed to copy esbuild binary/.test(new TextDecoder().decode(output.stderr));
  return isInstalled ? await run() : output;
}

/** Writes the page to a file; an existing file is replaced. */
export async function buildPage(path: string): Promise<void> {
  await Deno.writeTextFile(path, verifierDocument(sha256, await bundleScript(new URL("./page.ts", import.meta.url))));
}

if (import.meta.main) {
  const [path] = Deno.args;
  if (path === undefined) throw new TypeError("Expected the file to write: deno task verifier:page FILE");
  await buildPage(path);
}
