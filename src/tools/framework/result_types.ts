/**
 * The types that results of tools share, each written once and closed. `docs/reference/tools` and the resources
 * `gate://schemas/<tool>` publish them; every answer of the tests is validated against them.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { CLAIM_NAMES } from "../../runpack/verify/claims.ts";
import { BUDGET_MEMBERS, MATERIAL_RESOLUTION, PROFILES, UNAVAILABLE_REASONS } from "../../runpack/verify/types.ts";
import { TOOL_ERROR_CODES, TOOL_ERROR_KINDS } from "./errors.ts";
import { OUTCOME_TYPES } from "./outcome_types.ts";
import {
  BOOLEAN,
  closed,
  IDENTITY,
  INTEGER,
  listOf,
  type Members,
  OBJECT,
  oneOfNames,
  orNull,
  ref,
  TEXT,
  TEXTS,
  variants,
} from "./output.ts";
import { LANE, RECORD_TYPES } from "./record_types.ts";

/** The members of a check of a provider. */
export const CHECK_MEMBERS: Members = {
  check_id: TEXT,
  params_required: BOOLEAN,
  params_schema: {},
  result_schema: {},
  allowed_comparators: TEXTS,
  determinism: oneOfNames("deterministic", "time_dependent", "external"),
  anchor_types: TEXTS,
  content_types: TEXTS,
  examples: listOf(closed({ description: TEXT, params: {}, result: {} })),
};

const METHOD: Members = { method: TEXT };

/** Registered documents, reports and errors. */
const DOCUMENTS: JsonObject = {
  schema_record: closed({
    schema_id: TEXT,
    version: TEXT,
    namespace_id: INTEGER,
    schema: OBJECT,
    created_at: closed({ kind: { const: "unix_millis" }, value: INTEGER }),
  }, { description: TEXT, signing: closed({ key_id: TEXT, signature: TEXT }, { algorithm: TEXT }) }),
  waiting: closed({
    stage_id: TEXT,
    condition_id: TEXT,
    have: INTEGER,
    needed: INTEGER,
    keys: listOf(closed({ key_id: TEXT, public_key: TEXT })),
  }, { disagree: { const: true } }),
  contract: closed({
    provider_id: TEXT,
    name: TEXT,
    description: TEXT,
    transport: oneOfNames("builtin", "mcp", "typed"),
    config_schema: {},
    checks: listOf(closed({ description: TEXT, ...CHECK_MEMBERS })),
    notes: TEXTS,
  }),
  queried: closed({
    value: orNull(ref("found_value")),
    lane: LANE,
    error: orNull(ref("observed_error")),
    evidence_hash: orNull(ref("hash")),
    evidence_ref: orNull(closed({ uri: TEXT })),
    evidence_anchor: orNull(ref("anchor")),
    signature: orNull(ref("signature")),
    content_type: orNull(TEXT),
  }, { observed_at: INTEGER, withheld: { const: true } }),
  found_value: variants(
    closed({ kind: { const: "json" }, value: {} }),
    closed({ kind: { const: "bytes" }, base64: TEXT }),
  ),
  report: closed({
    assumptions: TEXTS,
    budget: closed(Object.fromEntries(BUDGET_MEMBERS.map((name) => [name, INTEGER]))),
    claims: listOf(closed({ claim: oneOfNames(...CLAIM_NAMES), status: ref("claim_status") })),
    material_resolution: { const: MATERIAL_RESOLUTION },
    profile: oneOfNames(...PROFILES),
    report_identity: IDENTITY,
    request_identity: IDENTITY,
    runpack_identity: orNull(IDENTITY),
    trusted_bases: TEXTS,
    verifier_procedure: TEXT,
  }),
  claim_status: variants(
    closed({ status: { const: "satisfied" }, ...METHOD }),
    closed({ status: { const: "violated" }, ...METHOD, reason: TEXT }),
    closed({ status: { const: "unavailable" }, reason: oneOfNames(...UNAVAILABLE_REASONS) }),
    closed({ status: { const: "not_requested" } }),
  ),
  error: closed({
    code: oneOfNames(...TOOL_ERROR_CODES),
    kind: oneOfNames(...TOOL_ERROR_KINDS),
    message: TEXT,
    retryable: BOOLEAN,
  }, { details: { type: "object", properties: { next: ref("next") } } }),
};

/** Every shared type, by name. */
export const RESULT_TYPES: JsonObject = { ...RECORD_TYPES, ...OUTCOME_TYPES, ...DOCUMENTS };

/** The optional members beside the trace of a precheck. */
export const PRECHECK_MEMBERS: Members = {
  causes: listOf(ref("unmet_cause")),
  missing: listOf(ref("stage_missing")),
  trace_left_out: INTEGER,
  causes_left_out: INTEGER,
};
