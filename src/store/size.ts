/** Sizes for the limits of a store. */

import { Buffer } from "node:buffer";

import type { Append, ArchivedRun, SchemaRecord, StoredRecord } from "./types.ts";

/** Pieces of material of one record: more than any call produces. */
export const MATERIAL_MAXIMUM = 65_536;

/** UTF-8 bytes of a text. */
export function textBytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** UTF-8 bytes of the texts of a record: the record, its material, the result. Names and hashes do not count. */
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

/** UTF-8 bytes of the texts of an archived run. */
export function archivedBytes({ receipts, tombstone }: ArchivedRun): number {
  return receipts.reduce((bytes, { receipt }) => bytes + textBytes(receipt.result), textBytes(tombstone.state));
}

/**
 * The first schemas, up to and including the first that does not fit into a page of `maximumCharacters`. A page holds
 * at least one schema of any size, so the result has at least two where two exist. Further schemas are not read.
 */
export function takeSchemas<Source>(
  sources: Iterable<Source>,
  read: (source: Source) => SchemaRecord,
  maximumCharacters: number = Infinity,
): SchemaRecord[] {
  const taken: SchemaRecord[] = [];
  let characters = 0;
  for (const source of sources) {
    const schema = read(source);
    taken.push(schema);
    characters += schema.record.length;
    if (characters > maximumCharacters && taken.length > 1) break;
  }
  return taken;
}
