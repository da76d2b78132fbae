import assert from "node:assert/strict";
import { until } from "../../../tests/until.ts";
import { hash } from "node:crypto";
import { principalOf } from "../../access/principal.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { Call, TaskStanding, Tool } from "../../tools/framework/types.ts";
import { stateKeys } from "../../tools/services/state_keys.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";
import { TOOLS_ALONE } from "./offer.ts";
import type { TaskPlan } from "./plan.ts";
import {
  answerTask,
  callOrTask,
  RESPONSE_CHARACTERS,
  TASK_CALL_BYTES,
  TASK_MILLISECONDS,
  TASKS_MAXIMUM,
} from "./tasks.ts";

const KEYS = stateKeys([new Uint8Array(32).fill(1)]);
const EXTENSIONS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** A server with one tool, which answers when the test says so, or never. */
interface Bench {
  readonly dispatcher: Dispatcher;
  readonly calls: () => number;
  readonly finish: () => void;
  readonly stopped: () => number;
}

function benchOf(standing: TaskStanding | null = null): Bench {
  let calls = 0;
  let stopped = 0;
  const finished = Promise.withResolvers<void>();
  const tool: Tool = {
    name: "slow",
    title: "Slow",
    description: "Slow",
    hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    group: "Read",
    audit: "request",
    inputSchema: {},
    outputSchema: {},
    handle: async (_, { signal }) => {
      calls++;
      const gone = Promise.withResolvers<void>();
      const stop = (): void => {
        stopped++;
        gone.resolve();
      };
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop);
      await Promise.race([finished.promise, gone.promise]);
      return { ok: true, result: { done: calls } };
    },
    task: () =>
      Promise.resolve({
        patience: 0,
        pollInterval: 1000,
        standing: ({ answer }) => Promise.resolve(standing ?? { status: "completed", answer }),
      }),
  };
  const rounds = { tools: new Set(["slow"]), capabilities: [], keys: () => Promise.resolve(KEYS), tasks: true };
  const dispatcher = createDispatcher({
    loadTools: () => Promise.resolve(new Map([["slow", tool]])),
    tools: { mode: "filter", allowlist: [], denylist: [] },
    auth: null,
    log: () => undefined,
    offer: { ...TOOLS_ALONE, rounds },
  });
  return { dispatcher, calls: () => calls, finish: finished.resolve, stopped: () => stopped };
}

function callBy(subject: string, signal: AbortSignal = new AbortController().signal): Call {
  return { principal: principalOf([], subject, "local"), signal, correlationId: null };
}

async function begin({ dispatcher }: Bench, input: JsonObject, call = callBy("alice")): Promise<JsonObject | null> {
  const { rounds } = dispatcher.offer;
  assert.ok(rounds !== undefined);
  const of = { subject: call.principal.subject, tool: "slow", input };
  const begun = await callOrTask({ dispatcher, rounds, call }, of, { question: () => null, end: () => undefined });
  return "task" in begun ? JSON.parse(begun.task) : null;
}

/** The status of a task, or the code of an error. */
async function look(bench: Bench, taskId: string, subject = "alice"): Promise<string> {
  return await send(bench, "tasks/get", taskId, {}, subject);
}

async function send(
  { dispatcher }: Bench,
  method: TaskPlan["method"],
  taskId: string,
  own: JsonObject = {},
  subject = "alice",
): Promise<string> {
  const plan = { answer: "task", method, taskId, params: { ...own, _meta: EXTENSIONS } } as const;
  const answer = await answerTask(plan, { dispatcher, log: () => undefined }, callBy(subject));
  if (!answer.ok) return `${answer.error.kind}: ${answer.error.message}`;
  const { status, resultType } = JSON.parse(answer.result);
  return status ?? resultType;
}

function sealed(created: number, own: { subject?: string; tool?: string; version?: number } = {}): string {
  const { subject = "alice", tool = "slow", version = 1 } = own;
  return KEYS.seal("task", canonicalize([version, hash("sha256", subject, "hex"), tool, {}, {}, created]));
}

const UNKNOWN = "invalid_params: Cannot find the task: params.taskId is not a task of this caller, or has expired";

const SECOND = 1000;

/** Ids, who looks, and what is shown. */
const IDS: readonly (readonly [what: string, id: () => string, subject: string, shown: string])[] = [
  ["a task of the caller", () => sealed(Date.now()), "alice", "working"],
  ["a task in its last minute", () => sealed(Date.now() - TASK_MILLISECONDS + 60 * SECOND), "alice", "working"],
  ["an expired task", () => sealed(Date.now() - TASK_MILLISECONDS), "alice", UNKNOWN],
  ["a task of another caller", () => sealed(Date.now()), "bob", UNKNOWN],
  ["a task of another tool", () => sealed(Date.now(), { tool: "other" }), "alice", UNKNOWN],
  ["a task of another version", () => sealed(Date.now(), { version: 2 }), "alice", UNKNOWN],
  ["an id that is forged", () => `A${sealed(Date.now()).slice(1)}`, "alice", UNKNOWN],
  ["an id that is cut", () => sealed(Date.now()).slice(1), "alice", UNKNOWN],
  ["an id of another purpose", () => KEYS.seal("other", canonicalize([1])), "alice", UNKNOWN],
  ["an id that is no call", () => KEYS.seal("task", "text"), "alice", UNKNOWN],
  ["a name", () => "task-1", "alice", UNKNOWN],
  ["nothing", () => "", "alice", UNKNOWN],
  ["a long text", () => "A".repeat(1 << 20), "alice", UNKNOWN],
];

for (const [what, id, subject, shown] of IDS) {
  Deno.test(`tasks/get of ${what}: ${shown.split(":")[0]}`, async () => {
    const bench = benchOf();
    assert.equal(await look(bench, id(), subject), shown);
    assert.equal(bench.calls(), shown === "working" ? 1 : 0, "a call is made for the caller's own tasks alone");
    bench.finish();
  });
}

Deno.test("a call that takes longer than the patience becomes a task, and a server that does not know it makes it again", async () => {
  const [bench, other] = [benchOf(), benchOf()];
  const { taskId, status, resultType } = await begin(bench, { a: 1 }) ?? {};
  assert.deepEqual([resultType, status], ["task", "working"]);
  assert.equal(await look(bench, String(taskId)), "working");
  bench.finish();
  assert.equal(await look(bench, String(taskId)), "completed");
  assert.equal(bench.calls(), 1);
  assert.equal(await look(other, String(taskId)), "working");
  other.finish();
  assert.equal(await look(other, String(taskId)), "completed");
  assert.equal(other.calls(), 1);
});

Deno.test("a caller that is gone before its call became a task ends the call, and later does not", async () => {
  const early = benchOf();
  await begin(early, {}, callBy("alice", AbortSignal.abort()));
  assert.equal(early.stopped(), 1);
  const late = benchOf();
  const gone = new AbortController();
  assert.notEqual(await begin(late, {}, callBy("alice", gone.signal)), null);
  gone.abort();
  assert.equal(late.stopped(), 0);
  late.finish();
});

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

Deno.test("a call becomes a task up to its greatest size", async () => {
  const bytesOf = (characters: number): number => {
    const parts = [1, hash("sha256", "alice", "hex"), "slow", { text: "x".repeat(characters) }, {}, Date.now()];
    return canonicalize(parts).length;
  };
  const most = TASK_CALL_BYTES - bytesOf(0);
  for (const [characters, isTask] of [[most - 1, true], [most, true], [most + 1, false]] as const) {
    const bench = benchOf();
    const begun = begin(bench, { text: "x".repeat(characters) });
    // A task is answered before its call ends. For what is none, the timer of the patience began with the call, so it
    // ends before these two.
    if (!isTask) {
      await until("the call begins", () => bench.calls() > 0);
      await turn();
      await turn();
      bench.finish();
    }
    assert.equal(await begun !== null, isTask, `${characters}`);
    bench.finish();
  }
});

Deno.test("a caller has at most so many calls in work as tasks", async () => {
  const bench = benchOf();
  for (let number = 1; number <= TASKS_MAXIMUM.caller; number++) assert.notEqual(await begin(bench, { number }), null);
  const plain = begin(bench, { number: 0 });
  assert.notEqual(await begin(bench, {}, callBy("bob")), null, "another caller has its own");
  bench.finish();
  assert.equal(await plain, null, "one more is answered as any call");
  assert.notEqual(bench.calls(), 0);
});

Deno.test("the oldest answered task gives way, and is found out again", async () => {
  const bench = benchOf({ status: "working", message: "Waits for a person" });
  bench.finish();
  const first = await begin(bench, { number: 0 });
  for (let number = 1; number <= TASKS_MAXIMUM.all; number++) await begin(bench, { number });
  assert.equal(bench.calls(), TASKS_MAXIMUM.all + 1);
  assert.equal(await look(bench, String(first?.["taskId"])), "working");
  assert.equal(bench.calls(), TASKS_MAXIMUM.all + 2);
});

Deno.test("a server that does not know a task begins no call when the task is cancelled", async () => {
  const [bench, other] = [benchOf(), benchOf()];
  const taskId = String((await begin(bench, {}))?.["taskId"]);
  assert.equal(await send(other, "tasks/cancel", taskId), "complete");
  assert.deepEqual([other.calls(), other.stopped()], [1, 1], "the call sees from its start that nobody wants it");
  assert.equal(await send(bench, "tasks/cancel", taskId), "complete");
  assert.deepEqual([await look(bench, taskId), bench.stopped()], ["cancelled", 1]);
  bench.finish();
  assert.equal(await look(bench, taskId), "cancelled");
});

Deno.test("the responses to a task are taken up to their greatest size", async () => {
  const bench = benchOf({ status: "input_required", message: "?", requests: { one: {} } });
  bench.finish();
  const taskId = String((await begin(bench, {}))?.["taskId"]);
  const least = JSON.stringify({ one: { text: "" } }).length;
  for (
    const [length, shown] of [
      [RESPONSE_CHARACTERS - 1, "complete"],
      [RESPONSE_CHARACTERS, "complete"],
      [
        RESPONSE_CHARACTERS + 1,
        "invalid_params: Cannot take the responses: params.inputResponses must have at most 8192",
      ],
    ] as const
  ) {
    const inputResponses = { one: { text: "x".repeat(length - least) } };
    const answer = await send(bench, "tasks/update", taskId, { inputResponses });
    assert.ok(answer.startsWith(shown), answer);
  }
});
