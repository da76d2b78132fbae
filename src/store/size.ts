/**
 * Sizes that the limits of a store count.
 *
 * @module
 */

import { Buffer } from "node:buffer";

import type { Append, StoredRecord } from "./types.ts";

/** UTF-8 bytes of a text. */
export function textBytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** UTF-8 bytes of the texts of a record: the record, its material, the answer. Names and hashes are not counted. */
export function recordBytes(record: StoredRecord): number {
  let bytes = textBytes(record.record) + textBytes(record.receipt.result);
  for (const item of record.material) bytes += textBytes(item.body);
  return bytes;
}

/** UTF-8 bytes of the texts of an append, as `batch_max_bytes` counts them. */
export function appendBytes(append: Append): number {
  let bytes = 0;
  for (const record of append.records) bytes += recordBytes(record);
  for (const artifact of append.artifacts) bytes += textBytes(artifact.body);
  return bytes;
}
