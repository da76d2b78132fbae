/**
 * The tools with everything beneath them: opened and closed as one, for whoever serves them.
 *
 * @module
 */

import type { GateConfig } from "../config/types.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { createSchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { Providers } from "../evidence/types.ts";
import { closeStores, openStores } from "../store/open.ts";
import { createServices } from "./services.ts";
import { createTools } from "./table.ts";
import type { Tool, ToolName } from "./types.ts";

/** Open tools. */
export interface ToolRuntime {
  readonly tools: ReadonlyMap<ToolName, Tool>;
  /** Ends providers and workers and closes the stores; call it after the last call. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the stores and providers that a configuration names, and the tools over them. Nothing of a provider runs before it is first asked.
 *
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`: a store cannot be opened
 * @throws {ConfigError} When a provider cannot be started as it is configured
 * @throws {Error} When a key file that the configuration names cannot be read
 */
export async function openRuntime(config: GateConfig): Promise<ToolRuntime> {
  const stores = await openStores({ run: config.run_state_store, schemas: config.schema_registry }, sha256);
  const schemaSandbox = createSchemaSandbox();
  let providers: Providers = new Map();
  const close = async (): Promise<void> => {
    await Promise.all([...providers.values()].map((provider) => provider.close()));
    schemaSandbox.close();
    await closeStores(stores);
  };
  try {
    if (config.providers.length > 0) {
      const { createProviders } = await import("../evidence/providers.ts");
      providers = await createProviders(config, { schemas: schemaSandbox });
    }
    const services = await createServices({ config, ...stores, schemaSandbox, providers });
    return { tools: createTools(services), close };
  } catch (error) {
    await close();
    throw error;
  }
}
