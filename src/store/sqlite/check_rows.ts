/**
 * The parts of a check that visit rows one by one: laws, artifacts, schemas, typed providers, and orphaned rows.
 *
 * @module
 */

import type { Checking } from "../check_types.ts";
import { hashesTo } from "../record_check.ts";
import { formatOf, INDEX_FORMAT } from "./format_steps.ts";
import { lawProblems, toLaw } from "./laws.ts";
import { integer, type Row, text } from "./rows.ts";
import { matchesNames, toSchema } from "./schema_registry.ts";
import { hasTable, toTypedProvider } from "./typed_providers.ts";

/** Rows after which the event loop gets a turn. */
const TURN_EVERY = 64;

/** Compares every law with its identity, its seal, and the names in its text. */
export async function checkLaws(checking: Checking): Promise<void> {
  const { options: { sha256 }, counts, report } = checking;
  await eachRow(checking, "laws", (row) => {
    counts.laws += 1;
    const law = toLaw(row);
    for (const problem of lawProblems(sha256, row, law)) {
      report("law", `Law "${law.scenario_law_identity}": ${problem}`, { namespace_id: law.namespace_id });
    }
  });
}

/** Compares every artifact with its identity. */
export async function checkArtifacts(checking: Checking): Promise<void> {
  const { options: { sha256 }, counts, report } = checking;
  await eachRow(checking, "artifacts", (row) => {
    counts.artifacts += 1;
    const kind = text(row, "kind");
    const identity = text(row, "identity");
    if (hashesTo(sha256, kind, identity, text(row, "body"))) return;
    report("artifact", `Artifact "${identity}" of kind "${kind}" does not hash to its identity`);
  });
}

/** Compares every schema with its seal and the identity of its document. */
export async function checkSchemas(checking: Checking): Promise<void> {
  const { options: { sha256 }, counts, report } = checking;
  await eachRow(checking, "schemas", (row) => {
    counts.schemas += 1;
    const namespace_id = integer(row, "namespace_id");
    try {
      const schema = toSchema(sha256, row);
      if (matchesNames(sha256, schema)) return;
      const { schema_id, schema_identity } = schema;
      report("schema", `Schema "${schema_id}" does not hash to "${schema_identity}", or states other names`, {
        namespace_id,
      });
    } catch (error) {
      report("schema", error instanceof Error ? error.message : String(error), { namespace_id });
    }
  });
}

/** Compares every version of a typed provider with its seal and its identity. */
export async function checkTypedProviders(checking: Checking): Promise<void> {
  const { connection, options: { sha256 }, counts, report } = checking;
  if (!hasTable(connection)) return;
  await eachRow(checking, "typed_providers", (row) => {
    counts.typed_providers += 1;
    try {
      toTypedProvider(sha256, row);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      report("typed_provider", message, { namespace_id: integer(row, "namespace_id") });
    }
  });
}

/** Reports records, snapshots and entries of the index whose run does not exist. */
export async function checkOrphans(checking: Checking): Promise<void> {
  const indexed = formatOf(checking.connection) < INDEX_FORMAT
    ? []
    : [["run_index", "run"], ["run_parameters", "run"]] as const;
  for (const [table, what] of [["records", "record"], ["snapshots", "snapshot"], ...indexed] as const) {
    const orphans = checking.connection.database.prepare(
      `SELECT run_row, count(*) AS rows FROM ${table} WHERE run_row NOT IN (SELECT run_row FROM runs) GROUP BY run_row`,
    );
    for (const row of orphans.all()) {
      checking.report(what, `${integer(row, "rows")} rows of "${table}" belong to no run`);
    }
    await checking.turn();
  }
}

/** Visits every row of a table in pages, so that no read stays open across turns of the event loop. */
async function eachRow(checking: Checking, table: string, visit: (row: Row) => void): Promise<void> {
  const page = checking.connection.statement(
    `SELECT rowid AS position, * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${TURN_EVERY}`,
  );
  let position = -1;
  for (;;) {
    const rows = page.all(position);
    for (const row of rows) {
      visit(row);
      position = integer(row, "position");
    }
    await checking.turn();
    if (rows.length < TURN_EVERY) return;
  }
}
