/**
 * Tools that answer with every kind of content, report progress, log, and fail.
 *
 * @module
 */

import { type CallToolResult, fromJsonSchema, type McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { Notifier } from "./fixture_endpoint.ts";

/** A red pixel. */
export const IMAGE = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
} as const;

const AUDIO = {
  type: "audio",
  mimeType: "audio/wav",
  data: "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=",
} as const;

/** The schema of tools that take nothing. */
export const NOTHING = fromJsonSchema<Record<string, never>>({ type: "object", properties: {} });

/** A result with one text. */
export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

const PLAIN: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: textResult("This is a simple text response for testing."),
  test_image_content: { content: [IMAGE] },
  test_audio_content: { content: [AUDIO] },
  test_embedded_resource: {
    content: [{
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }],
  },
  test_multiple_content_types: {
    content: [{ type: "text", text: "Multiple content types test:" }, IMAGE, {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    }],
  },
};

/** Adds the tools. */
export function addContentTools(server: McpServer, notify: Notifier): void {
  const add = (name: string, handle: (context: ServerContext) => CallToolResult | Promise<CallToolResult>): void => {
    server.registerTool(
      name,
      { description: `The fixture ${name}.`, inputSchema: NOTHING },
      (_, context) => handle(context),
    );
  };
  for (const [name, result] of Object.entries(PLAIN)) add(name, () => result);
  add("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  add("test_tool_with_progress", reportProgress);
  add("test_tool_with_logging", writeLog);
  add("test_logging_tool", writeLog);
  add("test_trigger_tool_change", () => {
    notify.toolsChanged();
    return textResult("tools changed");
  });
  add("test_trigger_prompt_change", () => {
    notify.promptsChanged();
    return textResult("prompts changed");
  });
}

async function reportProgress({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const progressToken = mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progress > 0) await pause();
    if (progressToken === undefined) continue;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
  }
  return textResult("progress was reported");
}

async function writeLog({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const lines = ["Tool execution started", "Tool processing data", "Tool execution completed"];
  for (const [index, line] of lines.entries()) {
    if (index > 0) await pause();
    await mcpReq.log("info", line);
  }
  return textResult("the log was written");
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
