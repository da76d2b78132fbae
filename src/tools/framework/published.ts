/**
 * What every tool publishes, from the reviewed file: known before any tool is loaded.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import published from "../published.json" with { type: "json" };
import type { Tool, ToolHints } from "./types.ts";

/** What a tool publishes, as the file has it. */
export interface PublishedTool extends Pick<Tool, "name" | "title" | "description" | "group" | "audit"> {
  readonly annotations: ToolHints & { readonly title: string };
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
}

/** What every tool publishes, in the order of their modules. */
export const PUBLISHED = published as unknown as readonly PublishedTool[];
