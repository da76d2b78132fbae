/** The full reference of a tool, which the list of tools shortens. */

import type { Tool, ToolReference } from "./types.ts";

/** The reference of a tool; its listed description and schemas where it has none. */
export async function referenceOf(tool: Tool): Promise<ToolReference> {
  const { description: details, inputSchema: input, outputSchema: output } = tool;
  return await tool.reference?.() ?? { details, input, output };
}
