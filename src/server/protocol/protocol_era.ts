/**
 * The era of MCP that a connection uses. The first messages decide it. A request with the `_meta` envelope of
 * 2026-07-28 is of the modern era, any other of the era of `initialize`. After `server/discover` alone a client may
 * still use the older era.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { CLIENT_INFO, LOG_LEVEL, MODERN_CAPABILITIES } from "./client_shapes.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";
import { type Check, members, type Misfit, optional, TEXT } from "./wire_check.ts";

/** The era of a connection. */
export type Era = "opening" | "probe" | "legacy" | "modern";

/** The envelope in the `_meta` of a message. */
export type Envelope =
  | { readonly status: "none" }
  | { readonly status: "valid" }
  | { readonly status: "unsupported"; readonly requested: string }
  | { readonly status: "malformed"; readonly misfit: Misfit };

const P = "io.modelcontextprotocol/";
const VERSION_KEY = `${P}protocolVersion`;

const NONE: Envelope = { status: "none" };
const VALID: Envelope = { status: "valid" };

const ENVELOPE: Check = members({
  [VERSION_KEY]: TEXT,
  [`${P}clientInfo`]: optional(CLIENT_INFO),
  [`${P}clientCapabilities`]: MODERN_CAPABILITIES,
  [`${P}logLevel`]: optional(LOG_LEVEL),
});

/** Reads the envelope of a message. The version key alone marks an envelope. */
export function readEnvelope(params: JsonObject): Envelope {
  const meta = member(params, "_meta");
  if (!isJsonObject(meta) || !Object.hasOwn(meta, VERSION_KEY)) return NONE;
  const misfit = ENVELOPE(meta);
  if (misfit !== null) return { status: "malformed", misfit };
  const version = member(meta, VERSION_KEY) as string;
  return version === MODERN_VERSION ? VALID : { status: "unsupported", requested: version };
}

/** Whether a version is of the modern era, known or not. */
export function isModernVersion(version: string): boolean {
  return version >= MODERN_VERSION;
}

/** Whether a message begins the older era: an `initialize` whose envelope is not of the modern era. */
export function isInitialize(method: string, envelope: Envelope): boolean {
  if (method !== "initialize" || envelope.status === "valid") return false;
  return !(envelope.status === "unsupported" && isModernVersion(envelope.requested));
}

/** The era of a connection after a message. */
export function nextEra(era: Era, message: RequestMessage | NotificationMessage, envelope: Envelope): Era {
  if (era === "legacy" || era === "modern") return era;
  if (isInitialize(message.method, envelope)) return "legacy";
  switch (envelope.status) {
    case "none":
      return "legacy";
    case "malformed":
    case "unsupported":
      return era;
    case "valid":
      if (message.kind === "notification") return era === "probe" ? "probe" : "modern";
      return message.method === "server/discover" ? "probe" : "modern";
  }
}
