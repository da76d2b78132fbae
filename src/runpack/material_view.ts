/**
 * A pack as people look at it: its law, records and values, read with the same care as for a verification, and judged
 * by nobody here.
 *
 * @module
 */

import { identifyCanonical, type Identity } from "../canonical/identity.ts";
import { isJsonObject, member } from "../canonical/json.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { CompiledLaw } from "../run/compile.ts";
import type { RecordedEvidence, RunRecord } from "../run/types.ts";
import { readLines, readText } from "./canonical_text.ts";
import { traverseTree } from "./claims/artifact_tree_integrity.ts";
import { constructLaw } from "./claims/scenario_law_construction.ts";
import { constructManifest } from "./claims/structural_format_validity.ts";
import { openReading, readManifestBytes } from "./material.ts";
import type { MaterialPart, SegmentPart } from "./material_tree.ts";
import { openValues, readTypedValue } from "./material_values.ts";
import { runpackIdentity } from "./manifest.ts";
import { procedureOf } from "./procedures.ts";
import type { Manifest, PackSource } from "./types.ts";
import { createArtifacts, type PackArtifacts } from "./verify_artifacts.ts";
import { createMeter } from "./verify_budget.ts";
import type { BudgetLimits, VerificationPrimitives, Violation } from "./verify_types.ts";

/** A record with its name. */
export interface ViewedRecord {
  readonly record: RunRecord;
  readonly record_id: Identity;
}

/** A pack that can be looked at. */
export interface PackView {
  readonly runpack_identity: Identity;
  readonly manifest: Manifest;
  readonly law: CompiledLaw;
  readonly records: readonly ViewedRecord[];
  readonly artifacts: PackArtifacts;
  /** The value of an item of evidence, or null where the pack does not show it. */
  readonly valueOf: (item: RecordedEvidence) => TypedValue | null;
}

/** Why a pack cannot be looked at. */
export interface Unviewable {
  readonly reason: Violation | "budget_exhausted";
}

/**
 * Reads a pack into memory.
 *
 * @param limits As for a verification
 * @returns The pack, or the first thing in the way; its law is one, its records have the form of records
 */
export async function viewPack(
  source: PackSource,
  primitives: VerificationPrimitives,
  limits: BudgetLimits | null = null,
): Promise<PackView | Unviewable> {
  const bytes = await readManifestBytes(source);
  const manifest = constructManifest(bytes);
  if ("code" in manifest || typeof bytes === "string") return { reason: manifest as Violation };
  const artifacts = createArtifacts(primitives);
  const values = new Map<Identity, TypedValue>();
  const records: ViewedRecord[] = [];
  let lawBytes = new Uint8Array();
  const take = async (part: MaterialPart): Promise<void> => {
    if (part.part === "law") lawBytes = part.bytes.slice();
    else if (part.part === "artifact") artifacts.add(part.reference, part.bytes);
    else await takeSegment(primitives, part, records, values);
  };
  const reading = openReading(source, primitives, createMeter(limits));
  const ended = await traverseTree(reading, manifest, "replay", take);
  if (ended !== "whole") return { reason: ended };
  const contracts = new Map(
    [...artifacts.contracts.values()].flatMap((one) => one === null ? [] : [[one.provider_id, one]]),
  );
  const constructed = await constructLaw(primitives, lawBytes, manifest.scenario_law_identity, contracts);
  if ("code" in constructed) return { reason: constructed };
  if (records.length !== manifest.head.revision) return { reason: { code: "record_invalid", place: null } };
  const withheld = new Set(manifest.withheld_conditions);
  return {
    runpack_identity: runpackIdentity(primitives.sha256, bytes),
    manifest,
    law: constructed.law,
    records,
    artifacts,
    valueOf: ({ value_identity, condition_id, retention }) => {
      if (value_identity === undefined || withheld.has(condition_id) || retention === "RetainDigestOnly") return null;
      return values.get(value_identity) ?? null;
    },
  };
}

async function takeSegment(
  primitives: VerificationPrimitives,
  part: SegmentPart,
  records: ViewedRecord[],
  values: Map<Identity, TypedValue>,
): Promise<void> {
  const held = openValues(primitives.sha256, part);
  const count = part.segment.last_revision - part.segment.first_revision + 1;
  for (const line of readLines(part.records, count) ?? []) {
    const value = readText(line);
    const procedure = isJsonObject(value) ? member(value, "procedure") : undefined;
    const record = value === undefined || typeof procedure !== "string"
      ? null
      : procedureOf(procedure)?.readRecord(value);
    if (record === null || record === undefined) return;
    records.push({ record, record_id: identifyCanonical(primitives.sha256, "run-record", line) });
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
