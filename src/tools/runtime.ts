/**
 * The tools with everything beneath them: opened and closed as one, for whoever serves them.
 *
 * @module
 */

import type { GateConfig } from "../config/types.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { createSchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import { closeStores, openStores } from "../store/open.ts";
import { createServices } from "./services.ts";
import { createTools } from "./table.ts";
import type { Tool, ToolName } from "./types.ts";

/** Open tools. */
export interface ToolRuntime {
  readonly tools: ReadonlyMap<ToolName, Tool>;
  /** Closes the stores and ends the workers; call it after the last call. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the stores that a configuration names, and the tools over them.
 *
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`: a store cannot be opened
 * @throws {Error} When a key file that the configuration names cannot be read
 */
export async function openRuntime(config: GateConfig): Promise<ToolRuntime> {
  const stores = await openStores({ run: config.run_state_store, schemas: config.schema_registry }, sha256);
  const schemaSandbox = createSchemaSandbox();
  const close = async (): Promise<void> => {
    schemaSandbox.close();
    await closeStores(stores);
  };
  try {
    const services = await createServices({ config, ...stores, schemaSandbox });
    return { tools: createTools(services), close };
  } catch (error) {
    await close();
    throw error;
  }
}
