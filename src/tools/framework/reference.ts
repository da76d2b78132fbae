/**
 * What the list of tools shortens of a tool, whole.
 *
 * @module
 */

import type { Tool, ToolReference } from "./types.ts";

/** The reference of a tool: what it lists, unless it has more to say. */
export async function referenceOf(tool: Tool): Promise<ToolReference> {
  const { description: details, inputSchema: input, outputSchema: output } = tool;
  return await tool.reference?.() ?? { details, input, output };
}
