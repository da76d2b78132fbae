/**
 * Parts that the inputs of several tools share.
 *
 * @module
 */

import { z } from "zod";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { BESIDES, BRIEF } from "./decode.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { CURSOR_CHARACTERS, PAGE_DEFAULT, PAGE_MAXIMUM } from "./pagination.ts";

// C0 controls, delete, and C1 controls.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Any JSON value, handed on as it is. */
export const anyJson = z.unknown() as unknown as z.ZodType<JsonValue>;

/** Any JSON object, handed on as it is; its own schema is published in place of one made from zod. */
export function jsonObject(published: JsonObject): z.ZodType<JsonObject> {
  const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
  return z.custom<JsonObject>(isObject, "an object").meta({ type: "object", ...published });
}

/** What {@link CONTROL} does not match, as JSON Schemas say it. */
export const LINE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/**
 * A line of text of so many bytes of UTF-8. The list of tools does not say the bound, which it would have to dozens of times;
 * JSON Schema counts characters, so what it says is met by every line and lets some pass that take more bytes.
 */
function line(maximumBytes: number): z.ZodString {
  return z.string().refine(
    (text) => text.length > 0 && utf8Length(text) <= maximumBytes && !CONTROL.test(text),
    `1 to ${maximumBytes} bytes without control characters`,
  ).meta({ [BESIDES]: { maxLength: maximumBytes, pattern: LINE_PATTERN } });
}

/** A name: 1 to 256 bytes of UTF-8 without control characters. */
export const name = line(SPEC_LIMITS.identifierBytes);

/**
 * A part that is published in full by another tool: here only its type and a hint at where to look. It is decoded as
 * strictly.
 */
export function briefly<Schema extends z.ZodType>(schema: Schema, description: string): Schema {
  const type = schema instanceof z.ZodArray ? "array" : "object";
  return schema.meta({ [BRIEF]: { type, description } });
}

/** 64 lower-case hex digits. */
export const identity = z.string().regex(/^[0-9a-f]{64}$/, "64 lower-case hex digits");

/** 32 lower-case hex digits. */
export const operationIdentity = z.string().regex(/^[0-9a-f]{32}$/, "32 lower-case hex digits");

/** The namespace of a call. */
export const namespaceId = z.int().min(1);

/** Which run. */
export const runMembers = { namespace_id: namespaceId, scenario_id: name, run_id: operationIdentity };

/** The exact head that a mutation follows. */
export const expectedHead = z.strictObject({ record_id: identity, revision: z.int().min(1) })
  .describe("The run's current head: accepted_head of the last answer or of scenario_status");

/** The identity of a mutation, chosen by the caller. */
export const operationId = operationIdentity.describe("Fresh random id; repeat it unchanged to retry");

/** Page size and cursor of a list. */
export const pageMembers = {
  cursor: z.string().max(CURSOR_CHARACTERS).nullable().exactOptional().describe("next_token of the page before"),
  limit: z.int().min(1).max(PAGE_MAXIMUM).exactOptional().describe(`Default ${PAGE_DEFAULT}`),
};

const contentHash = z.strictObject({ algorithm: z.literal("sha256"), value: identity });

/** Content of a submission or a declared genesis. */
export const payload = z.discriminatedUnion("kind", [
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
]);

/** A point in time as callers write it. */
export const timestamp = z.strictObject({ kind: z.enum(["unix_millis", "logical"]), value: z.int() });

/** Evidence that the caller brings. */
export const callerEvidence = z.array(z.strictObject({
  condition_id: name,
  retention: z.strictObject({ retention: z.enum(["RetainCanonicalValue", "RetainDigestOnly"]) }),
  value: z.strictObject({ value: anyJson, value_type: z.enum(VALUE_TYPES) }),
  signature: z.strictObject({ scheme: z.literal("ed25519"), key_id: name, signature: z.string() }).exactOptional(),
  anchor: z.strictObject({ anchor_type: name, anchor_value: z.string() }).exactOptional(),
  observed_at: z.int().exactOptional().describe("Unix ms"),
}));
