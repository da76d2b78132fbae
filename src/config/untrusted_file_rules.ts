/**
 * Restrictions on a configuration file that the user did not name.
 *
 * Clients start servers in workspace folders, so `./gate.toml` may come from a foreign repository. Such a file may not start
 * programs, or contain or use credentials. It may not read outside its folder, read the whole environment, reach private
 * networks, or send data to an address of its choice.
 *
 * @module
 */

import { dirname, relative, resolve, sep } from "node:path";
import { pathMembers, resolvePath } from "./paths.ts";
import type { Report, SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";

const REMEDY = "name the file with --config to allow it";

/** Reports each member of a raw tree that a file found in the working directory may not have. */
export async function checkUntrustedFile(tree: unknown, baseDir: string, report: Report): Promise<void> {
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
  // Mirroring uses the credentials of the user who started the server, and sends that user's runs.
  if (at(tree, ["runpack_storage"]) !== undefined) refuse(["runpack_storage"], "an object store", report);
}

/** The whole environment and the private networks of the user who started the server are out of reach. */
function reachRules(tree: unknown, report: Report): void {
  arrayAt(tree, ["providers"]).forEach((entry, index) => {
    const hasAllowlist = at(entry, ["config", "allowlist"]) !== undefined;
    if (at(entry, ["type"]) === "builtin" && at(entry, ["name"]) === "env" && !hasAllowlist) {
      const path = ["providers", index, "config", "allowlist"];
      report(path, `is required in a file that was found in the working directory: ${REMEDY}`);
    }
    if (at(entry, ["config", "allow_private_networks"]) === true) {
      refuse(["providers", index, "config", "allow_private_networks"], "allow_private_networks = true", report);
    }
    // The profile of a typed provider names an address, and credentials to send there.
    if (at(entry, ["type"]) === "typed") refuse(["providers", index, "type"], "a typed provider", report);
    // Unlike the addresses of built-in providers, this address may lie in any network.
    if (at(entry, ["url"]) !== undefined) refuse(["providers", index, "url"], "an address", report);
  });
  const environment = ["dev", "allow_dev_env_credentials"];
  if (at(tree, environment) === true) refuse(environment, "allow_dev_env_credentials = true", report);
  for (const store of ["run_state_store", "schema_registry"]) {
    if (at(tree, [store, "url"]) !== undefined) refuse([store, "url"], "an address", report);
  }
  const ledger = ["namespace", "authority", "ledger", "base_url"];
  if (at(tree, ledger) !== undefined) refuse(ledger, "an address", report);
}

function refuse(path: SettingPath, what: string, report: Report): void {
  report(path, `must not hold ${what} in a file that was found in the working directory: ${REMEDY}`);
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
