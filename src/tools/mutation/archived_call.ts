/**
 * A call of several steps on an archived run. Its records are gone, but the result in each receipt repeats what the
 * answer needs.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { initialStages } from "../../run/frontier.ts";
import type { AcceptanceTime, Admission, Attempt, RecordKind, RunKey, RunStatus } from "../../run/types.ts";
import { type RunStore, type StoredReceipt, StoreError } from "../../store/types.ts";
import type { AcceptedCall, RecordedStep } from "./derived_mutation.ts";

/** The kind of the record that an operation of a family leaves. */
const KINDS: Readonly<Record<string, RecordKind>> = {
  open_stage: "stage_opened",
  evaluate_stage: "stage_evaluated",
  submit: "artifact_submitted",
};

/** The steps of an accepted call from their receipts, and where the run stood after them. */
export async function archivedSteps(
  runs: Pick<RunStore, "receipts">,
  law: CompiledLaw,
  runKey: RunKey,
  receipts: readonly StoredReceipt[],
): Promise<Pick<AcceptedCall, "steps" | "standing">> {
  const steps = receipts.map(toStep);
  const last = steps.at(-1);
  if (last === undefined) throw new StoreError("corrupt", `Cannot read run "${runKey.run_id}": a receipt is missing`);
  const { revision } = last.members;
  const status = steps.findLast(({ decided }) => decided !== null)?.decided?.run_status ?? "active";
  const standing = {
    head: { record_id: last.record_id, revision },
    ready_frontier: await frontierAt(runs, law, runKey, revision),
    run_status: status,
  };
  return { steps, standing };
}

function toStep({ revision, record_id, receipt }: StoredReceipt): RecordedStep {
  const { operation, invocation_identity } = receipt;
  const result = readJson(receipt.result) as JsonObject;
  const record_kind = KINDS[operation.family];
  if (record_kind === undefined) throw new StoreError("corrupt", `Cannot read receipt "${record_id}": unknown family`);
  // Records are canonical, and results are not; an answer has the order of the members of records.
  const member = (name: string): unknown => readJson(canonicalize(result[name] ?? null));
  const attempt = result["attempt"] as Attempt | undefined;
  return {
    members: {
      record_kind,
      revision,
      operation,
      invocation_identity,
      acceptance_time: member("acceptance_time") as AcceptanceTime,
      admission: member("admission") as Admission,
    },
    record_id,
    decided: attempt === undefined ? null : { ...attempt, run_status: result["run_status"] as RunStatus },
    result,
    kept: null,
  };
}

/** The ready frontier after a revision: in the newest result that has it, since a submission changes none. */
async function frontierAt(
  runs: Pick<RunStore, "receipts">,
  law: CompiledLaw,
  runKey: RunKey,
  revision: number,
): Promise<readonly string[]> {
  for (let at = revision; at > 1; at--) {
    const [stored] = await runs.receipts.list(runKey, at - 1, 1);
    const frontier: JsonValue = (readJson(stored?.receipt.result ?? "{}") as JsonObject)["ready_frontier"] ?? null;
    if (isJsonArray(frontier)) return frontier.map(String);
  }
  return initialStages(law).filter(({ classification }) => classification === "ready_unopened")
    .map(({ stage_id }) => stage_id);
}
