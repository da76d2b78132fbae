/**
 * What this server offers besides its tools, and how each protocol revision is told of it.
 *
 * @module
 */

import type { Documentation } from "../../docs/documentation.ts";
import { instructionsFor } from "./instructions.ts";

/** What a server offers. */
export interface Offer {
  /** Its documents; null for none. */
  readonly resources: Pick<Documentation, "load"> | null;
  /** Whether there are prompts for the common jobs. */
  readonly prompts: boolean;
  /** Whether a tool may be called. */
  readonly isOffered: (tool: string) => boolean;
  /** What the server says of itself. */
  readonly instructions: string;
  /** Whether documentation can be searched with `gate_docs_search`. */
  readonly docsSearch: boolean;
  /** `capabilities` of `initialize` and `server/discover`. */
  readonly capabilities: Capabilities;
}

/** The capabilities of MCP that may be offered; nothing of it changes while the process lives. */
export interface Capabilities {
  readonly tools: Record<never, never>;
  readonly resources?: Record<never, never>;
  readonly prompts?: Record<never, never>;
  readonly completions?: Record<never, never>;
}

/** Nothing but tools. */
export const TOOLS_ALONE: Offer = {
  resources: null,
  prompts: false,
  isOffered: () => true,
  instructions: instructionsFor(() => true),
  docsSearch: false,
  capabilities: { tools: {} },
};

/**
 * Tools, the prompts about them, and the documents as far as they are served.
 *
 * @param isOffered Whether a tool may be called
 */
export function offerWith(documentation: Documentation, isOffered: (tool: string) => boolean): Offer {
  const resources = documentation.resources ? documentation : null;
  return {
    resources,
    prompts: true,
    isOffered,
    instructions: instructionsFor(isOffered),
    docsSearch: documentation.search && isOffered("gate_docs_search"),
    capabilities: { tools: {}, ...resources === null ? {} : { resources: {} }, prompts: {}, completions: {} },
  };
}
