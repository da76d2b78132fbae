/**
 * What a file that nobody named may not hold.
 *
 * Clients start servers in workspace folders, so `./gate.toml` may come with somebody else's repository (decisions 1): it
 * may not start programs, carry or borrow credentials, reach outside its folder, into the environment at large or into
 * private networks, or send anything to an address of its own choice.
 *
 * @module
 */

import { dirname, relative, resolve, sep } from "node:path";
import { pathMembers, resolvePath } from "./paths.ts";
import type { Report, SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";

const REMEDY = "name the file with --config to allow it";

/** Reports each member of a raw tree that a file found in the working directory may not have. */
export async function implicitFileRules(tree: unknown, baseDir: string, report: Report): Promise<void> {
  commandRules(tree, report);
  credentialRules(tree, report);
  reachRules(tree, report);
  const folder = await realPathOf(baseDir);
  for (const member of pathMembers(tree)) {
    if (member.value.includes("\0")) continue;
    if (isOutside(folder, await realPathOf(resolvePath(baseDir, member.value)))) {
      report(member.at, `must be inside the folder of a file that was found in the working directory: ${REMEDY}`);
    }
  }
}

function commandRules(tree: unknown, report: Report): void {
  arrayAt(tree, ["providers"]).forEach((entry, index) => {
    if (arrayAt(entry, ["command"]).length > 0) refuse(["providers", index, "command"], "command", report);
  });
}

function credentialRules(tree: unknown, report: Report): void {
  const members: SettingPath[] = [
    ["namespace", "authority", "ledger", "auth_token"],
    ["server", "auth", "bearer_tokens"],
  ];
  arrayAt(tree, ["providers"]).forEach((_, index) => {
    members.push(["providers", index, "auth", "bearer_token"], ["providers", index, "config", "default_headers"]);
    for (const name of ["api_key_value", "basic_password", "basic_username", "bearer_token"]) {
      members.push(["providers", index, "config", "auth", name]);
    }
  });
  for (const path of members) {
    const value = at(tree, path);
    if (value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0)) {
      continue;
    }
    refuse(path, "credentials", report);
  }
  // It is asked with the credentials of who started the server, and handed their runs.
  if (at(tree, ["runpack_storage"]) !== undefined) refuse(["runpack_storage"], "an object store", report);
}

/** Neither the whole environment of who started the server, nor the networks that only they can reach. */
function reachRules(tree: unknown, report: Report): void {
  arrayAt(tree, ["providers"]).forEach((entry, index) => {
    const named = at(entry, ["config", "allowlist"]) !== undefined;
    if (at(entry, ["type"]) === "builtin" && at(entry, ["name"]) === "env" && !named) {
      const path = ["providers", index, "config", "allowlist"];
      report(path, `is required in a file that was found in the working directory: ${REMEDY}`);
    }
    if (at(entry, ["config", "allow_private_networks"]) === true) {
      refuse(["providers", index, "config", "allow_private_networks"], "allow_private_networks = true", report);
    }
    // Unlike what built-in providers ask, it may lie in any network.
    if (at(entry, ["url"]) !== undefined) refuse(["providers", index, "url"], "an address", report);
  });
  const ledger = ["namespace", "authority", "ledger", "base_url"];
  if (at(tree, ledger) !== undefined) refuse(ledger, "an address", report);
}

function refuse(path: SettingPath, what: string, report: Report): void {
  report(path, `must not hold ${what} in a file that was found in the working directory: ${REMEDY}`);
}

function isOutside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === ".." || way.startsWith(`..${sep}`) || resolve(folder, way) !== path;
}

/** The path with every symbolic link followed, those too that lead to what is yet to be created. */
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
