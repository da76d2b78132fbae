/**
 * The audit log on standard error: a bounded queue that never blocks. Events beyond the bound are dropped before they
 * enter the chain, and a line counts them.
 */

import { lostEvents } from "./file_sink.ts";
import { newChain, nextLine, type TimedEvent, timeEvent } from "./line.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** The most characters in the queue, approximately. */
export const STREAM_QUEUE_CHARACTERS = 1024 * 1024;

/** The estimated characters of an event without its details. */
const EVENT_CHARACTERS = 1024;

/**
 * How long a line waits for others, in milliseconds. A write costs as much processor time as several lines, and no
 * caller waits for one.
 */
const DELAY_MILLISECONDS = 5;

/** The options of a stream sink. */
export interface StreamSinkOptions {
  /** Writes all of the bytes. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** The event of the opening line. */
  readonly opening: AuditEvent;
  /** How long a line waits for others, in milliseconds; default {@link DELAY_MILLISECONDS}. */
  readonly delay?: number;
}

const encoder = new TextEncoder();

/** Opens the audit log on a stream. Its chain lasts as long as the process. */
export function openStreamSink(options: StreamSinkOptions): Audit {
  let chain = newChain();
  let queue: TimedEvent[] = [];
  let waiting = 0;
  let dropped = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing: Promise<void> | null = null;

  const sizeOf = (timed: TimedEvent): number => timed.details.length + EVENT_CHARACTERS;
  const isEmpty = (): boolean => queue.length === 0 && dropped === 0;

  const enqueue = (event: AuditEvent): void => {
    const timed = timeEvent(event, Date.now());
    const size = sizeOf(timed);
    // Events of the process are few and must not be lost.
    if (waiting + size > STREAM_QUEUE_CHARACTERS && event.kind !== "process") {
      dropped++;
      return;
    }
    queue.push(timed);
    waiting += size;
    schedule();
  };

  const schedule = (): void => {
    if (writing !== null || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      writing ??= drain();
    }, options.delay ?? DELAY_MILLISECONDS);
    Deno.unrefTimer(timer);
  };

  /** Writes the lines that wait now, together. */
  const drain = async (): Promise<void> => {
    const gap = dropped === 0 ? [] : [timeEvent(lostEvents(dropped), Date.now())];
    const batch = queue;
    queue = [];
    dropped = 0;
    let text = "";
    for (const timed of [...gap, ...batch]) {
      const line = nextLine(chain, timed);
      chain = line.chain;
      text += `${line.text}\n`;
    }
    try {
      await options.write(encoder.encode(text));
    } catch {
      // Standard error is closed.
    }
    for (const timed of batch) waiting -= sizeOf(timed);
    writing = null;
    if (!isEmpty()) schedule();
  };

  enqueue({ ...options.opening, reason: "chain_started" });
  return {
    record: (event) => {
      enqueue(event);
      return Promise.resolve();
    },
    fault: () => null,
    reopen: () => Promise.resolve(),
    close: async () => {
      enqueue({ ...options.opening, outcome: "done", reason: "process_stopped" });
      while (writing !== null || !isEmpty()) await (writing ??= drain());
      if (timer !== null) clearTimeout(timer);
    },
  };
}
