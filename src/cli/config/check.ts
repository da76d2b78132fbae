/** `gate config check`: lists every problem of a configuration. */

import { type KeysFolder, keysFolder, loadConfig } from "../../config/load.ts";
import { ConfigError, type ConfigProblem, countOf, formatProblem } from "../../config/problems.ts";
import { repeatedKeys, trustedKeyMembers } from "../../config/trusted_keys.ts";
import type { GateConfig } from "../../config/types.ts";
import { readFileAtMost } from "../../config/files.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { bearerProblems, databaseProblems } from "./variable.ts";

/** The flags of `gate config check`. */
export interface ConfigCheckOptions extends ConfigFlags {
  readonly evidenceKeys?: string;
  readonly notify?: string;
  readonly notifySecret?: string;
}

/** Runs `gate config check [FILE]`, or with `--config FILE`. Returns 0 for a valid configuration, else 2. */
export async function runConfigCheck(file: string | undefined, options: ConfigCheckOptions): Promise<number> {
  if (file !== undefined && options.config !== undefined) {
    throw new CliError("usage", "Cannot check two configurations at once", "pass FILE or --config, not both");
  }
  if (options.notify !== undefined || options.notifySecret !== undefined) {
    const { checkReceiverFlags } = await import("../serve/notify_flags.ts");
    checkReceiverFlags(options.notify, options.notifySecret);
  }
  const { config_path, problems } = await check(file ?? options.config, options.evidenceKeys);
  const valid = problems.length === 0;
  const heading = valid
    ? `${config_path ?? "built-in defaults"}: valid`
    : `${config_path}: ${countOf(problems.length, "problem")}`;
  const text = [heading, ...problems.map(formatProblem)].map((line) => `${line}\n`).join("");
  const result = { config_path, valid, problems, notices: [] };
  return writeAnswer("config check", options, result, text, { exitCode: valid ? EXIT.ok : EXIT.usage });
}

/** The result of a check. */
interface Checked {
  readonly config_path: string | null;
  readonly problems: readonly ConfigProblem[];
}

async function check(named: string | undefined, evidenceKeys: string | undefined): Promise<Checked> {
  try {
    const config = await loadConfig({ config: named });
    const { config_path } = config;
    return { config_path, problems: await problemsOfNamed(config, evidenceKeys) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config_path: error.configPath, problems: error.problems };
  }
}

/**
 * Problems of the contracts, runtime profiles, trusted keys and databases that a configuration names. Keys that do not
 * exist on this machine are skipped. Folders, other variables, certificates, stores and ports depend on the machine:
 * `gate doctor` checks them.
 */
async function problemsOfNamed(
  config: GateConfig,
  named: string | undefined,
): Promise<readonly ConfigProblem[]> {
  const evidenceKeys = keysFolder(config, named);
  const isAlone = trustedKeyMembers(config).length < 2 && evidenceKeys === null;
  const repeated = isAlone ? [] : await problemsOfKeys(config, evidenceKeys);
  return [...databaseProblems(config), ...bearerProblems(config), ...repeated, ...await problemsOfContracts(config)];
}

async function problemsOfKeys(
  config: GateConfig,
  evidenceKeys: KeysFolder | null,
): Promise<readonly ConfigProblem[]> {
  const { readableKeys, readTrustedKeys } = await import("../../tools/services/operator_profile.ts");
  const keys = readableKeys(await readTrustedKeys(config, readFileAtMost));
  const problems = repeatedKeys(config, keys);
  if (evidenceKeys === null) return problems;
  const { evidenceKeyProblems } = await import("../../evidence/trust/evidence_keys.ts");
  return [...problems, ...await evidenceKeyProblems(evidenceKeys, keys)];
}

async function problemsOfContracts(config: GateConfig): Promise<readonly ConfigProblem[]> {
  if (!config.providers.some(({ type }) => type !== "builtin")) return [];
  const [{ contractProblems }, { createSchemaSandbox }] = await Promise.all([
    import("../../evidence/providers.ts"),
    import("../../evidence/sandbox/schema_sandbox.ts"),
  ]);
  const schemas = createSchemaSandbox();
  try {
    return await contractProblems(config, schemas);
  } finally {
    schemas.close();
  }
}
