/**
 * Restrictions on a configuration file that the user did not name.
 *
 * Clients start servers in workspace folders, so `./gate.toml` may come from a foreign repository. Such a file may not
 * start programs, or contain or use credentials. It may not read outside its folder, read variables, reach private
 * networks, or send data to an address of its choice.
 */

import { dirname, relative, resolve, sep } from "node:path";
import { KEYS_FOLDER, pathMembers, resolvePath } from "./paths.ts";
import type { Report, SettingPath } from "./problems.ts";
import { at, membersAt } from "./toml_tree.ts";

/** The folder of the keys of people, which is found beside the file where no member names it. */
const EVIDENCE_KEYS: SettingPath = ["trust", "evidence_keys"];

const REMEDY = "name the file with --config to allow it";

type Refusal = readonly [what: string, pattern: SettingPath, isRefused: (value: unknown) => boolean];

const isPresent = (value: unknown): boolean => value !== undefined;
const isTrue = (value: unknown): boolean => value === true;
/** Whether a member has content: an empty list or table of credentials does no harm. */
const isFilled = (value: unknown): boolean =>
  !(typeof value === "object" && value !== null && Object.keys(value).length === 0);

/**
 * The members that such a file may not have. The variables and the private networks of the user who started the server
 * are out of reach.
 */
const REFUSALS: readonly Refusal[] = [
  ["command", ["providers", "*", "command"], (value) => Array.isArray(value) && value.length > 0],
  ["credentials", ["namespace", "authority", "ledger", "auth_token"], isFilled],
  ["credentials", ["server", "auth", "bearer_tokens"], isFilled],
  ["credentials", ["providers", "*", "auth", "bearer_token"], isFilled],
  ["credentials", ["providers", "*", "config", "default_headers"], isFilled],
  ...["api_key_value", "basic_password", "basic_username", "bearer_token"].map((name): Refusal => [
    "credentials",
    ["providers", "*", "config", "auth", name],
    isFilled,
  ]),
  // Mirroring uses the credentials of the user who started the server, and sends that user's runs.
  // A variable often holds a token, and what a provider answers goes into runpacks.
  [
    'the provider "env"',
    ["providers", "*"],
    (value) => at(value, ["type"]) === "builtin" && at(value, ["name"]) === "env",
  ],
  ["an object store", ["runpack_storage"], isPresent],
  ["allow_private_networks = true", ["providers", "*", "config", "allow_private_networks"], isTrue],
  // The profile of a typed provider names an address, and credentials to send there.
  ["a typed provider", ["providers", "*", "type"], (value) => value === "typed"],
  // Unlike the addresses of built-in providers, this address may lie in any network.
  ["an address", ["providers", "*", "url"], isPresent],
  ["allow_dev_env_credentials = true", ["dev", "allow_dev_env_credentials"], isTrue],
  ["the url of a database", ["run_state_store", "url"], isPresent],
  ["the url of a database", ["schema_registry", "url"], isPresent],
  ["an address", ["namespace", "authority", "ledger", "base_url"], isPresent],
];

/** Reports each member of a raw tree that a file found in the working directory may not have. */
export async function checkUntrustedFile(tree: unknown, baseDir: string, report: Report): Promise<void> {
  for (const [what, pattern, isRefused] of REFUSALS) {
    for (const { at: path, value } of membersAt(tree, pattern)) {
      if (!isRefused(value)) continue;
      report(path, `must not hold ${what} in a file that was found in the working directory: ${REMEDY}`);
    }
  }
  const folder = await realPathOf(baseDir);
  const keys = at(tree, EVIDENCE_KEYS) ?? KEYS_FOLDER;
  const ofKeys = typeof keys !== "string" ? [] : [keys, ...await linksIn(resolvePath(baseDir, keys))];
  const members = [...pathMembers(tree), ...ofKeys.map((value) => ({ at: EVIDENCE_KEYS, value }))];
  const reported = new Set<string>();
  for (const member of members) {
    if (member.value.includes("\0") || reported.has(member.at.join())) continue;
    if (isOutside(folder, await realPathOf(resolvePath(baseDir, member.value)))) {
      reported.add(member.at.join());
      report(member.at, `must be inside the folder of a file that was found in the working directory: ${REMEDY}`);
    }
  }
}

/** The links in a folder of keys: each is a file whose content goes into runpacks. */
async function linksIn(folder: string): Promise<readonly string[]> {
  const links: string[] = [];
  try {
    for await (const { name, isSymlink } of Deno.readDir(folder)) if (isSymlink) links.push(resolve(folder, name));
  } catch {
    // Without such a folder there are no keys.
  }
  return links;
}

function isOutside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath === ".." || relativePath.startsWith(`..${sep}`) || resolve(folder, relativePath) !== path;
}

/** The path with every symbolic link followed, also links to files that do not exist yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    const parent = dirname(path);
    if (!(error instanceof Deno.errors.NotFound) || parent === path) return path;
    const target = await Deno.readLink(path).catch(() => null);
    if (target !== null) return await realPathOf(resolve(await realPathOf(parent), target));
    return resolve(await realPathOf(parent), relative(parent, path));
  }
}
