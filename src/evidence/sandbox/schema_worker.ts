/**
 * The worker that compiles and runs user JSON Schemas. It is started without any permission, does one job at a time, and
 * gives a job up at its deadline by itself: a thread that is told to end while it computes goes on.
 *
 * @module
 */

import { readJson } from "../../canonical/scan.ts";
import { type Compilation, compileSchema, type Validator } from "../json_schema/compile.ts";
import type { Spend } from "../regular_expression/search.ts";
import { SCHEMA_WORKER_READY, type SchemaJob, type SchemaReply } from "./schema_protocol.ts";

/** The part of the worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<SchemaJob>) => void) | null;
  readonly postMessage: (message: SchemaReply | typeof SCHEMA_WORKER_READY) => void;
}

const scope = globalThis as unknown as WorkerScope;
const compiled = new Map<string, Validator>();

// Standard output carries the protocol of the server. Nothing here writes to it, and nothing that a schema might bring to
// run here can either.
for (const name of ["console", "Deno", "process"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: false, writable: false });
}

/** A job has taken longer than its deadline. */
class Expired extends Error {}

/** Steps after which the clock is looked at. */
const STEPS_BETWEEN_LOOKS = 4096;

function meter(milliseconds: number): Spend {
  const end = performance.now() + milliseconds;
  let left = STEPS_BETWEEN_LOOKS;
  return (steps) => {
    left -= steps;
    if (left > 0) return;
    left = STEPS_BETWEEN_LOOKS;
    if (performance.now() > end) throw new Expired();
  };
}

function run(job: SchemaJob): SchemaReply {
  const spend = meter(job.deadlineMillis);
  for (const identity of job.forget) compiled.delete(identity);
  const held = job.identity === null ? undefined : compiled.get(job.identity);
  const compilation = held === undefined ? compile(job, spend) : { validator: held, size: null };
  if ("refusal" in compilation) return { job: job.job, result: "refused", message: compilation.refusal };
  if (job.value === null) return { job: job.job, result: "compiled" };
  const { validator, size } = compilation;
  const message = validator(readJson(job.value), spend, job.pointer);
  // Only now: the host forgets whatever gave no verdict, and would never tell to forget it here.
  if (job.identity !== null) compiled.set(job.identity, validator);
  return message === null
    ? { job: job.job, result: "valid", size }
    : { job: job.job, result: "invalid", size, message };
}

/** Bytes that a character of a document takes once it is read. Measured, of those that take much. */
const CHARACTER_BYTES = 10;

function compile({ schema }: SchemaJob, spend: Spend): Compilation {
  if (schema === null) return { refusal: "The schema is not held by the worker" };
  const compilation = compileSchema(readJson(schema), spend);
  if ("refusal" in compilation) return compilation;
  return { ...compilation, size: compilation.size + CHARACTER_BYTES * schema.length };
}

scope.onmessage = ({ data: job }) => {
  try {
    scope.postMessage(run(job));
  } catch (error) {
    if (error instanceof Expired) return scope.postMessage({ job: job.job, result: "expired" });
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    scope.postMessage({ job: job.job, result: "failed", message });
  }
};
scope.postMessage(SCHEMA_WORKER_READY);
