/**
 * Detects the telemetry exporter of the runtime. Each of four variables switches it on, also beside one that is false.
 * It sends the text of standard error to a host that the environment names, and no permission restricts it.
 */

import { CliError } from "./cli_error.ts";

/** What switches the exporter on. */
const SWITCHES = ["OTEL_DENO", "OTEL_DENO_TRACING", "OTEL_DENO_METRICS", "OTEL_DENO_CONSOLE"];

/** The warning of the start and of `gate doctor`. */
export const RUNTIME_EXPORTS =
  "OTEL_DENO or OTEL_DENO_* is set: the runtime sends the log to a collector, and no permission restricts it";

/** Whether the runtime exports telemetry in this process. The variables themselves may not be readable here. */
export function isRuntimeExporting(): boolean {
  const isUnset = (variable: string): boolean =>
    Deno.permissions.querySync({ name: "env", variable }).state === "granted" && (Deno.env.get(variable) ?? "") === "";
  // The look at the variables costs nothing; the one below costs two milliseconds.
  if (SWITCHES.every(isUnset)) return false;
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
  const message =
    "Cannot verify: OTEL_DENO or OTEL_DENO_* is set, and the runtime would send what is written to a collector";
  throw new CliError("usage", message, "unset OTEL_DENO and OTEL_DENO_*");
}
