/** `gate permissions`: prints the runtime flags that limit the process to what a configuration needs. */

import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { serveCommand } from "../client/block.ts";
import { DEFAULT_DOCS } from "../../docs/default_docs.ts";
import { SERVE_FLAGS } from "../serve/serve_flags.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type ConfigFlags, writeAnswer, writeOut } from "../terminal/output.ts";
import { shellLine } from "../terminal/text.ts";
import { AUTHORITIES, grantFlags } from "./grants.ts";
import { commaFaults, OWN_FOLDERS, ownPath, type PermissionPlan } from "./plan.ts";

/** The flags of `gate permissions`: those of `gate serve`, each by its name in camel case. */
export interface PermissionsOptions extends ConfigFlags {
  /** Whether to print the flags of the runtime alone, one a line, as launchers read them. */
  readonly flags?: boolean;
  readonly [name: string]: FlagValue;
}

type FlagValue = string | boolean | readonly string[] | undefined;

/** Modules that are started by name and not imported; a compiled program must embed them explicitly. */
export const WORKER_MODULES: readonly string[] = [
  "src/evidence/builtin/env_worker.ts",
  "src/evidence/builtin/json_worker.ts",
  "src/evidence/builtin/request_worker.ts",
  "src/evidence/builtin/select_worker.ts",
  "src/evidence/builtin/time_worker.ts",
  "src/evidence/sandbox/schema_worker.ts",
  "src/evidence/typed/grpc/call_worker.ts",
  "src/evidence/typed/grpc/import_worker.ts",
  "src/evidence/typed/grpc/profile_worker.ts",
  "src/evidence/typed/http/call_worker.ts",
  "src/evidence/typed/openapi/import_worker.ts",
  "src/store/backup/backup_worker.ts",
  "src/store/sqlite/log/log_worker.ts",
  "src/tools/packs/pack_worker.ts",
];

/** Files to embed in addition to imported modules, from the root of the checkout: workers and documents. */
const EMBEDDED_FILES: readonly string[] = [
  ...WORKER_MODULES,
  ...DEFAULT_DOCS.flatMap(({ files }) => files.map((file) => `docs/${file}`)),
];

/**
 * Flags of `deno compile` for every gate: no code from the network, no packages of tests, and no cache of compiled code
 * at a predictable path.
 */
const COMPILE_FLAGS: readonly string[] = [
  "--frozen",
  "--deny-import",
  "--no-code-cache",
  "--exclude-unused-npm",
];

/** Runs `gate permissions [serve]`. */
export async function runPermissions(_command: string, options: PermissionsOptions): Promise<number> {
  const config = await loadConfig(options);
  const { plan, args } = await serveCommand(config, serveArguments(options));
  if (options.flags === true) {
    const [fault] = commaFaults(plan);
    if (fault !== undefined) throw new CliError("usage", `Cannot print flags: ${fault}`);
    writeOut(grantFlags(plan).map((flag) => `${flag}\n`).join(""));
    return EXIT.ok;
  }
  const run = ["deno", ...args];
  const compile = [
    "deno",
    "compile",
    "--no-prompt",
    ...grantFlags(compiledPlan(plan)),
    ...COMPILE_FLAGS,
    "--config",
    ownPath("deno.json"),
    ...EMBEDDED_FILES.flatMap((path) => ["--include", ownPath(path)]),
    "--output",
    "gate",
    ownPath("main.ts"),
  ];
  const notes = plan.notes.map((note) => `# ${note}\n`).join("");
  const text = `${notes}${shellLine(run)}\n\n${shellLine(compile)}\n`;
  // As the flags say it: none of them can name the authorities of the system.
  const permissions = { ...plan, sys: plan.sys.includes(AUTHORITIES) ? "all" : plan.sys };
  return writeAnswer("permissions", options, { permissions, run, compile }, text);
}

/** The arguments of `gate serve` in options of the command line. Its paths count from this folder, so they become absolute. */
function serveArguments(options: PermissionsOptions): readonly string[] {
  return SERVE_FLAGS.filter(({ name }) => name !== "json").flatMap(({ name, value }) => {
    const given = options[name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    if (given === undefined || given === false) return [];
    const values = [given].flat();
    return values.flatMap((one) =>
      typeof one !== "string" ? [`--${name}`] : [`--${name}`, isPath(value) ? resolve(one) : one]
    );
  });
}

function isPath(value: string | null): boolean {
  return value === "PATH" || value === "DIR" || value === "FILE";
}

/** Variables that commands beside `gate serve` read. */
const COMMAND_VARIABLES = ["GATE_CONFIG", "NO_COLOR"];

/**
 * Adapts a plan to a compiled program, which has the other commands too. The runtime names the folder of its own files
 * after the program.
 */
function compiledPlan(plan: PermissionPlan): PermissionPlan {
  const own = new Map(OWN_FOLDERS.map((folder) => [ownPath(folder), `/tmp/deno-compile-gate/${folder}`]));
  const env = plan.env === "all" ? plan.env : [...new Set([...plan.env, ...COMMAND_VARIABLES])].sort();
  return { ...plan, env, read: plan.read.map((path) => own.get(path) ?? path) };
}
