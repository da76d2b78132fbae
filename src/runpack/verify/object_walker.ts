/**
 * Walking the whole object tree of a pack, in reading order (docs/format/runpack.md "Verification"). What the tree has
 * to look like follows from the number of records alone, so nothing that a node says of its shape is believed.
 *
 * @module
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { readEntryName } from "../format/archive.ts";
import { checkObject, MaterialEnd, type ObjectUse, type Reading, readObject } from "./object_reader.ts";
import { decodeArtifactList, decodeSegmentNode } from "../format/nodes.ts";
import type { Cost } from "./budget.ts";
import { violation } from "./findings.ts";
import {
  type ArtifactReference,
  type LargeValue,
  type Manifest,
  NODE_CHILDREN,
  type ObjectReference,
  type Segment,
  SEGMENT_RECORDS,
  TREE_LEVELS,
} from "../format/types.ts";

/** Whether bytes are only hashed, or handed on to be replayed. */
export type WalkPurpose = "check" | "replay";

/** A part of a pack whose bytes are those that its references name. */
export type MaterialPart =
  | { readonly part: "law"; readonly bytes: Uint8Array }
  | { readonly part: "artifact"; readonly reference: ArtifactReference; readonly bytes: Uint8Array }
  | SegmentPart;

/** A segment; its large values are hashed but not kept. */
export interface SegmentPart {
  readonly part: "segment";
  readonly segment: Segment;
  readonly records: Uint8Array;
  readonly receipts: Uint8Array;
  readonly values: Uint8Array;
  /** Reads the bytes of a large value of this segment again. */
  readonly readLarge: (index: number) => Promise<Uint8Array>;
}

/** The places of a node in the tree: which segments it has to hold. */
interface NodePlace {
  readonly level: number;
  readonly firstSegment: number;
  readonly segments: number;
}

/**
 * Walks a pack. For `check` nothing is yielded.
 *
 * @throws {MaterialEnd} At the first contradiction, or where the budget ends
 */
export async function* walkMaterial(
  reading: Reading,
  manifest: Manifest,
  purpose: WalkPurpose,
): AsyncGenerator<MaterialPart, void, void> {
  const { departs } = reading.source;
  if (departs !== undefined) throw new MaterialEnd(violation("archive_invalid", `byte ${departs}`));
  const law = await take(reading, manifest.law, "law", purpose);
  if (law !== null) yield { part: "law", bytes: law };
  yield* walkArtifacts(reading, manifest, purpose);
  yield* walkNode(reading, manifest, manifest.segments, rootPlace(manifest), purpose);
  await checkListed(reading);
}

/** Reads an object that is parsed only in a replay; null where its bytes are not kept. */
async function take(
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

async function* walkArtifacts(
  reading: Reading,
  manifest: Manifest,
  purpose: WalkPurpose,
): AsyncGenerator<MaterialPart, void, void> {
  const cost = { canonical_work_bytes: manifest.artifacts.bytes };
  const bytes = await readObject(reading, manifest.artifacts, { place: "artifacts", cost });
  const list = decodeArtifactList(bytes);
  if (!list.ok) throw new MaterialEnd(violation("artifacts_invalid", "artifacts"));
  const { artifacts } = list.value;
  for (const [index, reference] of artifacts.entries()) {
    const body = await take(reading, reference, `artifacts/${index}`, purpose);
    if (body !== null) yield { part: "artifact", reference, bytes: body };
  }
}

/** How many segments a node of a level holds at most. */
function capacity(level: number): number {
  return NODE_CHILDREN ** (level + 1);
}

function rootPlace({ record_tree: { size } }: Manifest): NodePlace {
  const segments = Math.ceil(size / SEGMENT_RECORDS);
  let level = 0;
  while (capacity(level) < segments) level++;
  return { level, firstSegment: 0, segments };
}

function misshapen(place: string): MaterialEnd {
  return new MaterialEnd(violation("tree_shape_invalid", place));
}

async function* walkNode(
  reading: Reading,
  manifest: Manifest,
  reference: ObjectReference,
  at: NodePlace,
  purpose: WalkPurpose,
): AsyncGenerator<MaterialPart, void, void> {
  const place = `nodes/${at.level}/${at.firstSegment / capacity(at.level)}`;
  if (at.level >= TREE_LEVELS) throw misshapen(place);
  const cost: Cost = { canonical_work_bytes: reference.bytes, tree_nodes: 1 };
  const read = decodeSegmentNode(await readObject(reading, reference, { place, cost }));
  if (!read.ok) throw new MaterialEnd(violation("node_invalid", place));
  const node = read.value;
  if (node.level !== at.level) throw misshapen(place);
  if ("segments" in node) {
    if (node.segments.length !== at.segments) throw misshapen(place);
    for (const [index, segment] of node.segments.entries()) {
      yield* walkSegment(reading, manifest, segment, at.firstSegment + index, purpose);
    }
    return;
  }
  const each = capacity(at.level - 1);
  if (node.children.length !== Math.ceil(at.segments / each)) throw misshapen(place);
  for (const [index, child] of node.children.entries()) {
    const childPlace = {
      level: at.level - 1,
      firstSegment: at.firstSegment + index * each,
      segments: Math.min(each, at.segments - index * each),
    };
    yield* walkNode(reading, manifest, child, childPlace, purpose);
  }
}

async function* walkSegment(
  reading: Reading,
  manifest: Manifest,
  segment: Segment,
  index: number,
  purpose: WalkPurpose,
): AsyncGenerator<MaterialPart, void, void> {
  const place = `segments/${index}`;
  const first = index * SEGMENT_RECORDS + 1;
  const last = Math.min(first + SEGMENT_RECORDS - 1, manifest.record_tree.size);
  if (segment.first_revision !== first || segment.last_revision !== last) throw misshapen(place);
  const records = await take(reading, segment.records, `${place}/records`, purpose);
  const receipts = await take(reading, segment.receipts, `${place}/receipts`, purpose);
  const values = await take(reading, segment.values, `${place}/values`, purpose);
  const large = ({ bytes }: LargeValue, index: number): ObjectUse => ({
    place: `${place}/large_values/${index}`,
    cost: purpose === "replay" ? { canonical_work_bytes: bytes } : {},
  });
  for (const [index, value] of segment.large_values.entries()) await checkObject(reading, value, large(value, index));
  if (records === null || receipts === null || values === null) return;
  const readLarge = async (index: number): Promise<Uint8Array> => {
    const value = segment.large_values[index];
    if (value === undefined) throw new RangeError(`Cannot read large value ${index}: there is none`);
    // Its bytes have been counted; what is made of them again, the replay counts.
    return await readObject(reading, value, { place: `${place}/large_values/${index}`, cost: {} });
  };
  yield { part: "segment", segment, records, receipts, values, readLarge };
}

/** A pack that can be listed holds nothing else. The least name tells, since file systems list in orders of their own. */
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
