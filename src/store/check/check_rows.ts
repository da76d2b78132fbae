/** The parts of a check that visit rows one by one: laws, artifacts, schemas, typed providers, and orphaned rows. */

import type { Checking } from "./check_types.ts";
import { reasonOf } from "../file_reason.ts";
import { hashesTo } from "../record_check.ts";
import { lawProblems, toLaw } from "../rows/laws.ts";
import { integer, type Row, text } from "../rows/columns.ts";
import { matchesNames, type RegisteredSchema, toSchema } from "../rows/schemas.ts";
import { toTypedProvider } from "../rows/typed_providers.ts";
import type { RowTable } from "../rows/store_rows.ts";
import type { StoredTypedProvider } from "../typed_provider_types.ts";
import type { Artifact, StoredLaw } from "../types.ts";

/** Uses a verified row; those of one page are used together. */
type Use<Item> = (item: Item) => Promise<void>;

/** Compares every law with its identity, its seal, and the names in its text. */
export async function checkLaws(checking: Checking, use?: Use<StoredLaw>): Promise<void> {
  await eachRow(checking, "laws", use, (row) => {
    checking.counts.laws += 1;
    return checkLaw(checking, row);
  });
}

/** The law of a row; null where it has problems, which are reported. */
export function checkLaw({ options: { sha256 }, report }: Checking, row: Row): StoredLaw | null {
  const law = toLaw(row);
  const problems = lawProblems(sha256, row, law);
  for (const problem of problems) {
    report("law", `Law "${law.scenario_law_identity}": ${problem}`, { namespace_id: law.namespace_id });
  }
  return problems.length === 0 ? law : null;
}

/** Compares every artifact with its identity. */
export async function checkArtifacts(checking: Checking, use?: Use<Artifact>): Promise<void> {
  await eachRow(checking, "artifacts", use, (row) => {
    checking.counts.artifacts += 1;
    return checkArtifact(checking, row);
  });
}

/** The artifact of a row; null where it does not hash to its identity, which is reported. */
export function checkArtifact({ options: { sha256 }, report }: Checking, row: Row): Artifact | null {
  const kind = text(row, "kind");
  const artifact = { identity: text(row, "identity"), kind: kind as Artifact["kind"], body: text(row, "body") };
  if (hashesTo(sha256, kind, artifact.identity, artifact.body)) return artifact;
  report("artifact", `Artifact "${artifact.identity}" of kind "${kind}" does not hash to its identity`);
  return null;
}

/** Compares every schema with its seal and the identity of its document. */
export async function checkSchemas(checking: Checking, use?: Use<RegisteredSchema>): Promise<void> {
  const { options: { sha256 }, counts, report } = checking;
  await eachRow(checking, "schemas", use, (row) => {
    counts.schemas += 1;
    const namespace_id = integer(row, "namespace_id");
    try {
      const registered = toSchema(sha256, row);
      if (matchesNames(sha256, registered.schema)) return registered;
      const { schema_id, schema_identity } = registered.schema;
      report("schema", `Schema "${schema_id}" does not hash to "${schema_identity}", or states other names`, {
        namespace_id,
      });
    } catch (error) {
      report("schema", reasonOf(error), { namespace_id });
    }
    return null;
  });
}

/** Compares every version of a typed provider with its seal and its identity. */
export async function checkTypedProviders(checking: Checking, use?: Use<StoredTypedProvider>): Promise<void> {
  const { options: { sha256 }, counts, report } = checking;
  await eachRow(checking, "typed_providers", use, (row) => {
    counts.typed_providers += 1;
    try {
      return toTypedProvider(sha256, row);
    } catch (error) {
      report("typed_provider", reasonOf(error), { namespace_id: integer(row, "namespace_id") });
      return null;
    }
  });
}

/** Reports records, snapshots and entries of the index whose run does not exist. */
export async function checkOrphans(checking: Checking): Promise<void> {
  for await (const page of checking.rows.orphans()) {
    for (const { what, message, run_key } of page) checking.report(what, message, run_key ?? undefined);
    await checking.turn();
  }
}

/** Visits every row of a table, and uses those that passed. */
async function eachRow<Item>(
  checking: Checking,
  table: RowTable,
  use: Use<Item> | undefined,
  visit: (row: Row) => Item | null,
): Promise<void> {
  for await (const rows of checking.rows.pages(table)) {
    const items = rows.map(visit);
    if (use !== undefined) await Promise.all(items.flatMap((item) => item === null ? [] : [use(item)]));
    await checking.turn();
  }
}
