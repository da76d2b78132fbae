/**
 * The host side of the worker that runs user JSON Schemas: one whose parts refer to each other twice over and over can be slow
 * beyond all measure, so none is ever run where it could stop the server.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import { SCHEMA_WORKER_READY, type SchemaJob, type SchemaReply } from "./schema_protocol.ts";

/** Why a schema could not be judged; closed list. */
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

/** No verdict was reached. Never to be read as valid or invalid. */
export class SchemaSandboxError extends Error {
  /** What went wrong. */
  readonly code: SchemaSandboxErrorCode;

  /** A failure to reach a verdict. */
  constructor(code: SchemaSandboxErrorCode, message: string) {
    super(message);
    this.name = "SchemaSandboxError";
    this.code = code;
  }
}

/** The code under which an acquisition tells of it. */
export type SchemaFailureCode = "schema_refused" | `schema_${Exclude<SchemaSandboxErrorCode, "schema_refused">}`;

/** A failure to reach a verdict, as an acquisition tells of it. */
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
   * Whether a document is a JSON Schema that can be enforced.
   *
   * @throws {SchemaSandboxError} When that could not be found out
   */
  check(schema: JsonValue): Promise<{ readonly ok: true } | { readonly ok: false; readonly message: string }>;
  /**
   * Judges a value.
   *
   * @param identity Identity of the schema, under which it is kept compiled
   * @param schema The schema, read only when it is not held compiled
   * @param pointer JSON Pointer to a schema within it that the value is held against instead of the whole; the whole has to lead to it
   * @throws {SchemaSandboxError} When no verdict was reached
   */
  validate(
    identity: string,
    schema: JsonValue,
    value: JsonValue,
    pointer?: string,
  ): Promise<"valid" | { readonly invalid: string }>;
  /** Ends the worker; what waits is rejected with `closed`. */
  close(): void;
}

/** Bounds of a sandbox. */
export interface SchemaSandboxOptions {
  /** Milliseconds for one job, 1000 by default. */
  readonly deadlineMillis?: number;
  /** Milliseconds for the worker to start, 15000 by default. */
  readonly startMillis?: number;
  /** Compiled schemas that are kept, 256 by default. */
  readonly maximumSchemas?: number;
  /** Bytes that the schemas that are kept compiled take, about, 32 Mi by default; the last one may be beyond it. */
  readonly maximumSchemaBytes?: number;
  /** Jobs that may wait, 16384 by default. */
  readonly maximumWaiting?: number;
}

interface Waiting {
  readonly identity: string | null;
  readonly schema: JsonValue;
  readonly value: string | null;
  readonly pointer: string;
  readonly resolve: (reply: SchemaReply) => void;
  readonly reject: (error: SchemaSandboxError) => void;
}

interface State {
  readonly options: Required<SchemaSandboxOptions>;
  readonly waiting: Waiting[];
  current: Waiting | null;
  worker: Worker | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  jobs: number;
  /** Schemas that the worker holds compiled with their sizes, least recently used first. */
  held: Map<string, number>;
  heldBytes: number;
  closed: boolean;
}

/** How long after the deadline an answer is waited for. */
const PATIENCE_MILLIS = 1_000;

const DEFAULTS: Required<SchemaSandboxOptions> = {
  deadlineMillis: 1000,
  startMillis: 15_000,
  maximumSchemas: 256,
  maximumSchemaBytes: 32 * 1024 * 1024,
  maximumWaiting: 16_384,
};

/** A sandbox. Its worker starts with the first job and stays. */
export function createSchemaSandbox(options: SchemaSandboxOptions = {}): SchemaSandbox {
  const state: State = {
    options: { ...DEFAULTS, ...options },
    waiting: [],
    current: null,
    worker: null,
    timer: undefined,
    jobs: 0,
    held: new Map(),
    heldBytes: 0,
    closed: false,
  };
  return {
    async check(schema): ReturnType<SchemaSandbox["check"]> {
      const reply = await enqueue(state, null, schema, null);
      return reply.result === "refused" ? { ok: false, message: reply.message } : { ok: true };
    },
    async validate(identity, schema, value, pointer = ""): ReturnType<SchemaSandbox["validate"]> {
      const reply = await enqueue(state, identity, schema, JSON.stringify(value), pointer);
      if (reply.result === "invalid") return { invalid: reply.message };
      if (reply.result === "valid") return "valid";
      const why = reply.result === "refused" ? `: ${reply.message}` : "";
      throw new SchemaSandboxError("schema_refused", `Cannot run JSON Schema "${identity}"${why}`);
    },
    close(): void {
      state.closed = true;
      stop(state, new SchemaSandboxError("closed", "Cannot run JSON Schemas: the sandbox is closed"));
      for (const job of state.waiting.splice(0)) {
        job.reject(new SchemaSandboxError("closed", "Cannot run JSON Schemas: the sandbox is closed"));
      }
    },
  };
}

function enqueue(
  state: State,
  identity: string | null,
  schema: JsonValue,
  value: string | null,
  pointer = "",
): Promise<SchemaReply> {
  if (state.closed) {
    return Promise.reject(new SchemaSandboxError("closed", "Cannot run JSON Schemas: the sandbox is closed"));
  }
  if (state.waiting.length >= state.options.maximumWaiting) {
    return Promise.reject(new SchemaSandboxError("overloaded", "Cannot run JSON Schemas: too many jobs wait"));
  }
  return new Promise((resolve, reject) => {
    state.waiting.push({ identity, schema, value, pointer, resolve, reject });
    pump(state);
  });
}

/** Gives the worker its next job, if it is free and there is one; starts it where there is none. */
function pump(state: State): void {
  if (state.current !== null || state.closed) return;
  const next = state.waiting.shift();
  if (next === undefined) return;
  state.current = next;
  if (state.worker === null) start(state);
  else post(state, state.worker, next);
}

/** Starts a worker; its first message says that it is ready for the current job. */
function start(state: State): void {
  const { startMillis } = state.options;
  const worker = new Worker(new URL("./schema_worker.ts", import.meta.url), {
    type: "module",
    name: "gate-schema",
    deno: { permissions: "none" },
  });
  state.worker = worker;
  state.timer = setTimeout(
    () => fail(state, "worker_failed", `Cannot run JSON Schemas: the worker did not start within ${startMillis} ms`),
    startMillis,
  );
  worker.onmessage = ({ data }: MessageEvent<SchemaReply | typeof SCHEMA_WORKER_READY>) => {
    if (state.worker !== worker) return;
    clearTimeout(state.timer);
    if (data !== SCHEMA_WORKER_READY) finish(state, data);
    else if (state.current !== null) post(state, worker, state.current);
  };
  worker.onerror = (event) => {
    // Without this the error would end the whole process.
    event.preventDefault();
    if (state.worker === worker) fail(state, "worker_failed", "Cannot run JSON Schemas: the worker died");
  };
}

function post(state: State, worker: Worker, next: Waiting): void {
  const { deadlineMillis } = state.options;
  // The worker gives up by itself at its deadline; this is for one that does not.
  state.timer = setTimeout(
    () => fail(state, "deadline_exceeded", lateMessage(state)),
    deadlineMillis + PATIENCE_MILLIS,
  );
  const { identity, value, pointer } = next;
  const forget = makeRoom(state, identity);
  const schema = identity !== null && state.held.has(identity) ? null : JSON.stringify(next.schema);
  const job: SchemaJob = { job: ++state.jobs, forget, identity, schema, value, pointer, deadlineMillis };
  worker.postMessage(job);
}

/** What the worker has to forget to make room for a schema, which becomes the one that was used last. */
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

function finish(state: State, reply: SchemaReply): void {
  const current = state.current;
  if (current === null || reply.job !== state.jobs) return;
  state.current = null;
  if (current.identity !== null && (reply.result === "valid" || reply.result === "invalid") && reply.size !== null) {
    state.held.set(current.identity, reply.size);
    state.heldBytes += reply.size;
  }
  if (reply.result === "expired") current.reject(new SchemaSandboxError("deadline_exceeded", lateMessage(state)));
  else if (reply.result === "failed") {
    current.reject(new SchemaSandboxError("validator_failed", `Cannot run the JSON Schema: ${reply.message}`));
  } else current.resolve(reply);
  pump(state);
}

function lateMessage({ options }: State): string {
  return `Cannot run the JSON Schema within ${options.deadlineMillis} ms`;
}

function fail(state: State, code: SchemaSandboxErrorCode, message: string): void {
  stop(state, new SchemaSandboxError(code, message));
  pump(state);
}

/** Ends the worker, and with it the current job. */
function stop(state: State, error: SchemaSandboxError): void {
  clearTimeout(state.timer);
  state.worker?.terminate();
  state.worker = null;
  state.held = new Map();
  state.heldBytes = 0;
  const current = state.current;
  state.current = null;
  current?.reject(error);
}
