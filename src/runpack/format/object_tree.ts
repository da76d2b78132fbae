/**
 * Walks the object tree of a pack in reading order (docs/format/runpack.md "Verification"): the law, the artifacts,
 * then the segment tree depth first. The number of records alone determines the shape of the segment tree. So the walk
 * compares each node with that shape, and trusts nothing that a node states about itself.
 */

import { decodeArtifactList, decodeSegmentNode } from "./nodes.ts";
import {
  type ArtifactReference,
  type Manifest,
  NODE_CHILDREN,
  type ObjectReference,
  type Segment,
  SEGMENT_RECORDS,
  TREE_LEVELS,
} from "./types.ts";

/** One item of the tree. An index is an object that the walk itself reads: the artifact list, or a node. */
export type TreeItem =
  | { readonly item: "law"; readonly reference: ObjectReference; readonly place: string }
  | { readonly item: "index"; readonly reference: ObjectReference; readonly bytes: Uint8Array }
  | { readonly item: "artifact"; readonly reference: ArtifactReference; readonly place: string }
  | { readonly item: "segment"; readonly segment: Segment; readonly place: string };

/** Why an index ends the walk: its bytes depart from their form, or it does not belong at its place. */
export type TreeFault = "artifacts_invalid" | "node_invalid" | "tree_shape_invalid";

/** What a walk needs from its caller. */
export interface TreeReader {
  /** Reads an index. */
  readonly read: (reference: ObjectReference, place: string, kind: "artifacts" | "node") => Promise<Uint8Array>;
  /** The error that ends the walk; `departs` is the first byte that departs from the form, or null. */
  readonly error: (fault: TreeFault, place: string, reference: ObjectReference, departs: number | null) => Error;
}

/** The position of a node: which segments it has to hold. */
interface NodePosition {
  readonly level: number;
  readonly firstSegment: number;
  readonly segments: number;
}

/**
 * Visits every item of a pack, as often as a reference names it.
 *
 * @throws What `reader` throws, and what its `error` makes
 */
export async function* walkTree(manifest: Manifest, reader: TreeReader): AsyncGenerator<TreeItem, void, void> {
  yield { item: "law", reference: manifest.law, place: "law" };
  const list = manifest.artifacts;
  const bytes = await reader.read(list, "artifacts", "artifacts");
  yield { item: "index", reference: list, bytes };
  const decoded = decodeArtifactList(bytes);
  if (!decoded.ok) throw reader.error("artifacts_invalid", "artifacts", list, decoded.departs);
  for (const [index, reference] of decoded.value.artifacts.entries()) {
    yield { item: "artifact", reference, place: `artifacts/${index}` };
  }
  yield* walkNode(manifest, reader, manifest.segments, rootPosition(manifest));
}

/** How many segments a node of a level holds at most. */
function capacity(level: number): number {
  return NODE_CHILDREN ** (level + 1);
}

function rootPosition({ record_tree: { size } }: Manifest): NodePosition {
  const segments = Math.ceil(size / SEGMENT_RECORDS);
  let level = 0;
  while (capacity(level) < segments) level++;
  return { level, firstSegment: 0, segments };
}

async function* walkNode(
  manifest: Manifest,
  reader: TreeReader,
  reference: ObjectReference,
  { level, firstSegment, segments }: NodePosition,
): AsyncGenerator<TreeItem, void, void> {
  const place = `nodes/${level}/${firstSegment / capacity(level)}`;
  const misplaced = (at: string): Error => reader.error("tree_shape_invalid", at, reference, null);
  if (level >= TREE_LEVELS) throw misplaced(place);
  const bytes = await reader.read(reference, place, "node");
  yield { item: "index", reference, bytes };
  const decoded = decodeSegmentNode(bytes);
  if (!decoded.ok) throw reader.error("node_invalid", place, reference, decoded.departs);
  const node = decoded.value;
  if (node.level !== level) throw misplaced(place);
  if ("segments" in node) {
    if (node.segments.length !== segments) throw misplaced(place);
    for (const [offset, segment] of node.segments.entries()) {
      const index = firstSegment + offset;
      const first = index * SEGMENT_RECORDS + 1;
      const last = Math.min(first + SEGMENT_RECORDS - 1, manifest.record_tree.size);
      const at = `segments/${index}`;
      if (segment.first_revision !== first || segment.last_revision !== last) throw misplaced(at);
      yield { item: "segment", segment, place: at };
    }
    return;
  }
  const each = capacity(level - 1);
  if (node.children.length !== Math.ceil(segments / each)) throw misplaced(place);
  for (const [index, child] of node.children.entries()) {
    yield* walkNode(manifest, reader, child, {
      level: level - 1,
      firstSegment: firstSegment + index * each,
      segments: Math.min(each, segments - index * each),
    });
  }
}
