/** Laws as rows, for every store that has SQL. */

import type { Sha256 } from "../../canonical/identity.ts";
import { hashesTo, member, parseObject } from "../record_check.ts";
import { sealLaw } from "../seal.ts";
import { assertLaw } from "../shape.ts";
import { textBytes } from "../size.ts";
import { integer, type Row, text } from "./columns.ts";
import type { RunRead, RunWrite } from "./statements.ts";
import { type LawStore, type StoredLaw, StoreError } from "../types.ts";

const PUT_LAW = `INSERT INTO laws (namespace_id, scenario_id, identity, graph_identity, seal, law)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING RETURNING 1 AS stored`;
const GET_LAW = "SELECT * FROM laws WHERE namespace_id = ?1 AND identity = ?2";
const NAMES = "namespace_id, scenario_id, identity, graph_identity, seal";
const HAS_SCENARIO = `SELECT ${NAMES} FROM laws WHERE namespace_id = ?1 AND scenario_id = ?2 LIMIT 1`;
// Both databases compare texts by their UTF-8 bytes, which is code point order.
const LIST_LAWS = `SELECT ${NAMES} FROM laws
  WHERE namespace_id = ?1 AND (scenario_id, identity) > (?2, ?3) ORDER BY scenario_id, identity LIMIT ?4`;

// Steps from each namespace to the next by the index; the cost does not depend on the number of laws.
const LIST_NAMESPACES = `WITH RECURSIVE found (id) AS (
    SELECT min(namespace_id) FROM laws WHERE namespace_id > ?1
    UNION ALL SELECT (SELECT min(namespace_id) FROM laws WHERE namespace_id > id) FROM found WHERE id IS NOT NULL)
  SELECT id FROM found WHERE id IS NOT NULL LIMIT ?2`;

/** The laws of a store. {@link LawStore.listNamespaces} verifies no row; reading a law does. */
export function storeLaws(
  sha256: Sha256,
  read: RunRead,
  write: RunWrite,
): LawStore {
  return {
    put: async (law) => {
      assertLaw(law);
      const { namespace_id, scenario_id, scenario_law_identity, graph_identity } = law;
      const names = [namespace_id, scenario_id, scenario_law_identity, graph_identity];
      const rows = await write(textBytes(law.law), [PUT_LAW, ...names, sealLaw(sha256, law), law.law]);
      return rows.length === 0 ? "exists" : "stored";
    },
    get: async (namespaceId, identity) => {
      const [row] = await read([GET_LAW, namespaceId, identity]);
      if (row === undefined) return null;
      const law = toLaw(row);
      const [problem] = lawProblems(sha256, row, law);
      if (problem === undefined) return law;
      throw new StoreError("corrupt", `Cannot read law "${identity}" of namespace ${namespaceId}: ${problem}`);
    },
    hasScenario: async (namespaceId, scenarioId) => {
      const [row] = await read([HAS_SCENARIO, namespaceId, scenarioId]);
      return row !== undefined && toNames(sha256, row).scenario_id === scenarioId;
    },
    list: async (namespaceId, after, limit) => {
      const names = [after?.scenario_id ?? "", after?.scenario_law_identity ?? ""];
      const rows = await read([LIST_LAWS, namespaceId, ...names, limit]);
      return rows.map((row) => {
        const { namespace_id, scenario_id, scenario_law_identity } = toNames(sha256, row);
        return { namespace_id, scenario_id, scenario_law_identity };
      });
    },
    listNamespaces: async (after, limit) =>
      (await read([LIST_NAMESPACES, after, limit])).map((row) => integer(row, "id")),
  };
}

/** The law of a row, not verified. */
export function toLaw(row: Row): StoredLaw {
  return { ...lawNames(row), law: text(row, "law") };
}

function lawNames(row: Row): Omit<StoredLaw, "law"> {
  return {
    namespace_id: integer(row, "namespace_id"),
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "identity"),
    graph_identity: text(row, "graph_identity"),
  };
}

/** The names of a law, verified by their seal. */
function toNames(sha256: Sha256, row: Row): Omit<StoredLaw, "law"> {
  const names = lawNames(row);
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
