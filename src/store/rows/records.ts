/** Rows of the table `records`, and their records. */

import { integer, type Row, text } from "./columns.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { OperationFamily, RunKey } from "../../run/types.ts";
import { materialNames, sealReceipt } from "../seal.ts";
import { MATERIAL_MAXIMUM } from "../size.ts";
import { type ArchivedReceipt, type Receipt, type StoredReceipt, type StoredRecord, StoreError } from "../types.ts";

/** The columns of {@link toReceipt}, in the order of the row. */
export const RECEIPT_COLUMNS =
  "r.revision, r.record_id, r.family, r.operation, r.invocation_identity, r.material_names, r.seal, r.result";

/** The columns of {@link toRecord}. */
export const RECORD_COLUMNS = `${RECEIPT_COLUMNS}, r.record, r.material`;

/** The columns of a stored record. */
export type RecordValues = readonly (string | number)[];

/** The columns of a record, computed before it waits for the writer. */
export function toValues(sha256: Sha256, run_key: RunKey, stored: StoredRecord): RecordValues {
  const material = stored.material.map((item) => item.body).join("\n");
  return [
    ...receiptValues(sha256, run_key, { ...stored, material_names: materialNames(stored.material) }),
    stored.record,
    material,
  ];
}

/** The columns of a record of an archived run, which has no texts. */
export function toArchivedValues(sha256: Sha256, run_key: RunKey, receipt: ArchivedReceipt): RecordValues {
  return [...receiptValues(sha256, run_key, receipt), "", ""];
}

function receiptValues(sha256: Sha256, run_key: RunKey, stored: ArchivedReceipt): RecordValues {
  const { revision, record_id, receipt, material_names } = stored;
  const { operation, invocation_identity, result } = receipt;
  const seal = sealReceipt(sha256, {
    run_key,
    revision,
    record_id,
    operation,
    invocation_identity,
    material_names,
    result,
  });
  const { family, identity } = operation;
  return [
    run_key.namespace_id,
    run_key.run_id,
    revision,
    record_id,
    family,
    identity,
    invocation_identity,
    material_names,
    seal,
    result,
  ];
}

/** The receipt of a row of an archived run, verified by its seal. */
export function toArchivedReceipt(sha256: Sha256, run_key: RunKey, row: Row): ArchivedReceipt {
  return { ...toStoredReceipt(sha256, run_key, row), material_names: text(row, "material_names") };
}

/**
 * The receipt of a row, verified by its seal.
 *
 * @throws {StoreError} `corrupt`
 */
export function toReceipt(sha256: Sha256, run_key: RunKey, row: Row): Receipt {
  const receipt = receiptOf(run_key, row);
  if (!sealHolds(sha256, run_key, row)) {
    throw corruptRecord(run_key, receipt.revision, "its receipt differs from the written one");
  }
  return receipt;
}

/** The receipt of a row with the revision and the identity of its record, verified by its seal. */
export function toStoredReceipt(sha256: Sha256, run_key: RunKey, row: Row): StoredReceipt {
  const { revision, operation, invocation_identity, result } = toReceipt(sha256, run_key, row);
  return { revision, record_id: text(row, "record_id"), receipt: { operation, invocation_identity, result } };
}

/** Whether the seal of a row matches its receipt. */
export function sealHolds(sha256: Sha256, run_key: RunKey, row: Row): boolean {
  const { revision, operation, invocation_identity, result } = receiptOf(run_key, row);
  const names = { record_id: text(row, "record_id"), material_names: text(row, "material_names") };
  return sealReceipt(sha256, { run_key, revision, operation, invocation_identity, result, ...names }) ===
    text(row, "seal");
}

function receiptOf(run_key: RunKey, row: Row): Receipt {
  return {
    operation: { family: text(row, "family") as OperationFamily, identity: text(row, "operation") },
    invocation_identity: text(row, "invocation_identity"),
    result: text(row, "result"),
    run_key,
    revision: integer(row, "revision"),
  };
}

/**
 * The record of a row. Only the number of pieces of material is verified.
 *
 * @throws {StoreError} `corrupt`
 */
export function toRecord(run_key: RunKey, row: Row): StoredRecord {
  const { operation, invocation_identity, result, revision } = receiptOf(run_key, row);
  const names = lines(text(row, "material_names"), MATERIAL_MAXIMUM);
  const bodies = lines(text(row, "material"), names.length + 1);
  if (names.length !== bodies.length) {
    throw corruptRecord(run_key, revision, `it has ${bodies.length} pieces of material, expected ${names.length}`);
  }
  const material = names.map((name, index) => {
    const space = name.indexOf(" ");
    return { kind: name.slice(0, space), identity: name.slice(space + 1), body: bodies[index] ?? "" };
  });
  const receipt = { operation, invocation_identity, result };
  return { revision, record_id: text(row, "record_id"), record: text(row, "record"), material, receipt };
}

/** At most `most` lines of a text. Canonical texts have no line feed, so lines separate them; an empty text has no line. */
function lines(joined: string, most: number): string[] {
  return joined === "" ? [] : joined.split("\n", most);
}

/** SQL for whether the text of a record names the run of a row: the row alone may have been moved to another namespace. */
export function namesRun(position: "instr" | "strpos", record: string, run: string): string {
  const key = `'"run_key":{"namespace_id":' || ${run}.namespace_id || ',"run_id":"' || ${run}.run_id || '"}'`;
  return `${position}(${record}, ${key}) > 0`;
}

/** Why a head is not that of its run. */
export const OTHER_RUN = "its record is of another run";

/** The error for a record that differs from the written one. */
export function corruptRecord(run_key: RunKey, revision: number, why: string): StoreError {
  return new StoreError(
    "corrupt",
    `Cannot read run "${run_key.run_id}" of namespace ${run_key.namespace_id} at revision ${revision}: ${why}`,
  );
}
