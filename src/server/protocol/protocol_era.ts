/**
 * The era of MCP that a connection uses. The first messages decide it. A request with the `_meta` envelope of 2026-07-28 is
 * of the modern era, any other of the era of `initialize`. After `server/discover` alone a client may still use the older
 * era.
 *
 * These rules repeat those of the SDK's stdio entry, so that the fast lane can apply them before the SDK is loaded. Where a
 * message is not certainly valid, the SDK decides.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";

/** The era of a connection. `unknown` follows messages that only the SDK can judge. */
export type Era = "opening" | "probe" | "legacy" | "modern" | "unknown";

/** The version of the modern envelope in the `_meta` of a message. */
export type EnvelopeVersion =
  | { readonly status: "none" }
  | { readonly status: "valid" }
  | { readonly status: "unsupported"; readonly requested: string }
  | { readonly status: "malformed" }
  | { readonly status: "uncertain" };

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

const NONE: EnvelopeVersion = { status: "none" };
const VALID: EnvelopeVersion = { status: "valid" };
const MALFORMED: EnvelopeVersion = { status: "malformed" };
const UNCERTAIN: EnvelopeVersion = { status: "uncertain" };

/** Reads the envelope of a message. The version key alone marks an envelope. */
export function readEnvelopeVersion(params: JsonObject): EnvelopeVersion {
  const meta = member(params, "_meta");
  if (!isJsonObject(meta) || !Object.hasOwn(meta, VERSION_KEY)) return NONE;
  const version = member(meta, VERSION_KEY);
  const capabilities = member(meta, CAPABILITIES_KEY);
  if (typeof version !== "string" || capabilities === undefined) return MALFORMED;
  const client = member(meta, CLIENT_KEY);
  if (client !== undefined && !isPlainClientInfo(client)) return UNCERTAIN;
  if (!isPlainCapabilities(capabilities) || Object.hasOwn(meta, LOG_LEVEL_KEY)) return UNCERTAIN;
  return version === MODERN_VERSION ? VALID : { status: "unsupported", requested: version };
}

/** The era of a connection after a message. */
export function nextEra(era: Era, message: RequestMessage | NotificationMessage, envelope: EnvelopeVersion): Era {
  if (era === "legacy" || era === "modern" || era === "unknown") return era;
  switch (envelope.status) {
    case "none":
      return "legacy";
    case "malformed":
    case "unsupported":
      return era;
    case "uncertain":
      return "unknown";
    case "valid":
      if (message.kind === "notification") return era === "probe" ? "probe" : "modern";
      return message.method === "server/discover" ? "probe" : "modern";
  }
}

/** Whether a value is a valid `clientInfo` in every revision. */
export function isPlainClientInfo(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  if (typeof member(value, "name") !== "string" || typeof member(value, "version") !== "string") return false;
  if (Object.hasOwn(value, "icons")) return false;
  return OPTIONAL_TEXTS.every((name) => isOptionalText(member(value, name)));
}

const OPTIONAL_TEXTS = ["title", "description", "websiteUrl"];

function isOptionalText(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === "string";
}

/** Whether a value is a valid set of client capabilities in every revision. */
export function isPlainCapabilities(value: JsonValue | undefined): boolean {
  return isJsonObject(value) &&
    Object.entries(value).every(([name, capability]) => isPlainCapability(name, capability));
}

/** The rules of the capabilities in the schemas; every other member is accepted. */
const CAPABILITY_RULES: ReadonlyMap<string, (value: JsonObject) => boolean> = new Map([
  ["roots", (value) => isOptionalBoolean(member(value, "listChanged"))],
  ["sampling", (value) => hasOptionalObjects(value, ["context", "tools"])],
  ["experimental", (value) => Object.values(value).every(isJsonObject)],
  ["extensions", (value) => Object.values(value).every(isJsonObject)],
  ["elicitation", (value) => {
    const form = member(value, "form");
    return hasOptionalObjects(value, ["form", "url"]) &&
      (!isJsonObject(form) || isOptionalBoolean(member(form, "applyDefaults")));
  }],
  ["tasks", (value) => {
    const requests = member(value, "requests");
    if (!hasOptionalObjects(value, ["list", "cancel", "requests"])) return false;
    return !isJsonObject(requests) ||
      Object.values(requests).every((kind) => isJsonObject(kind) && Object.values(kind).every(isJsonObject));
  }],
]);

function isPlainCapability(name: string, value: JsonValue): boolean {
  const rule = CAPABILITY_RULES.get(name);
  return rule === undefined || (isJsonObject(value) && rule(value));
}

function hasOptionalObjects(value: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => !Object.hasOwn(value, name) || isJsonObject(member(value, name)));
}

function isOptionalBoolean(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === "boolean";
}
