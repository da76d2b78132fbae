/**
 * Reads the objects of a pack: every byte counts against the budget, and is trusted only after it hashes to its
 * identity.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { Cost, Meter } from "./budget.ts";
import { violation } from "./findings.ts";
import type { ViolationCode } from "./claims.ts";
import type { VerificationPrimitives, Violation } from "./types.ts";
import { MANIFEST_BYTES, type ObjectReference, type PackSource } from "../format/types.ts";

/** The label before the bytes of an object in its identity. */
const OBJECT_LABEL = new TextEncoder().encode("gate:object:v1\0");
/** Objects up to this size are cached, since references may repeat: above all to the empty object. */
const KEPT_BYTES = 4096;
/** Maximum number of cached objects. */
const KEPT_OBJECTS = 1024;

/** Ends the reading: with a contradiction, or where the budget is exhausted. */
export class MaterialEnd extends Error {
  /** The contradiction; null where the budget is exhausted. */
  readonly violation: Violation | null;

  /** An end with its contradiction, if any. */
  constructor(found: Violation | null) {
    super(found === null ? "Cannot read on: the budget is exhausted" : `Cannot read on: ${found.code}`);
    this.name = "MaterialEnd";
    this.violation = found;
  }
}

/** A reading of one pack. */
export interface Reading {
  readonly source: PackSource;
  readonly primitives: VerificationPrimitives;
  readonly meter: Meter;
  /** Verified objects, with their sizes. */
  readonly seen: Map<Identity, number>;
  readonly kept: Map<Identity, Uint8Array>;
}

/** Starts the reading of a pack. */
export function openReading(source: PackSource, primitives: VerificationPrimitives, meter: Meter): Reading {
  return { source, primitives, meter, seen: new Map(), kept: new Map() };
}

/**
 * The bytes of the manifest, or the violation. They are counted by the caller, since their size is known only
 * afterwards.
 */
export async function readManifestBytes(source: PackSource): Promise<Uint8Array | ViolationCode> {
  const bytes = await attempt(source.manifest);
  if (bytes === "missing") return "manifest_missing";
  if (bytes === "unreadable") return "manifest_unreadable";
  return bytes.length > MANIFEST_BYTES ? "manifest_too_large" : bytes;
}

async function attempt<T>(read: () => Promise<T>): Promise<T | "unreadable"> {
  try {
    return await read();
  } catch {
    // Any failure of a source makes its bytes unreadable.
    return "unreadable";
  }
}

/** The use of an object. */
export interface ObjectUse {
  /** Its place in the tree. */
  readonly place: string;
  /** The cost of this use. The bytes of an object are counted once, the work on them each time. */
  readonly cost: Cost;
}

/**
 * Reads an object and keeps its bytes.
 *
 * @throws {MaterialEnd} Where it does not match its reference, or the budget is exhausted
 */
export async function readObject(reading: Reading, reference: ObjectReference, use: ObjectUse): Promise<Uint8Array> {
  const cost = costOf(reading, reference, use);
  const kept = reading.kept.get(reference.object);
  if (kept !== undefined) {
    reading.meter.charge(cost);
    return kept;
  }
  // The format bounds the size in a reference, and the budget allows it; no chunk exceeds it.
  const bytes = new Uint8Array(reference.bytes);
  let filled = 0;
  await consume(reading, reference, use, cost, (chunk) => {
    bytes.set(chunk, filled);
    filled += chunk.length;
  });
  if (bytes.length <= KEPT_BYTES && reading.kept.size < KEPT_OBJECTS) reading.kept.set(reference.object, bytes);
  return bytes;
}

/**
 * Reads and hashes an object without keeping its bytes. A verified object is not read again.
 *
 * @throws {MaterialEnd} As {@link readObject}
 */
export async function checkObject(reading: Reading, reference: ObjectReference, use: ObjectUse): Promise<void> {
  const isSeen = reading.seen.has(reference.object);
  const cost = costOf(reading, reference, use);
  if (isSeen) reading.meter.charge(cost);
  else await consume(reading, reference, use, cost, () => {});
}

/** The cost of reading an object, which the budget allows. It is not counted yet, since the object may be missing. */
function costOf({ seen, meter }: Reading, { object, bytes }: ObjectReference, use: ObjectUse): Cost {
  const known = seen.get(object);
  if (known !== undefined && known !== bytes) throw ended("object_size_mismatch", use);
  const cost = known === undefined ? { ...use.cost, bytes_read: bytes, objects: 1 } : use.cost;
  if (!meter.allows(cost)) throw new MaterialEnd(null);
  return cost;
}

async function consume(
  reading: Reading,
  reference: ObjectReference,
  use: ObjectUse,
  cost: Cost,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  const { object, bytes } = reference;
  const chunks = reading.source.object(object, bytes);
  if (chunks === "missing") throw ended("object_missing", use);
  if (chunks === "unreadable") throw ended("object_unreadable", use);
  reading.meter.charge(cost);
  await hashObject(reading, reference, use, chunks, onChunk);
  reading.seen.set(object, bytes);
}

async function hashObject(
  { primitives }: Reading,
  reference: ObjectReference,
  use: ObjectUse,
  chunks: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  const hash = primitives.hashStream();
  hash.update(OBJECT_LABEL);
  let length = 0;
  try {
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > reference.bytes) break;
      hash.update(chunk);
      onChunk(chunk);
    }
  } catch {
    throw ended("object_unreadable", use);
  }
  if (length !== reference.bytes) throw ended("object_size_mismatch", use);
  if (hash.digest() !== reference.object) throw ended("object_identity_mismatch", use);
}

function ended(code: ViolationCode, { place }: ObjectUse): MaterialEnd {
  return new MaterialEnd(violation(code, place));
}
