/**
 * The worker that imports OpenAPI documents from outside. It has no permission.
 *
 * @module
 */

import { serveQuestions } from "../../sandbox/worker_bootstrap.ts";
import { ImportExpired, importMeter, type ImportQuestion, writeResult } from "../import_protocol.ts";
import { IMPORT_LIMITS, type ImportResult, refuseImport } from "../import_result.ts";
import { importOpenApi } from "./import.ts";
import { readSource } from "./read_source.ts";

/** The bytes of a document in JSON or YAML. */
export interface OpenApiSource {
  readonly kind: "openapi";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function run({ source, options, milliseconds }: ImportQuestion<OpenApiSource>): ImportResult {
  const spend = importMeter(milliseconds);
  try {
    const read = readSource(source.bytes);
    if ("code" in read) return read;
    spend(Infinity);
    const result = importOpenApi(read.document, { ...options, spend });
    return { ...result, warnings: [...read.warnings, ...result.warnings].slice(0, IMPORT_LIMITS.warnings) };
  } catch (error) {
    if (error instanceof ImportExpired) return refuseImport("import_timeout", `${milliseconds} ms`);
    throw error;
  }
}

serveQuestions<null, ImportQuestion<OpenApiSource>, string>(() => (question) => writeResult(run(question)));
