/**
 * Lines on their way out. What is sent while a write is under way goes out together with the next one.
 *
 * @module
 */

import { writeAll } from "../process/log.ts";

/** Lines on their way out. */
export interface Outbox {
  /** Sends one line; its end is added. */
  readonly send: (line: string) => void;
  /** Resolves once at most so many characters wait; at once when the reader is gone. */
  readonly below: (characters: number) => Promise<void>;
  /** Characters that wait. */
  readonly waiting: () => number;
}

/** What an outbox needs. */
export interface OutboxOptions {
  /** Writes some of the bytes; returns how many. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Told once when nothing can be written any more. */
  readonly closed: (reason: unknown) => void;
}

/** The most characters of one write: what waits is bounded by who fills the outbox, its copy as bytes by this. */
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
    // Whatever this turn still answers goes into the first write.
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
