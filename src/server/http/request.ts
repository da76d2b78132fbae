/** A request as the handlers receive it, independent of the listener. */

import type { AuthRequest } from "../auth/types.ts";
import type { HeaderFields } from "./header_fields.ts";

/** Why a body could not be read. */
export type BodyFault = "too_large" | "framing_too_large" | "not_utf8" | "incomplete" | "no_room";

/** A body as text and bytes, or the fault of reading it. */
export type BodyReading =
  | { readonly ok: true; readonly text: string; readonly utf8: Uint8Array }
  | { readonly ok: false; readonly fault: BodyFault };

/** One request. */
export interface HttpRequest extends AuthRequest {
  readonly method: string;
  /** The target up to the first `?`, as it was sent. */
  readonly path: string;
  /** The text after the first `?`, or empty. */
  readonly query: string;
  readonly headers: HeaderFields;
  /** Aborted when the client is gone before its answer. */
  readonly signal: AbortSignal;
  /** Reads the body: at most `maximumBytes`, and only while `hasRoom` allows its size. */
  readonly readBody: (maximumBytes: number, hasRoom: (bytes: number) => boolean) => Promise<BodyReading>;
}
