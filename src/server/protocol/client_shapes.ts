/** The shapes in which clients describe themselves, as the message schemas of MCP define them. */

import { words } from "../../canonical/words.ts";
import { BOOLEAN, type Check, list, members, OBJECT, oneOf, optional, record, TEXT } from "./wire_check.ts";

const ICON: Check = members({
  src: TEXT,
  mimeType: optional(TEXT),
  sizes: optional(list(TEXT)),
  theme: optional(oneOf(["light", "dark"])),
});

/** `clientInfo`. */
export const CLIENT_INFO: Check = members({
  name: TEXT,
  title: optional(TEXT),
  icons: optional(list(ICON)),
  version: TEXT,
  websiteUrl: optional(TEXT),
  description: optional(TEXT),
});

const MODERN_MEMBERS: Readonly<Record<string, Check>> = {
  experimental: optional(record(OBJECT)),
  sampling: optional(members({ context: optional(OBJECT), tools: optional(OBJECT) })),
  elicitation: optional(members({
    form: optional(members({ applyDefaults: optional(BOOLEAN) })),
    url: optional(OBJECT),
  })),
  roots: optional(members({ listChanged: optional(BOOLEAN) })),
  extensions: optional(record(OBJECT)),
};

/** `clientCapabilities` of 2026-07-28. */
export const MODERN_CAPABILITIES: Check = members(MODERN_MEMBERS);

/** `capabilities` of `initialize`. */
export const LEGACY_CAPABILITIES: Check = members({
  ...MODERN_MEMBERS,
  tasks: optional(members({
    list: optional(OBJECT),
    cancel: optional(OBJECT),
    requests: optional(members({
      sampling: optional(members({ createMessage: optional(OBJECT) })),
      elicitation: optional(members({ create: optional(OBJECT) })),
    })),
  })),
});

/** The log levels of MCP. */
export const LOG_LEVEL: Check = oneOf(words("debug info notice warning error critical alert emergency"));
