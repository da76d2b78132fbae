/**
 * Sizes that the limits of a store count.
 *
 * @module
 */

import { Buffer } from "node:buffer";

import type { Append, SchemaRecord, StoredRecord } from "./types.ts";

/** Pieces of material of one record: more than any call leaves. */
export const MATERIAL_MAXIMUM = 65_536;

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

/**
 * Schemas in order, up to the first that a page of `maximumCharacters` leaves out; at least two, where there are, since a page
 * holds one whatever its size. What comes after is not read.
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
