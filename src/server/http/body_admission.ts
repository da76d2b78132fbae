/**
 * Bodies of messages while they come in: one caller has so many on their way at one time, and of what is kept of them
 * there are so many bytes, so that nobody who sends slowly or much keeps the others from sending.
 *
 * @module
 */

import type { ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { hasSeveralCallers } from "../process/limits.ts";
import type { Exchange } from "./authenticated_request.ts";
import { edgeRefusal, type HttpReply, refusalReply } from "./reply.ts";
import type { BodyFault } from "./request.ts";

/** Takes bodies in. */
export interface Intake {
  /** Reads the text of a message, or says how it is refused. */
  readonly read: (exchange: Exchange) => Promise<Received>;
  /** Bodies on their way. */
  readonly bodies: () => number;
}

/** The text of a message, or the answer to what is none. */
export type Received = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reply: HttpReply };

/** Bounds on bodies that are on their way. */
export interface IntakeBounds {
  /** Bodies of one caller. */
  readonly bodies: number;
  /** Bytes of one caller, and of all; of each body only what comes after its beginning counts. */
  readonly callerBytes: number;
  readonly allBytes: number;
}

/** Bytes of a body that always find room: most messages are no longer. */
export const BEGINNING_BYTES = 16 * 1024;

/** Bodies that one caller may always have on their way: while they come they take no place in work. */
const CALLER_BODIES = 128;

/**
 * The bounds of the service, which let in a few of the longest bodies. No caller has fewer bodies than there are places in
 * work. The share of one caller holds only where callers can be told apart: else one caller is everybody.
 */
export function intakeBounds(
  server: Pick<ServerConfig, "transport" | "auth" | "max_body_bytes" | "limits">,
): IntakeBounds {
  const shareBytes = Math.max(16 << 20, server.max_body_bytes);
  const allBytes = 4 * shareBytes;
  return hasSeveralCallers(server)
    ? { bodies: Math.max(CALLER_BODIES, server.limits.max_inflight), callerBytes: shareBytes, allBytes }
    : { bodies: Infinity, callerBytes: allBytes, allBytes };
}

interface Sender {
  bodies: number;
  bytes: number;
}

/** Makes the intake. */
export function createIntake(maximumBodyBytes: number, bounds: IntakeBounds): Intake {
  const senders = new Map<string, Sender>();
  const all: Sender = { bodies: 0, bytes: 0 };
  const begin = (caller: string): Sender | null => {
    const sender = senders.get(caller) ?? { bodies: 0, bytes: 0 };
    if (sender.bodies >= bounds.bodies) return null;
    senders.set(caller, sender);
    sender.bodies++;
    all.bodies++;
    return sender;
  };
  const end = (caller: string, sender: Sender, counted: number): void => {
    sender.bytes -= counted;
    all.bytes -= counted;
    all.bodies--;
    if (--sender.bodies === 0) senders.delete(caller);
  };
  return {
    bodies: () => all.bodies,
    read: async ({ request, principal: { subject } }) => {
      const sender = begin(subject);
      if (sender === null) return refused(CROWDED);
      let counted = 0;
      const hasRoom = (size: number): boolean => {
        const more = Math.max(0, size - BEGINNING_BYTES) - counted;
        if (sender.bytes + more > bounds.callerBytes || all.bytes + more > bounds.allBytes) return false;
        counted += more;
        sender.bytes += more;
        all.bytes += more;
        return true;
      };
      const body = await request.readBody(maximumBodyBytes, hasRoom);
      end(subject, sender, counted);
      return body.ok ? body : refused(bodyError(body.fault, maximumBodyBytes));
    },
  };
}

function refused(error: EdgeError): Received {
  return { ok: false, reply: refusalReply(edgeRefusal(error)) };
}

const CROWDED: EdgeError = { kind: "inflight_limit", message: "Server overloaded: too many bodies are on their way" };

/** What is wrong with a body, as clients are told. */
function bodyError(fault: BodyFault, maximumBytes: number): EdgeError {
  switch (fault) {
    case "too_large": {
      const message = `Request too large: must be at most ${maximumBytes} bytes (server.max_body_bytes)`;
      return { kind: "request_too_large", message };
    }
    case "framing_too_large": {
      const message = "Request too large: its chunks have more around them than in them";
      return { kind: "request_too_large", message };
    }
    case "not_utf8":
      return { kind: "parse_error", message: "Cannot read message: must be UTF-8" };
    case "incomplete":
      return { kind: "invalid_request", message: "Cannot read message: the body ended early" };
    case "no_room":
      return CROWDED;
  }
}
