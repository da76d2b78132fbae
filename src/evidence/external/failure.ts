/**
 * Why an external provider could not be asked: the operational failures of transports and protocol.
 *
 * @module
 */

import type { OperationalCode, ProviderAnswer } from "../types.ts";

/** Codes after which the same question may well be answered. */
const RETRYABLE: ReadonlySet<OperationalCode> = new Set([
  "timeout",
  "dns_failed",
  "connection_failed",
  "response_truncated",
  "worker_died",
  "provider_unreachable",
]);

/** An operational failure on its way out of a transport. */
export class ExternalFailure extends Error {
  /** What went wrong. */
  readonly code: OperationalCode;
  /** Whether the same question may be answered when it is asked again. */
  readonly retryable: boolean;

  /** A failure; whether it is retryable follows from its code unless it is said. */
  constructor(code: OperationalCode, message: string, retryable: boolean = RETRYABLE.has(code)) {
    super(message);
    this.name = "ExternalFailure";
    this.code = code;
    this.retryable = retryable;
  }
}

/** The answer that a failure amounts to. */
export function failureAnswer({ code, message, retryable }: ExternalFailure): ProviderAnswer {
  return { ok: false, code, message, retryable };
}

/** The failure among an error and its causes, if there is one. */
export function failureIn(error: unknown): ExternalFailure | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ExternalFailure) return at;
  }
  return null;
}
