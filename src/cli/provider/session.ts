import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { createProviders } from "../../evidence/providers.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import { exitAtSignals } from "../../server/process/signals.ts";
import type { TypedGrants } from "../../evidence/typed/grants.ts";
import { credentialsFolder, typedHostsOf } from "../serve/typed_flags.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import { activeProviders, withStoredProviders } from "./stored_providers.ts";
import type { Providers } from "../../evidence/types.ts";
import type { ConfigFlags } from "../terminal/output.ts";

/** The open providers and their configuration. */
export interface ProviderSession {
  readonly config: GateConfig;
  readonly providers: Providers;
  readonly schemas: SchemaSandbox;
}

/** The flags about providers that several commands have. */
export interface ProviderFlags extends ConfigFlags {
  readonly credentialsDir?: string;
  readonly namespace?: string;
  readonly typedHost?: readonly string[];
  readonly typedPrivate?: boolean;
}

/** What the flags grant to the typed providers of a namespace, as those of `gate serve` do. */
async function grantsOf({ dev }: GateConfig, flags: ProviderFlags): Promise<TypedGrants> {
  const { credentialsDir } = flags;
  return {
    hosts: await typedHostsOf(flags.typedHost ?? []),
    allowPrivateNetworks: flags.typedPrivate === true,
    privateSetting: "--typed-private",
    cleartext: "loopback",
    allowEnvironment: dev.allow_dev_env_credentials,
    credentialsDir: credentialsDir === undefined ? null : await credentialsFolder(credentialsDir),
  };
}

/**
 * Runs a command with the providers of a configuration, and closes them. With `--namespace` they include the active
 * typed providers of that namespace.
 *
 * @throws {ConfigError} If the configuration is invalid, or a provider cannot be created from it
 */
export async function withProviders<Result>(
  flags: ProviderFlags,
  work: (session: ProviderSession) => Promise<Result>,
): Promise<Result> {
  const { credentialsDir } = flags;
  const config = await loadConfig({ config: flags.config });
  const schemas = createSchemaSandbox();
  const signals = exitAtSignals(Deno.exit);
  try {
    const providers = await createProviders(config, {
      schemas,
      ...credentialsDir === undefined ? {} : { credentialsDir: await credentialsFolder(credentialsDir) },
    });
    try {
      const namespaceId = flags.namespace === undefined ? null : parseNamespace(flags.namespace);
      if (namespaceId === null) return await work({ config, providers, schemas });
      const grants = await grantsOf(config, flags);
      return await withStoredProviders(config, grants, async (stored) => {
        const active = stored === null ? [] : await activeProviders(stored.typed, namespaceId);
        const all = new Map([...active.map((one) => [one.provider_id, one] as const), ...providers]);
        return await work({ config, providers: all, schemas });
      });
    } finally {
      await Promise.all([...providers.values()].map((provider) => provider.close()));
    }
  } finally {
    schemas.close();
    signals.close();
  }
}
