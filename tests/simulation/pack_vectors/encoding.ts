/**
 * How vectors write packs: as text, and as changes to a pack that the reader has
 * (tests/vectors/runpack/packs/README.md).
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../../../src/canonical/base64.ts";
import { compareCodePoints } from "../../../src/canonical/order.ts";
import type { Identity } from "../../../src/canonical/identity.ts";
import type { MemoryPack } from "../runpack/memory.ts";

/**
 * A run of bytes: UTF-8 text, so many zero bytes, bytes as base64, or a copy of bytes from a start to an end. They are copied
 * from the base pack, from its `manifest` or the object whose identity begins with eight digits, or from `itself`: from what
 * the pieces before gave.
 */
export type Piece = string | number | { readonly base64: string } | readonly [source: string, from: number, to: number];

/** A pack as vectors write it. */
export interface PackText {
  /** The base pack; its objects are those of this pack too unless `without` names them. */
  readonly like?: string;
  readonly without?: readonly Identity[];
  /** Absent: as that of the base pack. Null: there is no manifest. */
  readonly manifest?: readonly Piece[] | null;
  readonly objects?: Readonly<Record<Identity, readonly Piece[]>>;
}

/** The base packs by name. */
export type Bases = ReadonlyMap<string, MemoryPack>;

/** Fewer equal bytes than these are written again: a piece costs as much. */
const SHORTEST_COPY = 48;
const SHORTEST_ZEROS = 8;

const ITSELF = "itself";

/** The sources that a piece may copy from: the manifest and the objects of a pack. */
function sourcesOf(base: MemoryPack | undefined): Map<string, Uint8Array> {
  if (base === undefined) return new Map();
  const objects = [...base.objects].map(([identity, bytes]) => [identity.slice(0, 8), bytes] as const);
  const sources = new Map([["manifest", base.manifest], ...objects]);
  if (sources.size !== objects.length + 1) {
    throw new TypeError("Cannot name the objects of a base pack by eight digits");
  }
  return sources;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function literal(bytes: Uint8Array): Piece {
  try {
    return UTF8.decode(bytes);
  } catch {
    return { base64: encodeBase64(bytes) };
  }
}

/** Half of {@link SHORTEST_COPY}: every equal run of that many bytes holds a whole block of its source. */
const BLOCK = SHORTEST_COPY / 2;

/** Where blocks of bytes are found; the first place counts. */
type BlockIndex = Map<string, readonly [source: string, at: number]>;

function keyAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + BLOCK));
}

function addBlock(index: BlockIndex, name: string, bytes: Uint8Array, at: number): void {
  const key = keyAt(bytes, at);
  if (at + BLOCK <= bytes.length && !index.has(key)) index.set(key, [name, at]);
}

/** A copy of what stands around a place: its piece, and the bytes that it gives. */
interface Copy {
  readonly piece: Piece;
  readonly from: number;
  readonly to: number;
}

/** The longest copy around a block that was found, not before `start`; null where it is too short. */
function copyAround(
  bytes: Uint8Array,
  start: number,
  at: number,
  source: Uint8Array,
  [name, found]: readonly [string, number],
): Copy | null {
  let from = found;
  let begin = at;
  while (from > 0 && begin > start && source[from - 1] === bytes[begin - 1]) [from, begin] = [from - 1, begin - 1];
  let to = found + BLOCK;
  let end = at + BLOCK;
  // What is copied from itself is there before the copy begins.
  const limit = name === ITSELF ? begin : source.length;
  while (to < limit && end < bytes.length && source[to] === bytes[end]) [to, end] = [to + 1, end + 1];
  return to - from >= SHORTEST_COPY && to <= limit ? { piece: [name, from, to], from: begin, to: end } : null;
}

/** Writes bytes as pieces, with copies of what the base pack has. */
function createEncoder(base: MemoryPack | undefined): (bytes: Uint8Array) => readonly Piece[] {
  const sources = sourcesOf(base);
  const known: BlockIndex = new Map();
  for (const [name, bytes] of sources) {
    for (let at = 0; at < bytes.length; at += BLOCK) addBlock(known, name, bytes, at);
  }
  return (bytes) => {
    const own: BlockIndex = new Map();
    const pieces: Piece[] = [];
    let start = 0;
    let at = 0;
    let indexed = 0;
    const put = ({ piece, from, to }: Copy): void => {
      if (from > start) pieces.push(literal(bytes.subarray(start, from)));
      pieces.push(piece);
      start = at = to;
    };
    while (at < bytes.length) {
      for (; indexed + BLOCK <= at; indexed += BLOCK) addBlock(own, ITSELF, bytes, indexed);
      const zeros = countZeros(bytes, at);
      const key = keyAt(bytes, at);
      const found = at + BLOCK <= bytes.length ? known.get(key) ?? own.get(key) : undefined;
      const source = found?.[0] === ITSELF ? bytes : sources.get(found?.[0] ?? "");
      const copy = found === undefined || source === undefined ? null : copyAround(bytes, start, at, source, found);
      if (zeros >= SHORTEST_ZEROS) put({ piece: zeros, from: at, to: at + zeros });
      else if (copy !== null) put(copy);
      else at++;
    }
    if (start < bytes.length) pieces.push(literal(bytes.subarray(start)));
    return pieces;
  };
}

function countZeros(bytes: Uint8Array, at: number): number {
  let end = at;
  while (bytes[end] === 0) end++;
  return end - at;
}

/** Writes single files as pieces. */
export function encodeFile(base: MemoryPack | undefined, bytes: Uint8Array): readonly Piece[] {
  return createEncoder(base)(bytes);
}

/** Writes a pack, as changes to a base pack where one is named. */
export function encodePack(
  pack: { readonly manifest: Uint8Array | null; readonly objects: MemoryPack["objects"] },
  bases: Bases = new Map(),
  like?: string,
): PackText {
  const base = bases.get(like ?? "");
  const encode = createEncoder(base);
  const without = [...base?.objects.keys() ?? []].filter((identity) => !pack.objects.has(identity)).sort();
  const added = [...pack.objects]
    .filter(([identity, bytes]) => !sameBytes(bytes, base?.objects.get(identity)))
    .sort(([a], [b]) => compareCodePoints(a, b));
  const objects = Object.fromEntries(added.map(([identity, bytes]) => [identity, encode(bytes)]));
  return {
    ...like === undefined ? {} : { like },
    ...without.length === 0 ? {} : { without },
    ...pack.manifest !== null && sameBytes(pack.manifest, base?.manifest)
      ? {}
      : { manifest: pack.manifest === null ? null : encode(pack.manifest) },
    ...added.length === 0 ? {} : { objects },
  };
}

function sameBytes(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return a.length === b?.length && a.every((byte, at) => byte === b[at]);
}

/** The bytes of pieces. */
export function decodePieces(pieces: readonly Piece[], base: MemoryPack | undefined): Uint8Array {
  const sources = sourcesOf(base);
  let bytes: Uint8Array = new Uint8Array();
  for (const piece of pieces) bytes = joined(bytes, decodePiece(piece, bytes, sources));
  return bytes;
}

function decodePiece(piece: Piece, before: Uint8Array, sources: ReadonlyMap<string, Uint8Array>): Uint8Array {
  if (typeof piece === "string") return new TextEncoder().encode(piece);
  if (typeof piece === "number") return new Uint8Array(piece);
  if ("base64" in piece) return required(decodeBase64(piece.base64));
  const [name, from, to] = piece;
  return required(name === ITSELF ? before : sources.get(name)).subarray(from, to);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new TypeError("Cannot read a vector: it names what is not there");
  return value;
}

/** The pack that a vector writes. */
export function decodePack(
  text: PackText,
  bases: Bases,
): { readonly manifest: Uint8Array | null; readonly objects: ReadonlyMap<Identity, Uint8Array> } {
  const base = text.like === undefined ? undefined : required(bases.get(text.like));
  const objects = new Map(base?.objects);
  for (const identity of text.without ?? []) objects.delete(identity);
  for (const [identity, pieces] of Object.entries(text.objects ?? {})) {
    objects.set(identity, decodePieces(pieces, base));
  }
  const manifest = text.manifest === undefined ? base?.manifest ?? null : text.manifest;
  return {
    manifest: manifest === null || manifest instanceof Uint8Array ? manifest : decodePieces(manifest, base),
    objects,
  };
}
