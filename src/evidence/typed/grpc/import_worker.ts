/**
 * The worker that imports gRPC services from outside. It has no permission.
 *
 * @module
 */

import { serveQuestions } from "../../sandbox/worker_bootstrap.ts";
import { ImportExpired, importMeter, type ImportQuestion, writeResult } from "../import_protocol.ts";
import { type ImportResult, refuseImport } from "../import_result.ts";
import { type GrpcSource, importGrpc } from "./import_grpc.ts";

/** `.proto` texts that import each other by their paths, or the wire form of a `FileDescriptorSet`. */
export type GrpcImportSource = { readonly kind: "grpc" } & GrpcSource;

function run({ source, options, milliseconds }: ImportQuestion<GrpcImportSource>): ImportResult {
  const spend = importMeter(milliseconds);
  try {
    return importGrpc(source, { ...options, spend });
  } catch (error) {
    if (error instanceof ImportExpired) return refuseImport("import_timeout", `${milliseconds} ms`);
    throw error;
  }
}

serveQuestions<null, ImportQuestion<GrpcImportSource>, string>(() => (question) => writeResult(run(question)));
