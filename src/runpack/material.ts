/**
 * Reading the material of a pack: every byte within the budget, and none believed before it hashes to its name.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { Cost, Meter } from "./verify_budget.ts";
import { violation } from "./verify_findings.ts";
import type { VerificationPrimitives, Violation, ViolationCode } from "./verify_types.ts";
import { MANIFEST_BYTES, type ObjectReference, type PackSource } from "./types.ts";

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
  /** Bytes that were read again because they are named again: no pack makes a reader read more than its limit twice. */
  readAgain: number;
}

/** A reading of which nothing is read yet. */
export function openReading(source: PackSource, primitives: VerificationPrimitives, meter: Meter): Reading {
  return { source, primitives, meter, seen: new Map(), kept: new Map(), readAgain: 0 };
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
  /** Where it stands, for people. */
  readonly place: string;
  /** What it costs beside its bytes. */
  readonly cost: Cost;
}

/**
 * Reads an object and keeps its bytes.
 *
 * @throws {MaterialEnd} Where it is not what its reference says, or the budget ends
 */
export async function readObject(reading: Reading, reference: ObjectReference, use: ObjectUse): Promise<Uint8Array> {
  const kept = reading.kept.get(reference.object);
  if (kept !== undefined && kept.length === reference.bytes) return kept;
  // The form bounds what a reference may say, and the budget allows it; no chunk goes beyond.
  const bytes = new Uint8Array(reference.bytes);
  let filled = 0;
  await consume(reading, reference, use, (chunk) => {
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
  const seen = reading.seen.get(reference.object);
  if (seen === reference.bytes) return;
  await consume(reading, reference, use, () => {});
}

async function consume(
  reading: Reading,
  reference: ObjectReference,
  use: ObjectUse,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  const { object, bytes } = reference;
  const first = !reading.seen.has(object);
  if (!first && reading.seen.get(object) !== bytes) throw ended("object_size_mismatch", use);
  const cost = { ...use.cost, bytes_read: bytes, objects: 1 };
  if (first ? !reading.meter.allows(cost) : reading.readAgain + bytes > reading.meter.limit("bytes_read")) {
    throw new MaterialEnd(null);
  }
  const chunks = reading.source.object(object, bytes);
  if (chunks === "missing") throw ended("object_missing", use);
  if (chunks === "unreadable") throw ended("object_unreadable", use);
  if (first) reading.meter.take(cost);
  else reading.readAgain += bytes;
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
