import type { PackView, ViewedRecord } from "./material_view.ts";

/** The relation of two packs. */
export type PackRelation = "same" | "same_records" | "first_continues" | "second_continues" | "forked" | "other_run";

/** A record in brief. */
export interface RecordSummary {
  readonly revision: number;
  readonly record_id: string;
  readonly summary: string;
}

/** A comparison of two packs. */
export interface PackComparison {
  readonly relation: PackRelation;
  /** Records that both have, counted from the first. */
  readonly shared_records: number;
  readonly only_first: readonly RecordSummary[];
  readonly only_second: readonly RecordSummary[];
  /** Differing members of the manifests, apart from those that follow from the records. */
  readonly differences: readonly { readonly what: string; readonly first: string; readonly second: string }[];
}

/** Compares two packs by their records. Neither of them is verified here. */
export function comparePacks(first: PackView, second: PackView): PackComparison {
  const least = Math.min(first.records.length, second.records.length);
  let shared = 0;
  while (shared < least && first.records[shared]?.record_id === second.records[shared]?.record_id) shared++;
  return {
    relation: relationOf(first, second, shared),
    shared_records: shared,
    only_first: first.records.slice(shared).map(summaryOf),
    only_second: second.records.slice(shared).map(summaryOf),
    differences: differencesOf(first, second),
  };
}

function relationOf(first: PackView, second: PackView, shared: number): PackRelation {
  if (first.runpack_identity === second.runpack_identity) return "same";
  const a = first.manifest.run_key;
  const b = second.manifest.run_key;
  if (a.namespace_id !== b.namespace_id || a.run_id !== b.run_id) return "other_run";
  const left = first.records.length;
  const right = second.records.length;
  if (shared < Math.min(left, right)) return "forked";
  if (left === right) return "same_records";
  return left > right ? "first_continues" : "second_continues";
}

function differencesOf(first: PackView, second: PackView): PackComparison["differences"] {
  const rows = [
    ["namespace", first.manifest.run_key.namespace_id, second.manifest.run_key.namespace_id],
    ["run", first.manifest.run_key.run_id, second.manifest.run_key.run_id],
    ["scenario", first.manifest.scenario_id, second.manifest.scenario_id],
    ["law", first.manifest.scenario_law_identity, second.manifest.scenario_law_identity],
    ["stage graph", first.manifest.graph_identity, second.manifest.graph_identity],
    ["withheld", first.manifest.withheld_conditions.join(" "), second.manifest.withheld_conditions.join(" ")],
  ] as const;
  return rows.filter(([, a, b]) => a !== b).map(([what, a, b]) => ({ what, first: `${a}`, second: `${b}` }));
}

function summaryOf({ record, record_id }: ViewedRecord): RecordSummary {
  return { revision: record.revision, record_id, summary: wordsOf(record) };
}

function wordsOf(record: ViewedRecord["record"]): string {
  switch (record.record_kind) {
    case "run_created":
      return "run_created";
    case "stage_opened":
      return `stage_opened ${record.body.stage_id}`;
    case "stage_evaluated":
      return `stage_evaluated ${record.body.stage_id} ${record.body.outcome}`;
    case "artifact_submitted":
      return `artifact_submitted ${record.body.content_type}`;
  }
}
