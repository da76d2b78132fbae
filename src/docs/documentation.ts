/**
 * The documentation of a running service: nothing of it is read before somebody asks.
 *
 * @module
 */

import type { DocsConfig } from "../config/types.ts";
import type { Catalogue } from "./catalogue.ts";

/** The documentation as a configuration wants it served. */
export interface Documentation {
  /** Whether `gate_docs_search` is offered. */
  readonly search: boolean;
  /** Whether documents are offered as resources. */
  readonly resources: boolean;
  /** Whether the documents depend on what the operator has set, so that a fault of it should show at the start. */
  readonly isConfigured: boolean;
  /** Reads the documents, once. */
  readonly load: () => Promise<Catalogue>;
}

/** The documentation of a configuration. */
export function createDocumentation(config: DocsConfig): Documentation {
  let loading: Promise<Catalogue> | null = null;
  const open = async (): Promise<Catalogue> => (await import("./catalogue.ts")).openCatalogue(config);
  // What could not be read is tried again by whoever asks next.
  const forget = (error: unknown): never => {
    loading = null;
    throw error;
  };
  return {
    search: config.enabled && config.enable_search,
    resources: config.enabled && config.enable_resources,
    isConfigured: config.enabled && config.extra_paths.length > 0,
    load: () => loading ??= open().catch(forget),
  };
}
