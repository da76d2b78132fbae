/** Runs the statements that stores share on PostgreSQL. */

import type { Gate } from "../gate.ts";
import type { RunRead, RunWrite, Statement, Steps } from "../rows/statements.ts";
import type { Database, Row, Transaction } from "./database.ts";

/** The tables of shared statements, which belong to the schema of gate. */
const TABLES = /\b(?:artifacts|laws|typed_providers)\b/g;

function runStatement(query: Transaction, [sql, ...values]: Statement): Promise<Row[]> {
  return query(sql.replace(TABLES, "gate.$&").replaceAll("?", "$"), values);
}

/** Runs a transaction; to be called inside one. */
export async function runSteps<Result>(query: Transaction, steps: Steps<Result>): Promise<Result> {
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(await runStatement(query, step.value));
  return step.value;
}

/** Runs single statements on an open database, unless the store is closed. */
export function statementsOn(database: Database, use: Gate): { readonly read: RunRead; readonly write: RunWrite } {
  return {
    read: (statement) => use(() => runStatement(database.query, statement)),
    write: (_bytes, statement) => use(() => runStatement(database.query, statement)),
  };
}
