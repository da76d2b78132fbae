/**
 * Transactions of one namespace that do not overlap.
 *
 * @module
 */

import type { Database, Transaction } from "./database.ts";

const ADD_NAMESPACE = "INSERT INTO gate.namespaces (namespace_id) VALUES ($1) ON CONFLICT DO NOTHING";
const LOCK_NAMESPACE = "SELECT namespace_id FROM gate.namespaces WHERE namespace_id = $1 FOR UPDATE";

/** Runs a transaction that no other writer of the namespace overlaps. */
export function inNamespace<Result>(
  database: Database,
  namespaceId: number,
  work: (query: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (query) => {
    await query(ADD_NAMESPACE, [namespaceId]);
    await query(LOCK_NAMESPACE, [namespaceId]);
    return await work(query);
  });
}
