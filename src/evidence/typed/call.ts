/** One call of a typed provider, as the host asks its worker. */

import type { JsonObject } from "../../canonical/json.ts";
import type { Finding } from "../builtin/result.ts";
import type { ClientCertificate, PinnedFailure } from "../egress/pinned_request.ts";

/** A question to the worker, which has received the profile as its setup. */
export interface CallQuestion {
  readonly check_id: string;
  readonly params: JsonObject;
  /** The checked address to connect to. */
  readonly address: string;
  /** Milliseconds to connect. */
  readonly connectMillis: number;
  /** Milliseconds of the whole call. */
  readonly millis: number;
  /** Headers or metadata that carry credentials. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
  /** PEM certificates to trust in place of the system's. */
  readonly authorities: readonly string[] | null;
  readonly client: ClientCertificate | null;
}

/** A service's response as evidence. */
export interface CallResponse {
  readonly finding: Finding;
  /** The anchor's members that the protocol has; null where no request was sent. */
  readonly anchor: JsonObject | null;
}

/** The worker's answer. */
export type CallReply = { readonly ok: true; readonly response: CallResponse } | PinnedFailure;
