/**
 * The audit log on standard error: a bounded queue that never makes anybody wait. What a reader does not take is dropped
 * before it enters the chain, and counted in a line of its own.
 *
 * @module
 */

import { lostEvents } from "./file_sink.ts";
import { newChain, nextLine, type TimedEvent, timeEvent } from "./line.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** Characters that may wait to be written, about. */
export const STREAM_QUEUE_CHARACTERS = 1024 * 1024;

/** What an event takes beside its details. */
const EVENT_CHARACTERS = 1024;

/** What a stream sink needs. */
export interface StreamSinkOptions {
  /** Writes all of some bytes. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Said in the opening line. */
  readonly opening: AuditEvent;
}

const encoder = new TextEncoder();

/** Opens the audit log on a stream; its chain begins here and ends with the process. */
export function openStreamSink(options: StreamSinkOptions): Audit {
  let chain = newChain();
  let queue: TimedEvent[] = [];
  let waiting = 0;
  let dropped = 0;
  let writing: Promise<void> | null = null;

  const sizeOf = (timed: TimedEvent): number => timed.details.length + EVENT_CHARACTERS;

  const take = (event: AuditEvent): void => {
    const timed = timeEvent(event, Date.now());
    const size = sizeOf(timed);
    // What the process says of itself is little, and must not be lost.
    if (waiting + size > STREAM_QUEUE_CHARACTERS && event.kind !== "process") {
      dropped++;
      return;
    }
    queue.push(timed);
    waiting += size;
    writing ??= drain();
  };

  const drain = async (): Promise<void> => {
    // Events of one turn go out together.
    await Promise.resolve();
    while (queue.length > 0 || dropped > 0) {
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
        // Standard error is closed: there is nobody left to tell.
      }
      for (const timed of batch) waiting -= sizeOf(timed);
    }
    writing = null;
  };

  take({ ...options.opening, reason: "chain_started" });
  return {
    record: (event) => {
      take(event);
      return Promise.resolve();
    },
    fault: () => null,
    reopen: () => Promise.resolve(),
    close: async () => {
      take({ ...options.opening, outcome: "done", reason: "process_stopped" });
      await writing;
    },
  };
}
