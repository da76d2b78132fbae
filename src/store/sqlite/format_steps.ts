/**
 * Steps between the formats of a store's file. A step is taken by the first write that needs its tables, so that a file stays readable
 * by older programs as long as possible.
 *
 * @module
 */

import { integer } from "./rows.ts";
import type { Connection } from "./connection.ts";
import { FORMAT_STEPS } from "./format.ts";

/** The format with the tenants of schemas. */
export const TENANTS_FORMAT = 2;
/** The format with typed providers. */
export const TYPED_PROVIDERS_FORMAT = 3;

const FORMAT = "SELECT user_version AS format FROM pragma_user_version";

/** The format of the file now. */
export function formatOf(connection: Connection): number {
  const row = connection.statement(FORMAT).get();
  return row === undefined ? 0 : integer(row, "format");
}

/** Takes the steps to a format that the file does not have yet; to be called inside a transaction. */
export function raiseFormat(connection: Connection, format: number): void {
  for (let next = formatOf(connection) + 1; next <= format; next++) {
    connection.database.exec(`${FORMAT_STEPS[next]?.join(";")}; PRAGMA user_version = ${next}`);
  }
}
