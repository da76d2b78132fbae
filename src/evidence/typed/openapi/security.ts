/**
 * Names the credentials that the operations ask for. A document has no locators, so the operator adds them to the
 * profile.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { type OpenApiDocument, pointerAt, readReferable } from "./document.ts";
import { pathAt } from "../../../canonical/path.ts";

/** Warns of each scheme of credentials that an operation requires. */
export function warnOfCredentials(document: OpenApiDocument, operation: JsonObject): void {
  const required = member(operation, "security") ?? member(document.root, "security");
  if (!isJsonArray(required) || required.some((one) => isJsonObject(one) && Object.keys(one).length === 0)) return;
  const [first] = required;
  if (!isJsonObject(first)) return;
  for (const name of Object.keys(first)) warnOfScheme(document, name);
}

function warnOfScheme(document: OpenApiDocument, name: string): void {
  const components = member(document.root, "components");
  const schemes = isJsonObject(components) ? member(components, "securitySchemes") : undefined;
  const given = isJsonObject(schemes) ? member(schemes, name) : undefined;
  const path = pathAt("components", "securitySchemes", name);
  const scheme = given === undefined ? null : readReferable(document, { value: given, path });
  const credential = scheme === null ? null : credentialFor(scheme.value);
  if (credential === null) {
    const message = `The profile cannot express the scheme "${name}"`;
    return document.warnings.warn("credential_unsupported", pointerAt(path), message);
  }
  const example = JSON.stringify({ ...credential, locator: "file://NAME" });
  const message = `Operations ask for "${name}": add ${example} to "credentials" of the profile`;
  document.warnings.warn("credential_required", pointerAt(path), message);
}

function credentialFor(scheme: JsonObject): JsonObject | null {
  switch (member(scheme, "type")) {
    case "http":
      return httpCredential(member(scheme, "scheme"));
    case "oauth2":
    case "openIdConnect":
      return { kind: "bearer" };
    case "apiKey": {
      const header = member(scheme, "name");
      return member(scheme, "in") === "header" && typeof header === "string" ? headerCredential(header) : null;
    }
    default:
      return null;
  }
}

function httpCredential(scheme: JsonValue | undefined): JsonObject | null {
  const kind = typeof scheme === "string" ? scheme.toLowerCase() : "";
  return kind === "bearer" || kind === "basic" ? { kind } : null;
}

function headerCredential(header: string): JsonObject {
  return header.toLowerCase() === "authorization" ? { kind: "bearer" } : { kind: "api_key", header };
}
