import assert from "node:assert/strict";

import { canonicalBytes, canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { decodeArtifactList, decodeSegmentNode, type Read } from "./nodes.ts";
import { ExportError, type PackObject } from "./objects.ts";
import { segmentTree } from "./tree.ts";
import {
  NODE_BYTES,
  NODE_CHILDREN,
  OBJECT_BYTES,
  type ObjectReference,
  type Segment,
  TEXT_BYTES,
  TREE_LEVELS,
} from "./types.ts";

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

const child = (bytes: number): JsonValue => ({ ...BRANCH, children: [{ ...reference, bytes }] });
const large = (changes: Record<string, JsonValue>): JsonValue =>
  leaf({ large_values: [{ ...reference, kind: "payload", identity: reference.object, ...changes }] });
const records = (bytes: number): JsonValue => leaf({ records: { ...reference, bytes } });
const children = (count: number): JsonValue => ({
  ...BRANCH,
  children: Array.from({ length: count }, () => ({ ...reference })),
});

// Nodes, and what stands where they depart from their form; null where they do not.
const NODES: readonly [string, JsonValue, string | null][] = [
  ["a leaf", LEAF, null],
  ["a branch", BRANCH, null],
  ["an array", [], "[]"],
  ["an empty object", {}, "}"],
  ["another node", { ...LEAF, node: "artifacts" }, 'level":0,"node":"artifacts"'],
  ["the highest level", { ...BRANCH, level: TREE_LEVELS - 1 }, null],
  ["a level too many", { ...BRANCH, level: TREE_LEVELS }, "4,"],
  ["a level below none", { ...BRANCH, level: -1 }, "-1"],
  ["children on level 0", { ...BRANCH, level: 0 }, "0,"],
  ["segments on level 1", { ...LEAF, level: 1 }, 'level":1'],
  ["no segments", { ...LEAF, segments: [] }, "]}"],
  ["255 children", children(255), null],
  ["256 children", children(256), null],
  ["257 children", children(257), '{"bytes":6'],
  ["a child with a name", { ...BRANCH, children: [{ ...reference, name: "a" }] }, 'name":"a"'],
  ["a child of its limit less one", child(NODE_BYTES - 1), null],
  ["a child of its limit", child(NODE_BYTES), null],
  ["a child of its limit and one", child(NODE_BYTES + 1), "67108865"],
  ["a child of none", child(-1), "-1"],
  ["a child of half a byte", child(0.5), ".5"],
  ["revision 0", leaf({ first_revision: 0 }), "0,"],
  ["the highest revision", leaf({ last_revision: Number.MAX_SAFE_INTEGER }), null],
  ["a revision too high", leaf({ last_revision: 2 ** 53 }), "9007199254740992"],
  ["no records object", leaf({ records: null }), "null"],
  ["records of their limit less one", records(OBJECT_BYTES - 1), null],
  ["records of their limit", records(OBJECT_BYTES), null],
  ["records of their limit and one", records(OBJECT_BYTES + 1), "268435457"],
  ["a large value", large({}), null],
  ["a large value of no kind", large({ kind: "contract" }), 'contract"'],
  ["a large value of its limit less one", large({ bytes: TEXT_BYTES - 1 }), null],
  ["a large value of its limit", large({ bytes: TEXT_BYTES }), null],
  ["a large value of its limit and one", large({ bytes: TEXT_BYTES + 1 }), "16777217"],
  ["a name with a digit too few", large({ identity: "0".repeat(63) }), '"'],
  ["a name with a digit too many", large({ identity: "0".repeat(65) }), '0"'],
  ["a name in upper case", large({ identity: "A".repeat(64) }), "A"],
];

/** What stands where bytes depart from their form, cut to what is expected there. */
function departure(bytes: Uint8Array, result: Read<unknown>, expected: string | null): string | null {
  if (result.ok) return null;
  const { departs } = result;
  return new TextDecoder().decode(bytes.subarray(departs, departs + (expected?.length ?? 10)));
}

for (const [what, value, expected] of NODES) {
  Deno.test(`decodeSegmentNode() of ${what} ${expected === null ? "reads it" : `ends at ${expected}`}`, () => {
    const bytes = canonicalBytes(value);
    const result = decodeSegmentNode(bytes);
    assert.equal(departure(bytes, result, expected), expected);
    if (result.ok) assert.deepEqual(canonicalBytes(asJson(result.value)), bytes);
  });
}

const artifact = (kind: string, name: string): JsonValue => ({ ...reference, kind, identity: SHA256(name) });
const [low = "", high = ""] = [SHA256("a"), SHA256("b")].sort();
const named = (kind: string, identity: string): JsonValue => ({ ...reference, kind, identity });

/** Five artifacts with so many bytes more than all of them may have. */
const artifactsOf = (more: number): JsonValue[] =>
  [TEXT_BYTES, TEXT_BYTES, TEXT_BYTES, TEXT_BYTES - 10, 10 + more].map((bytes, index) => ({
    ...reference,
    kind: "schema",
    identity: String(index).repeat(64),
    bytes,
  }));

// Artifacts, and what stands where the list departs from its form; null where it does not.
const ARTIFACTS: readonly [string, readonly JsonValue[], string | null][] = [
  ["none", [], null],
  ["every kind", [artifact("contract", "z"), artifact("operator-profile", "y"), artifact("schema", "x")], null],
  ["two of one kind", [named("schema", low), named("schema", high)], null],
  ["kinds out of order", [artifact("schema", "a"), artifact("contract", "b")], '{"bytes":6'],
  ["identities out of order", [named("schema", high), named("schema", low)], '{"bytes":6'],
  ["one twice", [named("schema", low), named("schema", low)], '{"bytes":6'],
  ["another kind", [artifact("payload", "a")], 'payload"'],
  ["one of its limit", [{ ...reference, kind: "schema", identity: low, bytes: TEXT_BYTES }], null],
  ["five of the limit together", artifactsOf(0), null],
  ["five of the limit together less one byte", artifactsOf(-1), null],
  ["five of the limit together and one byte", artifactsOf(1), '{"bytes":'],
  ["one of its limit and one", [{ ...reference, kind: "schema", identity: low, bytes: TEXT_BYTES + 1 }], "16777217"],
];

for (const [what, artifacts, expected] of ARTIFACTS) {
  Deno.test(`decodeArtifactList() of ${what} ${expected === null ? "reads it" : `ends at ${expected}`}`, () => {
    const bytes = canonicalBytes({ node: "artifacts", artifacts });
    const result = decodeArtifactList(bytes);
    assert.equal(departure(bytes, result, expected), expected);
    if (result.ok) assert.deepEqual(canonicalBytes(asJson(result.value)), bytes);
  });
}

Deno.test("decodeSegmentNode() accepts canonical bytes alone, and rejects truncated ones", () => {
  const bytes = canonicalBytes(LEAF);
  const text = new TextDecoder().decode(bytes);
  for (const other of [JSON.stringify(LEAF), JSON.stringify(LEAF, null, 1), ` ${text}`, text.replace(":6", ":06")]) {
    assert.equal(decodeSegmentNode(new TextEncoder().encode(other)).ok, false, other);
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.deepEqual(decodeSegmentNode(bytes.subarray(0, length)).ok, false);
  }
  const longer = new Uint8Array([...bytes, 10]);
  assert.deepEqual(decodeSegmentNode(longer), { ok: false, departs: bytes.length });
});

Deno.test("decodeSegmentNode() reads as many large values as a node of its limit holds, and keeps nothing else of it", () => {
  const line = canonicalize(asJson({ ...reference, kind: "evidence-value", identity: reference.object }));
  const [before = "", after = ""] = canonicalize(leaf({ large_values: [0] })).split("0]");
  const room = NODE_BYTES - before.length - after.length - 2;
  const count = Math.floor((room + 1) / (line.length + 1));
  const bytes = new TextEncoder().encode(`${before}${`${line},`.repeat(count - 1)}${line}]${after}`);
  const result = decodeSegmentNode(bytes);
  assert.ok(result.ok && "segments" in result.value, JSON.stringify(result));
  assert.equal(result.value.segments[0]?.large_values.length, count);
});
