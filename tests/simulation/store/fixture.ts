/**
 * Well-formed things to put into a store: real chains with real identities, and nothing that a store does not look at.
 *
 * @module
 */

import { createHash } from "node:crypto";

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identifyCanonical, type IdentityKind } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import type { Head, OperationFamily, RunKey } from "../../../src/run/types.ts";
import type { TypedProviderVersion } from "../../../src/store/typed_provider_types.ts";
import type {
  Append,
  SchemaRecord,
  Snapshot,
  StorageOptions,
  StoredLaw,
  StoredRecord,
} from "../../../src/store/types.ts";

/** SHA-256 as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** The defaults of the storage settings. */
export const STORAGE: StorageOptions = {
  type: "memory",
  path: null,
  journal_mode: "wal",
  sync_mode: "full",
  busy_timeout_ms: 5000,
  batch_max_ops: 64,
  batch_max_bytes: 524288,
  batch_max_wait_ms: 2,
  read_pool_size: 4,
  writer_queue_capacity: 1024,
  url: null,
  tls_ca_path: null,
  connections: 4,
};

/** 32 hex digits that follow from a name. */
export function id128(name: string): string {
  return sha256(name).slice(0, 32);
}

/** A run key that follows from a name. */
export function runKey(name: string, namespace_id = 2): RunKey {
  return { namespace_id, run_id: id128(`run ${name}`) };
}

/** An object with the identity of its kind. */
export function identified(
  kind: IdentityKind,
  value: JsonValue,
): { readonly kind: string; readonly identity: string; readonly body: string } {
  const body = canonicalize(value);
  return { kind, identity: identifyCanonical(sha256, kind, body), body };
}

/** A law that says no more than its name. */
export function makeLaw(scenario_id: string, revision = 1, namespace_id = 2): StoredLaw {
  const law = identified("scenario-law", { scenario_id, namespace_id, revision });
  const graph = identified("scenario-graph", { scenario_id, revision });
  return {
    namespace_id,
    scenario_id,
    scenario_law_identity: law.identity,
    graph_identity: graph.identity,
    law: law.body,
  };
}

/** The law that {@link appendTo} binds runs to. */
export const LAW: StoredLaw = makeLaw("release");

/** What a record of a fixture may say. */
export interface RecordChoices {
  /** Name that the operation identity follows from. */
  readonly operation: string;
  readonly family?: OperationFamily;
  /** Law of the run; {@link LAW} unless given. */
  readonly law?: StoredLaw;
  readonly material?: StoredRecord["material"];
  /** Characters of filling in the answer. */
  readonly filling?: number;
  /** Instant of a creation in Unix milliseconds. */
  readonly created?: number;
  readonly correlation?: string;
  /** Parameters of a creation. */
  readonly parameters?: readonly JsonValue[];
  /** Makes the record an evaluation with this status of the run. */
  readonly evaluates?: "active" | "complete";
  /** Makes the record the opening of a stage. */
  readonly opens?: string;
  /** Makes the record an evaluation that completes a stage. */
  readonly completes?: string;
}

/** A record after a head. */
export function makeRecord(run_key: RunKey, after: Head | null, choices: RecordChoices): StoredRecord {
  const revision = (after?.revision ?? 0) + 1;
  const family = choices.family ?? familyOf(after, choices);
  const operation = { family, identity: id128(choices.operation) };
  const material = choices.material ?? [];
  const invocation = identified("invocation", { operation: choices.operation }).identity;
  const { scenario_id, scenario_law_identity } = choices.law ?? LAW;
  const created = {
    scenario_id,
    scenario_law_identity,
    correlation: choices.correlation === undefined
      ? { kind: "unset" }
      : { kind: "set", correlation_id: choices.correlation },
    genesis: choices.parameters === undefined
      ? { kind: "empty" }
      : { kind: "parameters", parameters: [...choices.parameters] },
  };
  const stage_id = choices.opens ?? choices.completes;
  const evaluated = {
    ...choices.evaluates === undefined ? {} : { run_status: choices.evaluates },
    ...stage_id === undefined ? {} : { stage_id },
    ...choices.completes === undefined ? {} : { completed: true },
  };
  const kind = choices.evaluates === undefined && choices.completes === undefined
    ? choices.opens === undefined ? "artifact_submitted" : "stage_opened"
    : "stage_evaluated";
  const record = identified("run-record", {
    record_kind: after === null ? "run_created" : kind,
    acceptance_time: { accepted_audit_instant: choices.created ?? 0 },
    revision,
    previous_record_id: after?.record_id ?? null,
    run_key: { ...run_key },
    operation: { ...operation },
    invocation_identity: invocation,
    body: after === null ? created : { ...evaluated, named: material.map((item) => item.identity) },
  });
  const result = JSON.stringify({ operation: choices.operation, revision, filling: "x".repeat(choices.filling ?? 0) });
  return {
    revision,
    record_id: record.identity,
    record: record.body,
    material,
    receipt: { operation, invocation_identity: invocation, result },
  };
}

function familyOf(after: Head | null, { opens, completes }: RecordChoices): OperationFamily {
  if (after === null) return "create_run";
  return opens !== undefined ? "open_stage" : completes !== undefined ? "evaluate_stage" : "submit";
}

/** Head after a record. */
export function headOf(record: StoredRecord): Head {
  return { record_id: record.record_id, revision: record.revision };
}

/** Head after an append. */
export function headAfter(append: Append): Head {
  const last = append.records.at(-1);
  if (last === undefined) throw new RangeError("Cannot name a head: there is no record");
  return headOf(last);
}

/** An append of one record for each of the operations, after a head. */
export function appendTo(
  run_key: RunKey,
  after: Head | null,
  ...operations: readonly (string | RecordChoices)[]
): Append {
  const records: StoredRecord[] = [];
  for (const operation of operations) {
    const last = records.at(-1);
    const choices = typeof operation === "string" ? { operation } : operation;
    records.push(makeRecord(run_key, last === undefined ? after : headOf(last), choices));
  }
  const first = operations[0];
  const { scenario_id, scenario_law_identity } = typeof first === "object" ? first.law ?? LAW : LAW;
  return { run_key, scenario_id, scenario_law_identity, expected_head: after, records, artifacts: [] };
}

/** A snapshot of a run at a head. */
export function makeSnapshot(head: Head, note = ""): Snapshot {
  const state = identified("run-state", { head: { ...head }, note });
  return { revision: head.revision, state_identity: state.identity, state: state.body };
}

/** A schema record. */
export function makeSchema(schema_id: string, version: string, namespace_id = 2): SchemaRecord {
  const schema = identified("schema", { type: "object", title: schema_id });
  const record = canonicalize({ schema_id, version, namespace_id, schema: { type: "object", title: schema_id } });
  return {
    schema_id,
    version,
    namespace_id,
    record,
    schema_identity: schema.identity,
    schema_bytes: schema.body.length,
  };
}

/** A version of a typed provider; `text` makes its bytes differ. */
export function makeTypedProvider(
  provider_id: string,
  version: string,
  { text = version, namespace_id = 2 }: { readonly text?: string; readonly namespace_id?: number } = {},
): TypedProviderVersion {
  const { identity, body } = identified("provider-version", { contract: { provider_id }, profile: { text } });
  return {
    namespace_id,
    provider_id,
    version,
    provider_version_identity: identity,
    typed_protocol: "openapi_http",
    checks: 1,
    registered_at: 1_700_000_000_000,
    body,
  };
}
