/**
 * Records heads of the audit log in a store that the owner of its file cannot change: at the start, once a minute while
 * lines are written, and at the end. A failure is logged and tried again; it stops no call.
 */

import type { Log } from "../process/log.ts";
import type { ChainState } from "./line.ts";

/** A store of heads. */
export interface HeadStore {
  readonly record: (chain: ChainState, path: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a store of heads. */
export type OpenHeadStore = () => Promise<HeadStore>;

/** Records the heads of one log. */
export interface HeadRecorder {
  /** Receives a state of the chain that is on disk. */
  readonly record: (chain: ChainState) => void;
  /** Records the last state and closes the store. */
  readonly close: () => Promise<void>;
}

/** The options of a recorder. */
export interface HeadRecorderOptions {
  /** The path of the log. */
  readonly path: string;
  readonly open: OpenHeadStore;
  readonly log: Log;
  /** The time between two records, in milliseconds; default {@link HEAD_MILLISECONDS}. */
  readonly interval?: number;
}

/** The shortest time between two records, in milliseconds. Lines that are younger can be cut off unnoticed. */
const HEAD_MILLISECONDS = 60_000;

/** Makes a recorder. The store is opened with the first head. */
export function createHeadRecorder(
  { path, open, log, interval = HEAD_MILLISECONDS }: HeadRecorderOptions,
): HeadRecorder {
  let store: Promise<HeadStore> | null = null;
  let newest: ChainState | null = null;
  let recorded: ChainState | null = null;
  let writing: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isFailing = false;

  const write = async (): Promise<void> => {
    const chain = newest;
    if (chain === null || chain.head === recorded?.head) return;
    try {
      store ??= open().catch((error) => {
        store = null;
        throw error;
      });
      await (await store).record(chain, path);
      recorded = chain;
      if (isFailing) log("info", "The head of the audit log is recorded again", { path });
      isFailing = false;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      if (!isFailing) log("warn", "Cannot record the head of the audit log in the database", { path, detail });
      isFailing = true;
    }
  };
  const next = (): void => {
    writing = writing.then(write);
    timer = setTimeout(() => {
      timer = null;
      if (newest?.head !== recorded?.head) next();
    }, interval);
    Deno.unrefTimer(timer);
  };
  return {
    record: (chain) => {
      newest = chain;
      if (timer === null) next();
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer);
      await writing.then(write);
      await store?.then(({ close }) => close()).catch(() => undefined);
    },
  };
}
