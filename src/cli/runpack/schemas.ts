/**
 * JSON Schema verdicts for a verification on the command line.
 *
 * @module
 */

import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { ValidateSchema } from "../../runpack/verify/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";

/** How long JSON Schemas may take. */
export interface SchemaPatience {
  /** Milliseconds for one verdict: many times what one takes on a slow machine under load. */
  readonly verdictMillis: number;
  /** Milliseconds for all verdicts of a runpack. */
  readonly totalMillis: number;
}

const PATIENCE: SchemaPatience = { verdictMillis: 10_000, totalMillis: 120_000 };

/**
 * A validator whose worker starts with its first verdict; without permissions, as everywhere. What it cannot judge in its
 * time ends the verification with {@link CliError} `not_evaluated`: a machine that is slow, or a schema that was made to be,
 * says nothing of a claim.
 */
export function schemaValidator(
  { verdictMillis, totalMillis }: SchemaPatience = PATIENCE,
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
        // No validator can run it, here or elsewhere.
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
  const hint = "--recorded-verdicts takes the verdicts of JSON Schemas as the runpack records them";
  return new CliError("not_evaluated", `Cannot verify here: ${why}`, hint, EXIT.unknown);
}
