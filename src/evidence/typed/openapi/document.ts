/** Reads an OpenAPI document: its version, and its local references, each resolved once. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { below, type JsonPath, stepsTo } from "../../../canonical/path.ts";
import {
  type CandidateReason,
  candidateReason,
  type CandidateReasonCode,
  createWarningCollector,
  pointerOf,
  stepsOf,
  type WarningCollector,
} from "../import_result.ts";

/** A value of the document and its path. */
export interface Found {
  readonly value: JsonValue;
  readonly path: JsonPath;
}

/** An OpenAPI document while it is read. */
export interface OpenApiDocument {
  readonly root: JsonObject;
  /** The text of `openapi`. */
  readonly version: string;
  /** In 3.0 the members beside a `$ref` are ignored, and `nullable` adds null. */
  readonly isVersion30: boolean;
  readonly warnings: WarningCollector;
  readonly spend: (steps: number) => void;
  /** The targets of the references that were followed, or why one has no target. */
  readonly targets: Map<string, Found | CandidateReason>;
}

/** A part of the document cannot become part of a check. It is no `Error`: documents have many, and a stack takes time. */
export class CandidateFault {
  readonly reason: CandidateReason;

  constructor(reason: CandidateReason) {
    this.reason = reason;
  }
}

/** Ends the reading of a part with a reason. */
export function faultAt(code: CandidateReasonCode, path: JsonPath, detail = ""): CandidateFault {
  return new CandidateFault(candidateReason(code, pointerAt(path), detail));
}

/** The JSON pointer of a path. */
export function pointerAt(path: JsonPath): string {
  return pointerOf(stepsTo(path));
}

/** Opens a document; null where it is not OpenAPI 3.0 or 3.1. */
export function openDocument(root: JsonValue, spend: (steps: number) => void): OpenApiDocument | null {
  const version = isJsonObject(root) ? member(root, "openapi") : undefined;
  if (!isJsonObject(root) || typeof version !== "string" || !/^3\.[01]\.\d{1,9}(?:-.{1,64})?$/.test(version)) {
    return null;
  }
  const isVersion30 = version.startsWith("3.0.");
  return { root, version, isVersion30, warnings: createWarningCollector(), spend, targets: new Map() };
}

/**
 * The target of a local reference.
 *
 * @param path Path of the reference, for reasons
 * @throws {CandidateFault} Where the reference leaves the document or has no target
 */
export function followReference(document: OpenApiDocument, reference: JsonValue, path: JsonPath): Found {
  if (typeof reference !== "string") throw faultAt("reference_unresolved", path, "Expected a string");
  const known = document.targets.get(reference);
  const found = known ?? findTarget(document, reference, path);
  if (known === undefined) document.targets.set(reference, found);
  if ("code" in found) throw new CandidateFault(found);
  return found;
}

function findTarget(document: OpenApiDocument, reference: string, path: JsonPath): Found | CandidateReason {
  const pointer = pointerAt(path);
  if (!reference.startsWith("#")) return candidateReason("reference_external", pointer, reference);
  const steps = stepsOf(decodeFragment(reference.slice(1)));
  if (steps === null || steps.length === 0) return candidateReason("reference_unresolved", pointer, reference);
  document.spend(steps.length);
  let value: JsonValue = document.root;
  let at: JsonPath = null;
  for (const step of steps) {
    const inner = stepInto(value, step);
    if (inner === undefined) return candidateReason("reference_unresolved", pointer, reference);
    value = inner;
    at = below(at, step);
  }
  return { value, path: at };
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A lone percent sign: the text as it stands.
    return fragment;
  }
}

function stepInto(value: JsonValue, step: string): JsonValue | undefined {
  if (isJsonObject(value)) return member(value, step);
  return isJsonArray(value) && /^(?:0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined;
}

/**
 * An object of the document, after its references: a parameter, a response, a path item.
 *
 * @returns Null where it is no object
 * @throws {CandidateFault} Where a reference leaves the document, has no target, or leads back to itself
 */
export function readReferable(
  document: OpenApiDocument,
  given: Found,
): { readonly value: JsonObject; readonly path: JsonPath } | null {
  const seen = new Set<JsonValue>();
  let { value, path } = given;
  while (isJsonObject(value)) {
    document.spend(1);
    const reference = member(value, "$ref");
    if (reference === undefined) return { value, path };
    if (seen.has(value)) throw faultAt("reference_cycle", path);
    seen.add(value);
    ({ value, path } = followReference(document, reference, below(path, "$ref")));
  }
  return null;
}

/** A member and its path; undefined where it is absent. */
export function memberOf(object: JsonObject, path: JsonPath, name: string): Found | undefined {
  const value = member(object, name);
  return value === undefined ? undefined : { value, path: below(path, name) };
}
