/**
 * Making a tool of its parts: the decoder is also the published input schema, and nothing is computed before it is asked
 * for.
 *
 * @module
 */

import type { z } from "zod";
import type { JsonObject } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import { type AccessServices, namespaceOfInput, refuseNamespace, refuseRole } from "./services/authorise.ts";
import { decodeInput, publishSchema } from "./framework/decode.ts";
import { answering, failure } from "./framework/errors.ts";
import { withNext } from "./next_steps/after_error.ts";
import { offerSteps } from "./next_steps/offered.ts";
import { resultOrError, shortOutput, withTypes } from "./framework/output.ts";
import { RESULT_TYPES } from "./framework/result_types.ts";
import type { Call, Tool, ToolAnswer, ToolError, ToolHints } from "./framework/types.ts";

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
  /** What the tool does, when to use it and what comes next, in the list of tools: agents pay for every word. */
  readonly description: string;
  /** The same at length, on the page of the tool and in its resource; the description unless given. */
  readonly details?: string;
  readonly input: Schema;
  /** JSON Schema of the result, whole; it names shared types of `result_types.ts`. */
  readonly output: JsonObject;
  /** False for a tool that is about no namespace; {@link namespaceOfInput} finds that of any other. */
  readonly namespaced?: false;
  /** Answers a call whose namespace is refused, where the tool has an outcome for that; an error unless given. */
  readonly refused?: (error: ToolError, raw: JsonObject) => ToolAnswer;
  /** Further access rules of the tool; null where they let the call in. */
  readonly admit?: (input: z.output<Schema>, call: Call) => ToolError | null;
  /**
   * Acts on decoded arguments, of a caller that may use the tool in the namespace.
   *
   * @param input The decoded arguments
   * @param raw The same arguments as received
   */
  readonly act: (input: z.output<Schema>, raw: JsonObject, call: Call) => Promise<ToolAnswer>;
}

/**
 * Makes a tool. Of a call its caller's roles are looked at first, then it is decoded, then its namespace is authorised,
 * then, where it changes or reaches anything, it is written to the audit log, and only then acted on.
 */
export function makeTool<Schema extends z.ZodType>(
  services: AccessServices,
  parts: ToolParts<Schema>,
): Tool {
  let inputSchema: JsonObject | undefined;
  const offered = offerSteps(services);
  return {
    name: parts.name,
    title: parts.title,
    description: parts.description,
    hints: parts.hints,
    group: parts.group,
    get inputSchema(): JsonObject {
      return inputSchema ??= publishSchema(parts.input);
    },
    get outputSchema(): JsonObject {
      return shortOutput(parts.output, RESULT_TYPES);
    },
    reference: () =>
      Promise.resolve({
        details: parts.details ?? parts.description,
        input: publishSchema(parts.input, true),
        output: withTypes(resultOrError(parts.output), RESULT_TYPES),
      }),
    async handle(input, call): Promise<ToolAnswer> {
      const answer = withNext(parts.name, input, await answerCall(services, parts, input, call));
      return offered(parts.name, input, call, answer);
    },
  };
}

function answerCall<Schema extends z.ZodType>(
  services: AccessServices,
  parts: ToolParts<Schema>,
  input: JsonObject,
  call: Call,
): Promise<ToolAnswer> {
  const changes = !parts.hints.readOnlyHint || parts.hints.openWorldHint;
  const namespaceId = parts.namespaced === false ? null : namespaceOfInput(input) ?? "unread";
  // Whoever may not use the tool is not told what is wrong with its arguments.
  const barred = refuseRole(services, parts, call, namespaceId);
  if (barred !== null) return Promise.resolve({ ok: false, error: barred });
  const decoded = decodeInput(parts.input, input);
  if (!decoded.ok) return Promise.resolve(decoded);
  return answering(async () => {
    const asked = typeof namespaceId === "number" ? refuseNamespace(services, call, namespaceId) : null;
    const refused = asked instanceof Promise ? await asked : asked;
    if (refused !== null) return refuseCall(parts, refused, input);
    const denied = parts.admit?.(decoded.input, call) ?? null;
    if (denied !== null) return { ok: false, error: denied };
    if (changes && call.witness !== undefined && !await call.witness.begin()) return unlogged();
    return await parts.act(decoded.input, input, call);
  });
}

function unlogged(): ToolAnswer {
  const message = "Cannot do this now: the audit log cannot be written, and nothing is done unlogged; try again";
  return failure("audit_unavailable", message);
}

function refuseCall<Schema extends z.ZodType>(
  parts: ToolParts<Schema>,
  error: ToolError,
  raw: JsonObject,
): ToolAnswer {
  const hasOutcome = parts.refused !== undefined && error.code === "namespace_refused";
  return hasOutcome ? parts.refused(error, raw) : { ok: false, error };
}

/** An answer whose JSON text is at hand; the value is made of it only where somebody asks. */
export function textAnswer(text: string): ToolAnswer {
  let result: JsonObject | undefined;
  return {
    ok: true,
    text,
    get result(): JsonObject {
      return result ??= readJson(text) as JsonObject;
    },
  };
}
