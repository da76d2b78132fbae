/**
 * Makes tools from their parts. The decoder of a tool is also its published input schema, and a schema is built when it
 * is first read.
 */

import type { Reader } from "../canonical/shape.ts";
import { type JsonObject, member } from "../canonical/json.ts";
import { submitsEvidence } from "./services/evidence_use.ts";
import {
  type AccessServices,
  mayUseSomewhere,
  namespaceOfInput,
  refuseNamespace,
  refuseRole,
} from "./services/authorise.ts";
import { withSpecOfText } from "./services/law_text.ts";
import { decodeInput, publishSchema } from "./framework/decode.ts";
import { auditUnavailable, domainErrorOf } from "./framework/errors.ts";
import { type Output, resultOrError, shortOutput, withTypes } from "./framework/output.ts";
import { sharedTypes } from "./framework/result_types.ts";
import type { Call, Tool, ToolAnswer, ToolError, ToolHints } from "./framework/types.ts";
import { withNext } from "./next_steps/after_error.ts";
import { offerSteps } from "./next_steps/offered.ts";
import type { Services } from "./services/services.ts";

/** Makes a tool that uses the services. */
export type MakeTool = (services: Services) => Tool;

/** Reads and changes nothing. */
export const READS: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Adds to the store and removes nothing; a repeated call adds nothing more. */
export const WRITES: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** As {@link READS}, and may query external systems. */
export const READS_AND_ACQUIRES: ToolHints = { ...READS, openWorldHint: true };

/** As {@link WRITES}, and may query external systems. */
export const WRITES_AND_ACQUIRES: ToolHints = { ...WRITES, openWorldHint: true };

/** The parts of a tool. */
export interface ToolParts<Input> extends Pick<Tool, "name" | "title" | "hints" | "group" | "audit"> {
  /** What the tool does, when to use it and which tool comes next. In the list of tools: agents pay for every word. */
  readonly description: string;
  /** The same at length, for the page and the resource of the tool; the description unless given. */
  readonly details?: string;
  readonly input: Reader<Input>;
  /** The shape of the result; it names shared types of `result_types.ts`. */
  readonly output: Output;
  /** A member of every result; the list of tools then names it in place of all members, which the full schema has. */
  readonly listedBy?: string;
  /**
   * False for a tool without a namespace, `optional` for one that may be called without; {@link namespaceOfInput} finds
   * the namespace of every other tool.
   */
  readonly namespaced?: false | "optional";
  /** Whether the tool takes a law as `spec` or as `law_text`. */
  readonly takesLaw?: true;
  /** Answers a call whose namespace is refused, where the tool has an outcome for that; an error unless given. */
  readonly refused?: (error: ToolError, raw: JsonObject) => ToolAnswer;
  /** Further access rules of the tool; null where they admit the call. */
  readonly admit?: (input: Input, call: Call) => ToolError | null;
  /**
   * Acts on the decoded arguments of an authorised caller. Failures of the store, the schema sandbox and the
   * authorities may be thrown: they become domain errors.
   *
   * @param input The decoded arguments
   * @param raw The same arguments as received
   */
  readonly act: (input: Input, raw: JsonObject, call: Call) => Promise<ToolAnswer>;
}

/** Makes a tool. */
export function makeTool<Input>(
  services: AccessServices,
  parts: ToolParts<Input>,
): Tool {
  let inputSchema: JsonObject | undefined;
  return {
    name: parts.name,
    title: parts.title,
    description: parts.description,
    hints: parts.hints,
    group: parts.group,
    audit: parts.audit,
    get inputSchema(): JsonObject {
      return inputSchema ??= publishSchema(parts.input);
    },
    get outputSchema(): JsonObject {
      return parts.listedBy === undefined
        ? shortOutput(parts.output, sharedTypes())
        : { type: "object", oneOf: [{ required: [parts.listedBy] }, { required: ["error"] }] };
    },
    reference: () =>
      Promise.resolve({
        details: parts.details ?? parts.description,
        input: publishSchema(parts.input, true),
        output: withTypes(resultOrError(parts.output), sharedTypes()),
      }),
    handle: handlerOf(services, parts),
  };
}

/** The namespace that a call names; null for a tool without one, or that names none where it may. */
function namespaceOf<Input>({ namespaced }: ToolParts<Input>, input: JsonObject): number | "unread" | null {
  const isWithout = namespaced === false || namespaced === "optional" && member(input, "namespace_id") === undefined;
  return isWithout ? null : namespaceOfInput(input) ?? "unread";
}

/**
 * The order of a call: roles, decoding, namespace, rules of the tool, audit log, act. Roles come first, so that a
 * caller
 * without the role learns nothing about its arguments. One function, since each frame is on the path of every mutation.
 */
function handlerOf<Input>(services: AccessServices, parts: ToolParts<Input>): Tool["handle"] {
  const { name, hints } = parts;
  const isAuditedFirst = !hints.readOnlyHint || hints.openWorldHint;
  const offered = offerSteps(services);
  return async (received, call) => {
    // A law file takes work to read, and may name the namespace: it is read for callers who may use the tool somewhere.
    const isRead = parts.takesLaw === true && mayUseSomewhere(services, parts, call.principal);
    const given = isRead ? await withSpecOfText(received) : null;
    const raw = given?.raw ?? received;
    const finish = (answer: ToolAnswer): ToolAnswer => offered(name, raw, call, withNext(name, raw, answer));
    const refuse = (error: ToolError): ToolAnswer => finish({ ok: false, error: given?.placed(error) ?? error });
    const namespaceId = namespaceOf(parts, raw);
    const barred = refuseRole(services, parts, call, namespaceId, submitsEvidence(name, raw));
    if (barred !== null) return refuse(barred);
    if (given !== null && given.error !== null) return refuse(given.error);
    const decoded = decodeInput(parts.input, raw);
    if (!decoded.ok) return refuse(decoded.error);
    try {
      const asked = typeof namespaceId === "number" ? refuseNamespace(services, call, namespaceId) : null;
      const refused = asked instanceof Promise ? await asked : asked;
      if (refused !== null) {
        const hasOutcome = parts.refused !== undefined && refused.code === "namespace_refused";
        return hasOutcome ? finish(parts.refused(refused, raw)) : refuse(refused);
      }
      const denied = parts.admit?.(decoded.input, call) ?? null;
      if (denied !== null) return refuse(denied);
      if (isAuditedFirst && call.auditor !== undefined && !await call.auditor.begin()) throw auditUnavailable();
      const answer = await parts.act(decoded.input, raw, call);
      return answer.ok ? finish(answer) : refuse(answer.error);
    } catch (thrown) {
      const error = domainErrorOf(thrown);
      if (error === null) throw thrown;
      return refuse(error);
    }
  };
}
