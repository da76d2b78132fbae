import assert from "node:assert/strict";
import { principalOf } from "../../access/principal.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { stateKeys } from "../../tools/services/state_keys.ts";
import type { Tool } from "../../tools/framework/types.ts";
import { createDispatcher } from "../protocol/dispatcher.ts";
import type { RequestMessage } from "../protocol/message.ts";
import { type Rounds, TOOLS_ALONE } from "../protocol/offer.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import { createClientQuestions, SESSION_FIELD } from "./client_questions.ts";
import { readFields } from "./header_fields.ts";
import type { HttpReply } from "./reply.ts";

const KEYS = stateKeys([new Uint8Array(32).fill(1)]);
const PARAMS: JsonObject = { name: "asks", arguments: {} };

/** A tool that asks its caller, and answers with the response. */
const ASKS: Tool = {
  name: "asks" as Tool["name"],
  title: "",
  description: "",
  hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  group: "Read",
  audit: "request",
  inputSchema: { type: "object" },
  outputSchema: { type: "object" },
  handle: async (_, { asking }) => {
    const responses = await asking?.ask({ one: { method: "elicitation/create", params: { message: "?" } } }, {});
    return { ok: true, result: { response: responses?.["one"] ?? null } };
  },
};

function request(method: string, params: JsonObject): RequestMessage {
  return { kind: "request", id: 7, method, params, raw: {} };
}

function incoming(session: string, signal: AbortSignal): AuthenticatedRequest {
  const request = {
    headers: readFields([SESSION_FIELD, session]),
    signal,
  } as unknown as AuthenticatedRequest["request"];
  const origin = {
    transport: "http",
    peer_address: null,
    correlation_id: null,
    server_correlation_id: "1",
    traceparent: null,
  };
  return { request, principal: principalOf([], "alice", "local"), origin } as AuthenticatedRequest;
}

/** The messages of a streamed reply, once it has ended. */
async function messagesOf(reply: HttpReply | null, gone: AbortSignal): Promise<JsonObject[]> {
  const texts: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const write = (text: string): boolean => texts.push(text) > 0;
  reply?.stream?.({ write, waiting: () => 0, end: resolve, drop: resolve, gone });
  await promise;
  return texts.map((text) => JSON.parse(text.slice("event: message\ndata: ".length)));
}

Deno.test("a question that got no response in time is cancelled at the client, and the call goes on without", async () => {
  const rounds: Rounds = {
    tools: new Set(["asks"]),
    capabilities: ["elicitation"],
    keys: () => Promise.resolve(KEYS),
    tasks: false,
  };
  const log = (): void => undefined;
  const dispatcher = createDispatcher({
    loadTools: () => Promise.resolve(new Map([[ASKS.name, ASKS]])),
    tools: { mode: "filter", allowlist: [], denylist: [] },
    auth: null,
    log,
    offer: { ...TOOLS_ALONE, rounds },
  });
  const questions = createClientQuestions(rounds, { patience: 0 });
  const { signal } = new AbortController();
  const declared = request("initialize", { capabilities: { elicitation: { url: {} } } });
  const { [SESSION_FIELD]: session = "" } = await questions.sessionFields(declared, "alice");
  const caller = incoming(session, signal);
  const plan = { answer: "call", era: "legacy", name: "asks", input: {}, params: PARAMS } as const;
  const asked = { incoming: caller, message: request("tools/call", PARAMS), plan, options: { dispatcher, log } };
  const reply = await questions.answer(asked);
  const [question = {}, cancelled = {}, answer = {}] = await messagesOf(reply, signal);
  assert.match(String(question["id"]), /^gate-[0-9a-f-]{36}$/);
  assert.deepEqual([cancelled["method"], cancelled["params"]], ["notifications/cancelled", {
    requestId: question["id"],
  }]);
  assert.deepEqual((answer["result"] as JsonObject)["structuredContent"], { response: { action: "cancel" } });
  const late = { kind: "response", raw: { jsonrpc: "2.0", id: question["id"] ?? "", result: {} } } as const;
  assert.equal(questions.receive(caller, late), false, "a late response");
  assert.equal(questions.awaitsResponse(caller), false);
});
