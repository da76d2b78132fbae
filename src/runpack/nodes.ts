/**
 * Reading the nodes of the segment tree and the artifact list. The shape of the whole tree is judged by who walks it.
 *
 * @module
 */

import { isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { compareCodePoints } from "../canonical/order.ts";
import {
  boundedArray,
  boundedInteger,
  closedObject,
  decodeStrict,
  identityAt,
  oneOf,
  referenceAt,
  referenceMembers,
  refuse,
  type Strict,
} from "./strict.ts";
import {
  type ArtifactList,
  type ArtifactReference,
  type LargeValue,
  NODE_BYTES,
  NODE_CHILDREN,
  OBJECT_BYTES,
  type Segment,
  SEGMENT_RECORDS,
  type SegmentNode,
  TREE_LEVELS,
} from "./types.ts";

/** The least entry of a list takes more bytes than this, so no list that fits its node has more entries. */
const LEAST_ENTRY_BYTES = 128;
const ENTRIES = NODE_BYTES / LEAST_ENTRY_BYTES;

/** Reads a node of the segment tree: its own form and the bounds of its members. */
export function decodeSegmentNode(bytes: Uint8Array): Strict<SegmentNode> {
  return decodeStrict(bytes, readNode);
}

function readNode(value: JsonValue): SegmentNode {
  const level = isJsonObject(value) ? boundedInteger(member(value, "level"), "$.level", 0, TREE_LEVELS - 1) : 0;
  const object = closedObject(value, "$", ["level", "node", level === 0 ? "segments" : "children"]);
  const node = oneOf(member(object, "node"), "$.node", ["segments"]);
  if (level === 0) {
    const segments = boundedArray(member(object, "segments"), "$.segments", 1, NODE_CHILDREN, readSegment);
    return { node, level, segments };
  }
  const readChild = (item: JsonValue, path: string): SegmentNodeChild => referenceAt(item, path, NODE_BYTES);
  return { node, level, children: boundedArray(member(object, "children"), "$.children", 1, NODE_CHILDREN, readChild) };
}

type SegmentNodeChild = Extract<SegmentNode, { children: unknown }>["children"][number];

function readSegment(value: JsonValue, path: string): Segment {
  const names = ["first_revision", "large_values", "last_revision", "receipts", "records", "values"];
  const object = closedObject(value, path, names);
  const first_revision = boundedInteger(member(object, "first_revision"), `${path}.first_revision`, 1);
  const last = `${path}.last_revision`;
  const last_revision = boundedInteger(member(object, "last_revision"), last, first_revision);
  if (last_revision - first_revision >= SEGMENT_RECORDS) refuse(last, `Expected at most ${SEGMENT_RECORDS} records`);
  return {
    first_revision,
    last_revision,
    records: referenceAt(member(object, "records"), `${path}.records`),
    receipts: referenceAt(member(object, "receipts"), `${path}.receipts`),
    values: referenceAt(member(object, "values"), `${path}.values`),
    large_values: boundedArray(member(object, "large_values"), `${path}.large_values`, 0, ENTRIES, readLargeValue),
  };
}

function readLargeValue(value: JsonValue, path: string): LargeValue {
  const object = closedObject(value, path, ["bytes", "identity", "kind", "object"]);
  return {
    kind: oneOf(member(object, "kind"), `${path}.kind`, ["evidence-value", "payload"]),
    identity: identityAt(member(object, "identity"), `${path}.identity`),
    ...referenceMembers(object, path, OBJECT_BYTES),
  };
}

/** Reads an artifact list: sorted by kind and identity, nothing twice. */
export function decodeArtifactList(bytes: Uint8Array): Strict<ArtifactList> {
  return decodeStrict(bytes, (value) => {
    const object = closedObject(value, "$", ["artifacts", "node"]);
    const artifacts = boundedArray(member(object, "artifacts"), "$.artifacts", 0, ENTRIES, readArtifact);
    artifacts.forEach((artifact, index) => {
      const next = artifacts[index + 1];
      if (next !== undefined && compareArtifacts(artifact, next) >= 0) {
        refuse(`$.artifacts[${index + 1}]`, "Expected artifacts in ascending order");
      }
    });
    return { node: oneOf(member(object, "node"), "$.node", ["artifacts"]), artifacts };
  });
}

function readArtifact(value: JsonValue, path: string): ArtifactReference {
  const object = closedObject(value, path, ["bytes", "identity", "kind", "object"]);
  return {
    kind: oneOf(member(object, "kind"), `${path}.kind`, ["contract", "operator-profile", "schema"]),
    identity: identityAt(member(object, "identity"), `${path}.identity`),
    ...referenceMembers(object, path, OBJECT_BYTES),
  };
}

/** The order of the artifact list: by kind, then identity, code points. */
export function compareArtifacts(
  a: Pick<ArtifactReference, "kind" | "identity">,
  b: Pick<ArtifactReference, "kind" | "identity">,
): number {
  return compareCodePoints(a.kind, b.kind) || compareCodePoints(a.identity, b.identity);
}
