/** Seals: hashes over the columns of a store that no identity covers. Seals exist in the store's files only. */

import type { Identity, Sha256 } from "../canonical/identity.ts";
import type { OperationId, RunKey } from "../run/types.ts";
import type { TypedProviderItem } from "./typed_provider_types.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { asJson } from "../run/primitives.ts";
import type { RunEntry, RunHead, SchemaRecord, StoredLaw, StoredRecord, Tombstone } from "./types.ts";

/** The content that a receipt's seal covers. */
export interface SealedReceipt {
  readonly run_key: RunKey;
  readonly revision: number;
  readonly record_id: Identity;
  readonly operation: OperationId;
  readonly invocation_identity: Identity;
  /** As {@link materialNames} returns them. */
  readonly material_names: string;
  readonly result: string;
}

/** The seal of a receipt: it binds the original result to its operation, its record and the material of the record. */
export function sealReceipt(sha256: Sha256, receipt: SealedReceipt): string {
  const { run_key, operation } = receipt;
  return sha256(
    `gate store receipt 1\n${run_key.namespace_id} ${run_key.run_id} ${receipt.revision} ${receipt.record_id}\n` +
      `${operation.family} ${operation.identity} ${receipt.invocation_identity}\n${receipt.material_names}\n\n${receipt.result}`,
  );
}

/** The seal of a law row: it binds the names that the identity does not cover. */
export function sealLaw(sha256: Sha256, law: Omit<StoredLaw, "law">): string {
  return sha256(
    `gate store law 1\n${law.namespace_id} ${law.scenario_law_identity} ${law.graph_identity}\n${law.scenario_id}`,
  );
}

/** The content that the seal of a registered schema covers. */
export interface SealedSchema {
  readonly schema: SchemaRecord;
  /** The tenants for which the schema counts; null for every tenant. */
  readonly tenants: readonly number[] | null;
}

/** The seal of a registered schema. */
export function sealSchema(sha256: Sha256, { schema, tenants }: SealedSchema): string {
  const counted = tenants === null ? "*" : tenants.toSorted((a, b) => a - b).join(" ");
  return sha256(`gate store schema 2\n${counted}\n${sealedText(schema)}`);
}

/** Whether a seal is that of a registered schema. Older ones do not cover the tenants. */
export function schemaSealHolds(sha256: Sha256, sealed: SealedSchema, seal: string): boolean {
  return seal === sealSchema(sha256, sealed) || seal === sha256(`gate store schema 1\n${sealedText(sealed.schema)}`);
}

function sealedText(schema: SchemaRecord): string {
  return `${schema.namespace_id} ${schema.schema_identity} ${schema.schema_bytes}\n` +
    `${schema.schema_id}\n${schema.version}\n${schema.record}`;
}

/** The seal of a version of a typed provider: it binds names, counts and state, which the identity does not cover. */
export function sealTypedProvider(sha256: Sha256, item: TypedProviderItem): string {
  return sha256(
    `gate store typed provider 1\n${item.namespace_id} ${item.provider_version_identity} ${item.state} ` +
      `${item.typed_protocol} ${item.checks} ${item.registered_at}\n${item.provider_id}\n${item.version}`,
  );
}

/** The seal of a tombstone: it binds the runpack to the run, its law and its head. */
export function sealTombstone(sha256: Sha256, run: RunHead, tombstone: Omit<Tombstone, "state">): string {
  const { run_key, head } = run;
  return sha256(
    `gate store tombstone 1\n${run_key.namespace_id} ${run_key.run_id} ${head.revision} ${head.record_id}\n` +
      `${run.scenario_law_identity} ${tombstone.state_identity}\n` +
      `${tombstone.runpack_identity} ${tombstone.archived_instant}\n${run.scenario_id}`,
  );
}

/** The seal of a run's entry in the index of runs. */
export function sealEntry(sha256: Sha256, entry: RunEntry): string {
  return sha256(`gate store run 1\n${canonicalize(asJson(entry))}`);
}

/** Kind and identity of each piece of material, one on each line; empty without material. */
export function materialNames(material: StoredRecord["material"]): string {
  return material.map((item) => `${item.kind} ${item.identity}`).join("\n");
}
