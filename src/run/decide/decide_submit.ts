/** Decides a submission. It stores an artifact and changes no stage. */

import { isJsonContentType, isMediaType } from "../../law/content_type.ts";
import type { Decision, Environment, Stamps, SubmitCommand } from "../command.ts";
import type { CompiledLaw } from "../compile.ts";
import { maximumPayloadBytes } from "../evidence.ts";
import { BASE64, hashPayload } from "../payload.ts";
import { buildRecord } from "../record.ts";
import { checkHead, refusal } from "../refusal.ts";
import { accept } from "./accept.ts";
import { admitSubmission, isEvidenceContentType } from "../submitted_evidence.ts";
import type { RunState } from "../types.ts";

function refuseScope(law: CompiledLaw, state: RunState, command: SubmitCommand): Decision | null {
  const { scope } = command;
  if (scope.kind === "run_wide") return null;
  const { stage_id } = scope;
  const stage = state.stages[law.stageIndex.get(stage_id) ?? -1];
  if (stage === undefined) return refusal("stage_not_open", { stage_id, reason: "stage_not_found" });
  if (stage.stage_open_record_id === null) {
    return refusal("stage_not_open", { stage_id, classification: stage.classification });
  }
  if (stage.stage_open_record_id === scope.stage_open_record_id) return null;
  return refusal("stage_open_mismatch", { stage_id, stage_open_record_id: stage.stage_open_record_id });
}

function refuseContentType({ content_type, payload }: SubmitCommand): Decision | null {
  if (!isMediaType(content_type)) {
    return refusal("content_type_rejected", { content_type, reason: "not_a_media_type", expected: "type/subtype" });
  }
  const isJson = isJsonContentType(content_type);
  if (payload.kind === "json" && !isJson) {
    const expected = "application/json or a +json type for a json payload";
    return refusal("content_type_rejected", { content_type, reason: "payload_mismatch", expected });
  }
  if (payload.kind === "bytes" && isJson) {
    const expected = "a type that is not JSON for a bytes payload";
    return refusal("content_type_rejected", { content_type, reason: "payload_mismatch", expected });
  }
  return null;
}

/** Whether a submission is evidence. Records of `gate-kernel-1` keep its content type as that of any other artifact. */
export function submitsEvidence(
  { content_type }: Pick<SubmitCommand, "content_type">,
  { procedure }: Environment,
): boolean {
  return procedure !== "gate-kernel-1" && isEvidenceContentType(content_type);
}

/** Evidence waits for a stage that can still be evaluated. */
function refuseClosedStage(
  law: CompiledLaw,
  state: RunState,
  command: SubmitCommand,
  environment: Environment,
): Decision | null {
  const { scope } = command;
  if (scope.kind !== "stage_open" || !submitsEvidence(command, environment)) return null;
  const { stage_id } = scope;
  const classification = state.stages[law.stageIndex.get(stage_id) ?? -1]?.classification ?? "blocked";
  if (state.status === "complete") {
    return refusal("stage_not_open", { stage_id, classification, reason: "run_complete" });
  }
  return classification === "open_incomplete" ? null : refusal("stage_not_open", { stage_id, classification });
}

/**
 * Decides a submission: outcomes `accepted`, `stale`, `stage_not_open`, `stage_open_mismatch`, `content_type_rejected`,
 * `payload_rejected`. The scope of a stage stays valid after the stage is complete: it is bound to the record that
 * opened the stage. Evidence that waits needs a stage that is open.
 */
export function decideSubmit(
  law: CompiledLaw,
  state: RunState,
  command: SubmitCommand,
  stamps: Stamps,
  environment: Environment,
): Decision {
  const refused = checkHead(state, command.expected_head) ?? refuseScope(law, state, command) ??
    refuseContentType(command) ?? refuseClosedStage(law, state, command, environment);
  if (refused !== null) return refused;
  const payload = hashPayload(environment.primitives.sha256, command.payload);
  if (payload === null) {
    return refusal("payload_rejected", { reason: "base64_invalid", expected: BASE64 });
  }
  const maximum_bytes = maximumPayloadBytes(law, environment.profile);
  if (payload.bytes > maximum_bytes) {
    return refusal("payload_rejected", { reason: "payload_too_large", maximum_bytes, bytes: payload.bytes });
  }
  const { content_type, scope } = command;
  const evidence = submitsEvidence(command, environment)
    ? admitSubmission(law, state, command, stamps, environment)
    : null;
  if (evidence !== null && "code" in evidence) {
    return refusal("payload_rejected", { reason: "evidence_invalid", ...evidence });
  }
  const submission = {
    content_hash: payload.content_hash,
    content_type,
    ...evidence === null ? {} : { evidence },
    payload_identity: payload.identity,
    scope,
  };
  const decided = buildRecord(
    environment,
    state,
    state.run_key,
    command,
    stamps,
    "artifact_submitted",
    submission,
    [{ kind: "payload", identity: payload.identity, body: payload.text }],
  );
  return accept(law, state, decided);
}
