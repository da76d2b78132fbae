/**
 * Limits the message bodies that are being received, per caller and in total. A slow or large sender cannot keep other
 * callers from sending.
 */

import type { ServerConfig } from "../../config/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { hasSeveralCallers } from "../process/limits.ts";
import { NOT_UTF8, tooLarge } from "../protocol/parse_message.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import { errorReply, httpError, type HttpReply } from "./reply.ts";
import type { BodyFault } from "./request.ts";

/** Receives bodies within bounds. */
export interface BodyAdmission {
  /** Reads the text of a message, or returns the reply that rejects it. */
  readonly read: (incoming: AuthenticatedRequest) => Promise<Received>;
  /** Bodies that are being received. */
  readonly bodies: () => number;
}

/** The text of a message and its bytes, or the reply that rejects it. */
export type Received =
  | { readonly ok: true; readonly text: string; readonly utf8: Uint8Array }
  | { readonly ok: false; readonly reply: HttpReply };

/** Bounds on the bodies that are being received. */
export interface BodyBounds {
  /** Bodies of one caller. */
  readonly bodies: number;
  /** Bytes of one caller, and of all callers. The first {@link BEGINNING_BYTES} of each body do not count. */
  readonly callerBytes: number;
  readonly allBytes: number;
}

/** Bytes of a body that are always accepted. Most messages are not longer. */
export const BEGINNING_BYTES = 16 * 1024;

/** Bodies that one caller may always send at one time. A body that is being received is not a request in work. */
const CALLER_BODIES = 128;

/**
 * The bounds of the service, which admit a few of the longest bodies. Each caller may send at least `max_inflight`
 * bodies. Without several callers there is no share per caller.
 */
export function bodyBounds(
  server: Pick<ServerConfig, "transport" | "auth" | "max_body_bytes" | "limits">,
): BodyBounds {
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

/** Makes the admission of bodies. */
export function createBodyAdmission(maximumBodyBytes: number, bounds: BodyBounds): BodyAdmission {
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
      if (sender === null) return rejected(CROWDED);
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
      return body.ok ? body : rejected(bodyError(body.fault, maximumBodyBytes));
    },
  };
}

function rejected(error: EdgeError): Received {
  return { ok: false, reply: errorReply(httpError(error)) };
}

const CROWDED: EdgeError = { kind: "inflight_limit", message: "Server overloaded: too many bodies are being received" };

/** The error that a client receives for the fault of a body. */
function bodyError(fault: BodyFault, maximumBytes: number): EdgeError {
  switch (fault) {
    case "too_large":
      return tooLarge(maximumBytes);
    case "framing_too_large":
      return { kind: "request_too_large", message: "Request too large: chunk framing exceeds the data" };
    case "not_utf8":
      return NOT_UTF8;
    case "incomplete":
      return { kind: "invalid_request", message: "Cannot read message: the body ended early" };
    case "no_room":
      return CROWDED;
  }
}
