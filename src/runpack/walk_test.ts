import assert from "node:assert/strict";

import { canonicalBytes } from "../canonical/canonicalize.ts";
import { identifyBytes } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import { SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import { FORMAT, type Manifest, type ObjectReference } from "./format/types.ts";
import { PackError, walkPack } from "./walk.ts";

/** Objects under their names, for packs that no export would make. */
class Objects {
  readonly bytes = new Map<string, Uint8Array>();

  add(value: JsonValue | Uint8Array): { object: string; bytes: number } {
    const bytes = value instanceof Uint8Array ? value : canonicalBytes(value);
    const object = identifyBytes(SHA256, "object", bytes);
    this.bytes.set(object, bytes);
    return { object, bytes: bytes.length };
  }
}

const LINE = new TextEncoder().encode("{}\n");

function segment(objects: Objects, first_revision: number, last_revision: number): JsonValue {
  const part = objects.add(LINE);
  return { first_revision, last_revision, records: part, receipts: part, values: part, large_values: [] };
}

function manifest(objects: Objects, revision: number, segments: ObjectReference): Manifest {
  const identity = SHA256("anything");
  return {
    format: FORMAT,
    run_key: { namespace_id: 2, run_id: "0".repeat(32) },
    scenario_id: "s",
    scenario_law_identity: identity,
    graph_identity: identity,
    head: { record_id: identity, revision },
    state_identity: identity,
    record_tree: { root: identity, size: revision },
    law: objects.add({ law: true }),
    artifacts: objects.add({ node: "artifacts", artifacts: [] }),
    segments,
    withheld_conditions: [],
  };
}

async function walked(objects: Objects, root: Manifest): Promise<string[]> {
  const names: string[] = [];
  const read = (reference: ObjectReference): Promise<Uint8Array | null> =>
    Promise.resolve(objects.bytes.get(reference.object) ?? null);
  for await (const { reference, bytes } of walkPack(SHA256, root, read)) {
    await bytes();
    names.push(reference.object);
  }
  return names;
}

const leaf = (objects: Objects, ...segments: JsonValue[]): ObjectReference =>
  objects.add({ node: "segments", level: 0, segments });
const branch = (objects: Objects, level: number, ...children: ObjectReference[]): ObjectReference =>
  objects.add({ node: "segments", level, children: children.map((child) => ({ ...child })) });

Deno.test("walkPack() yields every object once", async () => {
  const objects = new Objects();
  const full = Array.from({ length: 256 }, (_, index) => segment(objects, index * 256 + 1, index * 256 + 256));
  const records = 256 * 256 + 44;
  const last = leaf(objects, segment(objects, records - 43, records));
  const names = await walked(objects, manifest(objects, records, branch(objects, 1, leaf(objects, ...full), last)));
  assert.deepEqual([...names].sort(), [...objects.bytes.keys()].sort());
});

// Trees that no export makes, and the message of the error.
const REJECTED: readonly [string, (objects: Objects) => Manifest, RegExp][] = [
  ["a node twice", (objects) => {
    const one = leaf(objects, segment(objects, 1, 256));
    return manifest(objects, 512, branch(objects, 1, one, one));
  }, /another place/],
  ["a node of another level", (objects) => {
    return manifest(objects, 1, branch(objects, 3, leaf(objects, segment(objects, 1, 1))));
  }, /another place/],
  ["a gap between segments", (objects) => {
    return manifest(objects, 300, leaf(objects, segment(objects, 1, 256), segment(objects, 258, 300)));
  }, /another place/],
  ["two nodes where one holds all segments", (objects) => {
    const one = leaf(objects, segment(objects, 1, 256));
    const two = leaf(objects, segment(objects, 257, 300));
    return manifest(objects, 300, branch(objects, 1, one, two));
  }, /another place/],
  ["a segment that is not full before another", (objects) => {
    return manifest(objects, 300, leaf(objects, segment(objects, 1, 200), segment(objects, 201, 300)));
  }, /another place/],
  [
    "an end before the head",
    (objects) => manifest(objects, 5, leaf(objects, segment(objects, 1, 4))),
    /another place/,
  ],
  [
    "an end beyond the head",
    (objects) => manifest(objects, 3, leaf(objects, segment(objects, 1, 4))),
    /another place/,
  ],
  ["no node", (objects) => manifest(objects, 1, objects.add([])), /departs from the form of its place at byte 0/],
  ["an object with other bytes", (objects) => {
    const root = manifest(objects, 1, leaf(objects, segment(objects, 1, 1)));
    objects.bytes.set(root.law.object, canonicalBytes({ law: null }));
    return root;
  }, /its bytes do not match its identity/],
  ["an object with another size", (objects) => {
    const root = manifest(objects, 1, leaf(objects, segment(objects, 1, 1)));
    return { ...root, law: { ...root.law, bytes: root.law.bytes + 1 } };
  }, /its bytes do not match its identity/],
  ["no object", (objects) => {
    const root = manifest(objects, 1, leaf(objects, segment(objects, 1, 1)));
    objects.bytes.delete(objects.add(LINE).object);
    return root;
  }, /it is missing/],
];

for (const [what, build, message] of REJECTED) {
  Deno.test(`walkPack() rejects ${what}`, async () => {
    const objects = new Objects();
    const root = build(objects);
    await assert.rejects(walked(objects, root), (error) => error instanceof PackError && message.test(error.message));
  });
}
