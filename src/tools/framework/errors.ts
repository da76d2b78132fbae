/** Answers of tools, and their domain errors: a closed list of codes, each of one kind. */

import { words } from "../../canonical/words.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { SchemaSandboxError } from "../../evidence/sandbox/schema_sandbox.ts";
import { StoreError, type StoreErrorCode } from "../../store/types.ts";
import type { ToolAnswer, ToolError, ToolErrorKind } from "./types.ts";

/** The kind of each code. */
const CODES = {
  // invalid_request
  /** Arguments do not meet the tool's input schema; `details.issues`. */
  invalid_input: "invalid_request",
  /** The spec fails the proofs of a law; `details.refusals`. */
  invalid_spec: "invalid_request",
  /** The JSON Schema cannot be enforced. */
  invalid_schema: "invalid_request",
  /** A page cursor of another query, or invalid. */
  invalid_cursor: "invalid_request",
  /** Evidence of a precheck does not fit the law; `details.rejections`. */
  evidence_rejected: "invalid_request",
  /** The genesis of a precheck does not give what the law declares; `details.faults`. */
  genesis_rejected: "invalid_request",
  /** Params do not meet the schema of their check. */
  params_invalid: "invalid_request",
  /** A capability contract is invalid; `details.problems`. */
  contract_invalid: "invalid_request",
  /** A runtime profile is invalid; `details.problems`. */
  profile_invalid: "invalid_request",
  /** The document of an import cannot be read, or yields no contract; `details.problems`. */
  import_failed: "invalid_request",
  /** The payload of a precheck does not meet its data shape. */
  payload_invalid: "invalid_request",
  /** Conditions cannot be judged by data of a shape; `details.refusals`. */
  data_shape_rejected: "invalid_request",
  /** The signature of a schema record does not verify under its trusted key. */
  signature_invalid: "invalid_request",
  // not_found
  scenario_not_found: "not_found",
  law_not_found: "not_found",
  run_not_found: "not_found",
  stage_not_found: "not_found",
  schema_not_found: "not_found",
  /** No runpack of that identity is in the local repository, or the caller may not see it. */
  runpack_not_found: "not_found",
  /** No such provider is configured, or discovery hides it. */
  provider_not_found: "not_found",
  check_not_found: "not_found",
  /** No such version of a typed provider is registered in the namespace. */
  typed_provider_not_found: "not_found",
  // conflict
  /** That exact law is registered; `details` carry both identities. */
  law_exists: "conflict",
  /** That schema id and version is registered. */
  schema_exists: "conflict",
  /** The version exists with other bytes, or its bytes exist as another version; `details.version`. */
  typed_provider_exists: "conflict",
  /** The active version is not the expected one; `details.active`. */
  active_conflict: "conflict",
  /** The state of the version is not the expected one; `details.state`. */
  state_conflict: "conflict",
  /** A deprecated version is never active again. */
  typed_provider_deprecated: "conflict",
  /** The law names a typed provider that has no active version. */
  typed_provider_inactive: "conflict",
  /** A binding of the law does not fit the contract that a run would be bound to; `details.refusals`. */
  law_contract_mismatch: "conflict",
  /** The provider is an entry of the configuration, which no tool changes. */
  typed_provider_configured: "conflict",
  /** The name belongs to a built-in or configured provider. */
  provider_id_reserved: "conflict",
  /** The question of a call was declined, or got no answer in time: nothing was recorded. */
  ask_declined: "conflict",
  // unauthorized
  /** The namespace is closed to the caller. */
  namespace_refused: "unauthorized",
  /** The caller's roles do not grant the tool in that namespace. */
  role_refused: "unauthorized",
  /** `server.auth.allowed_tools` does not list the tool. */
  tool_not_allowed: "unauthorized",
  /** `schema_registry.acl` refuses the caller. */
  registry_refused: "unauthorized",
  /** `schema_registry.acl.require_signing` asks for signing metadata. */
  signing_required: "unauthorized",
  /** The operator does not allow the host of a runtime profile; `details.problems`. */
  host_not_allowed: "unauthorized",
  /** The operator does not pair a credential of a runtime profile with its host; `details.problems`. */
  credential_locator_refused: "unauthorized",
  // limit
  schema_too_large: "limit",
  /** The answer exceeds `provider_discovery.max_response_bytes`, or what an answer may take. */
  response_too_large: "limit",
  /** The namespace holds `schema_registry.max_entries` schemas of the caller's tenant. */
  schema_entries_exhausted: "limit",
  /** The namespace holds as many versions of typed providers as one may. */
  typed_providers_exhausted: "limit",
  /** The check of a JSON Schema, or of a value against it, took too long. */
  schema_deadline_exceeded: "limit",
  // unavailable
  /** The client asks a person and repeats the call; no caller receives this error. */
  input_required: "unavailable",
  /** A query of a provider failed; `details.code` has the reason, `retryable` whether a retry can help. */
  acquisition_failed: "unavailable",
  /** The queue of the store is full: try again. */
  store_busy: "unavailable",
  /** The database of the store does not answer. Whether a mutation was recorded is known once it does. */
  store_unavailable: "unavailable",
  /** The run was archived while the call read its records: the same call now answers from its tombstone. */
  run_archived: "unavailable",
  store_full: "unavailable",
  /** Runs of an older store are not in the index: the operator runs `gate store migrate`. */
  runs_not_indexed: "unavailable",
  /** The server is shutting down. */
  store_closed: "unavailable",
  /** The worker of JSON Schemas did not start or ended: try again. */
  schema_worker_unavailable: "unavailable",
  /** A time or identity authority gave no stamp: try again. */
  authority_unavailable: "unavailable",
  /** The namespace authority gave no valid answer: try again. */
  namespace_authority_unavailable: "unavailable",
  /** The audit log cannot be written, so nothing is changed: try again. */
  audit_unavailable: "unavailable",
  // internal
  /** The store differs from what was written; no answer is made from it. */
  store_corrupt: "internal",
  store_version_unsupported: "internal",
  store_failed: "internal",
  internal: "internal",
} as const satisfies Readonly<Record<string, ToolErrorKind>>;

/** The code of a domain error. */
export type ToolErrorCode = keyof typeof CODES;

/** Every code, in the order of the documentation. */
export const TOOL_ERROR_CODES: readonly ToolErrorCode[] = Object.keys(CODES) as ToolErrorCode[];

/** Every kind of error. */
export const TOOL_ERROR_KINDS: readonly ToolErrorKind[] = [...new Set(Object.values(CODES))];

const RETRYABLE: ReadonlySet<ToolErrorCode> = new Set(
  words(
    "store_busy store_unavailable run_archived store_closed schema_worker_unavailable",
    "schema_deadline_exceeded authority_unavailable namespace_authority_unavailable audit_unavailable",
  ),
);

/**
 * A domain error; kind and retryability follow from its code.
 *
 * @param message Sentence case, no full stop
 */
export function toolError(code: ToolErrorCode, message: string, details?: JsonObject): ToolError {
  const error = { code, kind: CODES[code], message, retryable: RETRYABLE.has(code) };
  return details === undefined ? error : { ...error, details };
}

/** What was wrong, in one sentence: the first fault, and how many more there are. */
export function faultsSentence(what: string, faults: readonly { path: string; message: string }[]): string {
  const [first] = faults;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  return `${what}: ${first?.path}: ${first?.message}${more}`;
}

/** The answer with a domain error. */
export function failure(code: ToolErrorCode, message: string, details?: JsonObject): ToolAnswer {
  return { ok: false, error: toolError(code, message, details) };
}

/** The answer with a result. */
export function success(result: JsonObject): ToolAnswer {
  return { ok: true, result };
}

/** The JSON of an answer, used both structured and as text. */
export function answerText(answer: ToolAnswer): string {
  if (answer.ok) return answer.text ?? JSON.stringify(answer.result);
  return JSON.stringify({ error: answer.error });
}

/** Characters of the largest text whose quoted form is kept with it: kept answers of large runs would take twice the memory. */
const QUOTED_CHARACTERS = 16_384;

/**
 * The answer whose result exists as JSON text; the text is parsed when the result is first read, and quoted when it is
 * first sent. A tool may give one answer many times.
 */
export function textAnswer(text: string): ToolAnswer & { readonly text: string } {
  let result: JsonObject | undefined;
  let quoted: string | undefined;
  return {
    ok: true,
    text,
    get quoted(): string {
      return text.length > QUOTED_CHARACTERS ? JSON.stringify(text) : quoted ??= JSON.stringify(text);
    },
    get result(): JsonObject {
      return result ??= readJson(text) as JsonObject;
    },
  };
}

/**
 * The error code and message for each code of the store. The store's own message may name files, so callers never get
 * it.
 */
const STORE_ERRORS: Readonly<Record<StoreErrorCode, readonly [code: ToolErrorCode, message: string]>> = {
  queue_full: ["store_busy", "Cannot write now: the queue of the store is full, try again"],
  busy: ["store_busy", "Cannot write now: another process holds the store, try again"],
  unavailable: [
    "store_unavailable",
    "Cannot answer: the database of the store does not answer, repeat the call unchanged",
  ],
  corrupt: ["store_corrupt", 'Cannot answer: the store differs from what was written, run "gate store check"'],
  version_unsupported: ["store_version_unsupported", "Cannot answer: the store has an unknown version"],
  disk_full: ["store_full", "Cannot write: the disk of the store is full"],
  closed: ["store_closed", "Cannot answer: the server is shutting down, try again"],
  index_missing: ["runs_not_indexed", 'Cannot list runs: the store is of an older version, run "gate store migrate"'],
  archived: ["run_archived", "Cannot answer: the run was archived meanwhile, repeat the call unchanged"],
  file_lost: ["store_failed", "Cannot answer: the store lost a file that it has open, the server has to be restarted"],
  misconfigured: ["store_failed", "Cannot answer: the settings of the store stand for no database"],
  io: ["store_failed", "Cannot answer: the store failed to read or write"],
};

/** The domain error for a failure of the store. */
export function storeFailure(error: StoreError): ToolError {
  const [code, message] = STORE_ERRORS[error.code];
  const { retryAfterMillis: wait, publicReason } = error;
  const reason = publicReason === null ? "" : `: ${publicReason}`;
  return toolError(code, `${message}${reason}`, wait === null ? undefined : { retry_after_ms: wait });
}

/** The domain error for a JSON Schema that gave no verdict. */
function sandboxFailure({ code, message }: SchemaSandboxError): ToolError {
  switch (code) {
    case "deadline_exceeded":
      return toolError("schema_deadline_exceeded", message);
    case "schema_refused":
    case "validator_failed":
      return toolError("invalid_schema", message);
    case "worker_failed":
    case "overloaded":
    case "closed":
      return toolError("schema_worker_unavailable", message);
  }
}

/** A domain error that a module below a tool raises. */
export class DomainError extends Error {
  /** The error that the tool answers. */
  readonly error: ToolError;

  /** As {@link toolError}. */
  constructor(code: ToolErrorCode, message: string, details?: JsonObject) {
    super(message);
    this.name = "DomainError";
    this.error = toolError(code, message, details);
  }
}

/** The error where the time authority gave no stamp: nothing was decided, and the same call may succeed later. */
export function noTimeStamp(): DomainError {
  return new DomainError("authority_unavailable", "Cannot decide: the time authority gives no stamp");
}

/** The error of a call whose beginning the audit log does not have: nothing was done. */
export function auditUnavailable(): DomainError {
  const message = "Cannot do this now: the audit log cannot be written, and nothing is done unlogged; try again";
  return new DomainError("audit_unavailable", message);
}

/**
 * The domain error for an expected failure of the store or of the schema sandbox, or one that a module threw; null for
 * a defect.
 */
export function domainErrorOf(thrown: unknown): ToolError | null {
  if (thrown instanceof DomainError) return thrown.error;
  if (thrown instanceof StoreError) return storeFailure(thrown);
  if (thrown instanceof SchemaSandboxError) return sandboxFailure(thrown);
  return null;
}
