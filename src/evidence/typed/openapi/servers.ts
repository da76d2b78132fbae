/** Reads the address of the service. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../../canonical/json.ts";
import { below, type JsonPath } from "../../../canonical/path.ts";
import { PROFILE_LIMITS, PROFILE_PATTERNS } from "../runtime_profile.ts";
import { type OpenApiDocument, pointerAt } from "./document.ts";

/** The first server of an object with `servers`, its variables replaced by their defaults; null without one. */
export function serverOf(document: OpenApiDocument, object: JsonObject, path: JsonPath): string | null {
  const servers = member(object, "servers");
  const server = isJsonArray(servers) ? servers[0] : undefined;
  const url = isJsonObject(server) ? member(server, "url") : undefined;
  if (!isJsonObject(server) || typeof url !== "string") return null;
  const at = below(below(path, "servers"), 0);
  const variables = member(server, "variables");
  return url.slice(0, PROFILE_LIMITS.urlCharacters + 1).replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = isJsonObject(variables) ? member(variables, name) : undefined;
    const value = isJsonObject(variable) ? member(variable, "default") : undefined;
    if (typeof value !== "string") return whole;
    document.warnings.warn("server_variable", pointerAt(at), `"{${name}}" in the address is "${value}"`);
    return value;
  });
}

/** A base URL without a slash at its end; null where a profile cannot have it. */
export function baseUrl(text: string): string | null {
  const isShort = text.length <= PROFILE_LIMITS.urlCharacters;
  if (!isShort || !new RegExp(PROFILE_PATTERNS.baseUrl, "u").test(text) || !URL.canParse(text)) return null;
  return text.replace(/\/+$/, "");
}

/** Whether a server is relative to the address of the document, which an import does not know. */
export function isRelative(server: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(server);
}
