/**
 * JSON Schemas of results, written compactly: agents pay for every byte of `tools/list`. Accepted results are closed;
 * refusals say only what all of them have in common.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../canonical/json.ts";

/** A string. */
export const TEXT: JsonObject = { type: "string" };
/** An integer. */
export const INTEGER: JsonObject = { type: "integer" };
/** An object that is described elsewhere. */
export const OBJECT: JsonObject = { type: "object" };
/** A truth value of three-valued logic. */
export const KLEENE: JsonObject = { enum: ["true", "false", "unknown"] };

/** An array of such items. */
export function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

/** Such a value, or null. */
export function orNull(type: string): JsonObject {
  return { type: [type, "null"] };
}

/** An object with these members and no others. */
export function closed(
  required: Readonly<Record<string, JsonValue>>,
  optional: Readonly<Record<string, JsonValue>> = {},
): JsonObject {
  return {
    type: "object",
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

/** An accepted head of a run. */
export const HEAD: JsonObject = closed({ record_id: TEXT, revision: INTEGER });
/** Stage ids. */
export const STAGE_IDS: JsonObject = listOf(TEXT);
/** One evaluation of a stage. */
export const ATTEMPT: JsonObject = closed({
  attempt_number: INTEGER,
  record_id: TEXT,
  stage_id: TEXT,
  outcome: KLEENE,
  completed: { type: "boolean" },
  trace: listOf(OBJECT),
  evidence: listOf(OBJECT),
}, {
  causes: listOf(OBJECT),
  missing: listOf(OBJECT),
  trace_left_out: INTEGER,
  evidence_left_out: INTEGER,
  causes_left_out: INTEGER,
});

/** The accepted result of open, evaluate or submit: what they share, and what is their own. */
export function acceptedMutation(
  own: Readonly<Record<string, JsonValue>>,
  optional: Readonly<Record<string, JsonValue>> = {},
): JsonObject {
  return closed({
    accepted_head: HEAD,
    operation_id: OBJECT,
    invocation_identity: TEXT,
    acceptance_time: OBJECT,
    admission: OBJECT,
    ...own,
  }, optional);
}

/** An outcome envelope: the accepted variant as it is, the others by name, `result` saying what is needed to go on. */
export function outcomeOf(accepted: JsonObject, refusals: readonly string[]): JsonObject {
  const refused = { properties: { outcome: { enum: refusals }, result: OBJECT }, required: ["outcome", "result"] };
  return closed({ outcome: { oneOf: [closed({ outcome: { const: "accepted" }, result: accepted }), refused] } });
}

const ERROR: JsonObject = { properties: { error: OBJECT }, required: ["error"] };

/** The output schema of a tool: its result, or a domain error. */
export function resultOrError(result: JsonObject): JsonObject {
  return { type: "object", oneOf: [result, ERROR] };
}
