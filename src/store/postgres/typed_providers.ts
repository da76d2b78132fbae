/**
 * Typed providers on PostgreSQL.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { type Statement, type Steps, storeTypedProviders } from "../typed_provider_rows.ts";
import type { TypedProviderStore } from "../typed_provider_types.ts";
import type { Database, Row, Transaction } from "./database.ts";
import { inNamespace } from "./namespace_lock.ts";

/**
 * Typed providers in an open database.
 *
 * @param use Runs an operation unless the registry is closed
 */
export function createPostgresTypedProviders(
  database: Database,
  sha256: Sha256,
  use: <Result>(work: () => Promise<Result>) => Promise<Result>,
): TypedProviderStore {
  return storeTypedProviders(
    sha256,
    (statement) => use(() => run(database.query, statement)),
    (namespaceId, _bytes, begin) => use(() => inNamespace(database, namespaceId, (query) => runAll(query, begin()))),
  );
}

async function runAll<Result>(query: Transaction, steps: Steps<Result>): Promise<Result> {
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(await run(query, step.value));
  return step.value;
}

function run(query: Transaction, [sql, ...values]: Statement): Promise<Row[]> {
  return query(sql.replace("typed_providers", "gate.typed_providers").replaceAll("?", "$"), values);
}
