/**
 * The work of deciding a record again, beyond its own bytes (docs/format/runpack.md "Budget"). It follows from sizes
 * that are known before the decision, so every verifier counts alike. A pack that names one large object repeatedly is
 * charged each time.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { Condition, EntryPacket } from "../../law/types.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import { asJson } from "../../run/primitives.ts";
import type { Program } from "../../run/program.ts";
import type { RecordedEvidence, RunRecord } from "../../run/types.ts";
import type { ValueLine } from "../format/types.ts";

/** Work for a line of a trace beside its path and name, and for a binding beside its id. */
const LINE_BYTES = 64;
/** Work for an intent beside its packet. */
const INTENT_BYTES = 512;
/** Work for verifying a signature in all of its forms. */
const SIGNATURE_WORK = 32_768;

/** Sizes of the objects that a record names; 0 where the pack does not hold them. */
export interface NamedSizes {
  /** Size of the operator profile of the record. */
  readonly profile: number;
  /** Size of a value or payload of the segment. */
  readonly value: (kind: ValueLine["kind"], identity: Identity) => number;
  /** Size of the schema of an item's verdict. */
  readonly schema: (item: RecordedEvidence) => number;
}

/** Counts the work on the records of one law. */
export type ReplayWork = (record: RunRecord, sizes: NamedSizes) => number;

/** Creates the counter of a law. */
export function replayWork(law: CompiledLaw): ReplayWork {
  const completion = traceWork(law.completion);
  const prerequisites = law.stages.map(({ prerequisite }) => prerequisite === null ? 0 : traceWork(prerequisite));
  const evaluations = law.stages.map((stage, index) =>
    [...law.dependants[index] ?? []].reduce(
      (sum, dependant) => sum + (prerequisites[dependant] ?? 0),
      completion + evaluationWork(stage),
    )
  );
  const openings = new Map<number, OpeningWork>();
  const conditions = new Map<string, number>();
  const openingOf = (index: number, stage: CompiledStage): OpeningWork => {
    const known = openings.get(index) ?? openingWork(stage);
    openings.set(index, known);
    return known;
  };
  const conditionOf = (id: string): number => {
    const known = conditions.get(id) ?? sizeOf(law.conditionIndex.get(id)?.condition);
    conditions.set(id, known);
    return known;
  };
  return (record, sizes) => {
    switch (record.record_kind) {
      case "run_created": {
        const { genesis } = record.body;
        return genesis.kind === "declared" ? sizes.value("payload", genesis.payload_identity) : 0;
      }
      case "artifact_submitted": {
        const { payload_identity, evidence } = record.body;
        const size = sizes.value("payload", payload_identity);
        return evidence === undefined
          ? size
          : size + sizes.profile + SIGNATURE_WORK + conditionOf(evidence.condition_id);
      }
      case "stage_opened": {
        const index = law.stageIndex.get(record.body.stage_id) ?? -1;
        const stage = law.stages[index];
        if (stage === undefined) return 0;
        const { fixed, looks } = openingOf(index, stage);
        return fixed + looks * sizes.profile;
      }
      case "stage_evaluated": {
        const { stage_id, evidence } = record.body;
        const stage = evaluations[law.stageIndex.get(stage_id) ?? -1] ?? 0;
        return evidence.reduce(
          (sum, item) => sum + conditionOf(item.condition_id) + itemWork(item, sizes),
          stage,
        );
      }
    }
  };
}

function itemWork(item: RecordedEvidence, { profile, value, schema }: NamedSizes): number {
  const { value_identity, signature, schema_verdict } = item;
  return profile + (value_identity === undefined ? 0 : value("evidence-value", value_identity)) +
    (signature === undefined ? 0 : SIGNATURE_WORK) + (schema_verdict === undefined ? 0 : schema(item));
}

function sizeOf(condition: Condition | undefined): number {
  return condition === undefined ? 0 : utf8Length(canonicalize(asJson(condition)));
}

/** Work for the trace of a requirement: its leaf visits with their paths and names. */
function traceWork({ paths, visits, slots }: Program): number {
  return paths.reduce(
    (sum, path, visit) => sum + LINE_BYTES + path.length + utf8Length(slots[visits[visit] ?? -1] ?? ""),
    0,
  );
}

function evaluationWork({ completion, bindings }: CompiledStage): number {
  return bindings.reduce((sum, { binding_id }) => sum + LINE_BYTES + utf8Length(binding_id), traceWork(completion));
}

/** Work for an opening: by itself, and for each pass over the operator's policy. */
interface OpeningWork {
  readonly fixed: number;
  readonly looks: number;
}

function openingWork({ stage, prerequisite }: CompiledStage): OpeningWork {
  let fixed = prerequisite === null ? 0 : traceWork(prerequisite);
  let looks = 0;
  for (const packet of stage.entry_packets) {
    const intents = Math.max(1, packet.targets.length);
    fixed += intents * (packetSize(packet) + INTENT_BYTES);
    looks += intents * (1 + packet.visibility_labels.length + packet.policy_tags.length);
  }
  return { fixed, looks };
}

function packetSize({ targets: _targets, ...packet }: EntryPacket): number {
  return utf8Length(canonicalize(asJson(packet)));
}
