/**
 * The peers of the protocol benchmarks: reference servers, on Node, from the npm registry.
 *
 * @module
 */

/** The version that is measured against. */
export const SERVER_EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31";

/** The reference server that keeps a graph in a file. */
export const SERVER_MEMORY = "@modelcontextprotocol/server-memory@2026.8.31";

/** A command line. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/** Installs the peer into a folder of its own; returns how to start it on stdio. */
export async function installServerEverything(folder: string): Promise<CommandLine> {
  const entry = await install(folder, SERVER_EVERYTHING, "server-everything");
  return { command: "node", args: [entry, "stdio"] };
}

/** Installs the peer that keeps a graph; returns how to start it on stdio. */
export async function installServerMemory(folder: string): Promise<CommandLine> {
  return { command: "node", args: [await install(folder, SERVER_MEMORY, "server-memory")] };
}

/** Installs a package; gives the path of its program. */
async function install(folder: string, name: string, directory: string): Promise<string> {
  const npm = new Deno.Command("npm", {
    args: ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, name],
    stdout: "null",
    stderr: "piped",
  });
  const { success, stderr } = await npm.output();
  if (!success) throw new Error(`Cannot install ${name}: ${new TextDecoder().decode(stderr)}`);
  return `${folder}/node_modules/@modelcontextprotocol/${directory}/dist/index.js`;
}
