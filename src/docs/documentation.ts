/** The documentation of a running service. It is read on first use. */

import type { DocsConfig } from "../config/types.ts";
import type { Catalogue } from "./catalogue.ts";

/** The documentation, as the configuration serves it. */
export interface Documentation {
  /** Whether `gate_docs_search` is offered. */
  readonly search: boolean;
  /** Whether documents are offered as resources. */
  readonly resources: boolean;
  /** Whether the operator configured documents, so that a problem with them must show at the start. */
  readonly isConfigured: boolean;
  /** Reads the documents, once. */
  readonly load: () => Promise<Catalogue>;
}

/** The documentation of a configuration. */
export function createDocumentation(config: DocsConfig): Documentation {
  let loading: Promise<Catalogue> | null = null;
  const open = async (): Promise<Catalogue> => (await import("./catalogue.ts")).openCatalogue(config);
  // A failed read is repeated at the next use.
  const resetAndThrow = (error: unknown): never => {
    loading = null;
    throw error;
  };
  return {
    search: config.enabled && config.enable_search,
    resources: config.enabled && config.enable_resources,
    isConfigured: config.enabled && config.extra_paths.length > 0,
    load: () => loading ??= open().catch(resetAndThrow),
  };
}
