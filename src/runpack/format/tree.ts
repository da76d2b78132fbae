/** Builds the segment tree, as low and as full as possible, node by node as segments arrive. */

import type { Sha256 } from "../../canonical/identity.ts";
import { asJson } from "../../run/primitives.ts";
import { ExportError, jsonObjectOf, type PackObject, referenceTo } from "./objects.ts";
import { NODE_BYTES, NODE_CHILDREN, type ObjectReference, type Segment, TREE_LEVELS } from "./types.ts";

/** A growing segment tree. It keeps only the unfinished node of each level. */
export interface SegmentTree {
  /** Adds the next segment; returns the nodes that it completes. */
  readonly add: (segment: Segment) => readonly PackObject[];
  /** Completes the tree; returns the remaining nodes and the root. */
  readonly finish: () => { readonly nodes: readonly PackObject[]; readonly root: ObjectReference };
}

/**
 * Creates an empty tree.
 *
 * @param fanOut Children of a full node; tests alone pass another number than the format's
 * @throws {ExportError} `limit_exceeded`, from its methods, where a node is too large or there are too many levels
 */
export function segmentTree(sha256: Sha256, fanOut: number = NODE_CHILDREN): SegmentTree {
  let segments: Segment[] = [];
  // The children of the unfinished node of each level. Entries at TREE_LEVELS would need one level too many.
  const children: ObjectReference[][] = Array.from({ length: TREE_LEVELS + 1 }, () => []);

  const close = (level: number): PackObject[] => {
    const node = level === 0
      ? { node: "segments", level, segments }
      : { node: "segments", level, children: children[level] };
    const object = jsonObjectOf(sha256, asJson(node), "a node of the segment tree", NODE_BYTES);
    if (level === 0) segments = [];
    else children[level] = [];
    const above = children[level + 1] ?? [];
    above.push(referenceTo(object));
    if (level + 1 === TREE_LEVELS && above.length > 1) throw tooManyRecords();
    return above.length < fanOut ? [object] : [object, ...close(level + 1)];
  };

  return {
    add(segment): readonly PackObject[] {
      segments.push(segment);
      return segments.length < fanOut ? [] : close(0);
    },
    finish(): ReturnType<SegmentTree["finish"]> {
      const nodes = segments.length > 0 ? close(0) : [];
      for (let level = 1; level <= TREE_LEVELS; level++) {
        const [only, second] = children[level] ?? [];
        if (only === undefined) continue;
        const isRoot = second === undefined && children.slice(level + 1).every((above) => above.length === 0);
        if (isRoot) return { nodes, root: only };
        nodes.push(...close(level));
      }
      throw new RangeError("Cannot finish segment tree: it has no segments");
    },
  };
}

function tooManyRecords(): ExportError {
  return new ExportError("limit_exceeded", "Cannot export run: it has more records than the segment tree can hold");
}
