/**
 * Reads the blocks of `docs/guide/deployment.md`, so that tests run what operators copy.
 *
 * @module
 */

import { readBlocks } from "../../checks/doc_links.ts";

/** The root of the checkout. */
export const ROOT = new URL("../../../", import.meta.url).pathname;

/** Finds the block of a language that contains a text. */
export async function deploymentBlock(language: string, holding: string): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}docs/guide/deployment.md`);
  const found = readBlocks(page).filter((block) => block.language === language && block.text.includes(holding));
  const [block, ...others] = found;
  if (block === undefined || others.length > 0) {
    throw new Error(`Cannot tell the block of ${language} with "${holding}": there are ${found.length}`);
  }
  return block.text;
}

/** Replaces each text by another; each must be there. */
export function replaceAll(text: string, edits: readonly (readonly [from: string, to: string])[]): string {
  return edits.reduce((edited, [from, to]) => {
    if (!edited.includes(from)) throw new Error(`Cannot replace "${from}": it is not there`);
    return edited.replaceAll(from, to);
  }, text);
}

/** The flags of `gate serve` in the container, without its configuration. */
export async function containerFlags(): Promise<readonly string[]> {
  const [, command = "[]"] = /^CMD (.*)$/m.exec(await deploymentBlock("dockerfile", "FROM")) ?? [];
  return flagsOf(JSON.parse(command) as string[]);
}

/** The flags of `gate serve` in the unit of systemd, without its configuration. */
export async function unitFlags(): Promise<readonly string[]> {
  const [, command = ""] = /^ExecStart=\/usr\/local\/bin\/gate (.*)$/m.exec(await deploymentBlock("ini", "[Unit]")) ??
    [];
  return flagsOf(command.split(" "));
}

function flagsOf([serve, config, path, ...flags]: readonly string[]): readonly string[] {
  if (serve === "serve" && config === "--config" && path === "/etc/gate/gate.toml") return flags;
  throw new Error(`Cannot find the flags of serve with its configuration: ${serve} ${config} ${path}`);
}
