/**
 * Walking a pack: everything that a manifest refers to, for who copies packs. What is copied is checked on the way,
 * so that a copy is never less than what its manifest says.
 *
 * @module
 */

import type { Sha256 } from "../canonical/identity.ts";
import { decodeArtifactList, decodeSegmentNode, type Read } from "./format/nodes.ts";
import { isObject } from "./format/objects.ts";
import { type Manifest, type ObjectReference, SEGMENT_RECORDS, type SegmentNode } from "./format/types.ts";

/** A pack that is not whole: an object is missing, or is not what its place asks for. */
export class PackError extends Error {
  /** Says which object, and why. */
  constructor(message: string) {
    super(message);
    this.name = "PackError";
  }
}

/** The bytes of an object; null where it cannot be had. */
export type ReadObject = (reference: ObjectReference) => Promise<Uint8Array | null>;

/** An object of a pack, checked against its reference. */
export interface WalkedObject {
  readonly reference: ObjectReference;
  /** Reads it, or gives the bytes that the walk has read already. */
  readonly bytes: () => Promise<Uint8Array>;
}

interface Walk {
  readonly read: (reference: ObjectReference) => Promise<Uint8Array>;
  readonly seen: Set<string>;
  /** The revision that the next segment has to begin with: the same node can never be walked twice. */
  next: number;
}

/**
 * Every object of a pack once, whatever number of references there are to it.
 *
 * @param read Reads an object; what it gives is checked
 * @throws {PackError} At the first thing that is missing or wrong, also from `bytes`
 */
export async function* walkPack(sha256: Sha256, manifest: Manifest, read: ReadObject): AsyncGenerator<WalkedObject> {
  const walk: Walk = {
    seen: new Set(),
    next: 1,
    read: async (reference) => {
      const bytes = await read(reference);
      if (bytes === null) throw new PackError(`Cannot read object "${reference.object}": it is missing`);
      if (!isObject(sha256, bytes, reference)) {
        throw new PackError(`Cannot read object "${reference.object}": its bytes are not those that it is named by`);
      }
      return bytes;
    },
  };
  yield* visit(walk, manifest.law);
  const list = await walk.read(manifest.artifacts);
  yield* visit(walk, manifest.artifacts, list);
  for (const artifact of decoded(decodeArtifactList(list), manifest.artifacts).artifacts) {
    yield* visit(walk, artifact);
  }
  yield* walkNode(walk, manifest.segments, null);
  if (walk.next === manifest.head.revision + 1) return;
  throw new PackError(`Cannot read runpack: its segments end at revision ${walk.next - 1}`);
}

async function* walkNode(walk: Walk, reference: ObjectReference, level: number | null): AsyncGenerator<WalkedObject> {
  const bytes = await walk.read(reference);
  yield* visit(walk, reference, bytes);
  const node: SegmentNode = decoded(decodeSegmentNode(bytes), reference);
  if (level !== null && node.level !== level) throw misplaced(reference);
  if ("children" in node) {
    for (const child of node.children) yield* walkNode(walk, child, node.level - 1);
    return;
  }
  for (const segment of node.segments) {
    const { first_revision, last_revision } = segment;
    const follows = first_revision === walk.next && (first_revision - 1) % SEGMENT_RECORDS === 0;
    if (!follows || last_revision < first_revision) throw misplaced(reference);
    walk.next = last_revision + 1;
    for (const part of [segment.records, segment.receipts, segment.values, ...segment.large_values]) {
      yield* visit(walk, part);
    }
  }
}

function* visit(walk: Walk, { object, bytes }: ObjectReference, known?: Uint8Array): Generator<WalkedObject> {
  if (walk.seen.has(object)) return;
  walk.seen.add(object);
  const reference = { object, bytes };
  yield { reference, bytes: () => known === undefined ? walk.read(reference) : Promise.resolve(known) };
}

function decoded<T>(result: Read<T>, { object }: ObjectReference): T {
  if (result.ok) return result.value;
  throw new PackError(
    `Cannot read object "${object}": it departs from the form of its place at byte ${result.departs}`,
  );
}

function misplaced({ object }: ObjectReference): PackError {
  return new PackError(`Cannot read object "${object}": it is a node of another place in the segment tree`);
}
