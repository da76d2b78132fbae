/**
 * One record in its place in the history: what the claims on records look at.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Payload } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { Decision, Environment } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import type { RecordedEvidence, RunCreatedBody, RunRecord, RunState } from "../../run/types.ts";
import type { ContractFacts } from "../format/contract_facts.ts";
import type { UnavailableReason } from "./types.ts";

/** A record and the one before it; all that is needed without the law. */
export interface ChainStep {
  readonly record: RunRecord;
  readonly recordId: Identity;
  /** Null for the first record. */
  readonly previous: RunRecord | null;
}

/** Why a value is not at hand. */
export type ValueGap = Extract<UnavailableReason, "value_withheld" | "value_not_retained">;

/** Values that a record names, looked up once. */
export interface StepValues {
  /** By index of the evidence item; an item without a value has none. */
  readonly evidence: readonly (TypedValue | ValueGap | null)[];
  /** Payload of a submission or a declared genesis; null where the record has none or it is not there. */
  readonly payload: Payload | null;
}

/** A record at the state that it was decided at. */
export interface Step extends ChainStep {
  readonly law: CompiledLaw;
  /** Null for the first record. */
  readonly before: RunState | null;
  /** The kernel's environment under the record's operator profile. */
  readonly environment: Environment;
  readonly values: StepValues;
  /** What the first record binds. */
  readonly bound: Pick<RunCreatedBody, "contracts" | "schemas">;
  /** Contracts of the pack by identity; null where one has not the form of a contract. */
  readonly contracts: ReadonlyMap<Identity, ContractFacts | null>;
  /** The decision made anew; null where a value that it needs is not at hand, or where it cannot be made. */
  readonly decision: Decision | null;
}

/** An evidence item with its value, where it is at hand. */
export interface StepItem {
  readonly item: RecordedEvidence;
  readonly value: TypedValue | ValueGap | null;
}

/** Evidence items of a step, with their values. */
export function itemsOf(step: Step): readonly StepItem[] {
  if (step.record.record_kind !== "stage_evaluated") return [];
  return step.record.body.evidence.map((item, index) => ({ item, value: step.values.evidence[index] ?? null }));
}

/** Whether a value is at hand. */
export function isValue(value: TypedValue | ValueGap | null): value is TypedValue {
  return typeof value === "object" && value !== null;
}

/** The gap of a step: the first reason for which a value that it names is not at hand; null where all are. */
export function gapsOf(values: StepValues): readonly ValueGap[] {
  const gaps = values.evidence.filter((value): value is ValueGap => typeof value === "string");
  return [...new Set(gaps)];
}

/** A schema that the run is bound to. */
export interface BoundSchema {
  readonly identity: Identity;
  readonly document: JsonValue;
}
