/**
 * Reads the typed providers of a store's file that other processes may use.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { TypedProviderReads } from "../typed_provider_types.ts";
import { type Connection, openReaderConnection } from "./connection.ts";
import { hasTable, readTypedProviders } from "./typed_providers.ts";

/** The longest wait of SQLite for a lock, in milliseconds. */
const BUSY_MILLIS = 5000;

/** The reads of a file, until it is closed; null for a file of a format without typed providers. */
export function openTypedProviderFile(
  path: string,
  sha256: Sha256,
): { readonly reads: TypedProviderReads; readonly close: () => void } | null {
  const connection = openReaderConnection(path, { busy_timeout_ms: BUSY_MILLIS });
  const close = (): void => connection.database.close();
  try {
    if (hasTable(connection)) {
      const read = <Result>(work: (connection: Connection) => Result): Promise<Result> =>
        new Promise((resolve) => resolve(work(connection)));
      return { reads: readTypedProviders(sha256, read), close };
    }
  } catch (error) {
    close();
    throw error;
  }
  close();
  return null;
}
