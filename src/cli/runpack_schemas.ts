/**
 * JSON Schema verdicts for a verification on the command line.
 *
 * @module
 */

import type { SchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { ValidateSchema } from "../runpack/verify_types.ts";

/** A validator whose worker starts with its first verdict; without permissions, as everywhere. */
export function schemaValidator(): { readonly validate: ValidateSchema; readonly close: () => void } {
  let sandbox: SchemaSandbox | null = null;
  return {
    async validate(name, schema, value): Promise<"valid" | "invalid" | null> {
      const { createSchemaSandbox, SchemaSandboxError } = await import("../evidence/sandbox/schema_sandbox.ts");
      sandbox ??= createSchemaSandbox();
      try {
        return await sandbox.validate(name, schema, value) === "valid" ? "valid" : "invalid";
      } catch (error) {
        if (error instanceof SchemaSandboxError) return null;
        throw error;
      }
    },
    close: () => sandbox?.close(),
  };
}
