/** The interface between the parts that decide and the audit log. */

import type { WordOf } from "../../canonical/words.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";

/** The subject matter of a decision. */
export type AuditKind =
  | WordOf<"process authentication authorization namespace registry mutation acquisition precheck discovery">
  | WordOf<"request tls">;

/** The most characters of a tool's name in an event. */
export const TOOL_CHARACTERS = 128;

/** One decision. The sink adds time, sequence and chain. */
export interface AuditEvent {
  readonly kind: AuditKind;
  readonly outcome: "allowed" | "refused" | "failed" | "begun" | "done";
  /** The reason, from a closed set: `token_unknown`, `accepted`, `origin_not_allowed`. */
  readonly reason: string;
  /** The principal's subject; null without authentication. */
  readonly subject: string | null;
  /** The origin of the request; null without a request. */
  readonly origin: CallOrigin | null;
  /** The name of the called tool, known or unknown, cut to {@link TOOL_CHARACTERS}. */
  readonly tool?: string;
  /** Further facts; never secrets or raw payloads. */
  readonly details?: JsonObject;
}

/** Writes decisions. */
export interface Audit {
  /**
   * Writes one event.
   *
   * @returns Resolves once the event is written, on standard error once it is queued; rejects on failure. A mutation awaits
   * this and fails with it. Other callers may ignore a failure: it shows in `fault`.
   */
  readonly record: (event: AuditEvent) => Promise<void>;
  /** Why events cannot be written now, for readiness; null while they can. */
  readonly fault: () => string | null;
  /** Opens the file again, after it was moved away. */
  readonly reopen: () => Promise<void>;
  /** Writes the queue and closes the file. */
  readonly close: () => Promise<void>;
}

/** Drops all events: for `server.audit.enabled = false`, and for tests. */
export const NO_AUDIT: Audit = {
  record: () => Promise.resolve(),
  fault: () => null,
  reopen: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
