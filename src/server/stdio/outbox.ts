/** A buffer of outgoing lines. Lines that arrive during a write are written together by the next one. */

import { writeAll } from "../process/log.ts";

/** A buffer of outgoing lines. */
export interface Outbox {
  /** Sends one line; its end is added. */
  readonly send: (line: string) => void;
  /** Resolves once at most `characters` wait; at once when the reader is gone. */
  readonly below: (characters: number) => Promise<void>;
  /** Characters that are not written yet. */
  readonly waiting: () => number;
}

/** The options of an outbox. */
export interface OutboxOptions {
  /** Writes some of the bytes; returns how many. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Called once, when writing has failed. */
  readonly closed: (reason: unknown) => void;
}

/** The most characters of one write. This bounds the copy as bytes; the sender bounds the waiting lines. */
const BATCH_CHARACTERS = 1 << 20;

/** Makes an outbox. */
export function createOutbox(options: OutboxOptions): Outbox {
  const encoder = new TextEncoder();
  let lines: string[] = [];
  let waiting = 0;
  let writing = false;
  let broken = false;
  let waiters: { readonly level: number; readonly resolve: () => void }[] = [];

  const takeBatch = (): string => {
    let taken = 0;
    let size = 0;
    for (const line of lines) {
      if (taken > 0 && size + line.length > BATCH_CHARACTERS) break;
      size += line.length + 1;
      taken++;
    }
    const batch = lines.slice(0, taken);
    lines = lines.slice(taken);
    return `${batch.join("\n")}\n`;
  };

  const settle = (written: number): void => {
    waiting -= written;
    const reached = waiters.filter((waiter) => waiting <= waiter.level);
    waiters = waiters.filter((waiter) => waiting > waiter.level);
    for (const waiter of reached) waiter.resolve();
  };

  const drain = async (): Promise<void> => {
    // Answers of the same turn go into the first write.
    await Promise.resolve();
    try {
      while (lines.length > 0) {
        const batch = takeBatch();
        await writeAll(options.write, encoder.encode(batch));
        settle(batch.length);
      }
    } catch (reason) {
      broken = true;
      lines = [];
      settle(waiting);
      options.closed(reason);
    }
    writing = false;
  };

  return {
    waiting: () => waiting,
    send: (line) => {
      if (broken) return;
      lines.push(line);
      waiting += line.length + 1;
      if (writing) return;
      writing = true;
      drain();
    },
    below: (level) => {
      if (waiting <= level) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push({ level, resolve });
      return promise;
    },
  };
}
