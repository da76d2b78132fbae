/** The index of runs: what a list of runs shows of each run, derived from its records. */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { asJson } from "../run/primitives.ts";
import type { Correlation } from "../run/types.ts";
import { member, parseObject } from "./record_check.ts";
import { type RunEntry, StoreError } from "./types.ts";

/** The names of a run that its records repeat. */
type RunNames = Pick<RunEntry, "run_key" | "scenario_id" | "scenario_law_identity">;

/**
 * The entry of a run that was created with a record; its status is that of a run with no completed stage.
 *
 * @param record Canonical text of the first record
 * @throws {StoreError} `corrupt` where the record has no creation instant or correlation
 */
export function entryOfCreation(names: RunNames, record: string): RunEntry {
  const parsed = parseObject(record);
  const created = member(member(parsed, "acceptance_time"), "accepted_audit_instant");
  const body = member(parsed, "body");
  const correlation = correlationOf(member(body, "correlation"));
  if (typeof created !== "number" || !Number.isSafeInteger(created) || correlation === null) {
    const { namespace_id, run_id } = names.run_key;
    const where = `run "${run_id}" of namespace ${namespace_id}`;
    throw new StoreError("corrupt", `Cannot list ${where}: its creation has no instant or no correlation`);
  }
  const { run_key, scenario_id, scenario_law_identity } = names;
  const genesis = member(body, "genesis");
  const parameters = member(genesis, "kind") === "parameters" ? member(genesis, "parameters") : [];
  return {
    run_key: { namespace_id: run_key.namespace_id, run_id: run_key.run_id },
    scenario_id,
    scenario_law_identity,
    parameters: Array.isArray(parameters) ? parameters : [],
    correlation,
    status: "active",
    created_instant: created,
  };
}

function correlationOf(value: unknown): Correlation | null {
  if (member(value, "kind") === "unset") return { kind: "unset" };
  const correlation_id = member(value, "correlation_id");
  return typeof correlation_id === "string" ? { kind: "set", correlation_id } : null;
}

/** The text that every evaluation has which completed its run. */
const COMPLETE = '"run_status":"complete"';

/** Whether a record completed its run. Only a record with that text is parsed, since evaluations may be long. */
export function completesRun(record: string): boolean {
  if (!record.includes(COMPLETE)) return false;
  const parsed = parseObject(record);
  return member(parsed, "record_kind") === "stage_evaluated" &&
    member(member(parsed, "body"), "run_status") === "complete";
}

/** The canonical text of one parameter, as {@link RunQuery.parameters} names it. */
export function parameterText(parameter: JsonValue): string {
  return canonicalize(asJson({
    parameter_id: member(parameter, "parameter_id") ?? null,
    value: member(parameter, "value") ?? null,
  }));
}
