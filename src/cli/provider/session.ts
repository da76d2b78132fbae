/**
 * Opens the providers of a configuration for one command.
 *
 * @module
 */

import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { createProviders } from "../../evidence/providers.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import { exitAtSignals } from "../../server/process/signals.ts";
import { credentialsFolder } from "../serve/typed_flags.ts";
import type { Providers } from "../../evidence/types.ts";

/** The open providers and their configuration. */
export interface ProviderSession {
  readonly config: GateConfig;
  readonly providers: Providers;
  readonly schemas: SchemaSandbox;
}

/**
 * Runs a command with the providers of a configuration, and closes them.
 *
 * @param credentialsDir The value of `--credentials-dir`
 * @throws {ConfigError} If the configuration is invalid, or a provider cannot be created from it
 */
export async function withProviders<Result>(
  file: string | undefined,
  work: (session: ProviderSession) => Promise<Result>,
  credentialsDir?: string,
): Promise<Result> {
  const config = await loadConfig({ config: file });
  const schemas = createSchemaSandbox();
  const signals = exitAtSignals(Deno.exit);
  try {
    const providers = await createProviders(config, {
      schemas,
      ...credentialsDir === undefined ? {} : { credentialsDir: await credentialsFolder(credentialsDir) },
    });
    try {
      return await work({ config, providers, schemas });
    } finally {
      await Promise.all([...providers.values()].map((provider) => provider.close()));
    }
  } finally {
    schemas.close();
    signals.close();
  }
}
