/**
 * Tools that need input of the client, as 2026-07-28 does: a call ends with what it needs, and is called again with it.
 *
 * @module
 */

import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  inputRequired,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { NOTHING, textResult } from "./fixture_content.ts";
import { STATES } from "./fixture_mcp.ts";

type Envelope = { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities };
type Answer = CallToolResult | ReturnType<typeof inputRequired>;
type Round = (context: ServerContext, responses: Readonly<Record<string, unknown>>) => Promise<Answer> | Answer;

/** A request for a text of the user's. */
export function ask(message: string, member: string, type = "string"): InputRequests[string] {
  return inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [member]: { type } as { type: "string" } }, required: [member] },
  });
}

function sample(text: string, maxTokens: number): InputRequests[string] {
  return inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens });
}

/** Asks for what has not come yet; null where all has. */
function missing(
  requests: InputRequests,
  responses: Readonly<Record<string, unknown>>,
  requestState?: string,
): Answer | null {
  const left = Object.entries(requests).filter(([key]) => !isGiven(responses, key, requests));
  if (left.length === 0) return null;
  return inputRequired({
    inputRequests: Object.fromEntries(left),
    ...(requestState === undefined ? {} : { requestState }),
  });
}

function isGiven(responses: Readonly<Record<string, unknown>>, key: string, requests: InputRequests): boolean {
  const response = responses[key];
  if (typeof response !== "object" || response === null) return false;
  return requests[key]?.method !== "elicitation/create" || acceptedContent(responses, key) !== undefined;
}

const ROUNDS: Readonly<Record<string, Round>> = {
  test_input_required_result_elicitation: (_, responses) =>
    missing({ user_name: ask("What is your name?", "name") }, responses) ??
      textResult(`Hello, ${String(acceptedContent(responses, "user_name")?.["name"])}!`),
  test_streaming_elicitation: (_, responses) =>
    missing({ user_name: ask("What is your name?", "name") }, responses) ?? textResult("done"),
  test_input_required_result_sampling: (_, responses) =>
    missing({ capital_question: sample("What is the capital of France?", 100) }, responses) ??
      textResult(JSON.stringify(responses["capital_question"])),
  test_input_required_result_list_roots: (_, responses) =>
    missing({ client_roots: inputRequired.listRoots() }, responses) ??
      textResult(JSON.stringify(responses["client_roots"])),
  test_input_required_result_request_state: withState({ confirm: ask("Please confirm", "ok", "boolean") }),
  test_input_required_result_tampered_state: withState({ confirm: ask("Please confirm", "ok", "boolean") }),
  test_input_required_result_multiple_inputs: withState({
    user_name: ask("What is your name?", "name"),
    greeting: sample("Generate a greeting", 50),
    client_roots: inputRequired.listRoots(),
  }),
  test_input_required_result_multi_round: async (context, responses) => {
    const round = context.mcpReq.requestState<{ readonly round: number }>()?.round ?? 0;
    const first = { step1: ask("Step 1: What is your name?", "name") };
    const second = { step2: ask("Step 2: What is your favorite color?", "color") };
    if (round === 0) return missing(first, {}, await STATES.mint({ round: 1 }, context)) as Answer;
    if (round === 1 && isGiven(responses, "step1", first)) {
      return missing(second, {}, await STATES.mint({ round: 2 }, context)) as Answer;
    }
    return missing(second, responses, await STATES.mint({ round: 2 }, context)) ?? textResult("all rounds are done");
  },
  // Needs what not every client has: without it the call is refused.
  test_missing_capability: (_, responses) =>
    missing({ greeting: sample("Generate a greeting", 50) }, responses) ?? textResult("sampling is declared"),
  test_input_required_result_capabilities: ({ mcpReq }, responses) => {
    const declared = (mcpReq.envelope as Envelope | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const requests: InputRequests = {
      ...(declared?.sampling === undefined ? {} : { greeting: sample("Generate a greeting", 50) }),
      ...(declared?.elicitation === undefined ? {} : { user_name: ask("What is your name?", "name") }),
    };
    return missing(requests, responses) ?? textResult("nothing more is needed");
  },
};

/** A tool of two rounds, whose state is signed and must come back as it was. */
function withState(requests: InputRequests): Round {
  return async (context, responses) => {
    const state = context.mcpReq.requestState<{ readonly asked: boolean }>();
    const left = missing(requests, state === undefined ? {} : responses, await STATES.mint({ asked: true }, context));
    return left ?? textResult("state-ok");
  };
}

/** Adds the tools, and a prompt that needs input too. */
export function addRoundTools(server: McpServer): void {
  for (const [name, round] of Object.entries(ROUNDS)) {
    server.registerTool(
      name,
      { description: `The fixture ${name}.`, inputSchema: NOTHING },
      (_, context) => round(context, context.mcpReq.inputResponses ?? {}),
    );
  }
  server.registerPrompt("test_input_required_result_prompt", { description: "Needs context." }, (context) => {
    const responses = context.mcpReq.inputResponses ?? {};
    const answer = acceptedContent(responses, "user_context");
    if (answer === undefined) {
      return inputRequired({ inputRequests: { user_context: ask("What context should the prompt use?", "context") } });
    }
    return { messages: [{ role: "user", content: { type: "text", text: `Context: ${String(answer["context"])}` } }] };
  });
}
