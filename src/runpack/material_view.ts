/**
 * Reads a pack for display: its law, records and values. It reads under the same limits as a verification, and judges
 * nothing.
 */

import { identifyCanonical, type Identity } from "../canonical/identity.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { CompiledLaw } from "../run/compile.ts";
import { bindLaw, checkParameters } from "../run/parameters.ts";
import { readSubmission } from "../run/submitted_evidence.ts";
import type { SubmittedPayload } from "../run/submitted_statement.ts";
import type { RecordedEvidence, RunRecord } from "../run/types.ts";
import { readLines, readText } from "./format/canonical_text.ts";
import { constructManifest, traverseTree } from "./verify/claims/manifest.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import { constructLaw } from "./verify/claims/scenario_law_construction.ts";
import { openReading, readManifestBytes } from "./verify/object_reader.ts";
import type { MaterialPart, SegmentPart } from "./verify/object_walker.ts";
import { openValues, readPayload, readTypedValue, type SegmentValues } from "./verify/material_values.ts";
import { runpackIdentity } from "./format/manifest.ts";
import { accepted } from "../canonical/shape.ts";
import { recordShape } from "../run/record_shapes.ts";
import type { Manifest, PackSource } from "./format/types.ts";
import { createArtifacts, type PackArtifacts } from "./verify/artifacts.ts";
import { createMeter } from "./verify/budget.ts";
import { atRevision, violation } from "./verify/findings.ts";
import type { BudgetLimits, VerificationPrimitives, Violation } from "./verify/types.ts";

/** A record with its identity. */
export interface ViewedRecord {
  readonly record: RunRecord;
  readonly record_id: Identity;
  /** The payload of a submission of evidence; absent where the pack does not show it. */
  readonly statement?: SubmittedPayload;
}

/** A pack that can be shown. */
export interface PackView {
  readonly runpack_identity: Identity;
  readonly manifest: Manifest;
  readonly law: CompiledLaw;
  readonly records: readonly ViewedRecord[];
  readonly artifacts: PackArtifacts;
  /** The value of an item of evidence, or null where the pack does not show it. */
  readonly valueOf: (item: RecordedEvidence) => TypedValue | null;
  /** The revision of a record; undefined where the pack does not show it. */
  readonly revisionOf: (recordId: Identity) => number | undefined;
  /** Why a value is not shown, where the records do not come from a pack; absent for a pack. */
  readonly absence?: string;
}

/** A pack that cannot be shown completely: the reason, and the part that can be shown. */
export interface PartView {
  readonly reason: Violation | "budget_exhausted";
  /** Null without a valid manifest. */
  readonly named: Pick<PackView, "runpack_identity" | "manifest"> | null;
  /** The pack up to the point where reading stopped; null where its law is invalid or could not be read. */
  readonly part: PackView | null;
}

/**
 * Reads a pack into memory.
 *
 * @param limits As for a verification
 * @returns The pack where law and records are valid, otherwise the part of it that is
 */
export async function viewPack(
  source: PackSource,
  primitives: VerificationPrimitives,
  limits: BudgetLimits | null = null,
): Promise<PackView | PartView> {
  const bytes = await readManifestBytes(source);
  const manifest = constructManifest(bytes);
  if ("code" in manifest || typeof bytes === "string") {
    return { reason: manifest as Violation, named: null, part: null };
  }
  const named = { runpack_identity: runpackIdentity(primitives.sha256, bytes), manifest };
  const artifacts = createArtifacts(primitives);
  const values = new Map<Identity, TypedValue>();
  const withheld = new Set(manifest.withheld_conditions);
  const records: ViewedRecord[] = [];
  let lawBytes = new Uint8Array();
  const take = async (part: MaterialPart): Promise<void> => {
    if (part.part === "law") lawBytes = part.bytes.slice();
    else if (part.part === "artifact") artifacts.add(part.reference, part.bytes);
    else if (part.segment.first_revision === records.length + 1) {
      await takeSegment(primitives, part, withheld, records, values);
    }
  };
  const reading = openReading(source, primitives, createMeter(limits));
  const ended = await traverseTree(reading, manifest, "replay", take);
  const law = await lawOf(primitives, lawBytes, manifest, artifacts);
  const isWhole = ended === "whole" && records.length === manifest.head.revision;
  const reason = ended === "whole" ? violation("record_invalid", atRevision(records.length + 1)) : ended;
  if ("code" in law) return { reason: isWhole ? law : reason, named, part: null };
  const [first] = records;
  const revisions = new Map(records.map(({ record_id, record }) => [record_id, record.revision]));
  const view: PackView = {
    ...named,
    law: first === undefined ? law : lawOfRun(law, first.record),
    records,
    artifacts,
    valueOf: ({ value_identity, condition_id, retention }) => {
      if (value_identity === undefined || withheld.has(condition_id) || retention === "RetainDigestOnly") return null;
      return values.get(value_identity) ?? null;
    },
    revisionOf: (recordId) => revisions.get(recordId),
  };
  return isWhole ? view : { reason, named, part: view };
}

async function lawOf(
  primitives: VerificationPrimitives,
  bytes: Uint8Array,
  { scenario_law_identity }: Manifest,
  { contracts }: PackArtifacts,
): Promise<CompiledLaw | Violation> {
  const held = new Map([...contracts.values()].flatMap((one) => one === null ? [] : [[one.provider_id, one] as const]));
  const constructed = await constructLaw(primitives, bytes, scenario_law_identity, held);
  return "code" in constructed ? constructed : constructed.law;
}

/** The law with the values of the run; as it stands where the genesis does not give what the law declares. */
export function lawOfRun(law: CompiledLaw, record: RunRecord): CompiledLaw {
  if (record.record_kind !== "run_created") return law;
  const checked = checkParameters(law, record.body.genesis, LAW_LIMITS.maximum_value_bytes);
  return checked.ok ? bindLaw(law, checked.parameters) : law;
}

async function takeSegment(
  primitives: VerificationPrimitives,
  part: SegmentPart,
  withheld: ReadonlySet<string>,
  records: ViewedRecord[],
  values: Map<Identity, TypedValue>,
): Promise<void> {
  const held = openValues(primitives.sha256, part);
  const count = part.segment.last_revision - part.segment.first_revision + 1;
  for (const line of readLines(part.records, count) ?? []) {
    const record = accepted(recordShape, readText(line));
    if (record === null) return;
    const record_id = identifyCanonical(primitives.sha256, "run-record", line);
    const statement = await statementOf(primitives, held, withheld, record);
    records.push({ record, record_id, ...statement === null ? {} : { statement } });
    if (record.record_kind !== "stage_evaluated") continue;
    for (const { value_identity } of record.body.evidence) {
      if (value_identity === undefined || values.has(value_identity)) continue;
      const body = await held.body("evidence-value", value_identity);
      const isIt = body !== null && identifyCanonical(primitives.sha256, "evidence-value", body) === value_identity;
      const typed = isIt ? readTypedValue(body) : null;
      if (typed !== null) values.set(value_identity, typed);
    }
  }
}

/** The payload of a submission of evidence; null for any other record, and where the pack does not show it. */
async function statementOf(
  { sha256 }: VerificationPrimitives,
  held: SegmentValues,
  withheld: ReadonlySet<string>,
  record: RunRecord,
): Promise<SubmittedPayload | null> {
  if (record.record_kind !== "artifact_submitted") return null;
  const { payload_identity, evidence } = record.body;
  if (evidence === undefined || withheld.has(evidence.condition_id)) return null;
  const body = await held.body("payload", payload_identity);
  if (body === null || identifyCanonical(sha256, "payload", body) !== payload_identity) return null;
  const payload = readPayload(body);
  const read = payload === null ? null : readSubmission({ payload });
  return read === null || "code" in read ? null : read;
}
