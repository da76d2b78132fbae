/**
 * Tools that ask the client in the middle of a call, as the eras before 2026-07-28 do: by requests of the server's own.
 *
 * @module
 */

import { type ElicitRequestFormParams, fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
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

/** Forms that must reach the client as they are, by tool. */
const FORMS: Readonly<Record<string, Record<string, unknown>>> = {
  test_elicitation_sep1034_defaults: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("value", ["First Option", "Second Option", "Third Option"]) },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: {
      type: "array",
      items: { anyOf: titled("value", ["First Choice", "Second Choice", "Third Choice"]) },
    },
  },
};

function titled(prefix: string, titles: readonly string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `${prefix}${index + 1}`, title }));
}

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
      const properties = { username: { type: "string" }, email: { type: "string" } };
      const answer = await mcpReq.elicitInput(form(message, properties, ["username", "email"]));
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
