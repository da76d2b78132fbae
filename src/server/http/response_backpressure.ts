/**
 * Limits unread response bytes, per caller and in total. A caller over its limit is rejected until it reads, so that
 * one caller cannot use the memory of all.
 */

import type { ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { hasSeveralCallers, type Limits } from "../process/limits.ts";

/** Counts unread response bytes. */
export interface ResponseBackpressure {
  /** Counts bytes for a caller; the returned function releases them, once they are read or the connection is gone. */
  readonly hold: (caller: string, bytes: number) => () => void;
  /** Whether a caller must read before it is answered again. */
  readonly isFull: (caller: string) => boolean;
  /** Bytes of all callers. */
  readonly bytes: () => number;
}

/** Bytes from which on requests are rejected: of one caller, and of all callers. */
export interface BackpressureBounds {
  readonly callerBytes: number;
  readonly allBytes: number;
}

/** The bounds of a service with several callers. */
export const BACKPRESSURE_BOUNDS: BackpressureBounds = { callerBytes: 16 << 20, allBytes: 64 << 20 };

/** The bounds of the service. Without several callers there is no share per caller. */
export function backpressureBounds(server: Pick<ServerConfig, "transport" | "auth">): BackpressureBounds {
  return hasSeveralCallers(server)
    ? BACKPRESSURE_BOUNDS
    : { ...BACKPRESSURE_BOUNDS, callerBytes: BACKPRESSURE_BOUNDS.allBytes };
}

/** Makes the counter. */
export function createResponseBackpressure({ callerBytes, allBytes }: BackpressureBounds): ResponseBackpressure {
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

/** Limits that also reject a caller over its unread bytes. */
export function limitsWithBackpressure(limits: Limits, { isFull }: ResponseBackpressure): Limits {
  return {
    ...limits,
    count: (caller) => isFull(caller) ? UNREAD : limits.count(caller),
    enter: (caller) => isFull(caller) ? UNREAD : limits.enter(caller),
    admit: (caller) => isFull(caller) ? UNREAD : limits.admit(caller),
  };
}

const UNREAD: EdgeError = { kind: "inflight_limit", message: "Server overloaded: too many answers are not read yet" };
