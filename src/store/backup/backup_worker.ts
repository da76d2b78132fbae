/** The worker that copies a database: SQLite's backup blocks its thread until the last page. */

import { backup } from "node:sqlite";

import { makeSelfContained, openReaderConnection, readFormat } from "../sqlite/connection.ts";
import { toStoreError } from "../sqlite/errors.ts";
import type { StoreErrorCode } from "../types.ts";

/** The only message to the worker. */
export interface BackupOrder {
  readonly source: string;
  /** The temporary path of the copy. */
  readonly partial: string;
  /** The final path, for messages. */
  readonly destination: string;
}

/** The only message from the worker. */
export type BackupReply =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: StoreErrorCode; readonly message: string };

/** Pages that are copied before SQLite checks for other writers. */
const PAGES_AT_A_TIME = 1024;

/** The longest wait for a lock, in milliseconds. */
const BUSY_MILLIS = 5000;

/** The message channel to the thread that started the worker. */
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<BackupOrder>) => void;
  postMessage: (reply: BackupReply) => void;
};

scope.onmessage = ({ data }) => {
  copy(data).then(
    () => scope.postMessage({ ok: true }),
    (error) => {
      const { code, message } = toStoreError(error, data.source, "back up");
      scope.postMessage({ ok: false, code, message });
    },
  );
};

async function copy({ source, partial, destination }: BackupOrder): Promise<void> {
  const connection = openReaderConnection(source, { busy_timeout_ms: BUSY_MILLIS });
  try {
    readFormat(connection);
    // The error does not name which of the two files failed.
    await backup(connection.database, partial, { rate: PAGES_AT_A_TIME }).catch((error) => {
      throw toStoreError(error, destination, `back up "${source}" to`);
    });
  } finally {
    connection.database.close();
  }
  makeSelfContained(partial);
}
