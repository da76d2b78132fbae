/** The operational failures of transports and protocol: why a query of an external provider failed. */

import { type OperationalCode, type ProviderAnswer, RETRYABLE } from "../types.ts";

/** An operational failure of a transport or of the protocol. */
export class ExternalFailure extends Error {
  readonly code: OperationalCode;
  /** Whether repeating the query can succeed. */
  readonly retryable: boolean;

  /** Builds a failure; `retryable` follows from the code by default. */
  constructor(code: OperationalCode, message: string, retryable: boolean = RETRYABLE.has(code)) {
    super(message);
    this.name = "ExternalFailure";
    this.code = code;
    this.retryable = retryable;
  }
}

/** The provider's answer for a failure. */
export function failureAnswer({ code, message, retryable }: ExternalFailure): ProviderAnswer {
  return { ok: false, code, message, retryable };
}

/** The first {@link ExternalFailure} among an error and its causes; null without one. */
export function failureIn(error: unknown): ExternalFailure | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof ExternalFailure) return at;
  }
  return null;
}
