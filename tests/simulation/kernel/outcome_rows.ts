/**
 * One row for each outcome that the kernel decides.
 *
 * @module
 */

import { encodeBase64 } from "../../../src/canonical/base64.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import type { Payload } from "../../../src/law/types.ts";
import type { Command } from "../../../src/run/command.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { Head, RunState, SubmissionScope } from "../../../src/run/types.ts";
import { createCommand, evaluateCommand, openCommand, openRecordOf, SHA256, submitCommand } from "./fixture.ts";
import { DONE, evaluate, NEW, OPEN, OVER, READY } from "./release.ts";

/** A head that no run has. */
export const ELSEWHERE: Head = { record_id: SHA256("elsewhere"), revision: 1 };
/** Disclosure is denied. */
export const DENY: Partial<OperatorProfile> = { policy: { engine: "deny_all" } };
/** A disclosure rule with the effect error matches. */
export const FAULTY: Partial<OperatorProfile> = {
  policy: { engine: "static", default: "permit", rules: [{ effect: "error", error_message: "Ask the owner" }] },
};
/** Values and payloads have at most 3 bytes. */
export const SMALL: Partial<OperatorProfile> = {
  value_limits: { maximum_value_bytes: 3, maximum_payload_bytes: 3 },
};
/** An acquisition that failed. */
export const FAILURE = { binding_id: "env-a", code: "timeout", message: "Timed out", retryable: true };
/** A payload with a number of bytes. */
export function bytes(count: number): Extract<Payload, { kind: "bytes" }> {
  return { kind: "bytes", base64: encodeBase64(new Uint8Array(count)) };
}
/** A payload with invalid base64. */
export const BAD_BASE64 = { kind: "bytes", base64: "A" } as const;
/** The scope of a stage opening. */
export function scope(stage_id: string, stage_open_record_id: string): SubmissionScope {
  return { kind: "stage_open", stage_id, stage_open_record_id };
}

/** A command at a state, the result of its refusal, and its outcome. */
export type OutcomeRow = readonly [
  name: string,
  state: RunState | null,
  command: (head: Head) => Command,
  profile: Partial<OperatorProfile>,
  result: JsonObject,
  outcome: string,
];

/** The result of a refused opening of `ship`: the packet and the ready stages. */
const RUNBOOK = {
  packet_id: "runbook",
  target: { kind: "agent", agent_id: "deployer" },
  stage_id: "ship",
  ready_frontier: ["ship", "spare"],
};

/** In the order in which the tools list their outcomes. Outcomes that precede a state are tested with the tools. */
export const ROWS: readonly OutcomeRow[] = [
  // scenario_start
  ["create a run", null, () => createCommand(), {}, {}, "accepted"],
  [
    "create with a genesis that is no base64",
    null,
    () => createCommand({ genesis: { kind: "declared", payload: BAD_BASE64 } }),
    {},
    { reason: "base64_invalid", expected: "RFC 4648 base64 with padding" },
    "genesis_rejected",
  ],
  [
    "create with a genesis of n + 1 bytes",
    null,
    () => createCommand({ genesis: { kind: "declared", payload: bytes(4) } }),
    SMALL,
    { reason: "payload_too_large", maximum_bytes: 3, bytes: 4 },
    "genesis_rejected",
  ],
  [
    "create with an empty correlation id",
    null,
    () => createCommand({ correlation: { kind: "set", correlation_id: "" } }),
    {},
    { reason: "correlation_id_invalid", expected: "1 to 128 token characters" },
    "correlation_rejected",
  ],
  // scenario_open_stage
  ["open a ready stage", NEW, (head) => openCommand(2, head, "build"), {}, { stage_id: "build" }, "accepted"],
  ["open elsewhere", NEW, () => openCommand(2, ELSEWHERE, "build"), {}, asJson(NEW.head) as JsonObject, "stale"],
  [
    "open a stage that the law lacks",
    NEW,
    (head) => openCommand(2, head, "nowhere"),
    {},
    { stage_id: "nowhere", stages: ["build", "scan", "ship", "spare"], stage_count: 4 },
    "stage_not_found",
  ],
  [
    "open a blocked stage",
    DONE,
    (head) => openCommand(2, head, "ship"),
    {},
    {
      stage_id: "ship",
      classification: "blocked",
      reason: "prerequisite",
      prerequisite_trace: [
        { path: "$.And[0]", stage_id: "build", value: "true" },
        { path: "$.And[1]", stage_id: "scan", value: "false" },
      ],
      ready_frontier: ["spare"],
    },
    "stage_not_ready",
  ],
  [
    "open anything of a complete run",
    OVER,
    (head) => openCommand(2, head, "build"),
    {},
    { stage_id: "build", classification: "complete", reason: "run_complete" },
    "stage_not_ready",
  ],
  [
    "open an open stage",
    OPEN,
    (head) => openCommand(2, head, "build"),
    {},
    {
      stage_id: "build",
      classification: "open_incomplete",
      stage_open_record_id: openRecordOf(OPEN, "build") as string,
    },
    "stage_already_opened",
  ],
  [
    "open a complete stage",
    DONE,
    (head) => openCommand(2, head, "build"),
    {},
    { stage_id: "build", classification: "complete", stage_open_record_id: openRecordOf(DONE, "build") as string },
    "stage_already_opened",
  ],
  [
    "open under a policy that denies",
    READY,
    (head) => openCommand(2, head, "ship"),
    DENY,
    { reason: "denied", ...RUNBOOK },
    "policy_denied",
  ],
  [
    "open under a policy whose rule is an error",
    READY,
    (head) => openCommand(2, head, "ship"),
    FAULTY,
    { reason: "rule_error", ...RUNBOOK, error_message: "Ask the owner" },
    "policy_denied",
  ],
  // scenario_evaluate_stage
  ["evaluate to true", OPEN, (head) => evaluate("build", "built", true)({ head } as RunState), {}, {}, "accepted"],
  [
    "evaluate to false",
    OPEN,
    (head) => evaluate("build", "built", false)({ head } as RunState),
    {},
    {},
    "accepted",
  ],
  ["evaluate without evidence", OPEN, (head) => evaluateCommand(2, head, "build"), {}, {}, "accepted"],
  [
    "evaluate elsewhere",
    OPEN,
    () => evaluateCommand(2, ELSEWHERE, "build"),
    {},
    asJson(OPEN.head) as JsonObject,
    "stale",
  ],
  [
    "evaluate a stage that the law lacks",
    OPEN,
    (head) => evaluateCommand(2, head, "nowhere"),
    {},
    { stage_id: "nowhere", stages: ["build", "scan", "ship", "spare"], stage_count: 4 },
    "stage_not_found",
  ],
  [
    "evaluate an unopened stage",
    NEW,
    (head) => evaluateCommand(2, head, "build"),
    {},
    { stage_id: "build", classification: "ready_unopened" },
    "stage_not_open",
  ],
  [
    "evaluate a blocked stage",
    NEW,
    (head) => evaluateCommand(2, head, "ship"),
    {},
    { stage_id: "ship", classification: "blocked" },
    "stage_not_open",
  ],
  [
    "evaluate a complete stage",
    DONE,
    (head) => evaluateCommand(2, head, "build"),
    {},
    { stage_id: "build", classification: "complete" },
    "stage_not_open",
  ],
  [
    "evaluate an open stage of a complete run",
    OVER,
    (head) => evaluateCommand(2, head, "spare"),
    {},
    { stage_id: "spare", classification: "open_incomplete", reason: "run_complete" },
    "stage_not_open",
  ],
  [
    "evaluate with another stage's evidence",
    OPEN,
    (head) => evaluate("build", "scanned", true)({ head } as RunState),
    {},
    {
      stage_id: "build",
      rejections: [{
        code: "condition_of_other_stage",
        message: 'Condition "scanned" is not used by stage "build": it is used by "scan"',
        path: "$.caller_evidence[0].condition_id",
      }],
    },
    "evidence_rejected",
  ],
  [
    "evaluate though an acquisition failed",
    OPEN,
    (head) => evaluateCommand(2, head, "build", { acquisition_failures: [FAILURE] }),
    {},
    { stage_id: "build", failures: [FAILURE] },
    "acquisition_failed",
  ],
  // scenario_submit
  ["submit to the run", NEW, (head) => submitCommand(2, head), {}, {}, "accepted"],
  ["submit to a complete run", OVER, (head) => submitCommand(2, head), {}, {}, "accepted"],
  [
    "submit to an open stage",
    OPEN,
    (head) => submitCommand(2, head, { scope: scope("build", openRecordOf(OPEN, "build") as string) }),
    {},
    {},
    "accepted",
  ],
  [
    "submit to a stage that is complete by now",
    DONE,
    (head) => submitCommand(2, head, { scope: scope("build", openRecordOf(DONE, "build") as string) }),
    {},
    {},
    "accepted",
  ],
  ["submit elsewhere", NEW, () => submitCommand(2, ELSEWHERE), {}, asJson(NEW.head) as JsonObject, "stale"],
  [
    "submit to an unopened stage",
    NEW,
    (head) => submitCommand(2, head, { scope: scope("build", SHA256("a")) }),
    {},
    { stage_id: "build", classification: "ready_unopened" },
    "stage_not_open",
  ],
  [
    "submit to a stage that the law lacks",
    NEW,
    (head) => submitCommand(2, head, { scope: scope("nowhere", SHA256("a")) }),
    {},
    { stage_id: "nowhere", reason: "stage_not_found" },
    "stage_not_open",
  ],
  [
    "submit to another opening",
    OPEN,
    (head) => submitCommand(2, head, { scope: scope("build", SHA256("a")) }),
    {},
    { stage_id: "build", stage_open_record_id: openRecordOf(OPEN, "build") as string },
    "stage_open_mismatch",
  ],
  [
    "submit what is no media type",
    NEW,
    (head) => submitCommand(2, head, { content_type: "json" }),
    {},
    { content_type: "json", reason: "not_a_media_type", expected: "type/subtype" },
    "content_type_rejected",
  ],
  [
    "submit a JSON value as text",
    NEW,
    (head) => submitCommand(2, head, { content_type: "text/plain" }),
    {},
    {
      content_type: "text/plain",
      reason: "payload_mismatch",
      expected: "application/json or a +json type for a json payload",
    },
    "content_type_rejected",
  ],
  [
    "submit bytes as JSON",
    NEW,
    (head) => submitCommand(2, head, { payload: bytes(1) }),
    {},
    {
      content_type: "application/json",
      reason: "payload_mismatch",
      expected: "a type that is not JSON for a bytes payload",
    },
    "content_type_rejected",
  ],
  [
    "submit bytes that are no base64",
    NEW,
    (head) => submitCommand(2, head, { content_type: "image/png", payload: BAD_BASE64 }),
    {},
    { reason: "base64_invalid", expected: "RFC 4648 base64 with padding" },
    "payload_rejected",
  ],
  [
    "submit n + 1 bytes",
    NEW,
    (head) => submitCommand(2, head, { content_type: "image/png", payload: bytes(4) }),
    SMALL,
    { reason: "payload_too_large", maximum_bytes: 3, bytes: 4 },
    "payload_rejected",
  ],
];
