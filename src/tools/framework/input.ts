/**
 * Schemas that the inputs of several tools share.
 *
 * @module
 */

import * as z from "../../config/schema_builder.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { BESIDES, BRIEF, LISTED } from "./decode.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { CURSOR_CHARACTERS, PAGE_DEFAULT, PAGE_MAXIMUM } from "./pagination.ts";

// C0 controls, delete, and C1 controls.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Any JSON value, passed by reference. */
export const anyJson = z.unknown() as z.Schema<JsonValue>;

/** Any JSON object, passed by reference and published as a given schema. */
export function jsonObject(published: JsonObject): z.Schema<JsonObject> {
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  const { description } = published;
  const listed = description === undefined ? {} : { [LISTED]: { description } };
  return z.custom<JsonObject>(isObject, "an object").meta({ type: "object", ...published, ...listed });
}

/** The JSON Schema pattern of texts without {@link CONTROL} characters. */
export const LINE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/**
 * A line of text of at most `maximumBytes` bytes of UTF-8. The list of tools omits the bound, which would stand there
 * dozens
 * of times. JSON Schema counts characters, so the published bound is met by every valid line, and by some longer ones.
 */
function line(maximumBytes: number): z.Schema<string> {
  return z.string().refine(
    (text) => text.length > 0 && utf8Length(text) <= maximumBytes && !CONTROL.test(text),
    `1 to ${maximumBytes} bytes without control characters`,
  ).meta({ [BESIDES]: { maxLength: maximumBytes, pattern: LINE_PATTERN } });
}

/** A name: 1 to 256 bytes of UTF-8 without control characters. */
export const name = line(SPEC_LIMITS.identifierBytes);

/** A schema that the list of tools shows as its type and a hint. Decoding stays strict. */
export function briefly<Schema extends z.AnySchema>(schema: Schema, description: string): Schema {
  const isArray = schema.form.kind === "array";
  // Some clients reject an array schema without items.
  const items = isArray ? { items: { type: "object" } } : {};
  return listedAs(schema, { type: isArray ? "array" : "object", ...items, description });
}

/** A schema that the list of tools replaces with another one. */
export function listedAs<Schema extends z.AnySchema>(schema: Schema, listed: JsonObject): Schema {
  return schema.meta({ [BRIEF]: listed });
}

/** A schema with a description in the list of tools; {@link z.Schema.describe} is for the full schema alone. */
export function hinted<Schema extends z.AnySchema>(schema: Schema, description: string): Schema {
  return schema.meta({ [LISTED]: { description } });
}

/** A law in the words of a law file; its bytes are counted before it is read. */
export const lawText = z.string().meta({ [LISTED]: { description: "A law file in YAML, in place of spec" } })
  .describe("A law file in YAML, in place of spec; at most 262,144 bytes");

/** 64 lower-case hex digits. */
export const givenIdentity = z.string().regex(/^[0-9a-f]{64}$/, "64 lower-case hex digits");

/** 32 lower-case hex digits. */
export const givenOperationIdentity = z.string().regex(/^[0-9a-f]{32}$/, "32 lower-case hex digits");

/** The namespace of a call. */
export const namespaceId = z.int().min(1);

/** The members that name a run. */
export const runMembers = { namespace_id: namespaceId, scenario_id: name, run_id: givenOperationIdentity };

/** The sentence on heads and identities in the description of each mutation. */
export const HEAD_RULE = "expected_head is the last accepted_head. Retry a lost answer unchanged.";

/** The exact head of the run that a mutation extends. */
export const expectedHead = z.strictObject({ record_id: givenIdentity, revision: z.int().min(1) })
  .describe("The run's current head: accepted_head of the last answer or of scenario_status");

/** The identity of a mutation, chosen by the caller. */
export const operationId = givenOperationIdentity.describe("Fresh random id; repeat it unchanged to retry")
  .meta({ [LISTED]: { pattern: "^[0-9a-f]{32}$" } });

/** Page size and cursor of a list. */
export const pageMembers = {
  cursor: listedAs(z.string().max(CURSOR_CHARACTERS).nullable(), { type: ["string", "null"] })
    .describe("next_token of the page before").exactOptional(),
  limit: z.int().min(1).max(PAGE_MAXIMUM).exactOptional().describe(`Default ${PAGE_DEFAULT}`),
};

const contentHash = z.strictObject({ algorithm: z.literal("sha256"), value: givenIdentity });

/** Content of a submission or a declared genesis. */
export const payload = briefly(
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("json"), value: anyJson }),
    z.strictObject({ kind: z.literal("bytes"), base64: z.string() }),
    z.strictObject({
      kind: z.literal("external"),
      content_ref: z.strictObject({
        uri: line(SPEC_LIMITS.uriBytes),
        content_hash: contentHash,
        encryption: name.exactOptional(),
      }),
    }),
  ]),
  "{kind: json, value} (JSON content_type) | {kind: bytes, base64} | {kind: external, content_ref: {uri, content_hash}}",
);

/** Parameters with their values. */
export const parameterValues = z.array(z.strictObject({
  parameter_id: name,
  value: z.strictObject({ value: anyJson, value_type: z.enum(VALUE_TYPES) }),
})).max(SPEC_LIMITS.parameters);

/** What a run is given at its start. */
export const genesis = briefly(
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("empty") }),
    z.strictObject({ kind: z.literal("declared"), payload }),
    z.strictObject({
      kind: z.literal("parameters"),
      parameters: parameterValues,
    }),
  ]),
  "{kind: empty} | {kind: declared, payload: as in scenario_submit} | {kind: parameters, parameters: [{parameter_id, " +
    "value: {value, value_type}}]}: all that the law declares",
);

/** A point in time. */
export const timestamp = briefly(
  z.strictObject({ kind: z.enum(["unix_millis", "logical"]), value: z.int() }),
  "{kind: unix_millis | logical, value}",
);

/** Evidence of the caller. */
export const callerEvidence = z.array(z.strictObject({
  condition_id: name,
  retention: briefly(
    z.strictObject({ retention: z.enum(["RetainCanonicalValue", "RetainDigestOnly"]) }),
    "{retention: RetainCanonicalValue | RetainDigestOnly}",
  ),
  value: hinted(
    z.strictObject({ value: anyJson, value_type: z.enum(VALUE_TYPES) }),
    "value_type is the condition's domain",
  ),
  signature: z.strictObject({ scheme: z.literal("ed25519"), key_id: name, signature: z.string() }).exactOptional(),
  anchor: z.strictObject({ anchor_type: name, anchor_value: z.string() }).exactOptional(),
  observed_at: z.int().exactOptional().describe("Unix ms"),
}));

/** Evidence of the caller, where the list of tools has shown it before. */
export const briefedEvidence = briefly(
  callerEvidence,
  "[{condition_id, value: {value, value_type}, retention, ...}], as in scenario_evaluate_stage",
);
