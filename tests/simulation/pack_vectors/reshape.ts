/**
 * Changes to a finished pack: to its manifest, its lists and its lines, with everything that refers to them made again.
 *
 * @module
 */

import { canonicalBytes } from "../../../src/canonical/canonicalize.ts";
import { identifyBytes } from "../../../src/canonical/identity.ts";
import { readJson } from "../../../src/canonical/scan.ts";
import { SHA256 } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import type { MemoryPack } from "../runpack/memory.ts";

const read = (bytes: Uint8Array | undefined): Editable => readJson(new TextDecoder().decode(bytes));

/** Changes the members of the manifest. */
export function withManifest(pack: MemoryPack, change: (manifest: Editable) => void): MemoryPack {
  const manifest = read(pack.manifest);
  change(manifest);
  return { ...pack, manifest: canonicalBytes(manifest) };
}

/** Changes the artifact list, or the root node of the segment tree. */
export function withList(
  pack: MemoryPack,
  place: "artifacts" | "segments",
  change: (list: Editable, put: (bytes: Uint8Array) => Editable) => void,
): MemoryPack {
  const objects = new Map(pack.objects);
  const put = (bytes: Uint8Array): Editable => {
    const object = identifyBytes(SHA256, "object", bytes);
    objects.set(object, bytes);
    return { object, bytes: bytes.length };
  };
  const manifest = withManifest(pack, (members) => {
    const list = read(objects.get(members[place].object));
    objects.delete(members[place].object);
    change(list, put);
    members[place] = put(canonicalBytes(list));
  });
  return { ...manifest, objects };
}

/** The parts of a segment that are lines. */
type LinesPart = "records" | "receipts" | "values";

/** Changes the bytes of the records, receipts or values of the first segment. */
export function withRawLines(
  pack: MemoryPack,
  part: LinesPart,
  change: (bytes: Uint8Array) => Uint8Array,
): MemoryPack {
  let before = "";
  const changed = withList(pack, "segments", ({ segments: [segment] }, put) => {
    before = segment[part].object;
    segment[part] = put(change(pack.objects.get(before) ?? new Uint8Array()));
  });
  const objects = new Map(changed.objects);
  objects.delete(before);
  return { ...changed, objects };
}

/** Changes the text of the records, receipts or values of the first segment. */
export function withLines(pack: MemoryPack, part: LinesPart, change: (text: string) => string): MemoryPack {
  return withRawLines(pack, part, (bytes) => new TextEncoder().encode(change(new TextDecoder().decode(bytes))));
}

/** The identity of an object that the manifest names. */
export function objectAt(pack: MemoryPack, place: "law" | "artifacts" | "segments"): string {
  return read(pack.manifest)[place].object;
}

/** Puts other bytes in the place of an object, under the same name. */
export function withObject(
  pack: MemoryPack,
  identity: string,
  change: (bytes: Uint8Array) => Uint8Array | null,
): MemoryPack {
  const objects = new Map(pack.objects);
  const bytes = change(objects.get(identity) ?? new Uint8Array());
  if (bytes === null) objects.delete(identity);
  else objects.set(identity, bytes);
  return { ...pack, objects };
}
