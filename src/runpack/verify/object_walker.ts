/** Reads every object of a pack under the budget, in reading order, and yields what a replay needs. */

import { compareCodePoints } from "../../canonical/order.ts";
import { readEntryName } from "../format/archive.ts";
import { type TreeReader, walkTree } from "../format/object_tree.ts";
import type { ArtifactReference, LargeValue, Manifest, ObjectReference, Segment } from "../format/types.ts";
import { violation } from "./findings.ts";
import { checkObject, MaterialEnd, type ObjectUse, type Reading, readObject } from "./object_reader.ts";

/** Whether objects are only hashed, or also parsed for a replay. */
export type WalkPurpose = "check" | "replay";

/** A part of a pack; its bytes hash to the identities that its references name. */
export type MaterialPart =
  | { readonly part: "law"; readonly bytes: Uint8Array }
  | { readonly part: "artifact"; readonly reference: ArtifactReference; readonly bytes: Uint8Array }
  | SegmentPart;

/** A segment. Its large values are hashed, but not kept in memory. */
export interface SegmentPart {
  readonly part: "segment";
  readonly segment: Segment;
  readonly records: Uint8Array;
  readonly receipts: Uint8Array;
  readonly values: Uint8Array;
  /** Reads the bytes of a large value of this segment again. */
  readonly readLarge: (index: number) => Promise<Uint8Array>;
}

/**
 * Walks a pack. For `check` it yields nothing.
 *
 * @throws {MaterialEnd} At the first contradiction, or where the budget is exhausted
 */
export async function* walkMaterial(
  reading: Reading,
  manifest: Manifest,
  purpose: WalkPurpose,
): AsyncGenerator<MaterialPart, void, void> {
  const { departs } = reading.source;
  if (departs !== undefined) throw new MaterialEnd(violation("archive_invalid", `byte ${departs}`));
  for await (const found of walkTree(manifest, treeReader(reading))) {
    if (found.item === "index") continue;
    if (found.item === "segment") {
      const part = await readSegment(reading, found.segment, found.place, purpose);
      if (part !== null) yield part;
      continue;
    }
    const bytes = await readForReplay(reading, found.reference, found.place, purpose);
    if (bytes === null) continue;
    if (found.item === "law") yield { part: "law", bytes };
    else yield { part: "artifact", reference: found.reference, bytes };
  }
  await checkListed(reading);
}

function treeReader(reading: Reading): TreeReader {
  return {
    read: (reference, place, kind) => {
      const work = { canonical_work_bytes: reference.bytes };
      return readObject(reading, reference, { place, cost: kind === "node" ? { ...work, tree_nodes: 1 } : work });
    },
    error: (code, place) => new MaterialEnd(violation(code, place)),
  };
}

/** Reads an object that only a replay parses; null for `check`, which hashes it without keeping its bytes. */
async function readForReplay(
  reading: Reading,
  reference: ObjectReference,
  place: string,
  purpose: WalkPurpose,
): Promise<Uint8Array | null> {
  if (purpose === "replay") {
    return await readObject(reading, reference, { place, cost: { canonical_work_bytes: reference.bytes } });
  }
  await checkObject(reading, reference, { place, cost: {} });
  return null;
}

async function readSegment(
  reading: Reading,
  segment: Segment,
  place: string,
  purpose: WalkPurpose,
): Promise<SegmentPart | null> {
  const records = await readForReplay(reading, segment.records, `${place}/records`, purpose);
  const receipts = await readForReplay(reading, segment.receipts, `${place}/receipts`, purpose);
  const values = await readForReplay(reading, segment.values, `${place}/values`, purpose);
  const use = ({ bytes }: LargeValue, index: number): ObjectUse => ({
    place: `${place}/large_values/${index}`,
    cost: purpose === "replay" ? { canonical_work_bytes: bytes } : {},
  });
  for (const [index, value] of segment.large_values.entries()) await checkObject(reading, value, use(value, index));
  if (records === null || receipts === null || values === null) return null;
  const readLarge = async (index: number): Promise<Uint8Array> => {
    const value = segment.large_values[index];
    if (value === undefined) throw new RangeError(`Cannot read large value ${index}: the segment has no such value`);
    // Its bytes have been counted above; the replay counts the work on them.
    return await readObject(reading, value, { place: `${place}/large_values/${index}`, cost: {} });
  };
  return { part: "segment", segment, records, receipts, values, readLarge };
}

/**
 * Rejects an object that no reference names, where the files of a pack can be listed. File systems list in orders of
 * their own, so the least name is reported.
 */
async function checkListed({ source, seen }: Reading): Promise<void> {
  if (source.list === null) return;
  let least: string | null = null;
  try {
    for await (const name of source.list()) {
      const place = readEntryName(name);
      if (place?.part === "object" && seen.has(place.identity)) continue;
      if (least === null || compareCodePoints(name, least) < 0) least = name;
    }
  } catch {
    throw new MaterialEnd(violation("object_unreadable", "files"));
  }
  if (least !== null) throw new MaterialEnd(violation("object_unreferenced", least));
}
