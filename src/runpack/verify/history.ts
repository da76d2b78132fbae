/**
 * Replaying the history of a pack: the law first, then one record after the other on the state before it.
 *
 * @module
 */

import { identifyCanonical } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { Environment } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { fold, FoldError } from "../../run/fold.ts";
import { PROCEDURES, type RunRecord, type RunState } from "../../run/types.ts";
import { isCanonicalText, readFirstLine, readLines, readText } from "../format/canonical_text.ts";
import { checkTime } from "./claims/acceptance_time_witness_structure.ts";
import { checkLink, checkProcedure, checkRecordTree } from "./claims/accepted_history_continuity.ts";
import { checkAdmission, checkProvenance } from "./claims/attribution_authorization_availability.ts";
import { checkState } from "./claims/current_state_equivalence.ts";
import { checkWithheld } from "./claims/evidence_retention_reconstruction.ts";
import { checkHead } from "./claims/exact_head_reconstruction.ts";
import { checkFamily } from "./claims/operation_receipt_consistency.ts";
import {
  boundContracts,
  checkAllocation,
  checkBoundContracts,
  checkBoundSchemas,
} from "./claims/run_allocation_integrity.ts";
import { checkCreatedGraph, checkManifestGraph } from "./claims/scenario_graph_binding.ts";
import { constructLaw } from "./claims/scenario_law_construction.ts";
import type { MaterialPart, SegmentPart } from "./object_walker.ts";
import { collectNames, openValues, type SegmentValues } from "./material_values.ts";
import { leafHash } from "../format/merkle.ts";
import { readRecord } from "../format/record_shape.ts";
import { replayWork } from "./work_meter.ts";
import { decideAgain } from "./decide_again.ts";
import { SEGMENT_RECORDS } from "../format/types.ts";
import { areBounded, stepValues } from "./step_values.ts";
import type { Course } from "./state.ts";
import { atRevision, violation } from "./findings.ts";
import { boundSchema, isDecidedReceipt, judgeReceipt, judgeStep, judgeVerdicts, wasDecidedAgain } from "./record.ts";
import type { Step } from "./step.ts";
import type { ClaimName } from "./claims.ts";
import type { Violation } from "./types.ts";

/** Records after which a host may let others have their turn. */
const PAUSE_RECORDS = 64;

/** Takes the next part of a pack, in reading order. */
export async function takePart(course: Course, part: MaterialPart): Promise<void> {
  if (part.part === "law") course.lawBytes = part.bytes;
  else if (part.part === "artifact") {
    note(course, "run_allocation_integrity", course.artifacts.add(part.reference, part.bytes));
  } else {
    if (course.stage === "law") await openLaw(course, part);
    if (course.stage === "records") await takeSegment(course, part);
  }
}

function note(course: Course, claim: ClaimName, found: Violation | null): void {
  if (found !== null) course.findings.violate(claim, found);
}

/** Constructs the law under the contracts that the first record binds; it is the first line of the first segment. */
async function openLaw(course: Course, { records }: SegmentPart): Promise<void> {
  course.stage = "records";
  const { primitives, manifest, artifacts, lawBytes } = course;
  const contracts = boundContracts(readFirstLine(records), artifacts.contracts);
  const law = await constructLaw(primitives, lawBytes, manifest.scenario_law_identity, contracts);
  if ("code" in law) {
    note(course, "scenario_law_construction", law);
    return;
  }
  course.law = law.law;
  course.work = replayWork(law.law);
  for (const assumption of law.assumptions) course.assumptions.add(assumption);
  note(course, "scenario_graph_binding", checkManifestGraph(law.law, manifest));
  note(course, "evidence_retention_reconstruction", checkWithheld(law.law, manifest));
}

async function takeSegment(course: Course, part: SegmentPart): Promise<void> {
  const { segment } = part;
  const role = `segments/${(segment.first_revision - 1) / SEGMENT_RECORDS}`;
  const count = segment.last_revision - segment.first_revision + 1;
  const records = readLines(part.records, count);
  const receipts = readLines(part.receipts, count);
  if (records === null) {
    return broken(course, "accepted_history_continuity", violation("record_invalid", `${role}/records`));
  }
  if (receipts === null) {
    note(course, "operation_receipt_consistency", violation("receipt_invalid", `${role}/receipts`));
  }
  const values = openValues(course.primitives.sha256, part, course.primitives.pause);
  const names = collectNames();
  for (let index = 0; index < count; index++) {
    const line = records[index];
    const place = atRevision(segment.first_revision + index);
    if (line === undefined) return broken(course, "accepted_history_continuity", violation("record_missing", place));
    if (!course.meter.take({ records: 1 })) return exhausted(course);
    const record = await takeRecord(course, line, receipts?.[index], values);
    if (record === null) return;
    names.add(record);
    if (record.revision % PAUSE_RECORDS === 0) await course.primitives.pause?.();
  }
  if (records.length > count) {
    note(course, "accepted_history_continuity", violation("record_unexpected", `${role}/records`));
  }
  if ((receipts?.length ?? 0) > count) {
    note(course, "operation_receipt_consistency", violation("receipt_unexpected", `${role}/receipts`));
  }
  const code = await values.finish(names.names(), course.withheld);
  if (code !== null) note(course, "evidence_retention_reconstruction", violation(code, role));
}

function exhausted(course: Course): void {
  course.stage = "budget_exhausted";
}

function broken(course: Course, claim?: ClaimName, found?: Violation): void {
  course.stage = "history_broken";
  if (claim !== undefined && found !== undefined) note(course, claim, found);
}

/** Takes a record; null where the history ends with it. */
async function takeRecord(
  course: Course,
  line: string,
  receipt: string | undefined,
  values: SegmentValues,
): Promise<RunRecord | null> {
  const { primitives: { sha256 }, manifest } = course;
  const value = readText(line);
  const record = openRecord(course, value);
  if (record === null || value === undefined) return null;
  course.tree.append(leafHash(sha256, line));
  const environment = environmentOf(course, record);
  if (environment === null) return null;
  if (!course.meter.take({ canonical_work_bytes: workOf(course, record, values) })) {
    exhausted(course);
    return null;
  }
  if (record.record_kind === "run_created" && course.previous === null) openRun(course, record);
  if (course.law !== null && !areBounded(record, values, course.withheld)) {
    broken(course, "evidence_structural_admission", violation("items_unexpected", atRevision(record.revision)));
    return null;
  }
  const step = course.law === null ? null : await openStep(course, course.law, { record, line }, environment, values);
  const again = step !== null && wasDecidedAgain(step, line);
  const recordId = step?.recordId ?? identifyCanonical(sha256, "run-record", line);
  const chain = { record, recordId, previous: course.previous };
  note(course, "run_allocation_integrity", checkAllocation(chain, manifest.run_key));
  note(course, "attribution_authorization_availability", checkAdmission(chain));
  note(course, "operation_receipt_consistency", checkOperation(course, record));
  course.named.add(record);
  if (!again) {
    if (!isCanonicalText(line, value)) {
      broken(course, "accepted_history_continuity", violation("record_invalid", atRevision(record.revision)));
      return null;
    }
    note(course, "attribution_authorization_availability", checkProvenance(sha256, chain));
    note(course, "acceptance_time_witness_structure", checkTime(sha256, chain));
  }
  if (step !== null) await judge(course, step, line, values);
  const after = step === null ? null : foldStep(course, step, again);
  if (step !== null && after === null) return null;
  if (step === null || !again || !isDecidedReceipt(step, receipt)) {
    judgeReceipt({ record, recordId, law: course.law }, after, receipt, course.findings);
  }
  course.state = after;
  course.head = { record_id: recordId, revision: record.revision };
  course.previous = record;
  return record;
}

/** What deciding a record anew takes; nothing where there is no law to decide it by. */
function workOf({ work, artifacts, law, created }: Course, record: RunRecord, values: SegmentValues): number {
  if (work === null || law === null) return 0;
  return work(record, {
    profile: artifacts.size("operator-profile", record.operator_profile),
    value: values.size,
    schema: ({ condition_id }) => {
      const bound = boundSchema(law, condition_id, created?.schemas ?? []);
      return bound === null ? 0 : artifacts.size("schema", bound.schema_identity);
    },
  });
}

/** The record of a text, where it follows the one before; null where the history ends with it. */
function openRecord(course: Course, value: JsonValue | undefined): RunRecord | null {
  const claim = "accepted_history_continuity";
  const place = atRevision((course.head?.revision ?? 0) + 1);
  const name = isJsonObject(value) ? member(value, "procedure") : undefined;
  if (value === undefined || typeof name !== "string") {
    broken(course, claim, violation("record_invalid", place));
    return null;
  }
  if (!(PROCEDURES as readonly string[]).includes(name)) {
    broken(course, claim, violation("procedure_unsupported", place));
    return null;
  }
  const record = readRecord(value);
  const fault = record === null
    ? violation("record_invalid", place)
    : checkLink(record, course.head) ?? checkProcedure(record, course.previous);
  if (record !== null && fault === null) return record;
  broken(course, claim, fault ?? undefined);
  return null;
}

function checkOperation(course: Course, record: RunRecord): Violation | null {
  const { family, identity } = record.operation;
  const operations = course.operations.get(family) ?? new Set<string>();
  course.operations.set(family, operations);
  const repeated = operations.has(identity);
  operations.add(identity);
  return repeated ? violation("operation_repeated", atRevision(record.revision)) : checkFamily(record);
}

function openRun(course: Course, { body }: Extract<RunRecord, { record_kind: "run_created" }>): void {
  course.created = body;
  note(course, "run_allocation_integrity", checkBoundContracts(body, course.artifacts.contracts));
  if (body.scenario_law_identity !== course.manifest.scenario_law_identity) {
    note(course, "scenario_law_construction", violation("law_identity_mismatch", atRevision(1)));
    course.law = null;
  }
  if (course.law === null) return;
  note(course, "scenario_graph_binding", checkCreatedGraph(course.law, body));
  note(course, "run_allocation_integrity", checkBoundSchemas(course.law, body));
}

function environmentOf(course: Course, record: RunRecord): Environment | null {
  const found = course.artifacts.environment(record);
  if (typeof found !== "string") return found;
  const code = found === "missing" ? "profile_missing" : "profile_invalid";
  broken(course, "attribution_authorization_availability", violation(code, atRevision(record.revision)));
  return null;
}

async function openStep(
  course: Course,
  law: CompiledLaw,
  { record, line }: { readonly record: RunRecord; readonly line: string },
  environment: Environment,
  held: SegmentValues,
): Promise<Step> {
  const values = await stepValues(record, held, course.withheld);
  const before = course.state;
  const decision = decideAgain(record, { law, before, environment, values });
  const decided = decision?.outcome === "accepted" ? decision.records[0] : undefined;
  return {
    record,
    // The same text has the same identity, and the kernel has hashed it already.
    recordId: decided?.text === line
      ? decided.record_id
      : identifyCanonical(course.primitives.sha256, "run-record", line),
    previous: course.previous,
    law,
    before,
    environment,
    values,
    bound: course.created ?? { contracts: [], schemas: [] },
    contracts: course.artifacts.contracts,
    decision,
  };
}

async function judge(course: Course, step: Step, line: string, values: SegmentValues): Promise<void> {
  judgeStep(step, line, values, course.findings);
  note(course, "source_authenticity", course.signatures.check(step));
  if (step.record.record_kind !== "stage_evaluated") return;
  if (step.record.body.evidence.every(({ schema_verdict }) => schema_verdict === undefined)) return;
  if (await judgeVerdicts(step, course.primitives, course.artifacts, course.findings)) {
    course.assumptions.add("json_schema_verdict_as_recorded");
  }
}

/** The state after a step; null where its record cannot follow the state before. */
function foldStep(course: Course, step: Step, again: boolean): RunState | null {
  if (again && step.decision?.outcome === "accepted") return step.decision.state;
  try {
    return fold(step.law, step.before, step.record, step.recordId);
  } catch (error) {
    if (!(error instanceof FoldError)) throw error;
    broken(course);
    return null;
  }
}

/** Settles what needs the whole history. */
export function finishHistory(course: Course): void {
  const { findings, manifest, primitives: { sha256 } } = course;
  if (course.stage === "records" && course.head !== null) {
    note(course, "accepted_history_continuity", checkRecordTree(course.tree, manifest));
    note(course, "exact_head_reconstruction", checkHead(course.head, manifest));
    note(course, "run_allocation_integrity", course.named.check(course.artifacts.listed()));
    if (course.state !== null) note(course, "current_state_equivalence", checkState(sha256, course.state, manifest));
    for (const gap of course.signatures.gaps()) findings.lack("source_authenticity", gap);
  }
}
