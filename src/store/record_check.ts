/**
 * Checks of a record that was read from a store: its texts hash to their identities, and its links fit its position.
 */

import {
  identifyCanonical,
  type Identity,
  IDENTITY_KINDS,
  type IdentityKind,
  type Sha256,
} from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import type { RunKey } from "../run/types.ts";
import type { RunHead, StoredRecord } from "./types.ts";

/** The expected position of a record. */
export interface ExpectedPosition {
  readonly run_key: RunKey;
  readonly revision: number;
  /** Identity of the previous record; null for the first record, undefined where it is unknown. */
  readonly previous: Identity | null | undefined;
}

/**
 * Every problem of a record that was read. Texts are hashed again. The columns beside the record are compared with the
 * record, whose identity proves it.
 *
 * @returns One sentence for each problem, without the position; empty where the record equals the written one
 */
export function recordProblems(sha256: Sha256, position: ExpectedPosition, stored: StoredRecord): string[] {
  const problems: string[] = [];
  if (stored.revision !== position.revision) {
    problems.push(`revision is ${stored.revision}, expected ${position.revision}`);
  }
  if (identifyCanonical(sha256, "run-record", stored.record) !== stored.record_id) {
    problems.push(`record does not hash to "${stored.record_id}"`);
  }
  for (const item of stored.material) {
    if (!hashesTo(sha256, item.kind, item.identity, item.body)) {
      problems.push(`material of kind "${item.kind}" does not hash to "${item.identity}"`);
    }
  }
  const members = parseObject(stored.record);
  if (members === null) return [...problems, "record is not a JSON object"];
  return [...problems, ...linkProblems(position, stored, members)];
}

/** Whether a canonical text hashes to an identity of the given kind; false for an unknown kind. */
export function hashesTo(sha256: Sha256, kind: string, identity: Identity, body: string): boolean {
  return (IDENTITY_KINDS as readonly string[]).includes(kind) &&
    identifyCanonical(sha256, kind as IdentityKind, body) === identity;
}

/** Compares the scenario and law of a run with its first record; returns one sentence for each problem. */
export function bindingProblems(run: RunHead, first: StoredRecord): string[] {
  const body = member(parseObject(first.record), "body");
  const problems: string[] = [];
  for (const name of ["scenario_id", "scenario_law_identity"] as const) {
    if (member(body, name) !== run[name]) {
      problems.push(`run is bound to ${name} "${run[name]}", its first record names another`);
    }
  }
  return problems;
}

/** The JSON object of a text, or null for any other text. */
export function parseObject(text: string): object | null {
  try {
    const value: unknown = readJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** An own member of a value; undefined where the value is not an object or has no such member. */
export function member(of: unknown, name: string): unknown {
  if (typeof of !== "object" || of === null) return undefined;
  return Object.getOwnPropertyDescriptor(of, name)?.value;
}

function linkProblems(position: ExpectedPosition, stored: StoredRecord, members: object): string[] {
  const problems: string[] = [];
  const compare = (what: string, found: unknown, expected: unknown): void => {
    if (found !== expected) problems.push(`${what} of the record is not the expected "${String(expected)}"`);
  };
  const runKey = member(members, "run_key");
  const operation = member(members, "operation");
  compare("revision", member(members, "revision"), position.revision);
  compare("namespace", member(runKey, "namespace_id"), position.run_key.namespace_id);
  compare("run", member(runKey, "run_id"), position.run_key.run_id);
  compare("operation family", member(operation, "family"), stored.receipt.operation.family);
  compare("operation", member(operation, "identity"), stored.receipt.operation.identity);
  compare("invocation", member(members, "invocation_identity"), stored.receipt.invocation_identity);
  if (position.previous !== undefined) {
    compare("previous record", member(members, "previous_record_id"), position.previous);
  }
  return problems;
}
