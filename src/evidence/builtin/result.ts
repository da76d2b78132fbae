/** Builds the answer of a provider from the finding of a check. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { contentHash } from "../../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { ObservedError } from "../../run/types.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { WorkerAnswer } from "../sandbox/worker_host.ts";
import {
  type EvidenceQuery,
  type EvidenceResult,
  type OperationalCode,
  type ProviderAnswer,
  RETRYABLE,
} from "../types.ts";

/** The finding of a check: the canonical text of a value, nothing, or an observed error. */
export type Finding =
  | { readonly found: string; readonly content_type: string }
  | { readonly found: null }
  | { readonly error: ObservedError };

/** The source of a finding. */
export interface Source {
  readonly anchor_type: string;
  /** Recorded as canonical JSON. */
  readonly anchor: JsonObject;
  readonly uri: string | null;
}

/** Why a check could not be run. */
export interface Failure {
  readonly code: OperationalCode;
  readonly message: string;
}

/** The finding of an observed error. */
export function observed(code: string, message: string, details?: JsonValue): { readonly error: ObservedError } {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/** The answer for a check that could not be run. */
export function failed({ code, message }: Failure): ProviderAnswer {
  return { ok: false, code, message, retryable: RETRYABLE.has(code) };
}

/** The failure of a question that a worker did not answer. */
export function workerFailure(answer: Extract<WorkerAnswer<unknown>, { readonly ok: false }>): Failure {
  return { code: answer.code, message: answer.message };
}

/** The answer for a finding. An error too has reference and anchor if its source was known. */
export function answered(
  finding: Finding,
  source: Source | null,
  grant: JsonObject,
): ProviderAnswer {
  return { ok: true, result: resultOf(finding, source), acquired_at: Date.now(), grant };
}

function resultOf(finding: Finding, source: Source | null): EvidenceResult {
  const origin = {
    lane: "verified",
    evidence_ref: source === null || source.uri === null ? null : { uri: source.uri },
    evidence_anchor: source === null
      ? null
      : { anchor_type: source.anchor_type, anchor_value: canonicalize(source.anchor) },
    signature: null,
  } as const;
  if ("error" in finding) {
    return { value: null, ...origin, error: finding.error, evidence_hash: null, content_type: null };
  }
  if (finding.found === null) {
    return { value: null, ...origin, error: null, evidence_hash: null, content_type: null };
  }
  return {
    value: { kind: "json", value: readJson(finding.found) },
    ...origin,
    error: null,
    evidence_hash: contentHash(HOST_PRIMITIVES.sha256, finding.found),
    content_type: finding.content_type,
  };
}

/** The params of a query as an object with these members only, or the observed error. */
export function paramsOf(
  query: EvidenceQuery,
  names: readonly string[],
  required: boolean,
): { readonly params: JsonObject } | { readonly error: ObservedError } {
  const params = query.params ?? null;
  if (params === null) return required ? observed("params_missing", "Expected params") : { params: {} };
  if (!isJsonObject(params)) return observed("params_invalid", "Expected params to be an object", { path: "$" });
  const unknown = Object.keys(params).find((name) => !names.includes(name));
  return unknown === undefined ? { params } : invalidParams(unknown, `only ${names.join(", ") || "no members"}`);
}

/** The error for an invalid param. */
export function invalidParams(name: string, expected: string): { readonly error: ObservedError } {
  const shown = name.length > 64 ? `${name.slice(0, 64)}...` : name;
  return observed("params_invalid", `Expected ${expected} in params`, { path: `$.${shown}` });
}

/** A param as a string, or the observed error. */
export function readText(params: JsonObject, name: string): string | { readonly error: ObservedError } {
  const value = member(params, name);
  return typeof value === "string" ? value : invalidParams(name, `a string "${name}"`);
}
