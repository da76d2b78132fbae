import type { Sha256 } from "../../canonical/identity.ts";
import type { Gate } from "../gate.ts";
import { readTypedProviders, storeTypedProviders } from "../rows/typed_providers.ts";
import type { TypedProviderReads, TypedProviderStore } from "../typed_provider_types.ts";
import { formatOf, openReaderConnection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { TYPED_PROVIDERS_FORMAT } from "./format.ts";
import { runStatement, runSteps, statementsOn } from "./statements.ts";

/** The longest wait of SQLite for a lock, in milliseconds. */
const BUSY_MILLIS = 5000;

/** Typed providers in an open file. */
export function createSqliteTypedProviders(file: StoreFile, sha256: Sha256, use: Gate): TypedProviderStore {
  return storeTypedProviders(
    sha256,
    statementsOn(file, use).read,
    (_namespaceId, bytes, begin) => use(() => file.writer.submit(bytes, (connection) => runSteps(connection, begin()))),
  );
}

/**
 * The reads of a file that other processes may use, until it is closed; null for a file of a format without typed
 * providers.
 */
export function openTypedProviderFile(
  path: string,
  sha256: Sha256,
): { readonly reads: TypedProviderReads; readonly close: () => void } | null {
  const connection = openReaderConnection(path, { busy_timeout_ms: BUSY_MILLIS });
  const close = (): void => connection.database.close();
  try {
    if (formatOf(connection) >= TYPED_PROVIDERS_FORMAT) {
      const reads = readTypedProviders(
        sha256,
        (statement) => new Promise((resolve) => resolve(runStatement(connection, statement))),
      );
      return { reads, close };
    }
  } catch (error) {
    close();
    throw error;
  }
  close();
  return null;
}
