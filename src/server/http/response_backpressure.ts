/**
 * Answers that their callers have not read yet: of one caller there are so many bytes at one time, and so many of all. Who has
 * more of them gets none of what is asked next, so that nobody who asks for much and reads nothing takes the memory of all.
 *
 * @module
 */

import type { ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { hasSeveralCallers, type Limits } from "../process/limits.ts";

/** Counts the bytes of answers that are on their way. */
export interface Unread {
  /** Counts bytes for a caller; what it gives is called once they are read, or nobody reads them any more. */
  readonly hold: (caller: string, bytes: number) => () => void;
  /** Whether a caller has to read before it is answered again. */
  readonly isFull: (caller: string) => boolean;
  /** Bytes of all. */
  readonly bytes: () => number;
}

/** Bytes at which no more is taken: of one caller, and of all. */
export interface UnreadBounds {
  readonly callerBytes: number;
  readonly allBytes: number;
}

/** The bounds of the service where callers can be told apart. */
export const UNREAD_BOUNDS: UnreadBounds = { callerBytes: 16 << 20, allBytes: 64 << 20 };

/** The bounds of the service: the share of one caller holds only where callers can be told apart. */
export function unreadBounds(server: Pick<ServerConfig, "transport" | "auth">): UnreadBounds {
  return hasSeveralCallers(server) ? UNREAD_BOUNDS : { ...UNREAD_BOUNDS, callerBytes: UNREAD_BOUNDS.allBytes };
}

/** Makes the count. */
export function createUnread({ callerBytes, allBytes }: UnreadBounds): Unread {
  const held = new Map<string, number>();
  let all = 0;
  const add = (caller: string, bytes: number): void => {
    const sum = (held.get(caller) ?? 0) + bytes;
    if (sum > 0) held.set(caller, sum);
    else held.delete(caller);
    all += bytes;
  };
  return {
    bytes: () => all,
    isFull: (caller) => (held.get(caller) ?? 0) >= callerBytes || all >= allBytes,
    hold: (caller, bytes) => {
      let left = bytes;
      add(caller, bytes);
      return () => {
        add(caller, -left);
        left = 0;
      };
    },
  };
}

/** Limits that take nothing of a caller who has to read first. */
export function untilRead(limits: Limits, { isFull }: Unread): Limits {
  return {
    ...limits,
    count: (caller) => isFull(caller) ? UNREAD : limits.count(caller),
    enter: (caller) => isFull(caller) ? UNREAD : limits.enter(caller),
    admit: (caller) => isFull(caller) ? UNREAD : limits.admit(caller),
  };
}

const UNREAD: EdgeError = { kind: "inflight_limit", message: "Server overloaded: too many answers are not read yet" };
