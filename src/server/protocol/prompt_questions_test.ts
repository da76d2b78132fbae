import assert from "node:assert/strict";
import { principalOf } from "../../access/principal.ts";
import { stateKeys } from "../../tools/services/state_keys.ts";
import type { Rounds } from "./offer.ts";
import { askArguments, type UnfilledPrompt } from "./prompt_questions.ts";
import { writePrompt } from "./prompts.ts";
import { STATE_MILLISECONDS, writeState } from "./request_state.ts";

const KEYS = stateKeys([new Uint8Array(32).fill(1)]);
const ROUNDS: Rounds = { tools: new Set(), capabilities: [], keys: () => Promise.resolve(KEYS), tasks: false };
const OF = { subject: "token:alice", tool: "prompts/get author_scenario", input: {} };
const NOW = Date.now();

/** Answers a form that alice was asked; the state and caller of the second round may differ. */
async function outcomeOf(subject: string, requestState: string): Promise<string> {
  const write = (given: ReadonlyMap<string, string>): ReturnType<typeof writePrompt> =>
    writePrompt("author_scenario", given, { sources: "none", isOffered: () => true });
  const unfilled = write(new Map());
  assert.ok(!unfilled.ok && unfilled.missing !== undefined);
  const prompt: UnfilledPrompt = {
    method: "prompts/get",
    name: "author_scenario",
    given: new Map(),
    params: {
      requestState,
      inputResponses: { arguments: { action: "accept", content: { question: "q" } } },
      _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } },
    },
    missing: unfilled.missing,
    error: unfilled.error,
  };
  const asked = await askArguments(prompt, write, ROUNDS, principalOf([], subject, "bearer_token"));
  if ("inputRequests" in asked) return "asked";
  return asked.ok ? "written" : String(asked.error.path);
}

const STATE = "$.params.requestState";

const ROWS: readonly (readonly [what: string, subject: string, state: string, outcome: string])[] = [
  ["its caller", "token:alice", writeState(KEYS, OF, {}, NOW), "written"],
  ["another caller", "token:bob", writeState(KEYS, OF, {}, NOW), STATE],
  ["its caller, too late", "token:alice", writeState(KEYS, OF, {}, NOW - STATE_MILLISECONDS), STATE],
  ["its caller, of a tool", "token:alice", writeState(KEYS, { ...OF, tool: "author_scenario" }, {}, NOW), STATE],
];

for (const [what, subject, state, outcome] of ROWS) {
  Deno.test(`askArguments() with the state of ${what}: ${outcome}`, async () => {
    assert.equal(await outcomeOf(subject, state), outcome);
  });
}
