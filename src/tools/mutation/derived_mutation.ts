/**
 * How a call of several steps changes a run: one append with all of its records (docs/format/records.md "Derived
 * operations").
 *
 * Each record has the receipt of its own operation, as if that had been called alone. The answer is built from the
 * records and receipts, so a repetition builds the same answer from the store.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { type Refused, type Request, runKeyOf, type Stamps } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import type { AcceptedSteps } from "../../run/decide/decide_steps.ts";
import { type DerivedFrom, derivedOperation } from "../../run/derived.ts";
import { invocationIdentity } from "../../run/invocation.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { readRecord } from "../../run/record.ts";
import type {
  Head,
  OperationFamily,
  RunKey,
  RunRecord,
  RunState,
  RunStatus,
  StageEvaluatedBody,
} from "../../run/types.ts";
import { type ProjectedRun, stateAt } from "../../store/projection.ts";
import type { Receipt, StoredReceipt, StoredRecord } from "../../store/types.ts";
import { archivedSteps } from "./archived_call.ts";
import { attributionOf } from "./attribution.ts";
import { mutationKey } from "../services/keyed_lock.ts";
import { appendDecided } from "./append_decided.ts";
import { mintStamps, type NamedRun } from "./mutation.ts";
import { fromReceipt, type Outcome, runNotFound, stale } from "./outcome.ts";
import type { Services } from "../services/services.ts";
import type { Call } from "../framework/types.ts";

/** The operation families of the steps. */
export type StepFamily = Exclude<OperationFamily, "create_run">;

/** Records of one read, where a call is answered again. */
const REPLAY_PAGE = 64;

/** The members of every record that an answer repeats. */
export type StepMembers = Pick<
  RunRecord,
  "record_kind" | "revision" | "operation" | "invocation_identity" | "acceptance_time" | "admission"
>;

/** One accepted record of a call. */
export interface RecordedStep {
  readonly members: StepMembers;
  readonly record_id: Identity;
  /** The decision of an evaluation; null for any other record. */
  readonly decided: Pick<StageEvaluatedBody, "stage_id" | "completed" | "run_status" | "trace"> | null;
  /** The result in its receipt. */
  readonly result: JsonObject;
  /** The record with its retained objects as canonical text; null in an archived run. */
  readonly kept: { readonly record: RunRecord; readonly material: StoredRecord["material"] } | null;
}

/** Where a run stands after a step. */
export interface StepStanding {
  readonly head: Head;
  readonly ready_frontier: readonly string[];
  readonly run_status: RunStatus;
}

/** The accepted steps of a call, from which its answer is built. */
export interface AcceptedCall {
  readonly law: CompiledLaw;
  /** At least one. */
  readonly steps: readonly RecordedStep[];
  /** After the last step. */
  readonly standing: StepStanding;
  /** False where the call recorded nothing: the step is the earlier one that it repeats, and the run stands where it stood. */
  readonly recorded?: false;
}

/** A call of several steps, up to its decision. */
export interface DerivedMutation {
  readonly tool: string;
  /** The arguments as sent. */
  readonly raw: JsonObject;
  /** The same, decoded. */
  readonly input: NamedRun & { readonly expected_head: Head };
  readonly from: DerivedFrom;
  /** Possible families of its first record. */
  readonly first: readonly StepFamily[];
  /** Decides at a state whose head is the expected one. */
  readonly decide: (deciding: Deciding) => Promise<AcceptedSteps | Refused | Outcome | AcceptedCall>;
}

/** What a decision of several steps depends on. */
export interface Deciding {
  readonly run: ProjectedRun;
  readonly requestOf: (family: StepFamily, ordinal: number) => Request;
  /** Gives the stamps, after the queries of providers. */
  readonly mint: () => Stamps;
  readonly call: Call;
}

interface Execution {
  readonly services: Services;
  readonly mutation: DerivedMutation;
  readonly run_key: RunKey;
  readonly invocation: Identity;
}

function operationOf({ services, mutation }: Execution, family: StepFamily, ordinal: number): string {
  return derivedOperation(services.environment.primitives.sha256, mutation.from, family, ordinal);
}

/** Reads a stored step. */
export function readStep({ record: text, record_id, receipt, material }: StoredRecord): RecordedStep {
  const record = readRecord(text);
  const decided = record.record_kind === "stage_evaluated" ? record.body : null;
  return {
    members: record,
    record_id,
    decided,
    result: readJson(receipt.result) as JsonObject,
    kept: { record, material },
  };
}

/** Where a run stands in a state. */
export function standingOf(state: RunState): StepStanding {
  return { head: state.head, ready_frontier: readyFrontier(state), run_status: state.status };
}

/** Reads the records of an accepted call, from its first one on. */
async function readSteps<Stored extends StoredReceipt>(
  execution: Execution,
  firstRevision: number,
  read: (runKey: RunKey, after: number, limit: number) => Promise<Stored[]>,
): Promise<Stored[]> {
  const { run_key, invocation } = execution;
  const steps: Stored[] = [];
  const ordinals = new Map<string, number>();
  for (;;) {
    const page = await read(run_key, firstRevision - 1 + steps.length, REPLAY_PAGE);
    for (const stored of page) {
      const { operation, invocation_identity } = stored.receipt;
      const ordinal = ordinals.get(operation.family) ?? 0;
      const belongs = invocation_identity === invocation &&
        operation.identity === operationOf(execution, operation.family as StepFamily, ordinal);
      if (!belongs) return steps;
      ordinals.set(operation.family, ordinal + 1);
      steps.push(stored);
    }
    if (page.length === 0) return steps;
  }
}

/** The accepted call with this id; a conflict where another call used the id; null where the id is unused. */
async function findOriginal(execution: Execution, run: ProjectedRun): Promise<AcceptedCall | Outcome | null> {
  const { services, mutation, run_key, invocation } = execution;
  const receipts: Receipt[] = [];
  for (const family of mutation.first) {
    const operation = { family, identity: operationOf(execution, family, 0) };
    const receipt = await services.runs.receipts.get(run_key, operation);
    if (receipt !== null) receipts.push(receipt);
  }
  const first = receipts.sort((a, b) => a.revision - b.revision)[0];
  if (first === undefined) return null;
  if (first.invocation_identity !== invocation) return fromReceipt(first, invocation);
  const { law } = run;
  const { runs } = services;
  if (run.archived !== undefined) {
    const receipts = await readSteps(execution, first.revision, runs.receipts.list);
    return { law, ...await archivedSteps(runs, law, run_key, receipts) };
  }
  const steps = (await readSteps(execution, first.revision, runs.listRecords)).map(readStep);
  const state = await stateAt(runs, run, first.revision + steps.length - 1);
  return { law, steps, standing: standingOf(state) };
}

/** What was appended; or what another process appended for the same call in the meantime. */
async function append(
  execution: Execution,
  run: ProjectedRun,
  accepted: AcceptedSteps,
): Promise<AcceptedCall | Outcome> {
  const { services, run_key, invocation } = execution;
  const { law } = run;
  const { decisions, state } = accepted;
  const appended = await appendDecided(services, { law, expectedHead: run.state.head, decisions, state });
  // The records are read back from their text, so that this answer and its repetition have the same bytes.
  if ("records" in appended) return { law, steps: appended.records.map(readStep), standing: standingOf(state) };
  if ("outcome" in appended) return appended;
  const now = await services.projections.load(run_key) ?? run;
  return await findOriginal(execution, now) ?? fromReceipt(appended.receipt, invocation);
}

function sameHead(a: Head, b: Head): boolean {
  return a.record_id === b.record_id && a.revision === b.revision;
}

/**
 * Executes a call of several steps. The same id with the same invocation returns what was accepted the first time, at
 * any later head.
 *
 * @throws {DomainError} `authority_unavailable`: where the time authority has no stamp
 * @throws {StoreError} Where the store fails; then nothing was changed
 */
export async function runDerivedMutation(
  services: Services,
  mutation: DerivedMutation,
  call: Call,
): Promise<AcceptedCall | Outcome> {
  const { tool, raw, input: { namespace_id, run_id, scenario_id, expected_head } } = mutation;
  const run_key = runKeyOf(namespace_id, run_id);
  const invocation = invocationIdentity(services.environment.primitives.sha256, tool, raw);
  const execution = { services, mutation, run_key, invocation };
  using locks = new DisposableStack();
  for (const family of mutation.first) {
    const key = mutationKey(namespace_id, run_id, family, operationOf(execution, family, 0));
    locks.use(await services.operationLock.acquire(key));
  }
  const run = await services.projections.load(run_key);
  if (run === null || run.state.scenario_id !== scenario_id) return runNotFound(run_key);
  const original = await findOriginal(execution, run);
  if (original !== null) return original;
  if (!sameHead(run.state.head, expected_head)) return stale(run.state.head);
  const attribution = attributionOf(services, call, tool, namespace_id, raw);
  const requestOf = (family: StepFamily, ordinal: number): Request => ({
    operation_id: operationOf(execution, family, ordinal),
    invocation_identity: invocation,
    attribution,
    admission_kind: "derived",
  });
  const decision = await mutation.decide({ run, requestOf, mint: () => mintStamps(services), call });
  return "decisions" in decision ? await append(execution, run, decision) : decision;
}
