import { ConfigError, type ConfigProblem } from "../config/problems.ts";
import { variableOfUrl } from "../config/postgres_address.ts";
import type { GateConfig, McpProviderConfig, ProviderConfig, TypedProviderConfig } from "../config/types.ts";
import type { BuiltinProviderOptions } from "./builtin/engine.ts";
import type { SchemaSandbox } from "./sandbox/schema_sandbox.ts";
import type { LoadedContract, Provider, Providers } from "./types.ts";

/** Dependencies of the providers; those of the host by default. */
export interface ProvidersOptions extends BuiltinProviderOptions {
  /** Compiles the schemas of external contracts. */
  readonly schemas: SchemaSandbox;
  /**
   * Absolute path of the folder with the credentials of typed providers; null where the operator gave none. Undefined
   * where the command has no such flag: the locators of profiles are then not compared with it.
   */
  readonly credentialsDir?: string | null;
}

/**
 * Creates every configured provider. It loads contracts and checks roots and references, so that start-up fails closed.
 * Workers, child processes and connections start with the first query.
 *
 * @throws {ConfigError} Where the configuration of a provider cannot be used; it holds every problem
 */
export async function createProviders(config: GateConfig, options: ProvidersOptions): Promise<Providers> {
  const providers = new Map<string, Provider>();
  const reservedEnvironment = new Set([
    ...options.reservedEnvironment ?? [],
    ...await referencedEnvironment(config),
  ]);
  const problems = await collectProblems(config, async (entry) => {
    providers.set(entry.name, await createProvider(entry, config, { ...options, reservedEnvironment }));
  });
  if (problems.length === 0) return providers;
  await Promise.all([...providers.values()].map((provider) => provider.close()));
  throw new ConfigError(config.config_path ?? "built-in defaults", problems);
}

async function createProvider(
  entry: ProviderConfig,
  config: GateConfig,
  options: ProvidersOptions,
): Promise<Provider> {
  switch (entry.type) {
    case "builtin":
      return (await import("./builtin/provider.ts")).createBuiltinProvider(entry, options);
    case "mcp":
      return await createExternal(entry, config, options);
    case "typed":
      return await createTyped(entry, config, options);
  }
}

async function createExternal(
  entry: McpProviderConfig,
  config: GateConfig,
  options: ProvidersOptions,
): Promise<Provider> {
  if (entry.capabilities_path === null) {
    throw new TypeError(`Cannot start provider "${entry.name}": it has no contract`);
  }
  const loaded = await contractOf(entry.name, entry.capabilities_path, options.schemas);
  const { createMcpProvider } = await import("./external/mcp_provider.ts");
  return createMcpProvider(entry, loaded, config.base_dir);
}

async function createTyped(
  entry: TypedProviderConfig,
  config: GateConfig,
  options: ProvidersOptions,
): Promise<Provider> {
  const { entryGrants, loadTypedVersion } = await import("./typed/load.ts");
  const version = await loadTypedVersion(entry, config, options);
  const { createTypedProvider } = await import("./typed/provider.ts");
  const grants = entryGrants(entry, version.profile, config, options.credentialsDir ?? null);
  const { allow_raw, timeouts } = entry;
  return createTypedProvider(version, grants, { ...options, allow_raw, timeouts });
}

async function contractOf(provider_id: string, path: string, schemas: SchemaSandbox): Promise<LoadedContract> {
  const { loadContract } = await import("./contract/load.ts");
  return await loadContract(path, { provider_id, transport: "mcp" }, schemas);
}

/** The problems of a configuration's contracts; creates no provider. */
export function contractProblems(config: GateConfig, schemas: SchemaSandbox): Promise<readonly ConfigProblem[]> {
  return collectProblems(config, (entry) => loadFiles(entry, config, schemas));
}

/** Takes a step with every entry, and reports the problems of those for which it fails. */
async function collectProblems(
  config: GateConfig,
  step: (entry: ProviderConfig) => Promise<void>,
): Promise<readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  for (const [index, entry] of config.providers.entries()) {
    try {
      await step(entry);
    } catch (error) {
      problems.push(...await problemsOf(error, `providers[${index}]`));
    }
  }
  return problems;
}

async function loadFiles(entry: ProviderConfig, config: GateConfig, schemas: SchemaSandbox): Promise<void> {
  if (entry.type === "typed") {
    const { loadTypedVersion } = await import("./typed/load.ts");
    await loadTypedVersion(entry, config, { schemas });
  } else if (entry.type === "mcp" && entry.capabilities_path !== null) {
    await contractOf(entry.name, entry.capabilities_path, schemas);
  }
}

/** The names of the environment variables that a configuration refers to. */
export async function referencedEnvironment(config: GateConfig): Promise<readonly string[]> {
  const tokens = config.server.auth?.bearer_tokens ?? [];
  const found = [config.run_state_store.url, config.schema_registry.url, ...tokens].flatMap((setting) =>
    variableOfUrl(setting ?? "") ?? []
  );
  for (const entry of config.providers) {
    if (entry.type !== "builtin" || entry.name !== "rest") continue;
    const { referencedVariables } = await import("./builtin/rest_headers.ts");
    found.push(...referencedVariables(entry.config));
  }
  return found;
}

/** The problems of the configuration behind a failed start; rethrows other errors. */
async function problemsOf(error: unknown, path: string): Promise<readonly ConfigProblem[]> {
  const { ProviderSetupError } = await import("./builtin/engine.ts");
  if (error instanceof ProviderSetupError) {
    return error.faults.map(({ member, message }) => ({ path: `${path}.${member}`, message }));
  }
  const { ContractError } = await import("./contract/problems.ts");
  if (!(error instanceof ContractError)) throw error;
  const { setting } = error;
  const what = setting === "capabilities_path" ? "contract" : "runtime profile";
  return error.problems.map(({ path: at, message }) => ({
    path: `${path}.${setting}`,
    message: `must be a usable ${what}: ${at}: ${message}`,
  }));
}
