/** Entries of the index of runs as rows. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import { isJsonArray, type JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { Correlation, RunStatus } from "../../run/types.ts";
import { sealEntry } from "../seal.ts";
import { type RunEntry, StoreError } from "../types.ts";
import { integer, type Row, text } from "./columns.ts";

/** The column of a correlation; empty where it is unset. */
export function correlationText(correlation: Correlation): string {
  return correlation.kind === "unset" ? "" : canonicalize(correlation.correlation_id);
}

/** The value of a column; null for a text that is not JSON, with which no seal holds. */
function jsonOf(column: string): JsonValue {
  const parsed = parseJson(column);
  return parsed.ok ? parsed.value : null;
}

/**
 * The entry of a row, verified by its seal.
 *
 * @throws {StoreError} `corrupt`
 */
export function toEntry(sha256: Sha256, row: Row): RunEntry {
  const correlation = text(row, "correlation");
  const parameters = jsonOf(text(row, "parameters"));
  const entry: RunEntry = {
    run_key: { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") },
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "law_identity"),
    parameters: isJsonArray(parameters) ? parameters : [],
    correlation: correlation === "" ? { kind: "unset" } : { kind: "set", correlation_id: String(jsonOf(correlation)) },
    status: text(row, "status") as RunStatus,
    created_instant: integer(row, "created"),
  };
  if (sealEntry(sha256, entry) === text(row, "seal")) return entry;
  const { namespace_id, run_id } = entry.run_key;
  throw new StoreError(
    "corrupt",
    `Cannot list run "${run_id}" of namespace ${namespace_id}: its entry in the index differs from the written one`,
  );
}
