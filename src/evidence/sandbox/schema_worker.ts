/**
 * The worker that compiles and runs the JSON Schemas of users. It has no permission and runs one job at a time. It ends
 * a job at its deadline by itself, because terminating a thread does not stop a computation.
 */

import { createDeadlineMeter, WorkExpired } from "./deadline_meter.ts";
import { serveQuestions } from "./worker_bootstrap.ts";
import { readJson } from "../../canonical/scan.ts";
import { type Compilation, compileSchema, type Validator } from "../json_schema/compile.ts";
import type { Spend } from "../regular_expression/search.ts";
import type { SchemaJob, SchemaReply } from "./schema_protocol.ts";

const compiled = new Map<string, Validator>();

// Nothing here calls the runtime, so a schema that made the worker run other code could not either.
Object.defineProperty(globalThis, "Deno", { value: undefined, configurable: false, writable: false });

/** Steps between two readings of the clock. */
const STEPS_PER_CLOCK_READING = 4096;

function run(job: SchemaJob): SchemaReply {
  const spend = createDeadlineMeter(job.deadlineMillis, STEPS_PER_CLOCK_READING);
  for (const identity of job.forget) compiled.delete(identity);
  const held = job.identity === null ? undefined : compiled.get(job.identity);
  const compilation = held === undefined ? compile(job, spend) : { validator: held, size: null };
  if ("refusal" in compilation) return { result: "refused", message: compilation.refusal };
  if (job.value === null) return { result: "compiled" };
  const { validator, size } = compilation;
  const message = validator(readJson(job.value), spend, job.pointer);
  // Kept only with a verdict: the host does not track other schemas and would never have them forgotten.
  if (job.identity !== null) compiled.set(job.identity, validator);
  return message === null ? { result: "valid", size } : { result: "invalid", size, message };
}

/** Bytes of memory for each character of a document that was read. Measured on documents that take much. */
const CHARACTER_BYTES = 10;

function compile({ schema }: SchemaJob, spend: Spend): Compilation {
  if (schema === null) return { refusal: "The schema is not held by the worker" };
  const compilation = compileSchema(readJson(schema), spend);
  if ("refusal" in compilation) return compilation;
  return { ...compilation, size: compilation.size + CHARACTER_BYTES * schema.length };
}

serveQuestions<null, SchemaJob, SchemaReply>(() => (job) => {
  try {
    return run(job);
  } catch (error) {
    if (error instanceof WorkExpired) return { result: "expired" };
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { result: "failed", message };
  }
});
