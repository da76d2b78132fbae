/** The worker that imports OpenAPI documents from outside. It has no permission. */

import { IMPORT_LIMITS } from "../import_result.ts";
import { serveImports } from "../serve_imports.ts";
import { importOpenApi } from "./import.ts";
import { readSource } from "./read_source.ts";

/** The bytes of a document in JSON or YAML. */
export interface OpenApiSource {
  readonly kind: "openapi";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

serveImports<OpenApiSource>(({ bytes }, options) => {
  const read = readSource(bytes);
  if ("code" in read) return read;
  options.spend(Infinity);
  const result = importOpenApi(read.document, options);
  return { ...result, warnings: [...read.warnings, ...result.warnings].slice(0, IMPORT_LIMITS.warnings) };
});
