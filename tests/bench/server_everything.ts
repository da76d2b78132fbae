/**
 * The peer of the protocol benchmarks: the reference server with everything, on Node, from the npm registry.
 *
 * @module
 */

/** The version that is measured against. */
export const SERVER_EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31";

/** A command line. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Installs the peer into a folder of its own; returns how to start it on stdio. */
export async function installServerEverything(folder: string): Promise<CommandLine> {
  const install = new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, SERVER_EVERYTHING],
    stdout: "null",
    stderr: "piped",
  });
  const { success, stderr } = await install.output();
  if (!success) throw new Error(`Cannot install ${SERVER_EVERYTHING}: ${new TextDecoder().decode(stderr)}`);
  const entry = `${folder}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`;
  return { command: "node", args: [entry, "stdio"] };
}
