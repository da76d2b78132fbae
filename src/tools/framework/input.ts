/** Schemas that the inputs of several tools share. */

import {
  annotated,
  anyInteger,
  anything,
  integer,
  listOf,
  matching,
  oneOf,
  orNull,
  ownSchema,
  type Reader,
  shape,
  text,
  variant,
} from "../../canonical/shape.ts";
import { characters, checked, described, optional, patterned, table } from "../../canonical/table_shape.ts";
import { isJsonObject, type JsonObject } from "../../canonical/json.ts";
import { BESIDES, BRIEF, LISTED } from "./decode.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { CURSOR_CHARACTERS, PAGE_DEFAULT, PAGE_MAXIMUM } from "./pagination.ts";

// C0 controls, delete, and C1 controls.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Any JSON object, passed by reference and published as a given schema. */
export function jsonObject(published: JsonObject): Reader<JsonObject> {
  const { description } = published;
  const listed = description === undefined ? {} : { [LISTED]: { description } };
  return annotated(matching("an object", isJsonObject), { type: "object", ...published, ...listed });
}

/** The JSON Schema pattern of texts without {@link CONTROL} characters. */
export const LINE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";

/**
 * A line of text of at most `maximumBytes` bytes of UTF-8. The list of tools omits the bound, which would stand there
 * dozens
 * of times. JSON Schema counts characters, so the published bound is met by every valid line, and by some longer ones.
 */
function line(maximumBytes: number): Reader<string> {
  const isLine = (given: string): boolean =>
    given.length > 0 && utf8Length(given) <= maximumBytes && !CONTROL.test(given);
  const expected = `1 to ${maximumBytes} bytes without control characters`;
  return annotated(checked(text, (given) => isLine(given) ? null : expected), {
    [BESIDES]: { maxLength: maximumBytes, pattern: LINE_PATTERN },
  });
}

/** A name: 1 to 256 bytes of UTF-8 without control characters. */
export const name = line(SPEC_LIMITS.identifierBytes);

/** A schema that the list of tools shows as its type and a hint. Decoding stays strict. */
export function briefly<T>(schema: Reader<T>, description: string): Reader<T> {
  const whole = Object.assign(schema.bind(null), schema);
  return shape(whole, (publisher) => {
    const own = ownSchema(schema, publisher);
    // Some clients reject an array schema without items.
    const listed = own["type"] === "array" ? { type: "array", items: { type: "object" } } : { type: "object" };
    return { ...own, [BRIEF]: { ...listed, description } };
  });
}

/** A schema that the list of tools replaces with another one. */
export function listedAs<Schema extends Reader<unknown>>(schema: Schema, listed: JsonObject): Schema {
  return annotated(schema, { [BRIEF]: listed });
}

/** A schema with a description in the list of tools; {@link described} is for the full schema alone. */
export function hinted<Schema extends Reader<unknown>>(schema: Schema, description: string): Schema {
  return annotated(schema, { [LISTED]: { description } });
}

/** A law in the words of a law file; its bytes are counted before it is read. */
export const lawText = described(
  annotated(text, { [LISTED]: { description: "A law file in YAML, in place of spec" } }),
  "A law file in YAML, in place of spec; at most 262,144 bytes",
);

/** 64 lower-case hex digits. */
export const givenIdentity = patterned(text, /^[0-9a-f]{64}$/, "64 lower-case hex digits");

/** 32 lower-case hex digits. */
export const givenOperationIdentity = patterned(text, /^[0-9a-f]{32}$/, "32 lower-case hex digits");

/** The namespace of a call. */
export const namespaceId = integer(1);

/** The members that name a run. */
export const runMembers = { namespace_id: namespaceId, scenario_id: name, run_id: givenOperationIdentity };

/** The sentence on heads and identities in the description of each mutation. */
export const HEAD_RULE = "expected_head is the last accepted_head. Retry a lost answer unchanged.";

/** The exact head of the run that a mutation extends. */
export const expectedHead = table(
  { record_id: givenIdentity, revision: integer(1) },
  "The run's current head: accepted_head of the last answer or of scenario_status",
);

/** The identity of a mutation, chosen by the caller. */
export const operationId = annotated(
  described(givenOperationIdentity, "Fresh random id; repeat it unchanged to retry"),
  { [LISTED]: { pattern: "^[0-9a-f]{32}$" } },
);

/** Page size and cursor of a list. */
export const pageMembers = {
  cursor: optional(
    described(
      listedAs(orNull(characters(0, CURSOR_CHARACTERS)), { type: ["string", "null"] }),
      "next_token of the page before",
    ),
  ),
  limit: optional(integer(1, PAGE_MAXIMUM), `Default ${PAGE_DEFAULT}`),
};

const contentHash = table({ algorithm: oneOf("sha256"), value: givenIdentity });

/** Content of a submission or a declared genesis. */
export const payload = briefly(
  variant("kind", {
    json: table({ kind: oneOf("json"), value: anything }),
    bytes: table({ kind: oneOf("bytes"), base64: text }),
    external: table({
      kind: oneOf("external"),
      content_ref: table({
        uri: line(SPEC_LIMITS.uriBytes),
        content_hash: contentHash,
        encryption: optional(name),
      }),
    }),
  }),
  "{kind: json, value} (JSON content_type) | {kind: bytes, base64} | {kind: external, content_ref: {uri, content_hash}}",
);

/** Parameters with their values. */
export const parameterValues = listOf(
  table({ parameter_id: name, value: table({ value: anything, value_type: oneOf(...VALUE_TYPES) }) }),
  SPEC_LIMITS.parameters,
);

/** What a run is given at its start. */
export const genesis = briefly(
  variant("kind", {
    empty: table({ kind: oneOf("empty") }),
    declared: table({ kind: oneOf("declared"), payload }),
    parameters: table({ kind: oneOf("parameters"), parameters: parameterValues }),
  }),
  "{kind: empty} | {kind: declared, payload: as in scenario_submit} | {kind: parameters, parameters: [{parameter_id, " +
    "value: {value, value_type}}]}: all that the law declares",
);

/** A point in time. */
export const timestamp = briefly(
  table({ kind: oneOf("unix_millis", "logical"), value: anyInteger }),
  "{kind: unix_millis | logical, value}",
);

/** Evidence of the caller. */
export const callerEvidence = listOf(table({
  condition_id: name,
  retention: briefly(
    table({ retention: oneOf("RetainCanonicalValue", "RetainDigestOnly") }),
    "{retention: RetainCanonicalValue | RetainDigestOnly}",
  ),
  value: hinted(
    table({ value: anything, value_type: oneOf(...VALUE_TYPES) }),
    "value_type is the condition's domain",
  ),
  signature: optional(table({ scheme: oneOf("ed25519"), key_id: name, signature: text })),
  anchor: optional(table({ anchor_type: name, anchor_value: text })),
  observed_at: optional(anyInteger, "Unix ms"),
}));

/** Evidence of the caller, where the list of tools has shown it before. */
export const briefedEvidence = briefly(
  callerEvidence,
  "[{condition_id, value: {value, value_type}, retention, ...}], as in scenario_evaluate_stage",
);
