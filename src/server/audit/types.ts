/**
 * The seam between what decides and the audit log.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";

/** What was decided. */
export type AuditKind =
  | "process"
  | "authentication"
  | "authorization"
  | "namespace"
  | "registry"
  | "mutation"
  | "acquisition"
  | "precheck"
  | "discovery"
  | "request"
  | "tls";

/** Characters of a tool's name in an event. */
export const TOOL_CHARACTERS = 128;

/** One decision. The sink adds time, sequence and chain. */
export interface AuditEvent {
  readonly kind: AuditKind;
  readonly outcome: "allowed" | "refused" | "failed" | "begun" | "done";
  /** A closed word for why: `token_unknown`, `accepted`, `origin_not_allowed`. */
  readonly reason: string;
  /** The principal's subject; null where nobody is authenticated. */
  readonly subject: string | null;
  /** Whence the decision was asked for; null where no request stands behind it. */
  readonly origin: CallOrigin | null;
  /** The tool as it was called, also an unknown one; cut to {@link TOOL_CHARACTERS}. */
  readonly tool?: string;
  /** Further facts; never secrets or raw payloads. */
  readonly details?: JsonObject;
}

/** Takes decisions. */
export interface Audit {
  /**
   * Writes one event.
   *
   * @returns Resolves once the event is written, on standard error once it is queued; rejects where it cannot be. Who is
   * about to mutate waits for it and refuses on a rejection; everybody else may let go: the failure shows in `fault`.
   */
  readonly record: (event: AuditEvent) => Promise<void>;
  /** Why events cannot be written at the moment, for readiness; null where they can. */
  readonly fault: () => string | null;
  /** Opens the file again, after it was moved away. */
  readonly reopen: () => Promise<void>;
  /** Writes what is queued and lets go of the file. */
  readonly close: () => Promise<void>;
}

/** Takes events and drops them: for `server.audit.enabled = false`, and for tests. */
export const NO_AUDIT: Audit = {
  record: () => Promise.resolve(),
  fault: () => null,
  reopen: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
