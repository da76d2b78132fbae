/**
 * Questions to clients of the older era over Streamable HTTP. The server's request travels on the event stream that
 * answers a call, and the client's response is a POST of its own. The session id proves what the client declared; the
 * questions that wait are in the memory of this process.
 */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { errorResponse, type RequestId } from "../process/edge_error.ts";
import { type Answer, type AnswerOptions, answerPlan, type ConnectedClient } from "../protocol/answer.ts";
import { callOf } from "../protocol/dispatcher.ts";
import type { Message, RequestMessage } from "../protocol/message.ts";
import type { Rounds } from "../protocol/offer.ts";
import type { CallPlan } from "../protocol/plan.ts";
import { openQuestions, type QuestionOptions, type Questions, QUESTIONS_MAXIMUM } from "../protocol/questions.ts";
import { resultResponse } from "../protocol/result_json.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import { accepts } from "./media.ts";
import {
  answerReply,
  eventOf,
  eventStream,
  type HttpReply,
  KEEP_ALIVE,
  KEEP_ALIVE_MILLISECONDS,
  type StreamSink,
} from "./reply.ts";
import { hash } from "node:crypto";
import { openJson, signJson } from "../protocol/signed_json.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";

/** Longest id, in characters: a client sends it with each request. */
export const SESSION_ID_CHARACTERS = 2048;

const PURPOSE = "http_session";
const VERSION = 1;
const NONCE_BYTES = 16;

/** Writes the id of a new session; null where it would be too long. */
export function writeSessionId(keys: StateKeys, subject: string, capabilities: JsonObject): string | null {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES)).toHex();
  const id = signJson(keys, PURPOSE, [VERSION, nonce, digestOf(subject), capabilities]);
  return id.length > SESSION_ID_CHARACTERS ? null : id;
}

/** The capabilities in an id; null unless {@link writeSessionId} wrote it for this caller. */
export function readSessionId(keys: StateKeys, subject: string, id: string): JsonObject | null {
  const parts = openJson(keys, PURPOSE, id, SESSION_ID_CHARACTERS) ?? null;
  if (!isJsonArray(parts)) return null;
  const [version, , digest, capabilities] = parts;
  if (version !== VERSION || digest !== digestOf(subject)) return null;
  return isJsonObject(capabilities) ? capabilities : null;
}

/** The id of a client should not show the subject, which may be the name of a person. */
function digestOf(subject: string): string {
  return hash("sha256", subject, "hex");
}

/** The questions of all sessions. */
export interface ClientQuestions {
  /** The header fields of the answer to an `initialize`: a session id where a tool can ask the client. */
  readonly sessionFields: (request: RequestMessage, subject: string) => Promise<Readonly<Record<string, string>>>;
  /** Answers a call of a client that can be asked; null for any other call. */
  readonly answer: (asked: AskedCall) => Promise<HttpReply | null>;
  /** Takes a response or a cancellation of a client; returns whether a call waited for it. */
  readonly receive: (incoming: AuthenticatedRequest, message: Message) => boolean;
  /** Whether a response is awaited in the session of a request. */
  readonly awaitsResponse: (incoming: AuthenticatedRequest) => boolean;
  /** Ends every question without a response, and asks no more. */
  readonly close: () => void;
}

/** A call with its request. */
export interface AskedCall {
  readonly incoming: AuthenticatedRequest;
  readonly message: RequestMessage;
  readonly plan: CallPlan;
  readonly options: Omit<AnswerOptions, "client">;
}

/** The header field of the session id. */
export const SESSION_FIELD = "mcp-session-id";

/** A call in work. */
interface Work {
  readonly message: RequestMessage;
  readonly controller: AbortController;
  readonly questions: Questions;
}

/** The calls in work of a session. */
interface Session {
  readonly subject: string;
  readonly calls: Set<Work>;
}

interface State {
  readonly rounds: Rounds;
  readonly question: QuestionOptions;
  /** Sessions with calls in work, by id. */
  readonly sessions: Map<string, Session>;
  isClosed: boolean;
}

const NO_CAPABILITIES: JsonObject = Object.freeze({});

/**
 * Makes the questions.
 *
 * @param rounds The tools that ask
 * @param question How long a question waits
 */
export function createClientQuestions(
  rounds: Rounds,
  question: Pick<QuestionOptions, "patience"> = {},
): ClientQuestions {
  const newId = (): string => `gate-${crypto.randomUUID()}`;
  const state: State = { rounds, question: { ...question, newId }, sessions: new Map(), isClosed: false };
  return {
    sessionFields: async ({ params }, subject) => {
      const declared = declaredOf(rounds, member(params, "capabilities") ?? null);
      if (Object.keys(declared).length === 0) return {};
      const id = writeSessionId(await rounds.keys(), subject, declared);
      return id === null ? {} : { [SESSION_FIELD]: id };
    },
    answer: (asked) => answer(state, asked),
    receive: (incoming, message) => receive(sessionOf(state, incoming), message),
    awaitsResponse: (incoming) =>
      sessionOf(state, incoming)?.calls.values().some(({ questions }) => questions.isOpen()) ?? false,
    close: () => {
      state.isClosed = true;
      for (const { calls } of state.sessions.values()) for (const { questions } of calls) questions.end();
    },
  };
}

/** What the client declares among the capabilities that tools use. */
function declaredOf({ capabilities: used }: Rounds, capabilities: JsonObject[string]): JsonObject {
  if (!isJsonObject(capabilities)) return NO_CAPABILITIES;
  return Object.fromEntries(
    used.flatMap((name) => {
      const value = member(capabilities, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The session of a request, if a call of it is in work and it is of the same caller. */
function sessionOf(
  { sessions }: State,
  { request: { headers }, principal }: AuthenticatedRequest,
): Session | undefined {
  const session = sessions.get(headers.get(SESSION_FIELD) ?? "");
  return session?.subject === principal.subject ? session : undefined;
}

function receive(session: Session | undefined, message: Message): boolean {
  const calls = [...session?.calls ?? []];
  if (message.kind === "response") return calls.some(({ questions }) => questions.answered(message.raw));
  if (message.kind !== "notification" || message.method !== "notifications/cancelled") return false;
  const cancelled = calls.filter((work) => work.message.id === member(message.params, "requestId"));
  for (const { controller } of cancelled) controller.abort();
  return cancelled.length > 0;
}

async function answer(state: State, asked: AskedCall): Promise<HttpReply | null> {
  const { incoming: { request, principal, origin }, message, plan, options } = asked;
  const id = request.headers.get(SESSION_FIELD);
  if (id === null || !state.rounds.tools.has(plan.name)) return null;
  if (!accepts(request.headers.get("accept"), "text/event-stream")) return null;
  const capabilities = readSessionId(await state.rounds.keys(), principal.subject, id);
  if (capabilities === null) return null;
  const outlet = createOutlet();
  const controller = new AbortController();
  const work: Work = { message, controller, questions: openQuestions(outlet.send, state.question) };
  const session = state.sessions.get(id) ?? { subject: principal.subject, calls: new Set() };
  const client: ConnectedClient = {
    capabilities: () => state.isClosed ? NO_CAPABILITIES : capabilities,
    request: async (method, params, signal) => {
      const open = session.calls.values().filter(({ questions }) => questions.isOpen());
      if (state.isClosed || open.toArray().length >= QUESTIONS_MAXIMUM) return null;
      return await work.questions.ask(method, params, signal);
    },
  };
  state.sessions.set(id, session);
  session.calls.add(work);
  const signal = AbortSignal.any([request.signal, controller.signal]);
  const call = callOf({ principal, origin, signal }, message.params);
  const answering = Promise.resolve(answerPlan(plan, message.id, { ...options, client }, call)).finally(() => {
    session.calls.delete(work);
    if (session.calls.size === 0) state.sessions.delete(id);
  });
  return await outlet.reply(answering, message.id);
}

/** The messages of a call before its answer. */
interface Outlet {
  readonly send: (line: string) => void;
  /** The whole answer, or a stream from the first message on. */
  readonly reply: (answering: Promise<Answer>, id: RequestId) => Promise<HttpReply>;
}

function createOutlet(): Outlet {
  const early: string[] = [];
  let sink: StreamSink | null = null;
  const { promise: begun, resolve: begin } = Promise.withResolvers<null>();
  const send = (line: string): void => {
    if (sink === null) early.push(eventOf(line));
    else if (!sink.gone.aborted) sink.write(eventOf(line));
    begin(null);
  };
  return {
    send,
    reply: async (answering, id) => {
      const first = await Promise.race([answering, begun]);
      if (first !== null) return answerReply(first, id);
      const work = answering.then((last) =>
        send(last.ok ? resultResponse(id, last.result) : errorResponse(last.error, id))
      );
      const stream = eventStream((opened) => {
        sink = opened;
        early.forEach(opened.write);
        const alive = setInterval(() => opened.write(KEEP_ALIVE), KEEP_ALIVE_MILLISECONDS);
        opened.gone.addEventListener("abort", () => clearInterval(alive));
        work.finally(() => {
          clearInterval(alive);
          if (!opened.gone.aborted) opened.end();
        });
      });
      return { ...stream, work };
    },
  };
}
