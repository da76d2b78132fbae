/** The published form of every tool, from the reviewed file: it is known before any tool is loaded. */

import type { JsonObject } from "../../canonical/json.ts";
import published from "../published.json" with { type: "json" };
import type { Tool, ToolHints } from "./types.ts";

/** The published form of a tool, as in the file. */
export interface PublishedTool extends Pick<Tool, "name" | "title" | "description" | "group" | "audit"> {
  readonly annotations: ToolHints & { readonly title: string };
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
}

/** The published form of every tool, in the order of `tools/list`. */
export const PUBLISHED = published as readonly PublishedTool[];
