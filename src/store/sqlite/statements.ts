import type { Gate } from "../gate.ts";
import type { RunRead, RunWrite, Statement, Steps } from "../rows/statements.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import type { Row } from "../rows/columns.ts";

/** Runs one statement. */
export function runStatement(connection: Connection, [sql, ...values]: Statement): Row[] {
  return connection.statement(sql).all(...values);
}

/** Runs a transaction; to be called inside one. */
export function runSteps<Result>(connection: Connection, steps: Steps<Result>): Result {
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(runStatement(connection, step.value));
  return step.value;
}

/** Runs single statements on an open file, unless the store is closed. */
export function statementsOn(file: StoreFile, use: Gate): { readonly read: RunRead; readonly write: RunWrite } {
  return {
    read: (statement) => use(() => file.readers.point((connection) => runStatement(connection, statement))),
    write: (bytes, statement) =>
      use(() => file.writer.submit(bytes, (connection) => runStatement(connection, statement))),
  };
}
