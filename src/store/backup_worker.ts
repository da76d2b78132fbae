/**
 * The worker that copies a database: SQLite's backup holds up the thread that it runs on until the last page.
 *
 * @module
 */

import { backup } from "node:sqlite";

import { makeSelfContained, openReaderConnection, readFormat } from "./sqlite/connection.ts";
import { toStoreError } from "./sqlite/errors.ts";
import type { StoreErrorCode } from "./types.ts";

/** What the worker is told, once. */
export interface BackupOrder {
  readonly source: string;
  /** Where the copy is made. */
  readonly partial: string;
  /** What it is to be called. */
  readonly goal: string;
}

/** What the worker answers, once. */
export type BackupReply =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: StoreErrorCode; readonly message: string };

/** Pages that are copied between two looks at whether somebody writes. */
const PAGES_AT_A_TIME = 1024;

/** How long the copy waits for a lock. */
const BUSY_MILLIS = 5000;

/** The messages of the thread that started the worker. */
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

async function copy({ source, partial, goal }: BackupOrder): Promise<void> {
  const connection = openReaderConnection(source, { busy_timeout_ms: BUSY_MILLIS });
  try {
    readFormat(connection);
    // What it says does not tell of which of the two files it speaks.
    await backup(connection.database, partial, { rate: PAGES_AT_A_TIME }).catch((error) => {
      throw toStoreError(error, goal, `back up "${source}" to`);
    });
  } finally {
    connection.database.close();
  }
  makeSelfContained(partial);
}
