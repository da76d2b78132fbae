/**
 * What this server offers besides its tools, and how each protocol revision is told of it.
 *
 * @module
 */

import type { Documentation } from "../docs/documentation.ts";

/** What a server offers. */
export interface Offer {
  /** Its documents; null for none. */
  readonly resources: Pick<Documentation, "load"> | null;
  /** Whether there are prompts for the common jobs. */
  readonly prompts: boolean;
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
export const TOOLS_ALONE: Offer = { resources: null, prompts: false, capabilities: { tools: {} } };

/** Tools, the prompts about them, and the documents as far as they are served. */
export function offerWith(documentation: Documentation): Offer {
  const resources = documentation.resources ? documentation : null;
  return {
    resources,
    prompts: true,
    capabilities: { tools: {}, ...resources === null ? {} : { resources: {} }, prompts: {}, completions: {} },
  };
}
