/**
 * Packs that are not whole, one for each code of the first three claims (tests/vectors/runpack/violations.json).
 *
 * @module
 */

import type { MemoryPack } from "../runpack/memory.ts";
import { WHOLE } from "./cases.ts";
import type { CodeRow, Made } from "./rows.ts";
import { objectName } from "../../../src/runpack/format/archive.ts";
import { MANIFEST_BYTES, SEGMENT_RECORDS } from "../../../src/runpack/format/types.ts";
import { objectAt, withLines, withList, withManifest, withObject } from "./reshape.ts";

const row = (
  name: string,
  code: CodeRow["code"],
  violates: CodeRow["violates"],
  make: (pack: MemoryPack) => Made,
): CodeRow => ({ name, code, violates, make: ({ pack }) => make(pack) });

const FORMAT = "structural_format_validity";
const TREE = "artifact_tree_integrity";

const ONE_MORE = "0".repeat(64);

/** In the order of the codes. */
export const PACK_ROWS: readonly CodeRow[] = [
  row("no manifest", [FORMAT, "manifest_missing"], { [FORMAT]: "manifest_missing" }, (pack) => ({
    pack: { ...pack, manifest: null },
  })),
  row(
    "a manifest that cannot be read",
    [FORMAT, "manifest_unreadable"],
    { [FORMAT]: "manifest_unreadable" },
    (pack) => ({
      pack,
      unreadable: ["manifest.json"],
    }),
  ),
  row("a manifest of one byte more than its limit", [FORMAT, "manifest_too_large"], {
    [FORMAT]: "manifest_too_large",
  }, (pack) => ({ pack: { ...pack, manifest: new Uint8Array(MANIFEST_BYTES + 1) } })),
  row("a manifest with a line feed behind it", [FORMAT, "manifest_not_canonical"], {
    [FORMAT]: "manifest_not_canonical",
  }, (pack) => ({ pack: { ...pack, manifest: new Uint8Array([...pack.manifest, 0x0a]) } })),
  row(
    "a manifest of the format before",
    [FORMAT, "format_unsupported"],
    { [FORMAT]: "format_unsupported" },
    (pack) => ({
      pack: withManifest(pack, (manifest) => manifest.format = "runpack-v5"),
    }),
  ),
  row("a manifest with a member more", [FORMAT, "manifest_invalid"], { [FORMAT]: "manifest_invalid" }, (pack) => ({
    pack: withManifest(pack, (manifest) => manifest.note = ""),
  })),
  row("a pack that was not asked for", ["runpack_subject_identity", "identity_mismatch"], {
    runpack_subject_identity: "identity_mismatch",
  }, (pack) => ({ pack, request: { ...WHOLE, runpack_identity: ONE_MORE } })),
  row("an object under a second reference of another size", [TREE, "object_size_mismatch", 0], {
    [TREE]: "object_size_mismatch: artifacts/0",
  }, (pack) => {
    const { law } = JSON.parse(new TextDecoder().decode(pack.manifest));
    return {
      pack: withList(pack, "artifacts", ({ artifacts }) => {
        Object.assign(artifacts[0], { object: law.object, bytes: law.bytes + 1 });
      }),
    };
  }),
  row("no law", [TREE, "object_missing"], { [TREE]: "object_missing: law" }, (pack) => ({
    pack: withObject(pack, objectAt(pack, "law"), () => null),
  })),
  row("a law that cannot be read", [TREE, "object_unreadable", 0], { [TREE]: "object_unreadable: law" }, (pack) => ({
    pack,
    unreadable: [objectName(objectAt(pack, "law"))],
  })),
  row("a law of one byte less", [TREE, "object_size_mismatch", 1], { [TREE]: "object_size_mismatch: law" }, (pack) => ({
    pack: withObject(pack, objectAt(pack, "law"), (bytes) => bytes.slice(0, -1)),
  })),
  row("a law with one other byte", [TREE, "object_identity_mismatch"], {
    [TREE]: "object_identity_mismatch: law",
  }, (pack) => ({ pack: withObject(pack, objectAt(pack, "law"), (bytes) => bytes.with(1, 0x20)) })),
  row(
    "an artifact list in the other order",
    [TREE, "artifacts_invalid"],
    { [TREE]: "artifacts_invalid: artifacts" },
    (pack) => ({
      pack: withList(pack, "artifacts", ({ artifacts }) => artifacts.reverse()),
    }),
  ),
  row("more records than four levels of a tree hold", [TREE, "tree_shape_invalid", 0], {
    [TREE]: "tree_shape_invalid: nodes/4/0",
  }, (pack) => ({
    pack: withManifest(pack, (manifest) => {
      manifest.head.revision = manifest.record_tree.size = 256 ** 5 + 1;
    }),
  })),
  row("a node with a member more", [TREE, "node_invalid"], { [TREE]: "node_invalid: nodes/0/0" }, (pack) => ({
    pack: withList(pack, "segments", (node) => node.note = ""),
  })),
  row(
    "a node with a segment too many",
    [TREE, "tree_shape_invalid", 1],
    { [TREE]: "tree_shape_invalid: nodes/0/0" },
    (pack) => ({
      pack: withList(pack, "segments", ({ segments }) => segments.push(segments[0])),
    }),
  ),
  row("a full segment of a run that has fewer records", [TREE, "tree_shape_invalid", 2], {
    [TREE]: "tree_shape_invalid: segments/0",
  }, (pack) => ({
    pack: withList(pack, "segments", ({ segments: [segment] }) => segment.last_revision = SEGMENT_RECORDS),
  })),
  row(
    "files that cannot be listed",
    [TREE, "object_unreadable", 1],
    { [TREE]: "object_unreadable: files" },
    (pack) => ({
      pack,
      unreadable: ["files"],
    }),
  ),
  row("an object that nothing refers to", [TREE, "object_unreferenced"], {
    [TREE]: `object_unreferenced: ${objectName(ONE_MORE)}`,
  }, (pack) => ({ pack: withObject(pack, ONE_MORE, () => new Uint8Array([0x7b, 0x7d])) })),
  row("a file that has no place", [TREE, "object_unreferenced"], { [TREE]: "object_unreferenced: note" }, (pack) => ({
    pack,
    strays: ["note"],
  })),
  row("records without their last line feed", ["accepted_history_continuity", "record_invalid", 0], {
    accepted_history_continuity: "record_invalid: segments/0/records",
  }, (pack) => ({ pack: withLines(pack, "records", (text) => text.slice(0, -1)) })),
  row("receipts without their last line feed", ["operation_receipt_consistency", "receipt_invalid", 0], {
    creation_receipt_integrity: "receipt_missing: revision 1",
    operation_receipt_consistency: "receipt_invalid: segments/0/receipts",
  }, (pack) => ({ pack: withLines(pack, "receipts", (text) => text.slice(0, -1)) })),
];
