/**
 * Calls that the client polls: the extension `io.modelcontextprotocol/tasks` (SEP-2663). Nothing is stored: the id of a
 * task is the sealed call itself, and the call is idempotent. A server that does not know a task, or has been
 * restarted, makes its call again to find out how it went. Loaded with the first call of a client that declares the
 * extension.
 */

import { hash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { answerText } from "../../tools/framework/errors.ts";
import type { AnsweredCall, Asking, Call, TaskRule, TaskStanding } from "../../tools/framework/types.ts";
import { type EdgeError, jsonRpcError } from "../process/edge_error.ts";
import { delay } from "../process/log.ts";
import type { Answer, AnswerOptions } from "./answer.ts";
import type { CallOutcome, Dispatcher } from "./dispatcher.ts";
import type { Rounds } from "./offer.ts";
import { capabilitiesOf, type TaskPlan } from "./plan.ts";
import type { Round } from "./rounds.ts";
import type { RoundOf } from "./request_state.ts";
import { callResult, taskResult } from "./result_json.ts";

/** Most bytes of a call that becomes a task: its id travels in a header field. */
export const TASK_CALL_BYTES = 2048;

/** How long a task can be asked for, in milliseconds. */
export const TASK_MILLISECONDS = 86_400_000;

/** Tasks in memory: of all callers, and unanswered ones of one caller. */
export const TASKS_MAXIMUM = { all: 256, caller: 32 } as const;

/** Longest id that is read, in UTF-16 code units. */
const ID_CHARACTERS = 4096;

/** Longest answer that stays in memory, in UTF-16 code units. */
const KEPT_CHARACTERS = 65_536;

/** Longest responses that one `tasks/update` may bring, in UTF-16 code units of their JSON: they stay in memory. */
export const RESPONSE_CHARACTERS = 8192;

/** How long a look at a task waits for the call that it makes again, in milliseconds. */
const LOOK_MILLISECONDS = 250;

const PURPOSE = "task";
const VERSION = 1;
const encoder = new TextEncoder();

/** The call in the id of a task. */
interface TaskCall extends RoundOf {
  /** The responses of the client in the rounds before. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** Unix milliseconds. */
  readonly created: number;
}

/** A task that this process knows. */
interface Work {
  readonly subject: string;
  readonly controller: AbortController;
  readonly outcome: Promise<CallOutcome>;
  /** Null while the call is in work. */
  settled: CallOutcome | null;
  isCancelled: boolean;
  /** Unix milliseconds. */
  changed: number;
  responses: Readonly<Record<string, JsonObject>>;
}

/** The tasks that this process knows, by id, the oldest first. */
type Board = Map<string, Work>;

const BOARDS = new WeakMap<Rounds, Board>();

function boardOf(rounds: Rounds): Board {
  const board = BOARDS.get(rounds) ?? new Map<string, Work>();
  BOARDS.set(rounds, board);
  return board;
}

/** Makes room for one more task of a caller; false where there is none. */
function makeRoom(board: Board, subject: string): boolean {
  const unanswered = [...board.values()].filter(({ settled }) => settled === null);
  if (unanswered.filter((work) => work.subject === subject).length >= TASKS_MAXIMUM.caller) return false;
  if (board.size < TASKS_MAXIMUM.all) return true;
  const oldest = board.entries().find(([, { settled }]) => settled !== null)?.[0];
  return oldest !== undefined && board.delete(oldest);
}

/** What a task needs of a request. */
interface TaskContext {
  readonly dispatcher: Dispatcher;
  readonly rounds: Rounds;
  readonly call: Call;
}

/**
 * Makes a call of a client that declares the extension. Gives the outcome, or the created task where the tool is slow
 * or its answer is not final.
 *
 * @param round The round of the call: a call that asked its client is repeated by it, and is no task
 */
export async function callOrTask(
  { dispatcher, rounds, call }: TaskContext,
  of: RoundOf,
  round: Pick<Round, "question" | "end">,
): Promise<CallOutcome | { readonly task: string }> {
  const rule = await dispatcher.taskRule(of.tool);
  const board = boardOf(rounds);
  const task: TaskCall = { ...of, responses: call.asking?.responses ?? {}, created: Date.now() };
  const text = taskText(task);
  if (rule === null || encoder.encode(text).length > TASK_CALL_BYTES || !makeRoom(board, of.subject)) {
    return await dispatcher.call(of.tool, of.input, call);
  }
  const id = (await rounds.keys()).seal(PURPOSE, text);
  const work = startWork(board, id, dispatcher, of, call);
  const leave = (): void => work.controller.abort();
  if (call.signal.aborted) leave();
  call.signal.addEventListener("abort", leave);
  const outcome = await within(work, rule.patience);
  call.signal.removeEventListener("abort", leave);
  if (outcome === null) {
    round.end();
    return { task: taskResult(members(id, task, work, rule, "working"), true) };
  }
  if (outcome.ok && round.question() === null) {
    const standing = await standingOf(rule, task, work, outcome, { dispatcher, call, isFirst: true });
    if (standing.status !== "completed") {
      return {
        task: taskResult({ ...members(id, task, work, rule, "working"), statusMessage: standing.message }, true),
      };
    }
  }
  board.delete(id);
  return outcome;
}

function callerDigest(subject: string): string {
  return hash("sha256", subject, "hex");
}

function taskText({ subject, tool, input, responses, created }: TaskCall): string {
  return canonicalize([VERSION, callerDigest(subject), tool, input, responses, created]);
}

/** The call of an id that was sealed for the caller and has not expired, else null. */
async function readTask(rounds: Rounds, subject: string, id: string, now: number): Promise<TaskCall | null> {
  const text = id.length > ID_CHARACTERS ? null : (await rounds.keys()).unseal(PURPOSE, id);
  const parsed = text === null ? null : parseJson(text);
  if (parsed === null || !parsed.ok || !isJsonArray(parsed.value)) return null;
  const [version, caller, tool, input, responses, created] = parsed.value;
  if (version !== VERSION || caller !== callerDigest(subject) || typeof tool !== "string") return null;
  if (!isJsonObject(input) || !isJsonObject(responses) || typeof created !== "number") return null;
  if (now >= created + TASK_MILLISECONDS) return null;
  return { subject, tool, input, responses: responses as TaskCall["responses"], created };
}

/** Starts the call of a task. Its end is not tied to the request that started it. */
function startWork(
  board: Board,
  id: string,
  dispatcher: Dispatcher,
  { tool, input, subject }: RoundOf,
  call: Call,
  controller = new AbortController(),
): Work {
  const outcome = dispatcher.call(tool, input, { ...call, signal: controller.signal });
  const work: Work = {
    subject,
    controller,
    outcome,
    settled: null,
    isCancelled: false,
    changed: Date.now(),
    responses: {},
  };
  board.set(id, work);
  outcome.then((settled) => {
    work.settled = settled;
    work.changed = Date.now();
    // A large answer is made again, by the same call.
    if (settled.ok && answerText(settled.answer).length > KEPT_CHARACTERS) board.delete(id);
  });
  return work;
}

/** The outcome of a call that ends in time, else null. */
async function within({ outcome }: Work, milliseconds: number): Promise<CallOutcome | null> {
  const late = delay(milliseconds);
  const first = await Promise.race([outcome, late.passed.then(() => null)]);
  late.cancel();
  return first;
}

interface Looking {
  readonly dispatcher: Dispatcher;
  readonly call: Call;
  readonly isFirst: boolean;
  readonly capabilities?: JsonObject;
}

async function standingOf(
  rule: TaskRule,
  { input, responses }: TaskCall,
  work: Work,
  outcome: Extract<CallOutcome, { readonly ok: true }>,
  { dispatcher, call, isFirst, capabilities = {} }: Looking,
): Promise<TaskStanding> {
  const { asking: _, ...caller } = call;
  const answered: AnsweredCall = {
    input,
    answer: outcome.answer,
    isFirst,
    capabilities,
    responses: { ...responses, ...work.responses },
    call: async (tool, input) => {
      const inner = await dispatcher.call(tool, input, caller);
      return inner.ok ? inner.answer : { ok: false, error: FAILED };
    },
  };
  return await rule.standing(answered);
}

const FAILED = { code: "internal", kind: "internal", message: "Cannot look at the task", retryable: true } as const;

/** Answers a request about a task. */
export async function answerTask(plan: TaskPlan, { dispatcher }: AnswerOptions, call: Call): Promise<Answer> {
  const { rounds } = dispatcher.offer;
  const outcome = await dispatcher.read<string>({
    method: plan.method,
    names: {},
    read: async () => {
      const task = rounds === undefined
        ? null
        : await readTask(rounds, call.principal.subject, plan.taskId, Date.now());
      const rule = task === null ? null : await dispatcher.taskRule(task.tool);
      if (rounds === undefined || task === null || rule === null) return { ok: false, error: UNKNOWN_TASK };
      if (hasLongResponses(plan)) return { ok: false, error: LONG_RESPONSES };
      return { ok: true, found: await answerKnown(plan, { dispatcher, rounds, call }, task, rule) };
    },
  }, call);
  return outcome.ok ? { ok: true, result: outcome.found } : outcome;
}

// One message for all faults: it does not tell a forged id from a task of another caller, or from one of the past.
const UNKNOWN_TASK: EdgeError = {
  kind: "invalid_params",
  message: "Cannot find the task: params.taskId is not a task of this caller, or has expired",
  path: "$.params.taskId",
};

const LONG_RESPONSES: EdgeError = {
  kind: "invalid_params",
  message: `Cannot take the responses: params.inputResponses must have at most ${RESPONSE_CHARACTERS} characters`,
  path: "$.params.inputResponses",
};

function hasLongResponses({ method, params }: TaskPlan): boolean {
  if (method !== "tasks/update") return false;
  return JSON.stringify(member(params, "inputResponses") ?? {}).length > RESPONSE_CHARACTERS;
}

const ACKNOWLEDGED = taskResult({}, false);

async function answerKnown(
  { method, taskId, params }: TaskPlan,
  context: TaskContext,
  task: TaskCall,
  rule: TaskRule,
): Promise<string> {
  const { dispatcher, rounds, call } = context;
  const board = boardOf(rounds);
  const work = board.get(taskId) ?? resumeWork(board, taskId, context, task, method === "tasks/cancel");
  if (work === null) {
    const busy = { ...members(taskId, task, null, rule, "working"), statusMessage: "Waiting for other tasks" };
    return method === "tasks/get" ? taskResult(busy, false) : ACKNOWLEDGED;
  }
  if (work.isCancelled) {
    return method === "tasks/get" ? taskResult(members(taskId, task, work, rule, "cancelled"), false) : ACKNOWLEDGED;
  }
  const outcome = work.settled ?? await within(work, LOOK_MILLISECONDS);
  const looking = { dispatcher, call, isFirst: false, capabilities: capabilitiesOf(params) };
  const standing = outcome?.ok === true ? await standingOf(rule, task, work, outcome, looking) : null;
  switch (method) {
    case "tasks/get":
      return shownTask(members(taskId, task, work, rule, "working"), outcome, standing);
    case "tasks/update":
      if (standing?.status === "input_required") takeResponses(work, standing.requests, params);
      return ACKNOWLEDGED;
    case "tasks/cancel":
      if (outcome === null || standing !== null && standing.status !== "completed") cancelWork(work);
      return ACKNOWLEDGED;
  }
}

/** Makes the call of a task again, where this process does not know it; null where there is no room. */
function resumeWork(
  board: Board,
  id: string,
  { dispatcher, call }: TaskContext,
  task: TaskCall,
  isCancelled: boolean,
): Work | null {
  if (!makeRoom(board, task.subject)) return null;
  const asking: Asking = {
    capabilities: {},
    state: {},
    responses: task.responses,
    ask: () => Promise.resolve(null),
  };
  const controller = new AbortController();
  // A recorded call gives its answer. One that was not recorded must not begin because somebody ends it.
  if (isCancelled) controller.abort();
  return startWork(board, id, dispatcher, task, { ...call, asking }, controller);
}

function cancelWork(work: Work): void {
  work.isCancelled = true;
  work.changed = Date.now();
  work.controller.abort();
}

/** Takes the responses to open requests; others are ignored. */
function takeResponses(work: Work, requests: JsonObject, params: JsonObject): void {
  const given = member(params, "inputResponses");
  if (!isJsonObject(given)) return;
  const taken = Object.entries(given).filter(([key]) => Object.hasOwn(requests, key));
  work.responses = { ...work.responses, ...Object.fromEntries(taken) as Record<string, JsonObject> };
  work.changed = Date.now();
}

function shownTask(working: JsonObject, outcome: CallOutcome | null, standing: TaskStanding | null): string {
  if (outcome === null) return taskResult(working, false);
  if (!outcome.ok) {
    const { message } = outcome.error;
    const error = jsonRpcError(outcome.error, null) as unknown as JsonObject;
    return taskResult({ ...working, status: "failed", statusMessage: message, error }, false);
  }
  switch (standing?.status) {
    case "working":
      return taskResult({ ...working, statusMessage: standing.message }, false);
    case "input_required": {
      const { status, message, requests } = standing;
      return taskResult({ ...working, status, statusMessage: message, inputRequests: requests }, false);
    }
    default: {
      const answer = standing?.answer ?? outcome.answer;
      return taskResult({ ...working, status: "completed" }, false, callResult(answer, "modern"));
    }
  }
}

/** The members that every task shows. */
function members(
  taskId: string,
  { created }: TaskCall,
  work: Work | null,
  { pollInterval }: TaskRule,
  status: string,
): JsonObject {
  return {
    taskId,
    status,
    createdAt: new Date(created).toISOString(),
    lastUpdatedAt: new Date(Math.max(created, work?.changed ?? created)).toISOString(),
    ttlMs: TASK_MILLISECONDS,
    pollIntervalMs: pollInterval,
  };
}
