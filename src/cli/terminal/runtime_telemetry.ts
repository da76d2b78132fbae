/**
 * Detects the telemetry exporter of the runtime. It is switched on by the variable `OTEL_DENO`, sends the text of standard error to a
 * host that the environment names, and no permission restricts it.
 *
 * @module
 */

import { CliError } from "./cli_error.ts";

/** The warning of the start and of `gate doctor`. */
export const RUNTIME_EXPORTS =
  "OTEL_DENO is set: the runtime sends the log to a collector, and no permission restricts it";

/** Whether the runtime exports telemetry in this process. The variable itself may not be readable here. */
export function isRuntimeExporting(): boolean {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "OTEL_DENO" });
  // The look at the variable costs nothing; the one below costs two milliseconds.
  if (state === "granted" && (Deno.env.get("OTEL_DENO") ?? "") === "") return false;
  try {
    // Where the exporter is off, this throws. The span is never ended, so it is never sent.
    Deno.telemetry.tracerProvider.getTracer("gate").startSpan("gate");
    return true;
  } catch {
    return false;
  }
}

/**
 * Refuses a command that must send nothing.
 *
 * @throws {CliError} `usage` where the runtime exports telemetry
 */
export function refuseRuntimeTelemetry(): void {
  if (!isRuntimeExporting()) return;
  const message = "Cannot verify: OTEL_DENO is set, and the runtime would send what is written to a collector";
  throw new CliError("usage", message, "unset OTEL_DENO");
}
