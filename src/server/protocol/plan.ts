/**
 * Plans the answer to a request: which method it names, in which era, and whether its parameters have the shape of that
 * method. Members that MCP does not name are ignored.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { CLIENT_INFO, LEGACY_CAPABILITIES } from "./client_shapes.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { RequestMessage } from "./message.ts";
import { APP_TYPE, APPS_EXTENSION, type Offer, TASKS_EXTENSION } from "./offer.ts";
import { type Envelope, type Era, isInitialize } from "./protocol_era.ts";
import type { AnswerEra } from "./result_json.ts";
import {
  BOOLEAN,
  type Check,
  list,
  members,
  type Misfit,
  NUMBER,
  OBJECT,
  oneOf,
  optional,
  record,
  TEXT,
} from "./wire_check.ts";

/** What will answer a request. */
export type Plan =
  | { readonly answer: "initialize"; readonly requested: string }
  | { readonly answer: "discover" }
  | { readonly answer: "ping" }
  | { readonly answer: "listen"; readonly resources: readonly string[] }
  | { readonly answer: "tools"; readonly era: AnswerEra; readonly showsApps: boolean }
  | CallPlan
  | TaskPlan
  | { readonly answer: "document"; readonly era: AnswerEra; readonly request: DocumentRequest };

/** A look at a task, responses to its requests, or its end. */
export interface TaskPlan {
  readonly answer: "task";
  readonly method: "tasks/get" | "tasks/update" | "tasks/cancel";
  readonly taskId: string;
  /** All parameters of the request. */
  readonly params: JsonObject;
}

/** A call of a tool. */
export interface CallPlan {
  readonly answer: "call";
  readonly era: AnswerEra;
  readonly name: string;
  readonly input: JsonObject;
  /** All parameters of the request. */
  readonly params: JsonObject;
}

/** A request for documents, prompts or completions. */
export type DocumentRequest =
  | { readonly method: ListMethod; readonly cursor: string | null }
  | { readonly method: "resources/read"; readonly uri: string }
  | PromptRequest
  | {
    readonly method: "completion/complete";
    readonly ref: { readonly type: "ref/resource" | "ref/prompt"; readonly name: string };
    readonly argument: { readonly name: string; readonly value: string };
    readonly given: ReadonlyMap<string, string>;
  };

/** A request for a prompt. */
export interface PromptRequest {
  readonly method: "prompts/get";
  readonly name: string;
  readonly given: ReadonlyMap<string, string>;
  /** All parameters of a request of the newer era, whose client can be asked; null in the older one. */
  readonly params: JsonObject | null;
}

/** The methods that list documents or prompts. */
export type ListMethod = "resources/list" | "resources/templates/list" | "prompts/list";

/** A plan, or the error that answers the request. */
export type Planned = { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly error: EdgeError };

/** The part of an offer that decides which methods exist. */
type Offered = Pick<Offer, "resources" | "prompts" | "rounds">;

interface Method {
  readonly eras: readonly AnswerEra[];
  readonly isOffered?: (offer: Offered) => boolean;
  /** Checks the parameters, by era where the eras differ. */
  readonly check: Check | Readonly<Record<AnswerEra, Check>>;
  /** The plan of parameters that passed the check; an error where they are not served. */
  readonly plan: (params: JsonObject, era: AnswerEra) => Plan | EdgeError;
}

const NO_INPUT: JsonObject = Object.freeze({});
const BOTH: readonly AnswerEra[] = ["legacy", "modern"];
const NO_PARAMETERS: Check = members({});
const TEXTS = record(TEXT);

const REFERENCE: Check = (value) => {
  const type = isJsonObject(value) ? member(value, "type") : undefined;
  if (type === "ref/prompt") return members({ name: TEXT })(value);
  if (type === "ref/resource") return members({ uri: TEXT })(value);
  return members({ type: oneOf(["ref/prompt", "ref/resource"]) })(value);
};

/** The parameters with which a client repeats a request after questions. Few tools ask any. */
const REPEATED: Readonly<Record<string, Check>> = { requestState: optional(TEXT) };

const CALL: Readonly<Record<string, Check>> = { name: TEXT, arguments: optional(OBJECT), ...REPEATED };

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["initialize", {
    eras: ["legacy"],
    check: members({ protocolVersion: TEXT, capabilities: LEGACY_CAPABILITIES, clientInfo: CLIENT_INFO }),
    plan: (params) => ({ answer: "initialize", requested: textOf(params, "protocolVersion") }),
  }],
  ["ping", { eras: ["legacy"], check: NO_PARAMETERS, plan: () => ({ answer: "ping" }) }],
  ["server/discover", { eras: ["modern"], check: NO_PARAMETERS, plan: () => ({ answer: "discover" }) }],
  ["subscriptions/listen", {
    eras: ["modern"],
    check: members({
      notifications: members({
        toolsListChanged: optional(BOOLEAN),
        promptsListChanged: optional(BOOLEAN),
        resourcesListChanged: optional(BOOLEAN),
        resourceSubscriptions: optional(list(TEXT)),
      }),
    }),
    plan: (params) => {
      const wanted = objectOf(params, "notifications");
      if (Object.hasOwn(wanted, "taskIds") && !declaresTasks(params)) return TASKS_MISSING;
      const resources = member(wanted, "resourceSubscriptions") ?? null;
      return { answer: "listen", resources: isJsonArray(resources) ? resources.map(String) : [] };
    },
  }],
  ["tools/list", {
    eras: BOTH,
    check: members({ cursor: optional(TEXT) }),
    plan: (params, era) =>
      member(params, "cursor") === undefined
        ? { answer: "tools", era, showsApps: era === "modern" && showsApps(capabilitiesOf(params)) }
        : unknownCursor("tools/list"),
  }],
  ["tools/call", {
    eras: BOTH,
    check: {
      legacy: members({ ...CALL, task: optional(members({ ttl: optional(NUMBER) })) }),
      modern: members(CALL),
    },
    plan: (params, era) => ({
      answer: "call",
      era,
      name: textOf(params, "name"),
      input: objectOf(params, "arguments"),
      params,
    }),
  }],
  ...(["resources/list", "resources/templates/list", "prompts/list"] as const).map((method) =>
    [method, {
      eras: BOTH,
      isOffered: method === "prompts/list" ? hasPrompts : hasResources,
      check: members({ cursor: optional(TEXT) }),
      plan: (params, era) => {
        const cursor = member(params, "cursor");
        return document(era, { method, cursor: typeof cursor === "string" ? cursor : null });
      },
    }] satisfies [string, Method]
  ),
  ["resources/read", {
    eras: BOTH,
    isOffered: hasResources,
    check: members({ uri: TEXT, ...REPEATED }),
    plan: (params, era) => document(era, { method: "resources/read", uri: textOf(params, "uri") }),
  }],
  ["prompts/get", {
    eras: BOTH,
    isOffered: hasPrompts,
    check: members({ name: TEXT, arguments: optional(TEXTS), ...REPEATED }),
    plan: (params, era) => {
      const given = textsOf(objectOf(params, "arguments"));
      const asked = era === "modern" ? params : null;
      return document(era, { method: "prompts/get", name: textOf(params, "name"), given, params: asked });
    },
  }],
  ...(["tasks/get", "tasks/update", "tasks/cancel"] as const).map((method) =>
    [method, {
      eras: ["modern"],
      isOffered: ({ rounds }) => rounds?.tasks === true,
      check: members({ taskId: TEXT, ...method === "tasks/update" ? { inputResponses: record(OBJECT) } : {} }),
      plan: (params) =>
        declaresTasks(params) ? { answer: "task", method, taskId: textOf(params, "taskId"), params } : TASKS_MISSING,
    }] satisfies [string, Method]
  ),
  ["completion/complete", {
    eras: BOTH,
    isOffered: hasPrompts,
    check: members({
      ref: REFERENCE,
      argument: members({ name: TEXT, value: TEXT }),
      context: optional(members({ arguments: optional(TEXTS) })),
    }),
    plan: (params, era) => document(era, completionRequest(params)),
  }],
]);

/**
 * Plans the answer to a request.
 *
 * @param era The era of the connection after the request; `opening` and `probe` are still open
 * @param request The request
 * @param envelope The envelope of the request
 * @param offer Which methods exist
 */
export function planRequest(era: Era, request: RequestMessage, envelope: Envelope, offer: Offered): Planned {
  if (era === "legacy") return planIn("legacy", request, offer);
  if (isInitialize(request.method, envelope)) {
    const requested = member(request.params, "protocolVersion");
    return { ok: false, error: unsupportedVersion(typeof requested === "string" ? requested : null) };
  }
  if (envelope.status === "unsupported") return { ok: false, error: unsupportedVersion(envelope.requested) };
  if (envelope.status === "valid") return planIn("modern", request, offer);
  if (era === "modern" && findMethod("modern", request.method, offer) === undefined) return UNKNOWN_METHOD;
  return { ok: false, error: envelopeError(envelope) };
}

/** The error of an envelope that is missing or malformed. */
export function envelopeError(envelope: Envelope): EdgeError {
  const before = `Invalid request of ${MODERN_VERSION}`;
  if (envelope.status === "malformed") return misfitError(before, ["params", "_meta"], envelope.misfit);
  const missing = "io.modelcontextprotocol/protocolVersion, io.modelcontextprotocol/clientCapabilities";
  return { kind: "invalid_params", message: `${before}: _meta must have ${missing}`, path: "$.params._meta" };
}

/** The error of a version that is not served; null where the request names none. */
export function unsupportedVersion(requested: string | null): EdgeError {
  return {
    kind: "unsupported_protocol_version",
    message: `Unsupported protocol version: ${requested?.slice(0, 128) ?? "the request names none"}`,
    versions: { supported: [MODERN_VERSION], ...requested === null ? {} : { requested: requested.slice(0, 128) } },
  };
}

function planIn(era: AnswerEra, { method: name, params }: RequestMessage, offer: Offered): Planned {
  const method = findMethod(era, name, offer);
  if (method === undefined) return UNKNOWN_METHOD;
  const check = typeof method.check === "function" ? method.check : method.check[era];
  const misfit = check(params);
  if (misfit !== null) return { ok: false, error: misfitError(`Invalid ${name} request`, ["params"], misfit) };
  const plan = method.plan(params, era);
  return "kind" in plan ? { ok: false, error: plan } : { ok: true, plan };
}

function findMethod(era: AnswerEra, name: string, offer: Offered): Method | undefined {
  const method = METHODS.get(name);
  return method?.eras.includes(era) === true && method.isOffered?.(offer) !== false ? method : undefined;
}

const UNKNOWN_METHOD: Planned = { ok: false, error: { kind: "method_not_found", message: "Method not found" } };

function misfitError(before: string, steps: readonly string[], misfit: Misfit): EdgeError {
  const path = formatPath([...steps, ...misfit.steps]);
  return { kind: "invalid_params", message: `${before}: ${path} must be ${misfit.expected}`, path };
}

/** The error of a cursor: every list has one page. */
export function unknownCursor(method: string): EdgeError {
  return { kind: "invalid_params", message: `Unknown cursor: ${method} has one page`, path: "$.params.cursor" };
}

/** The error of a client that does not declare the extension of tasks. */
const TASKS_MISSING: EdgeError = {
  kind: "missing_capability",
  message: `Missing client capability: extension ${TASKS_EXTENSION}`,
  requires: { extensions: { [TASKS_EXTENSION]: {} } },
};

/** Whether a request of the newer era declares the extension of tasks. */
export function declaresTasks(params: JsonObject): boolean {
  return Object.hasOwn(objectOf(capabilitiesOf(params), "extensions"), TASKS_EXTENSION);
}

/** Whether a client shows MCP Apps of HTML. */
export function showsApps(capabilities: JsonObject): boolean {
  const extension = member(objectOf(capabilities, "extensions"), APPS_EXTENSION);
  const types = isJsonObject(extension) ? member(extension, "mimeTypes") ?? null : undefined;
  return types === null || isJsonArray(types ?? null) && (types as readonly JsonValue[]).includes(APP_TYPE);
}

/** The capabilities in the envelope of a request of the newer era. */
export function capabilitiesOf(params: JsonObject): JsonObject {
  return objectOf(objectOf(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
}

function hasResources({ resources }: Offered): boolean {
  return resources !== null;
}

function hasPrompts({ prompts }: Offered): boolean {
  return prompts;
}

function document(era: AnswerEra, request: DocumentRequest): Plan {
  return { answer: "document", era, request };
}

function completionRequest(params: JsonObject): DocumentRequest {
  const ref = objectOf(params, "ref");
  const argument = objectOf(params, "argument");
  const type = textOf(ref, "type") === "ref/resource" ? "ref/resource" : "ref/prompt";
  return {
    method: "completion/complete",
    ref: { type, name: textOf(ref, type === "ref/resource" ? "uri" : "name") },
    argument: { name: textOf(argument, "name"), value: textOf(argument, "value") },
    given: textsOf(objectOf(objectOf(params, "context"), "arguments")),
  };
}

/** A member that passed {@link TEXT}. */
function textOf(object: JsonObject, name: string): string {
  return String(member(object, name) ?? "");
}

/** A member that passed {@link OBJECT}; empty where it is absent. */
export function objectOf(object: JsonObject, name: string): JsonObject {
  const value: JsonValue | undefined = member(object, name);
  return isJsonObject(value) ? value : NO_INPUT;
}

/** The members of an object that passed {@link TEXTS}. */
function textsOf(object: JsonObject): ReadonlyMap<string, string> {
  return new Map(Object.entries(object).map(([name, value]) => [name, String(value)]));
}
