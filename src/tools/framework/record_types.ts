/**
 * The types of heads, attempts, evidence and records in results. Those of records follow from the shape of records; the
 * others are written here, once and closed.
 */

import { type JsonObject, member } from "../../canonical/json.ts";
import {
  annotated,
  anyInteger,
  anyOf,
  boolean,
  closed,
  identity,
  object,
  oneOf,
  operationIdentity,
  published,
  schemaOf,
  text,
} from "../../canonical/shape.ts";
import { CHANNELS } from "../../law/decode_policy.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";
import { PREDICATE_NAMES } from "../../law/value/predicates.ts";
import { ITEM, ITEM_DETAILS, recordShape } from "../../run/record_shapes.ts";
import { arrayOf, kleene, type Output, type Outputs, outputSchemas, ref, texts } from "./output.ts";

/** The types of specs that results have too: domains, targets, typed values. */
const SPEC_TYPES = member(SPEC_SCHEMA, "$defs") as JsonObject;

/** A member of the policy on evidence, as in specs. */
function ofPolicy(name: string): Output {
  const members = member(SPEC_TYPES["policy"] as JsonObject, "properties") as JsonObject;
  return published(members[name] as JsonObject);
}

/** The states of a stage. */
export const CLASSIFICATION: Output = oneOf("blocked", "ready_unopened", "open_incomplete", "complete");
/** The states of a run. */
export const RUN_STATUS: Output = oneOf("active", "complete");
/** The trust lanes of evidence. */
export const LANE: Output = oneOf("verified", "asserted");
/** The members that name a run. */
export const RUN_MEMBERS: Outputs = { namespace_id: anyInteger, run_id: operationIdentity };

/** Parts of results that no record has. */
const PARTS: Outputs = {
  archived: closed({ runpack_identity: identity, archived_instant: anyInteger }),
  next: annotated(arrayOf(closed({ tool: text, arguments_hint: object, why: text })), {
    description: "Calls that help, with the arguments that are known",
  }),
};

const TRACE_MEMBERS: Outputs = { path: text, condition_id: text, value: kleene };
const TRACE_REASON: Outputs = {
  reason: oneOf("no_evidence", "disagreement", "unqualified", "type_mismatch", "error", "parameter_missing"),
};
const ATTEMPT_MEMBERS: Outputs = {
  attempt_number: anyInteger,
  record_id: identity,
  stage_id: text,
  outcome: kleene,
  completed: boolean,
};
const ATTEMPT_DETAILS: Outputs = {
  causes: arrayOf(ref("unmet_cause")),
  met: arrayOf(ref("unmet_cause")),
  not_needed: arrayOf(ref("unmet_cause")),
  missing: arrayOf(ref("stage_missing")),
  trace_left_out: anyInteger,
  evidence_left_out: anyInteger,
  causes_left_out: anyInteger,
  met_left_out: anyInteger,
  not_needed_left_out: anyInteger,
};
const SETS = { sets: arrayOf(arrayOf(ref("needed"))), complete: boolean };

/** Evaluations: their trace and evidence, and what is missing. */
const EVALUATION_PARTS: Outputs = {
  trace_item: closed(TRACE_MEMBERS, TRACE_REASON),
  explained_item: closed(TRACE_MEMBERS, {
    ...TRACE_REASON,
    error: ref("observed_error"),
    assumptions: arrayOf(
      oneOf("acquired", "anchored", "signed", "fresh", "lane_not_tested", "signature_not_bound"),
    ),
  }),
  evidence_item: closed(ITEM, ITEM_DETAILS),
  attempt: closed(
    { ...ATTEMPT_MEMBERS, trace: arrayOf(ref("trace_item")), evidence: arrayOf(ref("evidence_item")) },
    ATTEMPT_DETAILS,
  ),
  shown_attempt: closed(ATTEMPT_MEMBERS, {
    trace: arrayOf(ref("trace_item")),
    evidence: arrayOf(ref("shown_item")),
    withheld: oneOf(true),
    ...ATTEMPT_DETAILS,
  }),
  unmet_cause: closed({ condition_id: text, value: kleene }, {
    ...TRACE_REASON,
    needed: oneOf(false),
    cause: texts,
    files: texts,
    asked: texts,
    hidden_by: texts,
    counts: closed({ holds: anyInteger, fails: anyInteger, needed: anyInteger }),
    signed: texts,
    refused: arrayOf(ref("refusal")),
    may: texts,
    found: texts,
    sentence: text,
  }),
  refusal: closed({ key_id: text, observed_at: anyInteger }, { withdrawn: oneOf(true), comment: text }),
  shown_item: closed({ ...ITEM, lane: LANE }, { ...ITEM_DETAILS, value: ref("typed") }),
  needed: closed({ condition_id: text, needed: boolean, sentence: text }),
  stage_missing: closed({ stage_id: text, ...SETS, evidence: arrayOf(ref("counting_evidence")) }, {
    evidence_left_out: anyInteger,
    classification: CLASSIFICATION,
    waits_for: closed({ sets: arrayOf(texts), complete: boolean }),
  }),
  counting_evidence: closed({
    condition_id: text,
    channels: arrayOf(oneOf(...CHANNELS)),
    domain: ref("domain"),
    predicate: closed({ predicate: oneOf(...PREDICATE_NAMES) }, {
      expected: anyOf(ref("member"), arrayOf(ref("member")), ref("relative")),
    }),
    retention: oneOf("RetainCanonicalValue", "RetainDigestOnly"),
    policy: closed({}, {
      authorization: ofPolicy("authorization"),
      authorized_key_ids: texts,
      authorized_key_ids_left_out: anyInteger,
      combination: ofPolicy("combination"),
      freshness: ofPolicy("freshness"),
      independence: ofPolicy("independence"),
      integrity: ofPolicy("integrity"),
      required_assurance: ofPolicy("required_assurance"),
      requires_all_bindings: oneOf(true),
    }),
  }, {
    minimum_lane: oneOf("verified"),
    bindings: arrayOf(closed({ binding_id: text, provider_id: text, check_id: text })),
  }),
};

/** The types of records, of this module and of specs, by name. */
export function recordTypes(): JsonObject {
  return { ...schemaOf(recordShape, false).named, ...outputSchemas({ ...PARTS, ...EVALUATION_PARTS }), ...SPEC_TYPES };
}
