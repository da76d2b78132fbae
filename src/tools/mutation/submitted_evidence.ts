/** Gathers what the kernel needs of evidence that waits: the record that its signer saw, and its values. */

import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { EvaluateCommand, SubmitCommand } from "../../run/command.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { refusalOf, refusalsOn } from "../../run/approval.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import type { Refusal } from "../../run/missing/waiting.ts";
import { isEvidenceContentType, readSubmission, waitingFor } from "../../run/submitted_evidence.ts";
import type { RunState, WaitingEvidence } from "../../run/types.ts";
import { BoundedMap } from "../../store/bounded_map.ts";
import { type RunStore, StoreError } from "../../store/types.ts";
import type { Services } from "../services/services.ts";
import { boundSchemas } from "./bound_run.ts";
import { judgeSchemas } from "./schema_verdicts.ts";

/** Values in memory, by the record of their submission. */
const KEPT_VALUES = 4096;
/** A longer payload is read again for each evaluation, in characters. */
const KEPT_CHARACTERS = 4096;

const kept = new WeakMap<Pick<RunStore, "listRecords">, BoundedMap<string, TypedValue>>();

/**
 * A submission with what its decision needs: for evidence that waits the record at the revision of its `seen_head`, and
 * the verdict of the schema of its condition.
 *
 * @throws {SchemaSandboxError} If a value cannot be validated
 */
export async function gatherSubmission(
  services: Services,
  law: CompiledLaw,
  state: RunState,
  command: SubmitCommand,
): Promise<SubmitCommand> {
  const { content_type, scope } = command;
  if (!isEvidenceContentType(content_type) || scope.kind !== "stage_open") return command;
  const payload = readSubmission(command);
  const stage = law.stages[law.stageIndex.get(scope.stage_id) ?? -1];
  // The kernel rejects these with their fault.
  if ("code" in payload || stage === undefined) return command;
  const { condition_id, value, seen_head: { revision } } = payload;
  const [seen] = revision > state.head.revision ? [] : await services.runs.listRecords(state.run_key, revision - 1, 1);
  const evidence = value === null ? [] : [{ condition_id, value }];
  const verdicts = await judgeSchemas(services, law, stage, evidence, boundSchemas(services, state.run_key));
  if ("length" in verdicts) throw verdicts[0]?.error ?? new TypeError("Cannot judge value: no schema failed");
  const schema_verdict = verdicts.get(0);
  return {
    ...command,
    ...seen === undefined ? {} : { seen_record_id: seen.record_id },
    ...schema_verdict === undefined ? {} : { schema_verdict },
  };
}

/** The value of evidence that waits, from the payload of its submission. */
async function readValue(
  runs: Pick<RunStore, "listRecords">,
  { run_key }: RunState,
  { record_id, revision }: WaitingEvidence,
): Promise<TypedValue> {
  const values = kept.get(runs) ?? new BoundedMap<string, TypedValue>(KEPT_VALUES);
  kept.set(runs, values);
  const known = values.get(record_id);
  if (known !== undefined) return known;
  const { body = "", submitted } = await readSubmitted(runs, run_key, { record_id, revision });
  const value = isJsonObject(submitted) ? member(submitted, "value") : undefined;
  if (!isJsonObject(value)) {
    throw new StoreError("corrupt", `Cannot read submission "${record_id}": its payload is missing`);
  }
  const typed = value as TypedValue;
  if (body.length <= KEPT_CHARACTERS) values.set(record_id, typed);
  return typed;
}

/** The payload of a submission, as text and as it was sent. */
async function readSubmitted(
  runs: Pick<RunStore, "listRecords">,
  runKey: RunState["run_key"],
  { record_id, revision }: Pick<WaitingEvidence, "record_id" | "revision">,
): Promise<{ readonly body: string | undefined; readonly submitted: JsonValue | undefined }> {
  const [stored] = await runs.listRecords(runKey, revision - 1, 1);
  const body = stored?.record_id === record_id ? stored.material[0]?.body : undefined;
  return { body, submitted: submittedOf(body) };
}

/** What was submitted, from its payload. */
function submittedOf(body: string | undefined): JsonValue | undefined {
  const payload = body === undefined ? undefined : readJson(body);
  return isJsonObject(payload) ? member(payload, "value") : undefined;
}

/** The comment of a statement, from its payload. */
export function commentOf(body: string | undefined): string | undefined {
  const submitted = submittedOf(body);
  const comment = isJsonObject(submitted) ? member(submitted, "comment") : undefined;
  return typeof comment === "string" ? comment : undefined;
}

/** The refusals and withdrawals on a condition of an open stage, with their comments. */
export async function readRefusals(
  runs: Pick<RunStore, "listRecords">,
  asked: Parameters<typeof refusalsOn>[1],
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = [];
  for (const one of refusalsOn(HOST_PRIMITIVES.sha256, asked)) {
    const { body } = await readSubmitted(runs, asked.state.run_key, one);
    refusals.push(refusalOf(one, commentOf(body)));
  }
  return refusals;
}

/** The values of the evidence that waits for a stage, by identity. */
export async function waitingValues(
  runs: Pick<RunStore, "listRecords">,
  state: RunState,
  stageId: string,
): Promise<ReadonlyMap<string, TypedValue>> {
  const values = new Map<string, TypedValue>();
  for (const waiting of waitingFor(state, stageId)) {
    const identity = waiting.value_identity ?? "";
    if (!values.has(identity)) values.set(identity, await readValue(runs, state, waiting));
  }
  return values;
}

/** A command with the values of the evidence that waits for its stage. */
export async function withWaitingValues(
  { runs }: Pick<Services, "runs">,
  state: RunState,
  command: EvaluateCommand,
): Promise<EvaluateCommand> {
  if (waitingFor(state, command.stage_id).length === 0) return command;
  return { ...command, submitted_values: await waitingValues(runs, state, command.stage_id) };
}
