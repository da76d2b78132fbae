/** `gate permissions`: prints the runtime flags that limit the process to what a configuration needs. */

import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { LOAD_WHEN_NEEDED } from "../client/block.ts";
import { DEFAULT_DOCS } from "../../docs/default_docs.ts";
import { parseReceiver, parseSecret } from "../serve/notify_flags.ts";
import { parseEndpoint, parseHeader } from "../serve/telemetry_flags.ts";
import { typedHostsOf } from "../serve/typed_flags.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { type Allowance, OWN_FOLDERS, ownPath, type PermissionPlan, planPermissions } from "./plan.ts";

/** The flags of `gate permissions`, including those of `gate serve` that need permissions. */
export interface PermissionsOptions extends ConfigFlags {
  readonly signingKey?: string;
  readonly typedHost?: readonly string[];
  readonly typedPrivate?: boolean;
  readonly credentialsDir?: string;
  readonly evidenceKeys?: string;
  readonly otlpEndpoint?: string;
  readonly otlpHeader?: readonly string[];
  readonly console?: boolean;
  readonly notify?: string;
  readonly notifySecret?: string;
}

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

/** Runs `gate permissions`. */
export async function runPermissions(options: PermissionsOptions): Promise<number> {
  const config = await loadConfig(options);
  const files = {
    dataDir: options.dataDir === undefined ? undefined : resolve(options.dataDir),
    signingKey: options.signingKey === undefined ? undefined : resolve(options.signingKey),
    credentialsDir: options.credentialsDir === undefined ? undefined : resolve(options.credentialsDir),
    evidenceKeys: options.evidenceKeys === undefined ? undefined : resolve(options.evidenceKeys),
    typedHosts: await typedHostsOf(options.typedHost ?? []),
    typedPrivate: options.typedPrivate === true,
    console: options.console === true,
    collector: options.otlpEndpoint === undefined ? undefined : parseEndpoint(options.otlpEndpoint),
    collectorVariables: (options.otlpHeader ?? []).map((header) => parseHeader(header).variable),
    receiver: options.notify === undefined ? undefined : parseReceiver(options.notify),
    receiverVariables: options.notifySecret === undefined ? [] : [parseSecret(options.notifySecret)],
  };
  const plan = await planPermissions(config, files);
  const serve = [
    "serve",
    ...config.config_path === null ? [] : ["--config", config.config_path],
    ...files.dataDir === undefined ? [] : ["--data-dir", files.dataDir],
    ...files.signingKey === undefined ? [] : ["--signing-key", files.signingKey],
    ...(options.typedHost ?? []).flatMap((host) => ["--typed-host", host]),
    ...files.typedPrivate ? ["--typed-private"] : [],
    ...files.credentialsDir === undefined ? [] : ["--credentials-dir", files.credentialsDir],
    ...files.evidenceKeys === undefined ? [] : ["--evidence-keys", files.evidenceKeys],
    ...options.otlpEndpoint === undefined ? [] : ["--otlp-endpoint", options.otlpEndpoint],
    ...(options.otlpHeader ?? []).flatMap((header) => ["--otlp-header", header]),
    ...files.console ? ["--console"] : [],
    ...options.notify === undefined ? [] : ["--notify", options.notify],
    ...options.notifySecret === undefined ? [] : ["--notify-secret", options.notifySecret],
  ];
  const own = ["--config", ownPath("deno.json"), ownPath("main.ts")];
  const run = ["deno", "run", ...permissionFlags(plan), LOAD_WHEN_NEEDED, ...own, ...serve];
  const compile = [
    "deno",
    "compile",
    ...permissionFlags(compiledPlan(plan)),
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
  return writeAnswer("permissions", options, { permissions: plan, run, compile }, text);
}

/** Formats a plan as flags of `deno run` and `deno compile`. */
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

/** Adapts a plan to a compiled program, whose own files are in a folder that the runtime names after the program. */
function compiledPlan(plan: PermissionPlan): PermissionPlan {
  const own = new Map(OWN_FOLDERS.map((folder) => [ownPath(folder), `/tmp/deno-compile-gate/${folder}`]));
  return { ...plan, read: plan.read.map((path) => own.get(path) ?? path) };
}

/** Formats a command for a shell with one flag per line. */
function shellLine(words: readonly string[]): string {
  return words.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
    .join(" ").replaceAll(/ (?=--)/g, " \\\n  ");
}
