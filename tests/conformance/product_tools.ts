/**
 * Tools and a prompt that ask the client, and tools whose calls become tasks, made as the product makes its own. The suite
 * asks for them by name.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "@/canonical/json.ts";
import { CONTACT, FORMS } from "./asking_forms.ts";
import type { Prompt } from "@/server/protocol/prompts.ts";
import type { AnsweredCall, Asking, Call, TaskRule, TaskStanding, Tool, ToolAnswer } from "@/tools/framework/types.ts";

type Handle = (input: JsonObject, call: Call) => Promise<ToolAnswer>;

/** A form that asks for one member. */
function form(message: string, name: string, type = "string"): JsonObject {
  const requestedSchema = { type: "object", properties: { [name]: { type } }, required: [name] };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

const ROOTS: JsonObject = { method: "roots/list", params: {} };

function sampling(text: string): JsonObject {
  const messages = [{ role: "user", content: { type: "text", text } }];
  return { method: "sampling/createMessage", params: { messages, maxTokens: 100 } };
}

function done(result: JsonObject): ToolAnswer {
  return { ok: true, result };
}

/** The answer that is not sent: the client repeats the call. */
const ASKED: ToolAnswer = done({});

/** The requests without a response; a form counts as answered where the user accepted it. */
function open(requests: JsonObject, { responses }: Pick<Asking, "responses">): JsonObject {
  return Object.fromEntries(
    Object.entries(requests).filter(([key, request]) => {
      const response = responses[key];
      if (response === undefined) return true;
      const isForm = isJsonObject(request) && member(request, "method") === "elicitation/create";
      return isForm && (member(response, "action") !== "accept" || !isJsonObject(member(response, "content")));
    }),
  );
}

/** Asks until every request is answered. */
function asks(requests: JsonObject, result: (asking: Asking) => JsonObject, needsState = false): Handle {
  return async (_, { asking }) => {
    if (asking === undefined) throw new TypeError("Cannot ask: the tool is not among those that ask");
    const left = needsState && asking.state === null ? requests : open(requests, asking);
    if (Object.keys(left).length === 0) return done(result(asking));
    await asking.ask(left, { asked: true });
    return ASKED;
  };
}

const NAME = { user_name: form("What is your name?", "name") };
const CONFIRM = { confirm: form("Please confirm", "ok", "boolean") };
const STEPS = [
  { step1: form("Step 1: What is your name?", "name") },
  { step2: form("Step 2: What is your favorite color?", "color") },
];

const ASKING: Readonly<Record<string, Handle>> = {
  test_input_required_result_elicitation: asks(NAME, ({ responses }) => ({ hello: responses["user_name"] ?? null })),
  test_streaming_elicitation: asks(NAME, () => ({ text: "done" })),
  test_input_required_result_sampling: asks(
    { capital_question: sampling("What is the capital of France?") },
    ({ responses }) => ({ said: responses["capital_question"] ?? null }),
  ),
  test_input_required_result_list_roots: asks({ client_roots: ROOTS }, ({ responses }) => ({
    roots: responses["client_roots"] ?? null,
  })),
  test_input_required_result_request_state: asks(CONFIRM, () => ({ text: "state-ok" }), true),
  test_input_required_result_tampered_state: asks(CONFIRM, () => ({ text: "state-ok" }), true),
  test_input_required_result_multiple_inputs: asks(
    { ...NAME, greeting: sampling("Generate a greeting"), client_roots: ROOTS },
    () => ({ text: "state-ok" }),
    true,
  ),
  test_input_required_result_multi_round: async (_, { asking }) => {
    const round = Number(asking?.state?.["round"] ?? 0);
    const last = STEPS[round - 1];
    const isAnswered = asking !== undefined && last !== undefined && Object.keys(open(last, asking)).length === 0;
    const next = round === 0 || isAnswered ? STEPS[round] : last;
    if (next === undefined) return done({ text: "all rounds are done" });
    await asking?.ask(next, { round: isAnswered || round === 0 ? round + 1 : round });
    return ASKED;
  },
  test_missing_capability: asks({ greeting: sampling("Generate a greeting") }, () => ({ text: "sampling" })),
  test_input_required_result_capabilities: async (_, { asking }) => {
    const capabilities = asking?.capabilities ?? {};
    const requests = {
      ...Object.hasOwn(capabilities, "sampling") ? { greeting: sampling("Generate a greeting") } : {},
      ...Object.hasOwn(capabilities, "elicitation") ? NAME : {},
    };
    if (asking !== undefined && Object.keys(open(requests, asking)).length > 0) await asking.ask(requests, {});
    return done({});
  },
};

/** Asks in the middle of a call, as a connection of the older era allows it; gives the response. */
function asksNow(request: (input: JsonObject) => JsonObject): Handle {
  return async (input, { asking }) => {
    const responses = await asking?.ask({ one: request(input) }, {});
    return done({ response: responses?.["one"] ?? null });
  };
}

function fields(message: string, properties: JsonObject, required: readonly string[] = []): JsonObject {
  const requestedSchema = { type: "object", properties, required };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
}

const ASKING_NOW: Readonly<Record<string, Handle>> = {
  test_sampling: asksNow((input) => sampling(String(member(input, "prompt")))),
  test_elicitation: asksNow((input) => fields(String(member(input, "message")), CONTACT, ["username", "email"])),
  ...Object.fromEntries(
    Object.entries(FORMS).map(([name, properties]) => [
      name,
      asksNow(() => fields("Please review the fields", properties)),
    ]),
  ),
};

/** Waits, or until the caller no longer wants it. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => resolve());
  await promise;
  clearTimeout(timer);
}

const FAILED: ToolAnswer = {
  ok: false,
  error: { code: "internal", kind: "internal", message: "The job failed", retryable: false },
};

const WORKING: Readonly<Record<string, Handle>> = {
  slow_compute: async (input, { signal }) => {
    await pause(Number(member(input, "seconds") ?? 0) * 1000, signal);
    return done({ computed: member(input, "label") ?? "" });
  },
  failing_job: async (_, { signal }) => {
    await pause(300, signal);
    return FAILED;
  },
  protocol_error_job: async (_, { signal }) => {
    await pause(300, signal);
    throw new Error("The job is broken");
  },
  confirm_delete: (input) => Promise.resolve(done({ deleted: member(input, "filename") ?? "" })),
  multi_input: () => Promise.resolve(done({ text: "all inputs are there" })),
  test_tool_with_task: asks(NAME, ({ responses }) => ({ hello: responses["user_name"] ?? null })),
};

/** What a client has to answer before the task is finished. */
const PARKED: Readonly<Record<string, JsonObject>> = {
  confirm_delete: { confirm: form("Delete the file?", "confirm", "boolean") },
  multi_input: { one: form("The first", "name"), two: form("The second", "name") },
};

/** A tool whose task is waited for at least once. */
const ALWAYS = new Set(["test_tool_with_task"]);

function standingOf(name: string, { answer, responses, isFirst }: AnsweredCall): TaskStanding {
  const requests = Object.fromEntries(
    Object.entries(PARKED[name] ?? {}).filter(([key]) => responses[key] === undefined),
  );
  if (Object.keys(requests).length > 0) return { status: "input_required", message: "Waits for input", requests };
  if (isFirst && ALWAYS.has(name)) return { status: "working", message: "Works" };
  return { status: "completed", answer };
}

function ruleOf(name: string): TaskRule {
  return {
    patience: 0,
    pollInterval: 100,
    standing: (answered) => Promise.resolve(standingOf(name, answered)),
  };
}

const PLAIN: Readonly<Record<string, Handle>> = {
  greet: (input) => {
    const text = `Hello, ${String(member(input, "name"))}!`;
    return Promise.resolve({ ok: true, result: { text }, quoted: JSON.stringify(text) });
  },
};

/** The names of the tools that ask or become tasks. */
export const ROUND_TOOLS: readonly string[] = [ASKING, ASKING_NOW, WORKING].flatMap((tools) => Object.keys(tools));

/** A prompt that asks the client for its argument. */
export const ASKING_PROMPT: Prompt = {
  name: "test_input_required_result_prompt",
  title: "The fixture prompt",
  description: "Needs context.",
  needs: [],
  arguments: [{ name: "context", description: "What context should the prompt use?", required: true }],
  write: (given) => [`Context: ${given.get("context")}`],
};

/** The tools, by name. */
export function productTools(): Map<string, Tool> {
  return new Map(
    Object.entries({ ...ASKING, ...ASKING_NOW, ...WORKING, ...PLAIN }).map(([name, handle]) => [name, {
      name,
      title: `The fixture ${name}`,
      description: `The fixture ${name}.`,
      hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      group: "Read",
      audit: "request",
      inputSchema: { type: "object", properties: {} },
      outputSchema: { type: "object" },
      handle,
      ...Object.hasOwn(WORKING, name) ? { task: () => Promise.resolve(ruleOf(name)) } : {},
    }]),
  );
}
