/**
 * The client of the first official SDK, the official client of tasks, and a count of tokens: packages that only these
 * tests use. They are named here, not in `deno.json`, since the runtime downloads what its lock names, whatever is
 * started; `tests/deno.lock` has them.
 *
 * @module
 */

export { Client as ClientOne } from "npm:@modelcontextprotocol/sdk@1.32.2/client/index.js";
export { SSEClientTransport as SseOne } from "npm:@modelcontextprotocol/sdk@1.32.2/client/sse.js";
export { StdioClientTransport as StdioOne } from "npm:@modelcontextprotocol/sdk@1.32.2/client/stdio.js";
export { StreamableHTTPClientTransport as HttpOne } from "npm:@modelcontextprotocol/sdk@1.32.2/client/streamableHttp.js";
export { ElicitRequestSchema } from "npm:@modelcontextprotocol/sdk@1.32.2/types.js";
export { countTokens } from "npm:gpt-tokenizer@4.0.0/encoding/o200k_base";
export { createTaskSessionFromClient, resultFromTaskOutcome } from "npm:@modelcontextprotocol/ext-tasks@0.2.2/client";
