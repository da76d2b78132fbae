/**
 * Imports service descriptions from outside in a worker without permissions, bounded in work, processor time and
 * memory.
 */

import { createWorkerHost } from "../sandbox/worker_host.ts";
import { type ImportQuestion, readResult } from "./import_protocol.ts";
import { IMPORT_LIMITS, type ImportOptions, type ImportResult, refuseImport } from "./import_result.ts";
import type { GrpcImportSource } from "./grpc/import_worker.ts";
import type { OpenApiSource } from "./openapi/import_worker.ts";

/** A service description as bytes or texts. */
export type ImportSource = OpenApiSource | GrpcImportSource;

/** The worker's module of each kind of description. */
const WORKERS = {
  openapi: new URL("./openapi/import_worker.ts", import.meta.url),
  grpc: new URL("./grpc/import_worker.ts", import.meta.url),
} as const;

/** Limits of one import. */
export interface ImportSandboxOptions {
  readonly steps?: number;
  /** Processor time in milliseconds. */
  readonly milliseconds?: number;
}

/** Imports run one after the other, so that the memory of one bounds that of all. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Imports a description. Each import has a worker of its own, which ends with it. Never rejects.
 *
 * @param source Its buffers are moved to the worker, and are empty afterwards
 */
export function importInSandbox(
  source: ImportSource,
  options: Omit<ImportOptions, "spend">,
  { steps = IMPORT_LIMITS.steps, milliseconds = IMPORT_LIMITS.processorMilliseconds }: ImportSandboxOptions = {},
): Promise<ImportResult> {
  const result = last.then(() => run({ source, options, steps, milliseconds }));
  last = result.catch(() => {});
  return result;
}

async function run(question: ImportQuestion<ImportSource>): Promise<ImportResult> {
  const { source } = question;
  const module = WORKERS[source.kind];
  const host = createWorkerHost({ name: "gate-import", module, permissions: {} });
  try {
    const answer = await host.ask<string>(question, {
      limitMillis: IMPORT_LIMITS.milliseconds,
      transfer: buffersOf(source),
    });
    if (answer.ok) return readResult(answer.answer);
    return refuseImport(answer.code === "timeout" ? "import_timeout" : "import_failed", answer.message);
  } finally {
    host.close();
  }
}

function buffersOf(source: ImportSource): ArrayBuffer[] {
  if (source.kind === "openapi") return [source.bytes.buffer];
  if ("descriptor_set" in source) return [source.descriptor_set.buffer];
  return source.proto.flatMap(({ text }) => typeof text === "string" ? [] : [text.buffer]);
}
