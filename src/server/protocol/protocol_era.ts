/**
 * Which era of MCP a connection speaks. The first messages decide, by the rules of the SDK's stdio entry: a request with
 * the `_meta` envelope of 2026-07-28 is of the modern era, anything else of the era of `initialize`; after
 * `server/discover` alone the client may still turn to the older one.
 *
 * These rules are kept here a second time so that the fast lane can follow them while the SDK is not loaded. They are
 * cautious: what is not surely right is left to the SDK.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { NotificationMessage, RequestMessage } from "./message.ts";

/** Where a connection stands. `unknown` is reached by messages that only the SDK can judge. */
export type Era = "opening" | "probe" | "legacy" | "modern" | "unknown";

/** What the `_meta` of a message says about the modern envelope. */
export type Claim =
  | { readonly claim: "none" }
  | { readonly claim: "valid" }
  | { readonly claim: "unsupported"; readonly requested: string }
  | { readonly claim: "malformed" }
  | { readonly claim: "uncertain" };

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

const NONE: Claim = { claim: "none" };
const VALID: Claim = { claim: "valid" };
const MALFORMED: Claim = { claim: "malformed" };
const UNCERTAIN: Claim = { claim: "uncertain" };

/** Reads the envelope of a message: it is claimed by the version key alone. */
export function readClaim(params: JsonObject): Claim {
  const meta = member(params, "_meta");
  if (!isJsonObject(meta) || !Object.hasOwn(meta, VERSION_KEY)) return NONE;
  const version = member(meta, VERSION_KEY);
  const capabilities = member(meta, CAPABILITIES_KEY);
  if (typeof version !== "string" || capabilities === undefined) return MALFORMED;
  const client = member(meta, CLIENT_KEY);
  if (client !== undefined && !isPlainClientInfo(client)) return UNCERTAIN;
  if (!isPlainCapabilities(capabilities) || Object.hasOwn(meta, LOG_LEVEL_KEY)) return UNCERTAIN;
  return version === MODERN_VERSION ? VALID : { claim: "unsupported", requested: version };
}

/** Where a connection stands after a message. */
export function nextEra(era: Era, message: RequestMessage | NotificationMessage, claim: Claim): Era {
  if (era === "legacy" || era === "modern" || era === "unknown") return era;
  switch (claim.claim) {
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

/** Tells whether a value is surely a valid `clientInfo` of every revision. */
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

/** Tells whether a value is surely a valid set of client capabilities of every revision. */
export function isPlainCapabilities(value: JsonValue | undefined): boolean {
  return isJsonObject(value) &&
    Object.entries(value).every(([name, capability]) => isPlainCapability(name, capability));
}

/** The rules for the capabilities that the schemas know; they let every other member pass. */
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
