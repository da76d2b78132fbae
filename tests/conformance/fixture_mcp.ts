/**
 * The MCP server with everything that the conformance suite asks for.
 *
 * @module
 */

import { createRequestStateCodec, McpServer } from "@modelcontextprotocol/server";
import { addContentTools } from "./fixture_content.ts";
import { addAskingTools } from "./fixture_asking.ts";
import type { Notifier } from "./fixture_endpoint.ts";
import { addPrompts, addResources } from "./fixture_prompts.ts";
import { addRoundTools } from "./fixture_rounds.ts";

/** Signs what comes back from clients between the rounds of a call. */
export const STATES = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

/** Makes a server for one era; the older one asks clients by requests, the newer one by results. */
export function makeFixtureServer(era: "modern" | "legacy", notify: Notifier): McpServer {
  const server = new McpServer({ name: "gate-conformance", version: "1.0.0" }, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    },
    requestState: { verify: STATES.verify },
  });
  addContentTools(server, notify);
  addResources(server);
  addPrompts(server);
  if (era === "legacy") addAskingTools(server);
  else addRoundTools(server);
  return server;
}
