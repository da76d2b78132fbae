/**
 * The messages between the schema sandbox and its worker. Documents travel as JSON text, so that every member name,
 * `__proto__` included, arrives as it was.
 */

/** One job of the worker, which runs one at a time. */
export interface SchemaJob {
  /** Identities of compiled schemas to forget first. */
  readonly forget: readonly string[];
  /** Identity under which the worker keeps the compiled schema once it has led to a verdict; null = not kept. */
  readonly identity: string | null;
  /** JSON text of the schema; null = the worker holds it compiled. */
  readonly schema: string | null;
  /** JSON text of the value to validate; null = compile only. */
  readonly value: string | null;
  /** JSON Pointer to the schema within the document to validate against; "" = the whole. */
  readonly pointer: string;
  /** Milliseconds after which the worker gives up by itself. */
  readonly deadlineMillis: number;
}

/** The result of a job. `size` = approximate bytes of a schema that the worker begins to keep; null = it held it before. */
export type SchemaReply =
  | { readonly result: "valid"; readonly size: number | null }
  /** The schema compiles; no value was given. */
  | { readonly result: "compiled" }
  | { readonly result: "invalid"; readonly size: number | null; readonly message: string }
  /** The document is not a JSON Schema, or not one that can be enforced. */
  | { readonly result: "refused"; readonly message: string }
  /** The job took longer than the deadline. */
  | { readonly result: "expired" }
  /** The validator itself gave up, for instance on endless recursion. */
  | { readonly result: "failed"; readonly message: string };
