import type { Identity } from "../../canonical/identity.ts";
import type { Payload } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { RecordedEvidence, RunRecord } from "../../run/types.ts";
import { readPayload, readTypedValue, type SegmentValues } from "./material_values.ts";
import { RECORD_VALUES_BYTES } from "../format/types.ts";
import type { StepValues, ValueGap } from "./step.ts";

/** Whether the value of an item is looked up; null where it names none, otherwise the reason. */
function gapOf(
  { value_identity, condition_id, retention }: RecordedEvidence,
  withheld: ReadonlySet<string>,
): ValueGap | "value" | null {
  if (value_identity === undefined) return null;
  if (retention === "RetainDigestOnly") return "value_not_retained";
  return withheld.has(condition_id) ? "value_withheld" : "value";
}

/** Whether the values that the items of a record name can be held in memory together. */
export function areBounded(record: RunRecord, held: SegmentValues, withheld: ReadonlySet<string>): boolean {
  if (record.record_kind !== "stage_evaluated") return true;
  const named = record.body.evidence.filter((item) => gapOf(item, withheld) === "value");
  const identities = new Set(named.map(({ value_identity = "" }) => value_identity));
  const bytes = [...identities].reduce((sum, identity) => sum + held.size("evidence-value", identity), 0);
  return bytes <= RECORD_VALUES_BYTES;
}

/** The values that a record names, each looked up once. */
export async function stepValues(
  record: RunRecord,
  held: SegmentValues,
  withheld: ReadonlySet<string>,
): Promise<StepValues> {
  if (record.record_kind === "stage_evaluated") {
    // Thousands of items may name one value, so it is held once.
    const read = new Map<Identity, TypedValue | ValueGap>();
    const evidence: (TypedValue | ValueGap | null)[] = [];
    for (const item of record.body.evidence) {
      const gap = gapOf(item, withheld);
      if (gap !== "value") {
        evidence.push(gap);
        continue;
      }
      const identity = item.value_identity ?? "";
      const body = read.has(identity) ? null : await held.body("evidence-value", identity);
      const value = read.get(identity) ?? (body === null ? null : readTypedValue(body)) ?? "value_not_retained";
      read.set(identity, value);
      evidence.push(value);
    }
    return { evidence, payload: null };
  }
  if (record.record_kind === "artifact_submitted" && withheld.has(record.body.evidence?.condition_id ?? "")) {
    return { evidence: [], payload: "value_withheld" };
  }
  const named = record.record_kind === "artifact_submitted"
    ? record.body.payload_identity
    : record.record_kind === "run_created" && record.body.genesis.kind === "declared"
    ? record.body.genesis.payload_identity
    : null;
  const body = named === null ? null : await held.body("payload", named);
  const payload: Payload | null = body === null ? null : readPayload(body);
  return { evidence: [], payload };
}
