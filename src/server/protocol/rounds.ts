/**
 * Answers calls of tools that ask the client. In the newer era a question is the answer of a round, and the client
 * repeats the call with its response. On a connection of the older era the server sends a request of its own. Loaded
 * with the first such call.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import type { Asking, Call } from "../../tools/framework/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Answer, AnswerOptions, ConnectedClient } from "./answer.ts";
import type { Rounds } from "./offer.ts";
import { type CallPlan, capabilitiesOf, declaresTasks } from "./plan.ts";
import { readState, type RoundOf, writeState } from "./request_state.ts";
import { callResult, inputRequiredResult } from "./result_json.ts";
import { OBJECT, record } from "./wire_check.ts";

/** A question of a round. */
interface Question {
  readonly requests: JsonObject;
  readonly state: JsonObject;
}

/** One round of a call. */
export interface Round {
  readonly asking: Asking;
  /** What was asked; null where nothing was. */
  readonly question: () => Question | null;
  /** Ends the round: its request is answered, and the client hears no question any more. */
  readonly end: () => void;
}

const NO_MEMBERS: JsonObject = Object.freeze({});
const RESPONSES = record(OBJECT);

/** Answers a call of a tool that may ask. */
export async function answerRound(plan: CallPlan, options: AnswerOptions, call: Call): Promise<Answer> {
  const { dispatcher, client } = options;
  const { rounds } = dispatcher.offer;
  if (rounds === undefined) throw new TypeError("Cannot ask: no tool asks");
  const of: RoundOf = { subject: call.principal.subject, tool: plan.name, input: plan.input };
  const round = plan.era === "modern"
    ? await modernRound(rounds, of, plan.params, "tools/call")
    : connectedRound(client, call.signal);
  if ("kind" in round) return { ok: false, error: round };
  const asked = { ...call, asking: round.asking };
  const mayWait = rounds.tasks && plan.era === "modern" && declaresTasks(plan.params);
  const outcome = mayWait
    ? await (await import("./tasks.ts")).callOrTask({ dispatcher, rounds, call: asked }, of, round)
    : await dispatcher.call(plan.name, plan.input, asked);
  if ("task" in outcome) return { ok: true, result: outcome.task };
  const question = round.question();
  if (question === null) return outcome.ok ? { ok: true, result: callResult(outcome.answer, plan.era) } : outcome;
  const missing = missingCapability(question.requests, round.asking.capabilities);
  if (missing !== null) return { ok: false, error: missing };
  const state = writeState(await rounds.keys(), of, question.state, Date.now());
  return { ok: true, result: inputRequiredResult({ inputRequests: question.requests, requestState: state }) };
}

/** A round of the newer era, or the error of parameters that do not continue one. */
export async function modernRound(
  rounds: Rounds,
  of: RoundOf,
  params: JsonObject,
  method: string,
): Promise<Round | EdgeError> {
  const given = member(params, "inputResponses") ?? NO_MEMBERS;
  const misfit = RESPONSES(given);
  if (misfit !== null) {
    const path = formatPath(["params", "inputResponses", ...misfit.steps]);
    return { kind: "invalid_params", message: `Invalid ${method} request: ${path} must be ${misfit.expected}`, path };
  }
  const carried = member(params, "requestState");
  const state = typeof carried === "string" ? readState(await rounds.keys(), of, carried, Date.now()) : null;
  if (state === null && carried !== undefined) return UNKNOWN_STATE;
  let question: Question | null = null;
  let capabilities = capabilitiesOf(params);
  const asking: Asking = {
    get capabilities(): JsonObject {
      return capabilities;
    },
    state,
    responses: given as Readonly<Record<string, JsonObject>>,
    ask: (requests, state) => {
      question = { requests, state };
      return Promise.resolve(null);
    },
  };
  const end = (): void => {
    capabilities = NO_MEMBERS;
  };
  return { asking, question: () => question, end };
}

// One message for all faults: it does not tell a forged state from one of another caller.
const UNKNOWN_STATE: EdgeError = {
  kind: "invalid_params",
  message: "Cannot continue the call: params.requestState is not of this call, or has expired; call without it",
  path: "$.params.requestState",
};

/** A round on a connection of the older era; without a connection nothing can be asked. */
function connectedRound(client: ConnectedClient | undefined, signal: AbortSignal): Round {
  const asking: Asking = {
    capabilities: client?.capabilities() ?? NO_MEMBERS,
    state: null,
    responses: {},
    ask: async (requests) => {
      const responses: Record<string, JsonObject> = {};
      for (const [key, request] of Object.entries(requests)) {
        const result = isJsonObject(request) ? await sendRequest(client, request, signal) : null;
        responses[key] = result ?? CANCELLED;
      }
      return responses;
    },
  };
  return { asking, question: () => null, end: () => undefined };
}

/** The response of a client that gives none. */
const CANCELLED: JsonObject = { action: "cancel" };

async function sendRequest(
  client: ConnectedClient | undefined,
  request: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject | null> {
  const method = member(request, "method");
  const params = member(request, "params");
  if (client === undefined || typeof method !== "string" || !isJsonObject(params)) return null;
  // The older era requires an id of elicitations by URL.
  const own = member(params, "mode") === "url" ? { elicitationId: crypto.randomUUID() } : {};
  return await client.request(method, { ...params, ...own }, signal);
}

/** The capability of each request that a server may send. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** The error of a request that the client does not declare; null where it declares all. */
function missingCapability(requests: JsonObject, capabilities: JsonObject): EdgeError | null {
  for (const request of Object.values(requests)) {
    const method = isJsonObject(request) ? member(request, "method") : undefined;
    const name = CAPABILITIES[String(method)] ?? "";
    if (member(capabilities, name) !== undefined) continue;
    return { kind: "missing_capability", message: `Missing client capability: ${name}`, requires: { [name]: {} } };
  }
  return null;
}
