/** Replays the history of a pack: first the law, then each record on the state before it. */

import { identifyCanonical } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { accepted } from "../../canonical/shape.ts";
import type { Environment } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { fold, FoldError } from "../../run/fold.ts";
import { bindLaw } from "../../run/parameters.ts";
import { asJson } from "../../run/primitives.ts";
import { isEvidenceContentType, readSubmission } from "../../run/submitted_evidence.ts";
import { PROCEDURES, recordShape } from "../../run/record_shapes.ts";
import type { RunRecord, RunState } from "../../run/types.ts";
import { isCanonicalText, readFirstLine, readLines, readText } from "../format/canonical_text.ts";
import { checkWithheld } from "./claims/evidence.ts";
import {
  checkAdmission,
  checkLink,
  checkProcedure,
  checkProvenance,
  checkTime,
  HISTORY_CHECKS,
} from "./claims/history.ts";
import { checkFamily } from "./claims/operation_receipt_consistency.ts";
import {
  boundContracts,
  checkAllocation,
  checkBoundContracts,
  checkBoundSchemas,
  checkBoundVersions,
} from "./claims/run_allocation_integrity.ts";
import { checkCreatedGraph, checkManifestGraph } from "./claims/scenario_graph_binding.ts";
import { checkRunParameters, constructLaw } from "./claims/scenario_law_construction.ts";
import type { MaterialPart, SegmentPart } from "./object_walker.ts";
import { collectNames, openValues, type SegmentValues } from "./material_values.ts";
import { leafHash } from "../format/merkle.ts";
import { replayWork } from "./work_meter.ts";
import { decideAgain } from "./decide_again.ts";
import { SEGMENT_RECORDS } from "../format/types.ts";
import { areBounded, stepValues } from "./step_values.ts";
import { addToCourse } from "./run_result.ts";
import type { ReplayState } from "./state.ts";
import { atRevision, violation } from "./findings.ts";
import { boundSchema, isDecidedReceipt, judgeReceipt, judgeStep, judgeVerdicts, wasDecidedAgain } from "./record.ts";
import type { Step, StepValues } from "./step.ts";
import { type ClaimName, HISTORY_CLAIMS } from "./claims.ts";
import type { Violation } from "./types.ts";

/** Records after which the host may run other tasks. */
const PAUSE_RECORDS = 64;

/** Replays the next part of a pack, in reading order. */
export async function replayPart(replay: ReplayState, part: MaterialPart): Promise<void> {
  if (part.part === "law") replay.lawBytes = part.bytes;
  else if (part.part === "artifact") {
    replay.findings.note("run_allocation_integrity", replay.artifacts.add(part.reference, part.bytes));
  } else {
    if (replay.stage === "law") await openLaw(replay, part);
    if (replay.stage === "records") await replaySegment(replay, part);
  }
}

/**
 * Constructs the law under the contracts that the first record binds. That record is the first line of the first
 * segment.
 */
async function openLaw(replay: ReplayState, { records }: SegmentPart): Promise<void> {
  replay.stage = "records";
  const { primitives, manifest, artifacts, lawBytes } = replay;
  const contracts = boundContracts(readFirstLine(records), artifacts.contracts);
  const law = await constructLaw(primitives, lawBytes, manifest.scenario_law_identity, contracts);
  if ("code" in law) {
    replay.findings.note("scenario_law_construction", law);
    return;
  }
  replay.law = law.law;
  replay.work = replayWork(law.law);
  for (const assumption of law.assumptions) replay.assumptions.add(assumption);
  replay.findings.note("scenario_graph_binding", checkManifestGraph(law.law, manifest));
  replay.findings.note("evidence_retention_reconstruction", checkWithheld(law.law, manifest));
}

async function replaySegment(replay: ReplayState, part: SegmentPart): Promise<void> {
  const { segment } = part;
  const role = `segments/${(segment.first_revision - 1) / SEGMENT_RECORDS}`;
  const count = segment.last_revision - segment.first_revision + 1;
  const records = readLines(part.records, count);
  const receipts = readLines(part.receipts, count);
  if (records === null) {
    return broken(replay, "accepted_history_continuity", violation("record_invalid", `${role}/records`));
  }
  if (receipts === null) {
    replay.findings.note("operation_receipt_consistency", violation("receipt_invalid", `${role}/receipts`));
  }
  const values = openValues(replay.primitives.sha256, part, replay.primitives.pause);
  const names = collectNames();
  for (let index = 0; index < count; index++) {
    const line = records[index];
    const place = atRevision(segment.first_revision + index);
    if (line === undefined) return broken(replay, "accepted_history_continuity", violation("record_missing", place));
    if (!replay.meter.charge({ records: 1 })) return exhausted(replay);
    const record = await replayRecord(replay, line, receipts?.[index], values);
    if (record === null) return;
    names.add(record);
    if (record.revision % PAUSE_RECORDS === 0) await replay.primitives.pause?.();
  }
  if (records.length > count) {
    replay.findings.note("accepted_history_continuity", violation("record_unexpected", `${role}/records`));
  }
  if ((receipts?.length ?? 0) > count) {
    replay.findings.note("operation_receipt_consistency", violation("receipt_unexpected", `${role}/receipts`));
  }
  const code = await values.finish(names.names(), replay.withheld);
  if (code !== null) replay.findings.note("evidence_retention_reconstruction", violation(code, role));
}

function exhausted(replay: ReplayState): void {
  replay.stage = "budget_exhausted";
}

function broken(replay: ReplayState, claim?: ClaimName, found?: Violation): void {
  replay.stage = "history_broken";
  if (claim !== undefined && found !== undefined) replay.findings.note(claim, found);
}

/** Replays a record; null where the history ends with it. */
async function replayRecord(
  replay: ReplayState,
  line: string,
  receipt: string | undefined,
  values: SegmentValues,
): Promise<RunRecord | null> {
  const { primitives: { sha256 }, manifest } = replay;
  const value = readText(line);
  const record = openRecord(replay, value);
  if (record === null || value === undefined) return null;
  replay.tree.append(leafHash(sha256, line));
  const environment = environmentOf(replay, record);
  if (environment === null) return null;
  if (!replay.meter.charge({ canonical_work_bytes: workOf(replay, record, values) })) {
    exhausted(replay);
    return null;
  }
  const isFirst = record.record_kind === "run_created" && replay.previous === null;
  if (isFirst) await openRun(replay, record, environment);
  if (replay.law !== null && !areBounded(record, values, replay.withheld)) {
    broken(replay, "evidence_structural_admission", violation("items_unexpected", atRevision(record.revision)));
    return null;
  }
  const step = replay.law === null ? null : await openStep(replay, replay.law, { record, line }, environment, values);
  const again = step !== null && wasDecidedAgain(step, line);
  const recordId = step?.recordId ?? identifyCanonical(sha256, "run-record", line);
  const chain = { record, recordId, previous: replay.previous };
  replay.findings.note("run_allocation_integrity", checkAllocation(chain, manifest.run_key));
  replay.findings.note("attribution_authorization_availability", checkAdmission(chain));
  replay.findings.note("operation_receipt_consistency", checkOperation(replay, record));
  replay.named.add(record);
  if (!again) {
    if (!isCanonicalText(line, value)) {
      broken(replay, "accepted_history_continuity", violation("record_invalid", atRevision(record.revision)));
      return null;
    }
    replay.findings.note("attribution_authorization_availability", checkProvenance(sha256, chain));
    replay.findings.note("acceptance_time_witness_structure", checkTime(sha256, chain));
  }
  if (step !== null) await judge(replay, step, line, values);
  const after = step === null ? null : foldStep(replay, step, again);
  if (step !== null && after === null) return null;
  if (step !== null) addToCourse(replay.course, step);
  if (step === null || !again || !isDecidedReceipt(step, receipt)) {
    judgeReceipt({ record, recordId, law: replay.law }, after, receipt, replay.findings);
  }
  // The creation is decided under the law as it stands, all later records under the law with the values of the run.
  if (isFirst && replay.law !== null) replay.law = bindLaw(replay.law, after?.parameters);
  replay.state = after;
  replay.head = { record_id: recordId, revision: record.revision };
  replay.heads.push(recordId);
  replay.previous = record;
  return record;
}

/** The work of deciding a record again; 0 without a law. */
function workOf({ work, artifacts, law, created }: ReplayState, record: RunRecord, values: SegmentValues): number {
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

/** Reads a record that follows the one before it; null where the history ends. */
function openRecord(replay: ReplayState, value: JsonValue | undefined): RunRecord | null {
  const claim = "accepted_history_continuity";
  const place = atRevision((replay.head?.revision ?? 0) + 1);
  const name = isJsonObject(value) ? member(value, "procedure") : undefined;
  if (value === undefined || typeof name !== "string") {
    broken(replay, claim, violation("record_invalid", place));
    return null;
  }
  if (!(PROCEDURES as readonly string[]).includes(name)) {
    broken(replay, claim, violation("procedure_unsupported", place));
    return null;
  }
  const record = accepted(recordShape, value);
  const fault = record === null
    ? violation("record_invalid", place)
    : checkLink(record, replay.head) ?? checkProcedure(record, replay.previous);
  if (record !== null && fault === null) return record;
  broken(replay, claim, fault ?? undefined);
  return null;
}

function checkOperation(replay: ReplayState, record: RunRecord): Violation | null {
  const { family, identity } = record.operation;
  const operations = replay.operations.get(family) ?? new Set<string>();
  replay.operations.set(family, operations);
  const repeated = operations.has(identity);
  operations.add(identity);
  return repeated ? violation("operation_repeated", atRevision(record.revision)) : checkFamily(record);
}

async function openRun(
  replay: ReplayState,
  record: Extract<RunRecord, { record_kind: "run_created" }>,
  environment: Environment,
): Promise<void> {
  const { body } = record;
  replay.created = body;
  replay.findings.note("run_allocation_integrity", checkBoundContracts(body, replay.artifacts.contracts));
  replay.findings.note("run_allocation_integrity", checkBoundVersions(body, replay.artifacts));
  if (body.scenario_law_identity !== replay.manifest.scenario_law_identity) {
    replay.findings.note("scenario_law_construction", violation("law_identity_mismatch", atRevision(1)));
    replay.law = null;
  }
  if (replay.law === null) return;
  replay.findings.note("scenario_graph_binding", checkCreatedGraph(replay.law, body));
  replay.findings.note("run_allocation_integrity", checkBoundSchemas(replay.law, body));
  const contracts = boundContracts(asJson(record), replay.artifacts.contracts);
  const { fault, isAssumed } = await checkRunParameters(replay.primitives, replay.law, record, environment, contracts);
  if (isAssumed) replay.assumptions.add("json_schema_verdict_as_recorded");
  replay.findings.note("scenario_law_construction", fault);
  if (fault !== null) replay.law = null;
}

function environmentOf(replay: ReplayState, record: RunRecord): Environment | null {
  const found = replay.artifacts.environment(record);
  if (typeof found !== "string") return found;
  const code = found === "missing" ? "profile_missing" : "profile_invalid";
  broken(replay, "attribution_authorization_availability", violation(code, atRevision(record.revision)));
  return null;
}

async function openStep(
  replay: ReplayState,
  law: CompiledLaw,
  { record, line }: { readonly record: RunRecord; readonly line: string },
  environment: Environment,
  held: SegmentValues,
): Promise<Step> {
  const values = await stepValues(record, held, replay.withheld);
  const before = replay.state;
  const seen = seenRecordOf(replay, record, values);
  const decision = decideAgain(record, { law, before, environment, values, ...seen });
  const decided = decision?.outcome === "accepted" ? decision.records[0] : undefined;
  return {
    record,
    // The same text has the same identity, which the kernel has computed already.
    recordId: decided?.text === line
      ? decided.record_id
      : identifyCanonical(replay.primitives.sha256, "run-record", line),
    previous: replay.previous,
    law,
    before,
    environment,
    values,
    bound: replay.created ?? { contracts: [], schemas: [] },
    contracts: replay.artifacts.contracts,
    ...seen,
    decision,
  };
}

/** The record at the revision that a statement names as seen: its payload, or its record where that is withheld. */
function seenRecordOf(
  { heads }: ReplayState,
  record: RunRecord,
  { payload }: Pick<StepValues, "payload">,
): Pick<Step, "seenRecordId"> {
  if (record.record_kind !== "artifact_submitted" || payload === null) return {};
  const named = payload === "value_withheld"
    ? record.body.evidence
    : isEvidenceContentType(record.body.content_type)
    ? readSubmission({ payload })
    : undefined;
  const seenRecordId = named !== undefined && "seen_head" in named ? heads[named.seen_head.revision - 1] : undefined;
  return seenRecordId === undefined ? {} : { seenRecordId };
}

async function judge(replay: ReplayState, step: Step, line: string, values: SegmentValues): Promise<void> {
  judgeStep(step, line, values, replay.findings);
  replay.findings.note("source_authenticity", replay.signatures.check(step));
  if (step.record.record_kind !== "stage_evaluated") return;
  if (step.record.body.evidence.every(({ schema_verdict }) => schema_verdict === undefined)) return;
  if (await judgeVerdicts(step, replay.primitives, replay.artifacts, replay.findings)) {
    replay.assumptions.add("json_schema_verdict_as_recorded");
  }
}

/** The state after a step; null where its record cannot follow the state before. */
function foldStep(replay: ReplayState, step: Step, again: boolean): RunState | null {
  if (again && step.decision?.outcome === "accepted") return step.decision.state;
  try {
    return fold(step.law, step.before, step.record, step.recordId);
  } catch (error) {
    if (!(error instanceof FoldError)) throw error;
    broken(replay);
    return null;
  }
}

/** Checks the claims that need the whole history. */
export function finishHistory(replay: ReplayState): void {
  if (replay.stage !== "records" || replay.head === null) return;
  for (const claim of HISTORY_CLAIMS) replay.findings.note(claim, HISTORY_CHECKS[claim](replay));
  for (const gap of replay.signatures.gaps()) replay.findings.leaveOpen("source_authenticity", gap);
}
