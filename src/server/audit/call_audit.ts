/**
 * Audits tool calls: one line for a call that only reads, two for a call that changes anything or reaches out. The
 * first of the two is written before the effect.
 */

import { words } from "../../canonical/words.ts";
import { hash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { Call, CallAcquisition, CallAuditor, CallDecision, ToolAnswer } from "../../tools/framework/types.ts";
import { auditKindOf } from "../../tools/table.ts";
import { answerWord } from "../process/answer_word.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Audit, AuditEvent, AuditKind } from "./types.ts";

/** The audit of one call. */
export interface CallAudit {
  readonly auditor: CallAuditor;
  /** Records the tool's answer. Resolves once the answer may be sent: after a change its line is written first. */
  readonly answered: (answer: ToolAnswer) => Promise<void>;
  /** Records a call that did not reach the tool, or failed around it. */
  readonly stopped: (error: EdgeError, reason: string) => void;
}

/** The options of the audit of calls. */
export interface CallAuditOptions {
  readonly audit: Audit;
  /** `server.audit.log_precheck_payloads` */
  readonly logPrecheckPayloads: boolean;
}

interface State {
  readonly options: CallAuditOptions;
  readonly name: string;
  readonly input: JsonObject;
  readonly call: Call;
  readonly granted: string[];
  refused: CallDecision | null;
  namespaceId: number | null;
  begun: boolean;
}

/** Arguments that name the subject of a call. Their values are identities or names, never content. */
const SUBJECTS = words(
  "scenario_id run_id stage_id operation_id creation_request_id schema_id version provider_id check_id",
  "runpack_identity uri prompt",
);

/** Arguments that may contain them: a law, a schema record, a query. */
const CARRIERS = ["spec", "record", "query"];

/** The most characters of a name in a line. */
const NAME_CHARACTERS = 256;

/** Begins to audit a call. */
export function auditCall(options: CallAuditOptions, name: string, input: JsonObject, call: Call): CallAudit {
  const state: State = {
    options,
    name,
    input,
    call,
    granted: [],
    refused: null,
    namespaceId: null,
    begun: false,
  };
  return {
    auditor: {
      decided: (decision) => decided(state, decision),
      acquired: (acquisition) => acquired(state, acquisition),
      begin: () => begin(state),
    },
    answered: (answer) => answered(state, answer),
    stopped: (error, reason) => stopped(state, error, reason),
  };
}

function decided(state: State, decision: CallDecision): void {
  state.namespaceId = decision.namespace_id ?? state.namespaceId;
  if (decision.allowed) state.granted.push(`${decision.decision}:${decision.reason}`);
  else state.refused = decision;
}

function acquired(state: State, { failed, reason, ...what }: CallAcquisition): void {
  const event = eventOf(state, "acquisition", failed ? "failed" : "done", reason, what);
  state.options.audit.record(event).catch(() => undefined);
}

function begin(state: State): Promise<boolean> {
  const event = eventOf(state, auditKindOf(state.name), "begun", "authorized", factsOf(state));
  return state.options.audit.record(event).then(() => state.begun = true, () => false);
}

function answered(state: State, answer: ToolAnswer): Promise<void> {
  const written = state.options.audit.record(answerEvent(state, answer)).catch(() => undefined);
  // A call that only reads does not wait for its line. After a change the line comes before the answer. If the line
  // cannot be written, the change and its answer stand.
  return state.begun ? written : DONE;
}

const DONE = Promise.resolve();

/** Codes of calls that end before their arguments are decoded. */
const UNREAD_ARGUMENTS: ReadonlySet<string> = new Set(["invalid_input", "role_refused", "tool_not_allowed"]);

function answerEvent(state: State, answer: ToolAnswer): AuditEvent {
  const { refused } = state;
  const kind = auditKindOf(state.name);
  if (!answer.ok) {
    const { code } = answer.error;
    // Arguments that were not decoded are not repeated.
    const facts = state.begun ? {} : UNREAD_ARGUMENTS.has(code) ? whoOf(state) : factsOf(state);
    const details = { ...facts, error_code: code };
    const failed = answer.error.kind === "unavailable" || answer.error.kind === "internal";
    const outcome = failed ? "failed" : "refused";
    if (refused !== null) return eventOf(state, kindOfDecision(refused), outcome, refused.reason, details);
    return eventOf(state, code === "tool_not_allowed" ? "authorization" : kind, outcome, code, details);
  }
  const facts = state.begun ? {} : factsOf(state);
  const word = answerWord(answer);
  if (refused !== null) return eventOf(state, kindOfDecision(refused), "refused", refused.reason, facts);
  const payloads = kind === "precheck" ? precheckFacts(state, answer) : {};
  return eventOf(state, kind, "done", word, { ...facts, ...payloads });
}

function stopped(state: State, error: EdgeError, reason: string): void {
  const { refused } = state;
  const failed = error.kind === "internal";
  const kind = failed ? auditKindOf(state.name) : "authorization";
  const details = { ...whoOf(state), error_code: error.kind };
  const event = eventOf(state, kind, failed ? "failed" : "refused", refused?.reason ?? reason, details);
  state.options.audit.record(event).catch(() => undefined);
}

function eventOf(
  { name, call }: State,
  kind: AuditKind,
  outcome: AuditEvent["outcome"],
  reason: string,
  details: JsonObject,
): AuditEvent {
  return { kind, outcome, reason, subject: call.principal.subject, origin: call.origin ?? null, tool: name, details };
}

/** Facts about the caller, besides its subject. */
function whoOf({ call, namespaceId }: State): Record<string, JsonValue> {
  const { authMethod, policyClass } = call.principal;
  const facts: Record<string, JsonValue> = { auth_method: authMethod };
  if (namespaceId !== null) facts["namespace_id"] = namespaceId;
  if (policyClass !== null) facts["policy_class"] = policyClass;
  return facts;
}

/** Facts about the caller, its permissions and the subject of the call. */
function factsOf(state: State): JsonObject {
  const facts = whoOf(state);
  facts["granted_by"] = state.granted;
  const carrier = carrierOf(state.input);
  for (const name of SUBJECTS) {
    const given = carrier[name];
    if (given === undefined || !Object.hasOwn(carrier, name)) continue;
    const value = isJsonObject(given) ? member(given, "identity") : given;
    if (typeof value === "string") facts[name] = value.slice(0, NAME_CHARACTERS).toWellFormed();
  }
  return facts;
}

/** The part of the arguments with {@link SUBJECTS}; only for decoded arguments. */
function carrierOf(input: JsonObject): JsonObject {
  for (const name of CARRIERS) {
    const carrier = member(input, name);
    if (isJsonObject(carrier)) return carrier;
  }
  return input;
}

function kindOfDecision({ decision }: CallDecision): AuditKind {
  return decision === "role" ? "authorization" : decision;
}

/** Hashes of the request and result of a precheck, with the payloads only if the operator configured that. */
function precheckFacts(state: State, answer: Extract<ToolAnswer, { ok: true }>): JsonObject {
  const request = canonicalize(state.input);
  const response = canonicalize(answer.result);
  const hashes = { request_hash: sha256Of(request), response_hash: sha256Of(response) };
  if (!state.options.logPrecheckPayloads) return { ...hashes, redaction: "hash_only" };
  return { ...hashes, redaction: "payload", request: state.input, response: answer.result };
}

function sha256Of(text: string): JsonObject {
  return { algorithm: "sha256", value: hash("sha256", text, "hex") };
}
