/**
 * Reads a run from the server's tools and derives its state in the page, with the code of the kernel: the law must have
 * the identity that the run names, and every record must follow the one before.
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { identify, identifyCanonical, type Identity } from "../canonical/identity.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../canonical/json.ts";
import { graphIdentity } from "../law/law.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { knownValues } from "../run/approval.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { fold } from "../run/fold.ts";
import type { Findings } from "../run/missing/causes.ts";
import type { StageStanding } from "../run/missing/stage.ts";
import type { WaitingCondition } from "../run/missing/waiting.ts";
import { asJson } from "../run/primitives.ts";
import type { Attempt, RecordedEvidence, RunRecord, RunState } from "../run/types.ts";
import { sha256 } from "../runpack/browser/sha256.ts";
import { lawOfRun, type PackView, type ViewedRecord } from "../runpack/material_view.ts";

/** Calls a tool of the server. */
export type CallTool = (name: string, input: JsonObject) => Promise<JsonObject>;

/** Names a run as the tools do. */
export interface RunName {
  readonly namespace_id: number;
  readonly scenario_id: string;
  readonly run_id: string;
}

/** A run whose records were checked. */
export interface CheckedRun {
  readonly name: RunName;
  /** With the values of the run in place of its parameters. */
  readonly law: CompiledLaw;
  /** As the identity covers it. */
  readonly ownLaw: CompiledLaw;
  readonly records: readonly ViewedRecord[];
  readonly state: RunState;
}

/** What the server derives for a run: hints, which no signature depends on. */
export interface RunHints {
  readonly missing: readonly StageStanding[];
  readonly waiting: readonly WaitingCondition[];
  readonly attempts: readonly (Attempt & Partial<Findings>)[];
}

/** The records of a run were moved to a runpack. */
export class ArchivedRun extends Error {}

/** The server shows something that is not a run, or another run or law than before. */
export class RefusedRun extends Error {}

const PAGE = 1000;

function listOf<Item>(answer: JsonObject, name: string): readonly Item[] {
  const value = answer[name] ?? null;
  return (isJsonArray(value) ? value : []) as readonly Item[];
}

/** The records above a revision. Their identities are computed here. */
async function readRecords(call: CallTool, name: RunName, after: number): Promise<ViewedRecord[]> {
  const found: ViewedRecord[] = [];
  for (let next: JsonValue = after; typeof next === "number";) {
    const answer: JsonObject = await call("scenario_history", { ...name, after_revision: next, limit: PAGE });
    const archived = answer["archived"] as JsonObject | undefined;
    if (archived !== undefined) throw new ArchivedRun(String(archived["runpack_identity"]));
    for (const { record } of listOf<{ readonly record: RunRecord }>(answer, "records")) {
      found.push({ record, record_id: identifyCanonical(sha256, "run-record", canonicalize(asJson(record))) });
    }
    const following = answer["next_after_revision"] ?? null;
    if (typeof following === "number" && following <= next) throw new RefusedRun("The history does not go on");
    next = following;
  }
  return found;
}

/** The law of an identity, which is computed here. */
async function readLaw(call: CallTool, namespaceId: number, identity: Identity): Promise<CompiledLaw> {
  const answer = await call("scenarios_get", { namespace_id: namespaceId, scenario_law_identity: identity });
  const law = answer["law"] ?? null;
  if (identify(sha256, "scenario-law", law) !== identity) {
    throw new RefusedRun(`The server shows another law than "${identity}", which the run names`);
  }
  const typed = law as unknown as ScenarioLaw;
  return compileLaw(typed, identity, graphIdentity(sha256, typed));
}

function folded(law: CompiledLaw, state: RunState | null, records: readonly ViewedRecord[]): RunState {
  let last = state;
  for (const { record, record_id } of records) last = fold(law, last, record, record_id);
  if (last === null) throw new RefusedRun("The server has no records of this run");
  return last;
}

/**
 * Reads a run.
 *
 * @throws {ArchivedRun} Where its records are in a runpack
 * @throws {RefusedRun} Where law or records are not what they are named
 * @throws {FoldError} Where a record does not follow
 */
export async function readRun(call: CallTool, name: RunName): Promise<CheckedRun> {
  const records = await readRecords(call, name, 0);
  const [first] = records;
  if (first?.record.record_kind !== "run_created") throw new RefusedRun("The server has no start of this run");
  const { scenario_law_identity } = first.record.body;
  const ownLaw = await readLaw(call, name.namespace_id, scenario_law_identity);
  const state = folded(ownLaw, null, records);
  if (state.run_key.run_id !== name.run_id || state.run_key.namespace_id !== name.namespace_id) {
    throw new RefusedRun("The server shows another run");
  }
  return { name, ownLaw, law: lawOfRun(ownLaw, first.record), records, state };
}

/** The run with the records that were added since; the same object where none was. */
export async function readFurther(call: CallTool, run: CheckedRun): Promise<CheckedRun> {
  const added = await readRecords(call, run.name, run.state.head.revision);
  if (added.length === 0) return run;
  return { ...run, records: [...run.records, ...added], state: folded(run.ownLaw, run.state, added) };
}

/**
 * Reads law and history again, and requires that they begin with what was shown. A server that showed one law and asks
 * for a signature under another one is refused.
 *
 * @throws {RefusedRun} Where law or records differ from those shown
 */
export async function recheckRun(call: CallTool, shown: CheckedRun): Promise<CheckedRun> {
  const again = await readRun(call, shown.name);
  const isSame = again.ownLaw.scenario_law_identity === shown.ownLaw.scenario_law_identity &&
    shown.records.every(({ record_id }, index) => again.records[index]?.record_id === record_id);
  if (isSame) return again;
  throw new RefusedRun("The server shows another law or history than the one that you saw: nothing was signed");
}

/** Reads what the server derives for a run. */
export async function readHints(call: CallTool, name: RunName): Promise<RunHints> {
  const answer = await call("scenario_status", { ...name, include: ["missing", "waiting"] });
  return {
    missing: listOf(answer, "missing"),
    waiting: listOf(answer, "waiting"),
    attempts: listOf(answer, "recent_attempts"),
  };
}

/** The run as the views of runpacks show it. History has identities of values, so some values are not shown. */
export function viewOf({ law, records }: CheckedRun): PackView {
  const known = knownValues(sha256, law);
  const revisions = new Map(records.map(({ record_id, record }) => [record_id, record.revision]));
  return {
    runpack_identity: "",
    manifest: { withheld_conditions: [] } as unknown as PackView["manifest"],
    artifacts: {} as PackView["artifacts"],
    law,
    records: records.map((one) => withStatement(known, one)),
    valueOf: ({ value_identity = "" }: RecordedEvidence) => known.get(value_identity) ?? null,
    revisionOf: (recordId) => revisions.get(recordId),
    absence: "not shown here",
  };
}

/** Adds the value of a statement where its identity is that of a known value. */
function withStatement(known: ReadonlyMap<Identity, TypedValue>, viewed: ViewedRecord): ViewedRecord {
  const { record } = viewed;
  if (record.record_kind !== "artifact_submitted" || record.body.evidence === undefined) return viewed;
  const { condition_id, value_identity, observed_at, seen_head, signature } = record.body.evidence;
  const value = value_identity === null ? null : known.get(value_identity);
  if (value === undefined) return viewed;
  return { ...viewed, statement: { condition_id, value, observed_at, seen_head, signature } };
}
