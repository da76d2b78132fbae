/**
 * Runs the JSON Schemas of users in a worker. A schema whose parts refer to each other twice can take exponential time,
 * so none runs in the thread of the server.
 */

import type { JsonValue } from "../../canonical/json.ts";
import { createWorkerHost, type WorkerFailureCode, type WorkerHost } from "./worker_host.ts";
import type { SchemaJob, SchemaReply } from "./schema_protocol.ts";

/** Why a schema gave no verdict; closed list. */
export type SchemaSandboxErrorCode =
  /** The schema, or the value under it, took longer than the deadline. */
  | "deadline_exceeded"
  /** The schema does not compile, although it was registered. */
  | "schema_refused"
  /** The validator gave up, for instance on endless recursion. */
  | "validator_failed"
  /** The worker did not start, or died. */
  | "worker_failed"
  /** Too many jobs wait. */
  | "overloaded"
  | "closed";

/** No verdict was reached, so the value is neither valid nor invalid. */
export class SchemaSandboxError extends Error {
  readonly code: SchemaSandboxErrorCode;

  /** Builds the error of a job without a verdict. */
  constructor(code: SchemaSandboxErrorCode, message: string) {
    super(message);
    this.name = "SchemaSandboxError";
    this.code = code;
  }
}

/** The code with which an acquisition reports the error. */
export type SchemaFailureCode = "schema_refused" | `schema_${Exclude<SchemaSandboxErrorCode, "schema_refused">}`;

/** The failure with which an acquisition reports the error. */
export function schemaFailure(
  { code, message }: SchemaSandboxError,
): { readonly code: SchemaFailureCode; readonly message: string; readonly retryable: boolean } {
  return {
    code: code === "schema_refused" ? code : `schema_${code}`,
    message,
    retryable: code !== "schema_refused" && code !== "validator_failed",
  };
}

/** Compiles and runs user JSON Schemas, 2020-12, apart from the server. */
export interface SchemaSandbox {
  /**
   * Checks whether a document is a JSON Schema that can be enforced.
   *
   * @throws {SchemaSandboxError} Where no verdict was reached
   */
  check(schema: JsonValue): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
  /**
   * Validates a value.
   *
   * @param identity Identity of the schema, under which the worker keeps it compiled
   * @param schema The schema, read only where the worker does not hold it compiled
   * @param pointer JSON Pointer to the schema within the document to validate against; the root schema has to refer to it
   * @throws {SchemaSandboxError} Where no verdict was reached
   */
  validate(
    identity: string,
    schema: JsonValue,
    value: JsonValue,
    pointer?: string,
  ): Promise<"valid" | { readonly invalid: string }>;
  /** Ends the worker; waiting jobs are rejected with `closed`. */
  close(): void;
}

/** Limits of a sandbox. */
export interface SchemaSandboxOptions {
  /** Milliseconds for one job, 1000 by default. */
  readonly deadlineMillis?: number;
  /** Milliseconds for the worker to start, 15000 by default. */
  readonly startMillis?: number;
  /** Compiled schemas that the worker keeps, 256 by default. */
  readonly maximumSchemas?: number;
  /** Approximate bytes of the compiled schemas that the worker keeps, 32 Mi by default; the last one may exceed it. */
  readonly maximumSchemaBytes?: number;
  /** Jobs that may wait, 16384 by default. */
  readonly maximumWaiting?: number;
}

interface State {
  readonly options: Required<SchemaSandboxOptions>;
  readonly host: WorkerHost;
  /** Settles with the job that was queued last. */
  last: Promise<unknown>;
  /** Jobs that wait or run. */
  pending: number;
  /** Sizes of the schemas that the worker holds compiled by identity, least recently used first. */
  held: Map<string, number>;
  heldBytes: number;
  closed: boolean;
}

/** What a job asks for; its schema is written as text only where the worker does not hold it. */
interface Request extends Pick<SchemaJob, "identity" | "value" | "pointer"> {
  readonly schema: JsonValue;
}

/** Milliseconds after the deadline at which the host ends a worker that has not given up by itself. */
const GRACE_MILLIS = 1_000;

const DEFAULTS: Required<SchemaSandboxOptions> = {
  deadlineMillis: 1000,
  startMillis: 15_000,
  maximumSchemas: 256,
  maximumSchemaBytes: 32 * 1024 * 1024,
  maximumWaiting: 16_384,
};

/** Creates a sandbox. The first job starts its worker, which stays. */
export function createSchemaSandbox(options: SchemaSandboxOptions = {}): SchemaSandbox {
  const module = new URL("./schema_worker.ts", import.meta.url);
  const plan = { name: "gate-schema", module, permissions: {} };
  const all = { ...DEFAULTS, ...options };
  const state: State = {
    options: all,
    host: createWorkerHost(plan, { startMillis: all.startMillis }),
    last: Promise.resolve(),
    pending: 0,
    held: new Map(),
    heldBytes: 0,
    closed: false,
  };
  return {
    async check(schema): ReturnType<SchemaSandbox["check"]> {
      const reply = await enqueue(state, { identity: null, schema, value: null, pointer: "" });
      return reply.result === "refused" ? { ok: false, message: reply.message } : { ok: true };
    },
    async validate(identity, schema, value, pointer = ""): ReturnType<SchemaSandbox["validate"]> {
      const reply = await enqueue(state, { identity, schema, value: JSON.stringify(value), pointer });
      if (reply.result === "invalid") return { invalid: reply.message };
      if (reply.result === "valid") return "valid";
      const why = reply.result === "refused" ? `: ${reply.message}` : "";
      throw new SchemaSandboxError("schema_refused", `Cannot run JSON Schema "${identity}"${why}`);
    },
    close(): void {
      state.closed = true;
      state.host.close();
    },
  };
}

/** Runs a job after those before it: what the worker holds is known only once they are answered. */
function enqueue(state: State, request: Request): Promise<SchemaReply> {
  if (state.closed) return Promise.reject(closedError());
  if (state.pending > state.options.maximumWaiting) {
    return Promise.reject(new SchemaSandboxError("overloaded", "Cannot run JSON Schemas: too many jobs wait"));
  }
  state.pending += 1;
  const reply = state.last.then(() => run(state, request)).finally(() => state.pending -= 1);
  state.last = reply.catch(() => {});
  return reply;
}

async function run(state: State, request: Request): Promise<SchemaReply> {
  if (state.closed) throw closedError();
  const { deadlineMillis } = state.options;
  const { identity, value, pointer } = request;
  const forget = makeRoom(state, identity);
  const schema = identity !== null && state.held.has(identity) ? null : JSON.stringify(request.schema);
  const job: SchemaJob = { forget, identity, schema, value, pointer, deadlineMillis };
  const answer = await state.host.ask<SchemaReply>(job, { limitMillis: deadlineMillis + GRACE_MILLIS });
  if (!answer.ok) {
    // The worker has ended, and with it the schemas that it held.
    state.held.clear();
    state.heldBytes = 0;
    throw hostError(state, answer.code, answer.message);
  }
  const reply = answer.answer;
  if (reply.result === "expired") throw deadlineError(state);
  if (reply.result === "failed") {
    throw new SchemaSandboxError("validator_failed", `Cannot run the JSON Schema: ${reply.message}`);
  }
  if (identity !== null && (reply.result === "valid" || reply.result === "invalid") && reply.size !== null) {
    state.held.set(identity, reply.size);
    state.heldBytes += reply.size;
  }
  return reply;
}

/** The error for a job that the worker host did not get answered. */
function hostError(state: State, code: WorkerFailureCode, message: string): SchemaSandboxError {
  if (code === "timeout") return deadlineError(state);
  return code === "cancelled" ? closedError() : new SchemaSandboxError("worker_failed", message);
}

function deadlineError({ options }: State): SchemaSandboxError {
  const message = `Cannot run the JSON Schema within ${options.deadlineMillis} ms`;
  return new SchemaSandboxError("deadline_exceeded", message);
}

function closedError(): SchemaSandboxError {
  return new SchemaSandboxError("closed", "Cannot run JSON Schemas: the sandbox is closed");
}

/** Marks a schema as used last and selects the identities that the worker has to forget to make room for it. */
function makeRoom(state: State, identity: string | null): string[] {
  const { held, options } = state;
  const size = identity === null ? undefined : held.get(identity);
  if (identity !== null && size !== undefined) {
    held.delete(identity);
    held.set(identity, size);
  }
  const mostHeld = identity === null || size !== undefined ? options.maximumSchemas : options.maximumSchemas - 1;
  const forget: string[] = [];
  for (const [oldest, bytes] of held) {
    if (oldest === identity || (held.size <= mostHeld && state.heldBytes <= options.maximumSchemaBytes)) break;
    held.delete(oldest);
    state.heldBytes -= bytes;
    forget.push(oldest);
  }
  return forget;
}
