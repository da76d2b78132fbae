/**
 * Checks of data before a store writes it. The kernel makes well-formed appends. Without these checks, a defect in
 * another module could still break a chain on disk.
 */

import { MATERIAL_MAXIMUM } from "./size.ts";
import type { TypedProviderVersion } from "./typed_provider_types.ts";
import { type Append, type SchemaRecord, type StoredLaw, StoreError } from "./types.ts";

/**
 * Checks the shape of an append:
 *
 * - It has at least one record, and consecutive revisions from the expected head.
 * - The first record of a run is its creation, and no other record is.
 * - No operation occurs twice.
 * - Material consists of canonical texts without line feeds.
 *
 * @throws {StoreError} `corrupt`, with the reason; nothing was written
 */
export function assertAppend(append: Append): void {
  const run = `run "${append.run_key.run_id}"`;
  let revision = append.expected_head?.revision ?? 0;
  if (append.records.length === 0) refuseAppend(run, "no record is given");
  const operations = new Set<string>();
  for (const record of append.records) {
    revision += 1;
    if (record.revision !== revision) refuseAppend(run, `revision is ${record.revision}, expected ${revision}`);
    const { family, identity } = record.receipt.operation;
    const creates = append.expected_head === null && revision === 1;
    if ((family === "create_run") !== creates) {
      refuseAppend(run, `family "${family}" is not allowed at revision ${revision}`);
    }
    if (operations.has(`${family} ${identity}`)) refuseAppend(run, `operation "${identity}" occurs twice`);
    operations.add(`${family} ${identity}`);
    if (record.material.length > MATERIAL_MAXIMUM) {
      refuseAppend(run, `a record has more than ${MATERIAL_MAXIMUM} pieces of material`);
    }
    for (const item of record.material) {
      if (item.body.includes("\n")) refuseAppend(run, `material "${item.identity}" is not canonical text`);
    }
  }
  assertText(run, append.scenario_id);
}

/**
 * Checks a law before it is written.
 *
 * @throws {StoreError} `corrupt`
 */
export function assertLaw(law: StoredLaw): void {
  assertText(`law "${law.scenario_law_identity}"`, law.scenario_id);
}

/** Limits of a schema registry. */
export interface SchemaLimits {
  /** Schemas of each tenant in each namespace; null for no limit. */
  readonly max_entries: number | null;
  /** Bytes of the canonical JSON Schema document. */
  readonly max_schema_bytes: number;
}

/**
 * Checks a schema record before it is written.
 *
 * @throws {StoreError} `corrupt`
 */
export function assertSchema(schema: SchemaRecord, { max_schema_bytes }: SchemaLimits): void {
  if (!(schema.schema_bytes <= max_schema_bytes)) {
    refuseAppend(
      `schema "${schema.schema_identity}"`,
      `it has ${schema.schema_bytes} bytes, at most ${max_schema_bytes} are kept`,
    );
  }
  assertText(`schema "${schema.schema_identity}"`, schema.schema_id);
  assertText(`schema "${schema.schema_identity}"`, schema.version);
}

/**
 * Checks a version of a typed provider before it is written.
 *
 * @throws {StoreError} `corrupt`
 */
export function assertTypedProvider({ provider_id, version, provider_version_identity }: TypedProviderVersion): void {
  assertText(`typed provider "${provider_version_identity}"`, provider_id);
  assertText(`typed provider "${provider_version_identity}"`, version);
}

/** SQLite's bindings read names as C strings, so a NUL would cut them. */
function assertText(what: string, text: string): void {
  if (text.includes("\0")) refuseAppend(what, "a name has a NUL character");
}

function refuseAppend(what: string, why: string): never {
  throw new StoreError("corrupt", `Cannot write ${what}: ${why}`);
}

/** The tenants for which a schema counts: 0 for a caller without tenants, null for every tenant. */
export function tenantsOf(tenants: readonly number[] | null): readonly number[] | null {
  return tenants?.length === 0 ? [0] : tenants;
}
