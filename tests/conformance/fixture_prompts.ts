/**
 * The prompts and resources of the fixture server.
 *
 * @module
 */

import { fromJsonSchema, type GetPromptResult, type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { IMAGE } from "./fixture_content.ts";

type Prompted = GetPromptResult["messages"][number]["content"];

function messages(...contents: readonly Prompted[]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: "user", content })) };
}

function text(value: string): Prompted {
  return { type: "text", text: value };
}

/** Adds the prompts. */
export function addPrompts(server: McpServer): void {
  server.registerPrompt(
    "test_simple_prompt",
    { description: "Has no arguments." },
    () => messages(text("This is a simple prompt for testing.")),
  );
  server.registerPrompt("test_prompt_with_arguments", {
    description: "Has two arguments.",
    argsSchema: fromJsonSchema<{ arg1: string; arg2: string }>({
      type: "object",
      properties: { arg1: { type: "string" }, arg2: { type: "string" } },
      required: ["arg1", "arg2"],
    }),
  }, ({ arg1, arg2 }) => messages(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
  server.registerPrompt("test_prompt_with_embedded_resource", {
    description: "Embeds a resource.",
    argsSchema: fromJsonSchema<{ resourceUri: string }>({
      type: "object",
      properties: { resourceUri: { type: "string" } },
      required: ["resourceUri"],
    }),
  }, ({ resourceUri: uri }) =>
    messages(
      { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." } },
      text("Please process the embedded resource above."),
    ));
  server.registerPrompt(
    "test_prompt_with_image",
    { description: "Shows an image." },
    () => messages(IMAGE, text("Please analyze the image above.")),
  );
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
  }));
}

/** Adds the resources. */
export function addResources(server: McpServer): void {
  const add = (name: string, mimeType: string, content: { text: string } | { blob: string }): void => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { description: `The fixture ${name}.`, mimeType }, () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  };
  add("static-text", "text/plain", { text: "This is the content of the static text resource." });
  add("static-binary", "image/png", { blob: IMAGE.data });
  add("watched-resource", "text/plain", { text: "Watched resource content" });
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const mimeType = "application/json";
  server.registerResource("template", template, { description: "A template.", mimeType }, (uri, { id }) => ({
    contents: [{
      uri: uri.href,
      mimeType,
      text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
    }],
  }));
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}
