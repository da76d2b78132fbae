/**
 * Copies of packs: visits every object that a manifest refers to, and checks it on the way, so that a copy is complete.
 */

import type { Sha256 } from "../canonical/identity.ts";
import { type TreeReader, walkTree } from "./format/object_tree.ts";
import { isObject } from "./format/objects.ts";
import type { Manifest, ObjectReference, Segment } from "./format/types.ts";

/** A pack that is not complete: an object is missing, or does not belong at its place. */
export class PackError extends Error {
  override readonly name = "PackError";
}

/** The bytes of an object; null where it is missing. */
export type ReadObject = (reference: ObjectReference) => Promise<Uint8Array | null>;

/** An object of a pack, checked against its reference. */
export interface WalkedObject {
  readonly reference: ObjectReference;
  /** Reads it, or returns the bytes that the walk has read already. */
  readonly bytes: () => Promise<Uint8Array>;
}

/**
 * Yields every object of a pack once, however many references name it.
 *
 * @param read Reads an object; its bytes are checked
 * @throws {PackError} At the first object that is missing or wrong, also from `bytes`
 */
export async function* walkPack(sha256: Sha256, manifest: Manifest, read: ReadObject): AsyncGenerator<WalkedObject> {
  const seen = new Set<string>();
  const readChecked = async (reference: ObjectReference): Promise<Uint8Array> => {
    const bytes = await read(reference);
    if (bytes === null) throw new PackError(`Cannot read object "${reference.object}": it is missing`);
    if (isObject(sha256, bytes, reference)) return bytes;
    throw new PackError(`Cannot read object "${reference.object}": its bytes do not match its identity`);
  };
  for await (const found of walkTree(manifest, { read: readChecked, error: treeError })) {
    const { references, known } = found.item === "segment"
      ? { references: referencesOf(found.segment), known: null }
      : { references: [found.reference], known: found.item === "index" ? found.bytes : null };
    for (const { object, bytes } of references) {
      if (seen.has(object)) continue;
      seen.add(object);
      const reference = { object, bytes };
      yield { reference, bytes: () => known === null ? readChecked(reference) : Promise.resolve(known) };
    }
  }
}

function referencesOf({ records, receipts, values, large_values }: Segment): readonly ObjectReference[] {
  return [records, receipts, values, ...large_values];
}

const treeError: TreeReader["error"] = (_fault, _place, { object }, departs) => {
  const reason = departs === null
    ? "it is a node of another place in the segment tree"
    : `it departs from the form of its place at byte ${departs}`;
  return new PackError(`Cannot read object "${object}": ${reason}`);
};
