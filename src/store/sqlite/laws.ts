/**
 * Laws in SQL.
 *
 * @module
 */

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { hashesTo, member, parseObject } from "../record_check.ts";
import { sealLaw } from "../seal.ts";
import { type LawListItem, type StoredLaw, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import { integer, type Row, text } from "./rows.ts";

const PUT_LAW = `INSERT INTO laws (namespace_id, scenario_id, identity, graph_identity, seal, law)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const GET_LAW = "SELECT * FROM laws WHERE namespace_id = ? AND identity = ?";
const NAMES = "namespace_id, scenario_id, identity, graph_identity, seal";
const HAS_SCENARIO = `SELECT ${NAMES} FROM laws WHERE namespace_id = ? AND scenario_id = ? LIMIT 1`;
const LIST_LAWS = `SELECT ${NAMES} FROM laws
  WHERE namespace_id = ? AND (scenario_id, identity) > (?, ?) ORDER BY scenario_id, identity LIMIT ?`;

// Steps from each namespace to the next by the index; the cost does not depend on the number of laws.
const LIST_NAMESPACES = `WITH RECURSIVE found (id) AS (
    SELECT min(namespace_id) FROM laws WHERE namespace_id > ?
    UNION ALL SELECT (SELECT min(namespace_id) FROM laws WHERE namespace_id > id) FROM found WHERE id IS NOT NULL)
  SELECT id FROM found WHERE id IS NOT NULL LIMIT ?`;

/** Writes a law unless it exists; to be called inside a transaction. */
export function writeLaw(connection: Connection, seal: string, law: StoredLaw): "stored" | "exists" {
  const { namespace_id, scenario_id, scenario_law_identity, graph_identity } = law;
  const { changes } = connection.statement(PUT_LAW)
    .run(namespace_id, scenario_id, scenario_law_identity, graph_identity, seal, law.law);
  return Number(changes) === 0 ? "exists" : "stored";
}

/**
 * A law, verified by its hash.
 *
 * @throws {StoreError} `corrupt`
 */
export function readLaw(
  connection: Connection,
  sha256: Sha256,
  namespaceId: number,
  identity: Identity,
): StoredLaw | null {
  const row = connection.statement(GET_LAW).get(namespaceId, identity);
  if (row === undefined) return null;
  const law = toLaw(row);
  const [problem] = lawProblems(sha256, row, law);
  if (problem === undefined) return law;
  throw new StoreError("corrupt", `Cannot read law "${identity}" of namespace ${namespaceId}: ${problem}`);
}

/** The law of a row, not verified. */
export function toLaw(row: Row): StoredLaw {
  return { ...namesOf(row), law: text(row, "law") };
}

function namesOf(row: Row): Omit<StoredLaw, "law"> {
  return {
    namespace_id: integer(row, "namespace_id"),
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "identity"),
    graph_identity: text(row, "graph_identity"),
  };
}

/** The names of a law, verified by their seal. */
export function toNames(sha256: Sha256, row: Row): Omit<StoredLaw, "law"> {
  const names = namesOf(row);
  if (sealLaw(sha256, names) === text(row, "seal")) return names;
  throw new StoreError(
    "corrupt",
    `Cannot read law "${names.scenario_law_identity}" of namespace ${names.namespace_id}: ${OTHER_NAMES}`,
  );
}

const OTHER_NAMES = "the names of the law differ from the written ones";

/** Every problem of a law that was read. */
export function lawProblems(sha256: Sha256, row: Row, law: StoredLaw): string[] {
  const problems: string[] = [];
  if (!hashesTo(sha256, "scenario-law", law.scenario_law_identity, law.law)) {
    problems.push(`law does not hash to "${law.scenario_law_identity}"`);
  }
  if (sealLaw(sha256, law) !== text(row, "seal")) problems.push(OTHER_NAMES);
  const stated = parseObject(law.law);
  for (const name of ["scenario_id", "namespace_id"] as const) {
    if (member(stated, name) !== law[name]) problems.push(`the law states another ${name}`);
  }
  return problems;
}

/**
 * Whether a scenario has a law.
 *
 * @throws {StoreError} `corrupt`
 */
export function hasScenario(connection: Connection, sha256: Sha256, namespaceId: number, scenarioId: string): boolean {
  const row = connection.statement(HAS_SCENARIO).get(namespaceId, scenarioId);
  return row !== undefined && toNames(sha256, row).scenario_id === scenarioId;
}

/**
 * A page of laws. SQLite compares texts by their UTF-8 bytes, which is code point order.
 *
 * @throws {StoreError} `corrupt`
 */
export function listLaws(
  connection: Connection,
  sha256: Sha256,
  namespaceId: number,
  after: Pick<LawListItem, "scenario_id" | "scenario_law_identity"> | null,
  limit: number,
): LawListItem[] {
  return connection.statement(LIST_LAWS)
    .all(namespaceId, after?.scenario_id ?? "", after?.scenario_law_identity ?? "", limit)
    .map((row) => {
      const { namespace_id, scenario_id, scenario_law_identity } = toNames(sha256, row);
      return { namespace_id, scenario_id, scenario_law_identity };
    });
}

/** Namespaces that hold laws. The rows are not verified here; reading a law verifies it. */
export function listNamespaces(connection: Connection, after: number, limit: number): number[] {
  return connection.statement(LIST_NAMESPACES).all(after, limit).map((row) => integer(row, "id"));
}
