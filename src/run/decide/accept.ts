/**
 * Accepts a decided record: the state after it, and the result of its operation. The result follows from both, so a
 * verifier derives it from a record in the same way.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { DecidedRecord, Decision } from "../command.ts";
import type { CompiledLaw } from "../compile.ts";
import { attemptOf, fold } from "../fold.ts";
import { readyFrontier } from "../frontier.ts";
import { asJson } from "../primitives.ts";
import type { RunRecord, RunState } from "../types.ts";

type RunCreated = Extract<RunRecord, { record_kind: "run_created" }>;

/** The acceptance of a record after `state`. */
export function accept(law: CompiledLaw, state: RunState | null, decided: DecidedRecord): Decision {
  const { record, record_id } = decided;
  const after = fold(law, state, record, record_id);
  const result = record.record_kind === "run_created"
    ? creationResult(record, record_id)
    : operationResult(law, record, record_id, after);
  return { outcome: "accepted", records: [decided], state: after, result };
}

/** The result of a creation, from its record. */
export function creationResult(record: RunCreated, recordId: Identity): JsonObject {
  const { acceptance_time, admission, invocation_identity, operation, revision, run_key, body } = record;
  return asJson({
    acceptance_time,
    admission,
    correlation: body.correlation,
    creation_request_id: operation.identity,
    genesis: body.genesis,
    head: { record_id: recordId, revision },
    invocation_identity,
    run_key,
    scenario_law_identity: body.scenario_law_identity,
  }) as JsonObject;
}

/** The result of any other operation, from its record and the state after it. */
export function operationResult(
  law: CompiledLaw,
  record: Exclude<RunRecord, RunCreated>,
  recordId: Identity,
  after: RunState,
): JsonObject {
  return asJson({
    accepted_head: { record_id: recordId, revision: record.revision },
    operation_id: record.operation,
    invocation_identity: record.invocation_identity,
    acceptance_time: record.acceptance_time,
    admission: record.admission,
    ...ownMembers(law, record, recordId, after),
  }) as JsonObject;
}

function ownMembers(
  law: CompiledLaw,
  record: Exclude<RunRecord, RunCreated>,
  recordId: Identity,
  after: RunState,
): object {
  switch (record.record_kind) {
    case "stage_opened": {
      const { stage_id, intents } = record.body;
      const packets = law.stages[law.stageIndex.get(stage_id) ?? -1]?.stage.entry_packets ?? [];
      const payloads = new Map(packets.map(({ packet_id, payload }) => [packet_id, payload]));
      const entry_intents = intents.map((intent) => {
        const payload = payloads.get(intent.packet_id);
        return payload === undefined ? intent : { ...intent, payload };
      });
      return { stage_id, stage_open_record_id: recordId, entry_intents, ready_frontier: readyFrontier(after) };
    }
    case "stage_evaluated": {
      const attempt = attemptOf(record, recordId);
      const { stage_id } = record.body;
      return { stage_id, attempt, ready_frontier: readyFrontier(after), run_status: after.status };
    }
    case "artifact_submitted": {
      const { time_source: _time, ...submission } = record.body;
      return { submission: { record_id: recordId, ...submission } };
    }
  }
}
