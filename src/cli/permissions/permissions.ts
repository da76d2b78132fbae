/**
 * `gate permissions`: the exact flags with which the runtime confines the whole process to what a configuration needs.
 *
 * @module
 */

import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { LOAD_WHEN_NEEDED } from "../client/block.ts";
import { COMPILE_FLAGS, EMBEDDED_FILES } from "./compile_plan.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { type Allowance, OWN_FOLDERS, ownPath, type PermissionPlan, planPermissions } from "./plan.ts";

/** The flags of `gate permissions`; those of `gate serve` that need a permission are among them. */
export interface PermissionsOptions {
  readonly config?: string;
  readonly dataDir?: string;
  readonly signingKey?: string;
  readonly json?: boolean;
}

/** Runs `gate permissions`. */
export async function runPermissions(options: PermissionsOptions): Promise<number> {
  const config = await loadConfig({ config: options.config });
  const files = {
    dataDir: options.dataDir === undefined ? undefined : resolve(options.dataDir),
    signingKey: options.signingKey === undefined ? undefined : resolve(options.signingKey),
  };
  const plan = await planPermissions(config, files);
  const serve = [
    "serve",
    ...config.config_path === null ? [] : ["--config", config.config_path],
    ...files.dataDir === undefined ? [] : ["--data-dir", files.dataDir],
    ...files.signingKey === undefined ? [] : ["--signing-key", files.signingKey],
  ];
  const own = ["--config", ownPath("deno.json"), ownPath("main.ts")];
  const run = ["deno", "run", ...permissionFlags(plan), LOAD_WHEN_NEEDED, ...own, ...serve];
  const compile = [
    ...["deno", "compile", ...permissionFlags(compiledPlan(plan)), ...COMPILE_FLAGS, "--config", ownPath("deno.json")],
    ...EMBEDDED_FILES.flatMap((path) => ["--include", ownPath(path)]),
    ...["--output", "gate", ownPath("main.ts")],
  ];
  if (options.json === true) writeResult("permissions", { permissions: plan, run, compile });
  else {
    const notes = plan.notes.map((note) => `# ${note}\n`).join("");
    writeOut(`${notes}${shellLine(run)}\n\n${shellLine(compile)}\n`);
  }
  return EXIT.ok;
}

/** The plan as flags of `deno run` and `deno compile`. */
function permissionFlags(plan: PermissionPlan): readonly string[] {
  const flag = (name: string, allowed: Allowance): readonly string[] => {
    if (allowed === "all") return [`--${name}`];
    return allowed.length === 0 ? [] : [`--${name}=${allowed.join(",")}`];
  };
  return [
    "--no-prompt",
    ...flag("allow-read", plan.read),
    ...flag("allow-write", plan.write),
    ...flag("allow-env", plan.env),
    ...flag("allow-net", plan.net),
    ...flag("deny-net", plan.deny_net),
    ...flag("allow-run", plan.run),
    ...flag("allow-sys", plan.sys),
  ];
}

/** The plan for a compiled program, whose own files lie in a folder that the runtime makes up from its name. */
function compiledPlan(plan: PermissionPlan): PermissionPlan {
  const own = new Map(OWN_FOLDERS.map((folder) => [ownPath(folder), `/tmp/deno-compile-gate/${folder}`]));
  return { ...plan, read: plan.read.map((path) => own.get(path) ?? path) };
}

/** One command for a shell, one flag a line. */
function shellLine(words: readonly string[]): string {
  return words.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ").replaceAll(/ (?=--)/g, " \\\n  ");
}
