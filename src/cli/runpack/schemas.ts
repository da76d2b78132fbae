/**
 * JSON Schema verdicts for a verification on the command line.
 *
 * @module
 */

import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { ValidateSchema } from "../../runpack/verify/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";

/** The time limits of JSON Schema validation. */
export interface SchemaTimeLimits {
  /** Milliseconds for one verdict: many times what a slow machine under load needs. */
  readonly verdictMillis: number;
  /** Milliseconds for all verdicts of a runpack. */
  readonly totalMillis: number;
}

const TIME_LIMITS: SchemaTimeLimits = { verdictMillis: 10_000, totalMillis: 120_000 };

/**
 * Creates a validator whose worker has no permissions and starts with the first verdict. A verdict that exceeds its time ends
 * the verification with {@link CliError} `not_evaluated`: a slow machine, or a malicious schema, proves nothing about a claim.
 */
export function schemaValidator(
  { verdictMillis, totalMillis }: SchemaTimeLimits = TIME_LIMITS,
): { readonly validate: ValidateSchema; readonly close: () => void } {
  let sandbox: SchemaSandbox | null = null;
  let left = totalMillis;
  return {
    async validate(name, schema, value): Promise<"valid" | "invalid" | null> {
      const { createSchemaSandbox, SchemaSandboxError } = await import("../../evidence/sandbox/schema_sandbox.ts");
      if (left <= 0) throw notEvaluated(`the JSON Schemas of the runpack take longer than ${totalMillis} ms`);
      sandbox ??= createSchemaSandbox({ deadlineMillis: verdictMillis });
      const begun = performance.now();
      try {
        return await sandbox.validate(name, schema, value) === "valid" ? "valid" : "invalid";
      } catch (error) {
        if (!(error instanceof SchemaSandboxError)) throw error;
        // No validator accepts this schema, on this machine or another.
        if (error.code === "schema_refused") return null;
        throw notEvaluated(error.message);
      } finally {
        left -= performance.now() - begun;
      }
    },
    close: () => sandbox?.close(),
  };
}

function notEvaluated(why: string): CliError {
  const hint = "--recorded-verdicts accepts the recorded verdicts of JSON Schemas";
  return new CliError("not_evaluated", `Cannot verify here: ${why}`, hint, EXIT.unknown);
}
