/**
 * Making a tool of its parts: the decoder is also the published input schema, and nothing is computed before it is asked
 * for.
 *
 * @module
 */

import type { z } from "zod";
import { checkNamespace } from "../access/namespace.ts";
import { GENERIC_REFUSAL } from "../access/refusal.ts";
import { mayUse } from "../access/roles.ts";
import type { JsonObject } from "../canonical/json.ts";
import { decodeInput, publishSchema } from "./decode.ts";
import { answering, toolError } from "./errors.ts";
import { resultOrError } from "./output.ts";
import type { Services } from "./services.ts";
import type { Call, Tool, ToolAnswer, ToolError, ToolHints } from "./types.ts";

/** Reads, and changes nothing. */
export const READS: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Adds to what is stored and takes nothing away; a repeated call adds nothing more. */
export const WRITES: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** As {@link READS}, and may reach systems outside of this one. */
export const READS_AND_ACQUIRES: ToolHints = { ...READS, openWorldHint: true };

/** As {@link WRITES}, and may reach systems outside of this one. */
export const WRITES_AND_ACQUIRES: ToolHints = { ...WRITES, openWorldHint: true };

/** The parts of a tool. */
export interface ToolParts<Schema extends z.ZodType> extends Pick<Tool, "name" | "title" | "hints" | "group"> {
  /** Paragraphs of the description, for an agent that has no other documentation. */
  readonly description: string;
  readonly input: Schema;
  /** JSON Schema of the result. */
  readonly output: JsonObject;
  /**
   * Acts on decoded arguments.
   *
   * @param input The decoded arguments
   * @param raw The same arguments as received
   */
  readonly act: (input: z.output<Schema>, raw: JsonObject, call: Call) => Promise<ToolAnswer>;
}

/** Makes a tool. */
export function makeTool<Schema extends z.ZodType>(parts: ToolParts<Schema>): Tool {
  let inputSchema: JsonObject | undefined;
  return {
    name: parts.name,
    title: parts.title,
    description: parts.description,
    hints: parts.hints,
    group: parts.group,
    get inputSchema(): JsonObject {
      return inputSchema ??= publishSchema(parts.input);
    },
    outputSchema: resultOrError(parts.output),
    handle(input, call): Promise<ToolAnswer> {
      const decoded = decodeInput(parts.input, input);
      if (!decoded.ok) return Promise.resolve(decoded);
      return answering(() => parts.act(decoded.input, input, call));
    },
  };
}

/** An answer whose JSON text is at hand; the value is made of it only where somebody asks. */
export function textAnswer(text: string): ToolAnswer {
  let result: JsonObject | undefined;
  return {
    ok: true,
    text,
    get result(): JsonObject {
      return result ??= JSON.parse(text) as JsonObject;
    },
  };
}

/**
 * Why a caller may not use a tool in a namespace: its roles, then the namespace guard. Null when it may.
 *
 * @param tool Name and group of the tool
 */
export function refuseNamespace(
  services: Pick<Services, "config">,
  tool: Pick<Tool, "name" | "group">,
  call: Call,
  namespaceId: number,
): ToolError | null {
  const { config } = services;
  const { principal } = call;
  const rolesInForce = (config.server.auth?.principals.length ?? 0) > 0;
  if (!mayUse(rolesInForce, principal, { group: tool.group, tool: tool.name, namespaceId })) {
    const message = principal.authMethod === "local"
      ? `Cannot use ${tool.name} in namespace ${namespaceId}: no role of "${principal.subject}" in ` +
        "server.auth.principals grants it"
      : GENERIC_REFUSAL;
    return toolError("role_refused", message);
  }
  const decision = checkNamespace(config.namespace, principal, namespaceId);
  return decision.allowed ? null : toolError("namespace_refused", decision.message);
}
