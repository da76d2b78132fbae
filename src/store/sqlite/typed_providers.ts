/**
 * Typed providers on SQLite.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import {
  readTypedProviders,
  type RunRead,
  type Statement,
  type Steps,
  storeTypedProviders,
} from "../typed_provider_rows.ts";
import type { TypedProviderReads, TypedProviderStore } from "../typed_provider_types.ts";
import { type Connection, openReaderConnection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { formatOf, TYPED_PROVIDERS_FORMAT } from "./format_steps.ts";
import type { Row } from "./rows.ts";

/** The longest wait of SQLite for a lock, in milliseconds. */
const BUSY_MILLIS = 5000;

/**
 * Typed providers in an open file.
 *
 * @param use Runs an operation unless the registry is closed
 */
export function createSqliteTypedProviders(
  file: StoreFile,
  sha256: Sha256,
  use: <Result>(work: () => Promise<Result>) => Promise<Result>,
): TypedProviderStore {
  return storeTypedProviders(
    sha256,
    (statement) => use(() => file.readers.point((connection) => run(connection, statement))),
    (_namespaceId, bytes, begin) => use(() => file.writer.submit(bytes, (connection) => runAll(connection, begin()))),
  );
}

/** The reads of a file that other processes may use, until it is closed; null for a file of a format without typed providers. */
export function openTypedProviderFile(
  path: string,
  sha256: Sha256,
): { readonly reads: TypedProviderReads; readonly close: () => void } | null {
  const connection = openReaderConnection(path, { busy_timeout_ms: BUSY_MILLIS });
  const close = (): void => connection.database.close();
  try {
    if (formatOf(connection) >= TYPED_PROVIDERS_FORMAT) {
      const read: RunRead = (statement) => new Promise((resolve) => resolve(run(connection, statement)));
      return { reads: readTypedProviders(sha256, read), close };
    }
  } catch (error) {
    close();
    throw error;
  }
  close();
  return null;
}

function runAll<Result>(connection: Connection, steps: Steps<Result>): Result {
  let step = steps.next([]);
  while (step.done !== true) step = steps.next(run(connection, step.value));
  return step.value;
}

function run(connection: Connection, [sql, ...values]: Statement): Row[] {
  return connection.statement(sql).all(...values);
}
