/** The worker that moves the pages of the write-ahead log into the database ([log_mover.ts](./log_mover.ts)). */

import { DatabaseSync } from "node:sqlite";

import { type FileIdentity, identityOf } from "../connection.ts";

/** A message to the worker. */
export type MoveOrder =
  | { readonly order: "move"; readonly path: string; readonly identity: FileIdentity }
  | { readonly order: "close" };

/** The answer to each message. */
export interface MoveReply {
  /** The reason of a failure, else null. */
  readonly why: string | null;
}

/** The message channel to the thread that started the worker. */
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<MoveOrder>) => void;
  postMessage: (reply: MoveReply) => void;
};

let database: DatabaseSync | null = null;

scope.onmessage = ({ data }) => {
  try {
    if (data.order === "close") database?.close();
    else move(data.path, data.identity);
    scope.postMessage({ why: null });
  } catch (error) {
    scope.postMessage({ why: error instanceof Error ? error.message : String(error) });
  }
};

function move(path: string, identity: FileIdentity): void {
  database ??= openSame(path, identity);
  database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
}

/** Opens the file only if it is the one that the store has open: SQLite would create a missing one. */
function openSame(path: string, identity: FileIdentity): DatabaseSync {
  requireSame(path, identity);
  const opened = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  try {
    requireSame(path, identity);
    opened.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

function requireSame(path: string, { dev, ino }: FileIdentity): void {
  const now = identityOf(path);
  if (now?.dev !== dev || now.ino !== ino) throw new Error(`Cannot move the log of "${path}": its file was replaced`);
}
