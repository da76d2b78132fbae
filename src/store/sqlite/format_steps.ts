/**
 * Steps between the formats of a store's file. A file that is opened for writing gets the newest format; one that is only read, such
 * as a backup, may have an older one.
 *
 * @module
 */

import { integer } from "./rows.ts";
import type { Connection } from "./connection.ts";
import { FORMAT_STEPS, FORMAT_VERSION } from "./format.ts";

/** The format with the tenants of schemas. */
export const TENANTS_FORMAT = 2;
/** The format with typed providers. */
export const TYPED_PROVIDERS_FORMAT = 3;
/** The format with the index of runs. */
export const INDEX_FORMAT = 4;
/** The format with tombstones of archived runs. */
export const ARCHIVES_FORMAT = 5;
/** The format with targets of the outbox and open stages. */
export const OPEN_STAGES_FORMAT = 6;

const FORMAT = "SELECT user_version AS format FROM pragma_user_version";

/** The format of the file now. */
export function formatOf(connection: Connection): number {
  const row = connection.statement(FORMAT).get();
  return row === undefined ? 0 : integer(row, "format");
}

/** Takes the steps to the newest format that the file does not have yet; to be called inside a transaction. */
export function raiseFormat(connection: Connection): void {
  for (let next = formatOf(connection) + 1; next <= FORMAT_VERSION; next++) {
    connection.database.exec(`${FORMAT_STEPS[next]?.join(";")}; PRAGMA user_version = ${next}`);
  }
}
