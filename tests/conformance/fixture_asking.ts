/**
 * Tools that ask the client in the middle of a call, as the eras before 2026-07-28 do: by requests of the server's own.
 *
 * @module
 */

import { type ElicitRequestFormParams, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { CONTACT, FORMS } from "./asking_forms.ts";
import { NOTHING, textResult } from "./fixture_content.ts";

const MESSAGE = fromJsonSchema<{ message: string }>({
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
});

const PROMPT = fromJsonSchema<{ prompt: string }>({
  type: "object",
  properties: { prompt: { type: "string" } },
  required: ["prompt"],
});

function form(message: string, properties: Record<string, unknown>, required: string[]): ElicitRequestFormParams {
  return {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties, required },
  } as ElicitRequestFormParams;
}

/** Adds the tools. */
export function addAskingTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    { description: "Asks for a completion.", inputSchema: PROMPT },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return textResult(`LLM response: ${"text" in content ? content.text : ""}`);
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user.", inputSchema: MESSAGE },
    async ({ message }, { mcpReq }) => {
      const answer = await mcpReq.elicitInput(form(message, CONTACT, ["username", "email"]));
      return textResult(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
    },
  );
  for (const [name, properties] of Object.entries(FORMS)) {
    server.registerTool(name, { description: "Asks with a form.", inputSchema: NOTHING }, async (_, { mcpReq }) => {
      const answer = await mcpReq.elicitInput(form("Please review the fields", properties, []));
      return textResult(
        `Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`,
      );
    });
  }
}
