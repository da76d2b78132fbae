import assert from "node:assert/strict";

import { canonicalBytes } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { SHA256 } from "../../tests/simulation/kernel_fixture.ts";
import { decodeArtifactList, decodeSegmentNode } from "./nodes.ts";
import { ExportError, type PackObject } from "./objects.ts";
import { segmentTree } from "./tree.ts";
import { NODE_CHILDREN, type ObjectReference, type Segment, TREE_LEVELS } from "./types.ts";

const reference: ObjectReference = { object: SHA256("object"), bytes: 6 };

function segmentAt(index: number): Segment {
  const first_revision = index * 256 + 1;
  const last_revision = first_revision + 255;
  return {
    first_revision,
    last_revision,
    records: reference,
    receipts: reference,
    values: reference,
    large_values: [],
  };
}

/** The tree as nested arrays of first revisions, read from its objects. */
function shapeOf(objects: readonly PackObject[], root: ObjectReference): unknown {
  const found = objects.find(({ identity }) => identity === root.object);
  assert.ok(found !== undefined && found.bytes.length === root.bytes);
  const node = decodeSegmentNode(found.bytes);
  assert.ok(node.ok, JSON.stringify(node));
  if ("segments" in node.value) return node.value.segments.map(({ first_revision }) => (first_revision - 1) / 256);
  return node.value.children.map((child) => shapeOf(objects, child));
}

function built(count: number, fanOut?: number): { objects: PackObject[]; root: ObjectReference } {
  const tree = segmentTree(SHA256, fanOut);
  const objects = Array.from({ length: count }, (_, index) => tree.add(segmentAt(index))).flat();
  const { nodes, root } = tree.finish();
  return { objects: [...objects, ...nodes], root };
}

// Segments, children of a full node, and the tree: as low and as full as it can be.
const SHAPES: readonly [number, number, unknown][] = [
  [1, 2, [0]],
  [2, 2, [0, 1]],
  [3, 2, [[0, 1], [2]]],
  [4, 2, [[0, 1], [2, 3]]],
  [5, 2, [[[0, 1], [2, 3]], [[4]]]],
  [7, 2, [[[0, 1], [2, 3]], [[4, 5], [6]]]],
  [8, 2, [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]],
  [9, 2, [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], [[[8]]]]],
  [3, 3, [0, 1, 2]],
  [4, 3, [[0, 1, 2], [3]]],
];

for (const [count, fanOut, shape] of SHAPES) {
  Deno.test(`segmentTree() of ${count} segments, ${fanOut} a node: ${JSON.stringify(shape)}`, () => {
    const { objects, root } = built(count, fanOut);
    assert.deepEqual(shapeOf(objects, root), shape);
  });
}

Deno.test("segmentTree() holds as many segments as its levels do, and not one more", () => {
  assert.ok(built(2 ** TREE_LEVELS, 2));
  const isLimit = (error: unknown): boolean => error instanceof ExportError && error.code === "limit_exceeded";
  assert.throws(() => built(2 ** TREE_LEVELS + 1, 2), isLimit);
  assert.throws(() => built(0), RangeError);
});

Deno.test("segmentTree() fills its nodes with 256 segments", () => {
  assert.equal(built(NODE_CHILDREN).objects.length, 1);
  const { objects, root } = built(NODE_CHILDREN + 1);
  const [full, last] = shapeOf(objects, root) as unknown[][];
  assert.deepEqual([full?.length, last], [256, [256]]);
});

const SEGMENT = segmentAt(0) as unknown as Record<string, JsonValue>;
const LEAF = { node: "segments", level: 0, segments: [SEGMENT] };
const BRANCH = { node: "segments", level: 1, children: [{ ...reference }] };
const leaf = (changes: Record<string, JsonValue>): JsonValue => ({ ...LEAF, segments: [{ ...SEGMENT, ...changes }] });

// Nodes, and where the fault is; null where there is none.
const NODES: readonly [string, JsonValue, string | null][] = [
  ["a leaf", LEAF, null],
  ["a branch", BRANCH, null],
  ["no object", [], "$"],
  ["another node", { ...LEAF, node: "artifacts" }, "$.node"],
  ["the highest level", { ...BRANCH, level: 3 }, null],
  ["a level too many", { ...BRANCH, level: 4 }, "$.level"],
  ["a level below none", { ...BRANCH, level: -1 }, "$.level"],
  ["children on level 0", { ...BRANCH, level: 0 }, "$"],
  ["segments on level 1", { ...LEAF, level: 1 }, "$"],
  ["no segments", { ...LEAF, segments: [] }, "$.segments"],
  ["257 children", { ...BRANCH, children: Array.from({ length: 257 }, () => ({ ...reference })) }, "$.children"],
  ["256 children", { ...BRANCH, children: Array.from({ length: 256 }, () => ({ ...reference })) }, null],
  ["a child with a name", { ...BRANCH, children: [{ ...reference, name: "a" }] }, "$.children[0]"],
  ["revision 0", leaf({ first_revision: 0 }), "$.segments[0].first_revision"],
  ["a segment that ends before it begins", leaf({ first_revision: 257 }), "$.segments[0].last_revision"],
  ["257 records", leaf({ last_revision: 257 }), "$.segments[0].last_revision"],
  ["no records object", leaf({ records: null }), "$.segments[0].records"],
  [
    "a large value of no kind",
    leaf({
      large_values: [{ ...reference, kind: "contract", identity: reference.object }],
    }),
    "$.segments[0].large_values[0].kind",
  ],
  ["a large value", leaf({ large_values: [{ ...reference, kind: "payload", identity: reference.object }] }), null],
];

for (const [what, value, fault] of NODES) {
  Deno.test(`decodeSegmentNode() of ${what}: ${fault ?? "is read"}`, () => {
    const result = decodeSegmentNode(canonicalBytes(value));
    assert.equal(result.ok ? null : result.fault.path, fault);
  });
}

const artifact = (kind: string, name: string): JsonValue => ({ ...reference, kind, identity: SHA256(name) });
const [low = "", high = ""] = [SHA256("a"), SHA256("b")].sort();
const named = (kind: string, identity: string): JsonValue => ({ ...reference, kind, identity });

// Artifacts, and where the fault is; null where there is none.
const ARTIFACTS: readonly [string, readonly JsonValue[], string | null][] = [
  ["none", [], null],
  ["every kind", [artifact("contract", "z"), artifact("operator-profile", "y"), artifact("schema", "x")], null],
  ["two of one kind", [named("schema", low), named("schema", high)], null],
  ["kinds out of order", [artifact("schema", "a"), artifact("contract", "b")], "$.artifacts[1]"],
  ["identities out of order", [named("schema", high), named("schema", low)], "$.artifacts[1]"],
  ["one twice", [named("schema", low), named("schema", low)], "$.artifacts[1]"],
  ["another kind", [artifact("payload", "a")], "$.artifacts[0].kind"],
];

for (const [what, artifacts, fault] of ARTIFACTS) {
  Deno.test(`decodeArtifactList() of ${what}: ${fault ?? "is read"}`, () => {
    const result = decodeArtifactList(canonicalBytes({ node: "artifacts", artifacts }));
    assert.equal(result.ok ? null : result.fault.path, fault);
  });
}

Deno.test("decodeSegmentNode() takes canonical bytes alone", () => {
  const result = decodeSegmentNode(new TextEncoder().encode(JSON.stringify(LEAF, null, 1)));
  assert.equal(result.ok ? null : result.fault.code, "not_canonical");
});
