/**
 * The types that results of tools share, each written once and closed. `docs/reference/tools` and the resources
 * `gate://schemas/<tool>` publish them; every answer of the tests is validated against them.
 */

import type { JsonObject } from "../../canonical/json.ts";
import { CLAIM_NAMES } from "../../runpack/verify/claims.ts";
import { BUDGET_MEMBERS, MATERIAL_RESOLUTION, PROFILES, UNAVAILABLE_REASONS } from "../../runpack/verify/types.ts";
import { TOOL_ERROR_CODES, TOOL_ERROR_KINDS } from "./errors.ts";
import { OUTCOME_TYPES } from "./outcome_types.ts";
import {
  anyInteger,
  anyOf,
  anything,
  boolean,
  closed,
  identity,
  object,
  oneOf,
  orNull,
  published,
  text,
} from "../../canonical/shape.ts";
import { arrayOf, type Outputs, outputSchemas, ref, texts } from "./output.ts";
import { LANE, recordTypes } from "./record_types.ts";

/** The members of a check of a provider. */
export const CHECK_MEMBERS: Outputs = {
  check_id: text,
  params_required: boolean,
  params_schema: anything,
  result_schema: anything,
  allowed_comparators: texts,
  determinism: oneOf("deterministic", "time_dependent", "external"),
  anchor_types: texts,
  content_types: texts,
  examples: arrayOf(closed({ description: text, params: anything, result: anything })),
};

const METHOD: Outputs = { method: text };

/** Registered documents, reports and errors. */
const DOCUMENTS: Outputs = {
  schema_record: closed({
    schema_id: text,
    version: text,
    namespace_id: anyInteger,
    schema: object,
    created_at: closed({ kind: oneOf("unix_millis"), value: anyInteger }),
  }, { description: text, signing: closed({ key_id: text, signature: text }, { algorithm: text }) }),
  waiting: closed({
    stage_id: text,
    condition_id: text,
    sentence: text,
    have: anyInteger,
    needed: anyInteger,
    keys: arrayOf(closed({ key_id: text, public_key: text })),
  }, {
    disagree: oneOf(true),
    no_key: oneOf(true),
    signed: texts,
    refused: arrayOf(ref("refusal")),
  }),
  contract: closed({
    provider_id: text,
    name: text,
    description: text,
    transport: oneOf("builtin", "mcp", "typed"),
    config_schema: anything,
    checks: arrayOf(closed({ description: text, ...CHECK_MEMBERS })),
    notes: texts,
  }),
  queried: closed({
    value: orNull(ref("found_value")),
    lane: LANE,
    error: orNull(ref("observed_error")),
    evidence_hash: orNull(ref("hash")),
    evidence_ref: orNull(closed({ uri: text })),
    evidence_anchor: orNull(ref("anchor")),
    signature: orNull(ref("signature")),
    content_type: orNull(text),
  }, { observed_at: anyInteger, withheld: oneOf(true) }),
  found_value: anyOf(
    closed({ kind: oneOf("json"), value: anything }),
    closed({ kind: oneOf("bytes"), base64: text }),
  ),
  report: closed({
    assumptions: texts,
    budget: closed(Object.fromEntries(BUDGET_MEMBERS.map((name) => [name, anyInteger]))),
    claims: arrayOf(closed({ claim: oneOf(...CLAIM_NAMES), status: ref("claim_status") })),
    material_resolution: oneOf(MATERIAL_RESOLUTION),
    profile: oneOf(...PROFILES),
    report_identity: identity,
    request_identity: identity,
    runpack_identity: orNull(identity),
    trusted_bases: texts,
    verifier_procedure: text,
  }),
  claim_status: anyOf(
    closed({ status: oneOf("satisfied"), ...METHOD }),
    closed({ status: oneOf("violated"), ...METHOD, reason: text }),
    closed({ status: oneOf("unavailable"), reason: oneOf(...UNAVAILABLE_REASONS) }),
    closed({ status: oneOf("not_requested") }),
  ),
  error: closed({
    code: oneOf(...TOOL_ERROR_CODES),
    kind: oneOf(...TOOL_ERROR_KINDS),
    message: text,
    retryable: boolean,
  }, { details: published({ type: "object", properties: { next: { $ref: "#/$defs/next" } } }) }),
};

let types: JsonObject | undefined;

/** Every shared type, by name; built when a schema is first read whole. */
export function sharedTypes(): JsonObject {
  return types ??= { ...recordTypes(), ...outputSchemas({ ...OUTCOME_TYPES, ...DOCUMENTS }) };
}

/** The optional members beside the trace of a precheck. */
export const PRECHECK_MEMBERS: Outputs = {
  causes: arrayOf(ref("unmet_cause")),
  met: arrayOf(ref("unmet_cause")),
  not_needed: arrayOf(ref("unmet_cause")),
  missing: arrayOf(ref("stage_missing")),
  trace_left_out: anyInteger,
  causes_left_out: anyInteger,
  met_left_out: anyInteger,
  not_needed_left_out: anyInteger,
};
