/**
 * Everything in a store's file, without the numbers of its rows, so that two files can be compared.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";

const OF_RUN = "(SELECT namespace_id || ' ' || run_id FROM runs AS u WHERE u.run_row = t.run_row) AS run";

/** The tables with their columns. */
const TABLES: Readonly<Record<string, string>> = {
  laws: "namespace_id, scenario_id, identity, graph_identity, seal, law",
  runs: "namespace_id, run_id, scenario_id, law_identity, creation, revision, head",
  records:
    `${OF_RUN}, revision, record_id, family, operation, invocation_identity, material_names, seal, result, record,
    material`,
  artifacts: "identity, kind, body",
  snapshots: `${OF_RUN}, revision, state_identity, state`,
  schemas: "namespace_id, schema_id, version, schema_identity, schema_bytes, seal, record",
  schema_tenants: "namespace_id, schema_id, version, tenant",
  typed_providers:
    "namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal, body",
  run_index: "namespace_id, created, run_id, scenario_id, law_identity, status, correlation, parameters, seal",
  archives: `${OF_RUN}, runpack_identity, archived, state_identity, archive_seal, state`,
  run_parameters: "namespace_id, parameter, created, run_id",
};

/** The rows of each table in the order of their texts. */
export function dumpOf(path: string): Readonly<Record<string, readonly string[]>> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Object.fromEntries(
      Object.entries(TABLES).map(([table, columns]) => {
        const rows = database.prepare(`SELECT ${columns} FROM ${table} AS t`).all();
        return [table, rows.map((row) => JSON.stringify(row)).sort()];
      }),
    );
  } finally {
    database.close();
  }
}
