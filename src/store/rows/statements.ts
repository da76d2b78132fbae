/** Statements that SQLite and PostgreSQL both run, so that what they read and decide is written once. */

import type { Row } from "./columns.ts";

/** A statement with `?1` for its first value. Its tables are named without a schema. */
export type Statement = readonly [sql: string, ...values: (string | number)[]];

/** A transaction: yields statements, gets the rows of each, and returns its result. A store may begin it anew. */
export type Steps<Result> = Generator<Statement, Result, readonly Row[]>;

/** Runs one statement that reads. */
export type RunRead = (statement: Statement) => Promise<readonly Row[]>;

/** Runs one statement that writes; `bytes` is the size of its texts. */
export type RunWrite = (bytes: number, statement: Statement) => Promise<readonly Row[]>;
