/** The error of an exception that no handler expects. */

import type { EdgeError } from "./edge_error.ts";
import type { Log } from "./log.ts";
import { StartFailure } from "./start_failure.ts";

/**
 * Logs an unexpected exception. The client receives only the correlation id of the log entry.
 *
 * @param log Receives the text of the exception
 * @param where The work that failed
 * @param thrown The exception
 * @param correlationId The id of the request, or null to make one
 */
export function internalError(log: Log, where: string, thrown: unknown, correlationId: string | null): EdgeError {
  // A StartFailure was logged where it happened.
  if (thrown instanceof StartFailure) return thrown.edgeError;
  const id = correlationId ?? `gate-${crypto.randomUUID()}`;
  const detail = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
  log("error", `Unexpected failure in ${where}`, { correlation_id: id, detail });
  return { kind: "internal", message: "Internal error", correlationId: id };
}
