/**
 * A request as the handlers see it, whatever listens.
 *
 * @module
 */

import type { RequestTls } from "../auth/types.ts";
import type { HeaderFields } from "./header_fields.ts";

/** Why a body could not be read. */
export type BodyFault = "too_large" | "framing_too_large" | "not_utf8" | "incomplete" | "no_room";

/** A body, or why there is none. */
export type BodyReading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: BodyFault };

/** One request. */
export interface HttpRequest {
  readonly method: string;
  /** The target up to the first `?`, as it was sent. */
  readonly path: string;
  /** What follows the first `?`; empty for nothing. */
  readonly query: string;
  readonly headers: HeaderFields;
  /** IP address of the other end of the connection. */
  readonly peerAddress: string;
  /** Null where TLS does not end in this process. */
  readonly tls: RequestTls | null;
  /** Aborted when the client is gone before it was answered. */
  readonly signal: AbortSignal;
  /** Reads the body, at most so many bytes, and no more than there is room for; no more is ever kept. */
  readonly readBody: (maximumBytes: number, hasRoom: (bytes: number) => boolean) => Promise<BodyReading>;
}
