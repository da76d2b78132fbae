/**
 * What must hold of anything before a store writes it. The kernel makes well-formed appends; a store that trusted that would turn a defect
 * elsewhere into a broken chain on disk, so each implementation asks here first.
 *
 * @module
 */

import { MATERIAL_MAXIMUM } from "./size.ts";
import { type Append, type SchemaRecord, type StoredLaw, StoreError } from "./types.ts";

/**
 * Checks the shape of an append: at least one record, consecutive revisions from the expected head, the creation first and only there, no
 * operation twice, material that can be kept line by line.
 *
 * @throws {StoreError} `corrupt`, saying what disagrees; nothing was written
 */
export function assertAppend(append: Append): void {
  const run = `run "${append.run_key.run_id}"`;
  let revision = append.expected_head?.revision ?? 0;
  if (append.records.length === 0) refuse(run, "there is no record");
  const operations = new Set<string>();
  for (const record of append.records) {
    revision += 1;
    if (record.revision !== revision) refuse(run, `revision is ${record.revision}, expected ${revision}`);
    const { family, identity } = record.receipt.operation;
    const creates = append.expected_head === null && revision === 1;
    if ((family === "create_run") !== creates) refuse(run, `family "${family}" cannot stand at revision ${revision}`);
    if (operations.has(`${family} ${identity}`)) refuse(run, `operation "${identity}" stands twice`);
    operations.add(`${family} ${identity}`);
    if (record.material.length > MATERIAL_MAXIMUM) {
      refuse(run, `a record has more than ${MATERIAL_MAXIMUM} pieces of material`);
    }
    for (const item of record.material) {
      if (item.body.includes("\n")) refuse(run, `material "${item.identity}" is not canonical text`);
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

/** How much of schemas a registry keeps. */
export interface SchemaLimits {
  /** Schemas of one namespace; null for any number. */
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
    refuse(
      `schema "${schema.schema_identity}"`,
      `it has ${schema.schema_bytes} bytes, at most ${max_schema_bytes} are kept`,
    );
  }
  assertText(`schema "${schema.schema_identity}"`, schema.schema_id);
  assertText(`schema "${schema.schema_identity}"`, schema.version);
}

/** Names are read back as C strings by SQLite's bindings, so that a NUL would cut them short. */
function assertText(what: string, text: string): void {
  if (text.includes("\0")) refuse(what, "a name has a NUL character");
}

function refuse(what: string, why: string): never {
  throw new StoreError("corrupt", `Cannot write ${what}: ${why}`);
}

/** The tenants that a schema counts for: 0 stands for a caller without one, null for every tenant. */
export function tenantsOf(tenants: readonly number[] | null): readonly number[] | null {
  return tenants?.length === 0 ? [0] : tenants;
}
