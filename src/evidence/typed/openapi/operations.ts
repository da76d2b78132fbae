/** Lists the operations and the addresses of an OpenAPI document, in an order that does not depend on the order of members. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../../canonical/json.ts";
import { below, type JsonPath, pathAt } from "../../../canonical/path.ts";
import { type CandidateReason, candidateReason, IMPORT_LIMITS } from "../import_result.ts";
import { CandidateFault, memberOf, type OpenApiDocument, pointerAt, readReferable } from "./document.ts";
import type { OperationPlace } from "./parameters.ts";
import { PROFILE_LIMITS, PROFILE_PATTERNS } from "../runtime_profile.ts";

/** One operation of the document. */
export interface ListedOperation {
  /** The operation id where it is unique, else {@link methodAndPath}. */
  readonly name: string;
  /** `METHOD /path`. */
  readonly methodAndPath: string;
  readonly method: string;
  /** Where it stands; a reason where the path item cannot be read. */
  readonly place: OperationPlace | CandidateReason;
}

/** The methods of path items. */
const METHODS = ["get", "head", "put", "post", "delete", "options", "patch", "trace"];

/** The operations in the order of their paths, then of {@link METHODS}; null where there are too many. */
export function listOperations(document: OpenApiDocument): readonly ListedOperation[] | null {
  const paths = member(document.root, "paths");
  if (!isJsonObject(paths)) return [];
  const templates = Object.keys(paths).filter((template) => !template.startsWith("x-")).sort();
  if (templates.length > IMPORT_LIMITS.operations) return null;
  const listed: Omit<ListedOperation, "name">[] = [];
  for (const template of templates) {
    document.spend(1);
    listed.push(...operationsAt(document, template, paths));
    if (listed.length > IMPORT_LIMITS.operations) return null;
  }
  return withNames(document, listed);
}

function operationsAt(document: OpenApiDocument, template: string, paths: JsonObject): Omit<ListedOperation, "name">[] {
  const path = pathAt("paths", template);
  const value = member(paths, template);
  if (value === undefined) return [];
  const pathItem = readPathItem(document, { value, path });
  if (pathItem === null) return [];
  if ("code" in pathItem) return [{ methodAndPath: `* ${template}`, method: "*", place: pathItem }];
  return METHODS.flatMap((lower) => {
    const operation = memberOf(pathItem.value, pathItem.path, lower);
    if (operation === undefined || !isJsonObject(operation.value)) return [];
    const method = lower.toUpperCase();
    const place = { method, template, pathItem, operation: { value: operation.value, path: operation.path } };
    return [{ methodAndPath: `${method} ${template}`, method, place }];
  });
}

function readPathItem(
  document: OpenApiDocument,
  given: { readonly value: JsonObject[string]; readonly path: JsonPath },
): { readonly value: JsonObject; readonly path: JsonPath } | CandidateReason | null {
  try {
    return readReferable(document, given);
  } catch (error) {
    if (error instanceof CandidateFault) return error.reason;
    throw error;
  }
}

function withNames(
  document: OpenApiDocument,
  listed: readonly Omit<ListedOperation, "name">[],
): readonly ListedOperation[] {
  const counts = new Map<string, number>();
  const ids = listed.map(operationId);
  for (const id of ids) {
    if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return listed.map((one, index) => {
    const id = ids[index] ?? null;
    if (id !== null && counts.get(id) === 1) return { ...one, name: id };
    if (id !== null && !("code" in one.place)) {
      const path = below(one.place.operation.path, "operationId");
      document.warnings.warn("operation_id_ignored", pointerAt(path), `"${id}" is not unique`);
    }
    return { ...one, name: one.methodAndPath };
  });
}

/** Characters of an operation id that serves as a name. */
const ID_CHARACTERS = 256;

// deno-lint-ignore no-control-regex -- the characters of \p{Cc}, which the runtime finds faster this way
const CONTROLS = /[\x00-\x1f\x7f-\x9f]/;

function operationId({ place }: Omit<ListedOperation, "name">): string | null {
  if ("code" in place) return null;
  const id = member(place.operation.value, "operationId");
  const isUsable = typeof id === "string" && id !== "" && id.length <= ID_CHARACTERS && !CONTROLS.test(id);
  return isUsable ? id.toWellFormed() : null;
}

/** Why the path cannot be a template; null where it can. */
export function pathReason(place: OperationPlace, isTemplate: (template: string) => boolean): CandidateReason | null {
  const { template } = place;
  const names = [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name);
  const isPaired = !/[{}]/.test(template.replaceAll(/\{[^{}]+\}/g, ""));
  const hasDots = template.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  const isUsable = isTemplate(template) && isPaired && !hasDots && new Set(names).size === names.length;
  return isUsable ? null : candidateReason("path_invalid", pointerAt(place.operation.path), template);
}

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
