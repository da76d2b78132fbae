/**
 * Reading the material of a pack: every byte within the budget, and none believed before it hashes to its name.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { Cost, Meter } from "./budget.ts";
import { violation } from "./findings.ts";
import type { VerificationPrimitives, Violation, ViolationCode } from "./types.ts";
import { MANIFEST_BYTES, type ObjectReference, type PackSource } from "../format/types.ts";

/** What stands before the bytes of an object in its identity. */
const OBJECT_LABEL = new TextEncoder().encode("gate:object:v1\0");
/** Objects up to this size are kept when they are read, for they may be named often: the empty one above all. */
const KEPT_BYTES = 4096;
/** How many of them. */
const KEPT_OBJECTS = 1024;

/** Ends the reading: with a contradiction in the material, or where the budget ends. */
export class MaterialEnd extends Error {
  /** The contradiction; null where the budget ended. */
  readonly violation: Violation | null;

  /** Ends the reading. */
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
  /** Objects that were read and hash to their names, with their sizes. */
  readonly seen: Map<Identity, number>;
  readonly kept: Map<Identity, Uint8Array>;
}

/** A reading of which nothing is read yet. */
export function openReading(source: PackSource, primitives: VerificationPrimitives, meter: Meter): Reading {
  return { source, primitives, meter, seen: new Map(), kept: new Map() };
}

/** The manifest's bytes, or why there are none. Not counted: its size is known only once it is read. */
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
    // Whatever a source fails with, its bytes cannot be had.
    return "unreadable";
  }
}

/** How an object is read. */
export interface ObjectUse {
  /** Where it stands. */
  readonly place: string;
  /** What this use of it costs: an object costs its own bytes once, and what is made of them each time. */
  readonly cost: Cost;
}

/**
 * Reads an object and keeps its bytes.
 *
 * @throws {MaterialEnd} Where it is not what its reference says, or the budget ends
 */
export async function readObject(reading: Reading, reference: ObjectReference, use: ObjectUse): Promise<Uint8Array> {
  const cost = costOf(reading, reference, use);
  const kept = reading.kept.get(reference.object);
  if (kept !== undefined) {
    reading.meter.charge(cost);
    return kept;
  }
  // The form bounds what a reference may say, and the budget allows it; no chunk goes beyond.
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
 * Reads and hashes an object without keeping its bytes; one that was read before is not read again.
 *
 * @throws {MaterialEnd} As {@link readObject}
 */
export async function checkObject(reading: Reading, reference: ObjectReference, use: ObjectUse): Promise<void> {
  const isSeen = reading.seen.has(reference.object);
  const cost = costOf(reading, reference, use);
  if (isSeen) reading.meter.charge(cost);
  else await consume(reading, reference, use, cost, () => {});
}

/** What reading an object takes, which the budget covers; not counted yet, for the object may not be there. */
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
