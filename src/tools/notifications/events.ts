/**
 * The events of accepted records, as receivers of webhooks get them (docs/guide/notifications.md). An event has
 * identifiers and no values.
 */

import type { JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import type { OutboxEntry } from "../../store/outbox.ts";
import { member } from "../../store/record_check.ts";

/** A type of event. */
export type EventType = "stage.opened" | "stage.held" | "stage.completed" | "stage.waiting" | "run.completed";

/** One event. */
export interface WebhookEvent {
  /** The header `webhook-id`: record and type. */
  readonly id: string;
  readonly type: EventType;
  /** When the record was accepted, in Unix milliseconds. */
  readonly instant: number;
  /** The JSON text that is sent. */
  readonly body: string;
}

/** The events of a record; none for a record that is no opening and no evaluation. */
export async function eventsOf(
  entry: OutboxEntry,
  lawOf: (namespaceId: number, identity: Identity) => Promise<CompiledLaw | null>,
): Promise<readonly WebhookEvent[]> {
  const { family, run_key: { namespace_id, run_id }, scenario_id, scenario_law_identity, revision, record_id } = entry;
  if (family !== "open_stage" && family !== "evaluate_stage") return [];
  const result = readJson(entry.result);
  const stageId = member(result, "stage_id");
  const instant = member(member(result, "acceptance_time"), "accepted_audit_instant");
  if (typeof stageId !== "string" || typeof instant !== "number") return [];
  const law = await lawOf(namespace_id, scenario_law_identity);
  const stage = law?.stages[law.stageIndex.get(stageId) ?? -1];
  return typesOf(family, result, stage).map((type, index) => {
    const data = { namespace_id, run_id, scenario_id, scenario_law_identity, revision, event: index, record_id };
    const of = type === "run.completed" ? data : { ...data, stage_id: stageId };
    const body = JSON.stringify({ type, timestamp: new Date(instant).toISOString(), data: of });
    return { id: `${record_id}:${type}`, type, instant, body };
  });
}

function typesOf(
  family: "open_stage" | "evaluate_stage",
  result: JsonValue,
  stage: CompiledStage | undefined,
): readonly EventType[] {
  if (family === "open_stage") {
    return stage?.acceptsSubmissions === true ? ["stage.opened", "stage.waiting"] : ["stage.opened"];
  }
  const attempt = member(result, "attempt");
  const isRunComplete = member(result, "run_status") === "complete";
  if (member(attempt, "completed") === true) {
    return isRunComplete ? ["stage.completed", "run.completed"] : ["stage.completed"];
  }
  return waitsForStatements(member(attempt, "trace"), stage) ? ["stage.held", "stage.waiting"] : ["stage.held"];
}

/** Whether a condition that statements can meet is not met. */
function waitsForStatements(trace: unknown, stage: CompiledStage | undefined): boolean {
  if (stage?.acceptsSubmissions !== true || !Array.isArray(trace)) return false;
  const waiting = new Set(
    stage.conditions.filter(({ condition }) =>
      condition.evidence_use_policy.allowed_channels.includes("accepted_submission")
    ).map(({ condition }) => condition.condition_id),
  );
  return trace.some((line) => waiting.has(String(member(line, "condition_id"))) && member(line, "value") !== "true");
}
