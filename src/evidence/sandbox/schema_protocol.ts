/**
 * What the host and the worker that runs user JSON Schemas say to each other. Documents travel as JSON text, so that every
 * member name, `__proto__` too, arrives as it was.
 *
 * @module
 */

/** One thing for the worker to do; it does one at a time. */
export interface SchemaJob {
  readonly job: number;
  /** Names of compiled schemas to forget first. */
  readonly forget: readonly string[];
  /** Name that the compiled schema is kept under once it has led to a verdict; null = not kept. */
  readonly identity: string | null;
  /** JSON text of the schema; null = the worker holds it compiled. */
  readonly schema: string | null;
  /** JSON text of the value to judge; null = compile only. */
  readonly value: string | null;
  /** JSON Pointer to the schema within the document that the value is held against; "" = the whole. */
  readonly pointer: string;
  /** Milliseconds after which the worker gives up by itself. */
  readonly deadlineMillis: number;
}

/** What came of a job. A schema is kept only with a verdict; `size` = bytes that it takes, about, where it was not held before. */
export type SchemaReply =
  | { readonly job: number; readonly result: "valid"; readonly size: number | null }
  /** The schema compiles; no value was given. */
  | { readonly job: number; readonly result: "compiled" }
  | { readonly job: number; readonly result: "invalid"; readonly size: number | null; readonly message: string }
  /** The schema is none, or one that cannot be enforced. */
  | { readonly job: number; readonly result: "refused"; readonly message: string }
  /** It took longer than the deadline. */
  | { readonly job: number; readonly result: "expired" }
  /** The validator itself gave up, for instance on endless recursion. */
  | { readonly job: number; readonly result: "failed"; readonly message: string };

/** First message of the worker, once it can take jobs. */
export const SCHEMA_WORKER_READY = "ready";
