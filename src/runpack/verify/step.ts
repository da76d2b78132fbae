/** One record with the state before it: the input of the claims about records. */

import type { Identity } from "../../canonical/identity.ts";
import type { Payload } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { Decision, Environment } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import type { RecordedEvidence, RunCreatedBody, RunRecord, RunState } from "../../run/types.ts";
import type { ContractFacts } from "../format/contract_facts.ts";
import type { UnavailableReason, Violation } from "./types.ts";

/** A record and the one before it: the input of checks without a law. */
export interface ChainStep {
  readonly record: RunRecord;
  readonly recordId: Identity;
  /** Null for the first record. */
  readonly previous: RunRecord | null;
}

/** Why a value is absent. */
export type ValueGap = Extract<UnavailableReason, "value_withheld" | "value_not_retained">;

/** The values that a record names, looked up once. */
export interface StepValues {
  /** By index of the evidence item; null for an item without a value. */
  readonly evidence: readonly (TypedValue | ValueGap | null)[];
  /** The payload of a submission or a declared genesis; null where the record has none, or it is missing. */
  readonly payload: Payload | "value_withheld" | null;
}

/** A record at the state in which it was decided. */
export interface Step extends ChainStep {
  readonly law: CompiledLaw;
  /** Null for the first record. */
  readonly before: RunState | null;
  /** The kernel's environment under the record's operator profile. */
  readonly environment: Environment;
  readonly values: StepValues;
  /** The contracts and schemas that the first record binds. */
  readonly bound: Pick<RunCreatedBody, "contracts" | "schemas">;
  /** Contracts of the pack by identity; null where an artifact is not a valid contract. */
  readonly contracts: ReadonlyMap<Identity, ContractFacts | null>;
  /** The record of the run at the revision that evidence that waits names as seen; absent where no record has it. */
  readonly seenRecordId?: Identity;
  /** The repeated decision; null where a value is absent, or where the kernel cannot make it. */
  readonly decision: Decision | null;
}

/** A check of a claim about a record; null where it finds no contradiction. */
export type RecordCheck = (step: Step) => Violation | null;

/** An evidence item with its value, where that is present. */
export interface StepItem {
  readonly item: RecordedEvidence;
  readonly value: TypedValue | ValueGap | null;
}

/** Evidence items of a step, with their values. */
export function itemsOf(step: Step): readonly StepItem[] {
  if (step.record.record_kind !== "stage_evaluated") return [];
  return step.record.body.evidence.map((item, index) => ({ item, value: step.values.evidence[index] ?? null }));
}

/** Whether a value is present. */
export function isValue(value: TypedValue | ValueGap | null): value is TypedValue {
  return typeof value === "object" && value !== null;
}

/** The reasons for which values of a step are absent, each once. */
export function gapsOf(values: StepValues): readonly ValueGap[] {
  const gaps = values.evidence.filter((value): value is ValueGap => typeof value === "string");
  return [...new Set(gaps)];
}
