/** Columns of rows that a database returned. */

import { StoreError } from "../types.ts";

/** A row of `node:sqlite`: an object without prototype, with a text or number for each column. */
export type Row = Record<string, unknown>;

/** A text column. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") {
    throw new StoreError("corrupt", `Cannot read the store: column "${column}" is not text`);
  }
  return value;
}

/** An integer column. */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new StoreError("corrupt", `Cannot read the store: column "${column}" is not an integer`);
}
