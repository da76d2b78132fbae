/**
 * Single files: the archive of a pack, and files that depart from that form in one place.
 *
 * @module
 */

import { encodeBase64 } from "../../../src/canonical/base64.ts";
import { compareCodePoints } from "../../../src/canonical/order.ts";
import {
  END_BYTES,
  entryHeader,
  objectName,
  paddingAfter,
  signatureName,
} from "../../../src/runpack/format/archive.ts";
import { decodeManifest } from "../../../src/runpack/format/manifest.ts";
import { SIGNATURE_BYTES } from "../../../src/runpack/format/types.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import { goldenSigner } from "../runpack/packs.ts";
import { type RequestText, WHOLE } from "./cases.ts";

/** A single file. */
export interface ArchiveRow {
  readonly name: string;
  /**
   * The byte at which the file departs from its form; null where it does not; `none` where there is nothing to verify; else
   * the claims that are violated, each with its reason.
   */
  readonly departs: number | null | "none" | Readonly<Record<string, string>>;
  readonly make: (pack: MemoryPack) => Uint8Array;
}

/** What is asked of single files. */
export const ARCHIVE_REQUEST: RequestText = {
  ...WHOLE,
  profile: "integrity_only_v1",
  trusted_keys: [encodeBase64(goldenSigner().publicKey)],
};

interface Entry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly header?: (header: Uint8Array) => Uint8Array;
}

/** The files of a pack in their order. */
function entriesOf(pack: MemoryPack): Entry[] {
  const objects = [...pack.objects].map(([identity, bytes]) => ({ name: objectName(identity), bytes }));
  objects.sort((a, b) => compareCodePoints(a.name, b.name));
  return [{ name: "manifest.json", bytes: pack.manifest }, ...objects];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function archiveOf(entries: readonly Entry[], end = END_BYTES): Uint8Array {
  const parts = entries.flatMap(({ name, bytes, header = (same: Uint8Array): Uint8Array => same }) => [
    header(entryHeader(name, bytes.length)),
    bytes,
    new Uint8Array(paddingAfter(bytes.length)),
  ]);
  return joined([...parts, new Uint8Array(end)]);
}

/** A header with other text at an offset, its sum made again. */
function patched(offset: number, text: string): (header: Uint8Array) => Uint8Array {
  return (header) => {
    const bytes = header.slice();
    bytes.set(new TextEncoder().encode(text), offset);
    bytes.set(new TextEncoder().encode("        "), 148);
    const sum = bytes.reduce((total, byte) => total + byte, 0);
    bytes.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
    return bytes;
  };
}

/** Bytes of the manifest's entry in the archive of the base pack. */
const FIRST = 1536;

const row = (name: string, departs: ArchiveRow["departs"], make: ArchiveRow["make"]): ArchiveRow => ({
  name,
  departs,
  make,
});
const ofBytes = (name: string, departs: ArchiveRow["departs"], change: (bytes: Uint8Array) => Uint8Array): ArchiveRow =>
  row(name, departs, (pack) => change(archiveOf(entriesOf(pack))));
const ofEntries = (name: string, departs: ArchiveRow["departs"], change: (entries: Entry[]) => Entry[]): ArchiveRow =>
  row(name, departs, (pack) => archiveOf(change(entriesOf(pack))));
/** Another header of the second file, whose entry begins behind the manifest's. */
const ofHeader = (name: string, offset: number, text: string): ArchiveRow =>
  ofEntries(
    name,
    FIRST,
    ([first, second, ...rest]) =>
      first === undefined || second === undefined ? [] : [first, { ...second, header: patched(offset, text) }, ...rest],
  );

function envelopeOf({ manifest: bytes }: MemoryPack): Uint8Array {
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) throw new TypeError("Cannot sign: the manifest is invalid");
  return goldenSigner().signPack(bytes, decoded.manifest).bytes;
}

const KEY_ID = goldenSigner().keyId;

/** Whole files, and files that end early or late. */
const END_ROWS: readonly ArchiveRow[] = [
  ofBytes("the archive of the pack", null, (bytes) => bytes),
  row(
    "the archive of the pack with a signature",
    null,
    (pack) => archiveOf([...entriesOf(pack), { name: signatureName(KEY_ID), bytes: envelopeOf(pack) }]),
  ),
  row(
    "a signature of more bytes than one may have",
    null,
    (pack) =>
      archiveOf([...entriesOf(pack), { name: signatureName(KEY_ID), bytes: new Uint8Array(SIGNATURE_BYTES + 1) }]),
  ),
  ofBytes("no end", 74752, (bytes) => bytes.slice(0, -END_BYTES)),
  ofBytes("half an end", 74752, (bytes) => bytes.slice(0, -512)),
  ofBytes("a byte too few", 74752, (bytes) => bytes.slice(0, -1)),
  ofBytes("a byte too many", 74752, (bytes) => joined([bytes, new Uint8Array(1)])),
  ofBytes("a block of zeros too many", 74752, (bytes) => joined([bytes, new Uint8Array(512)])),
  ofBytes("an end that is not zero", 74752, (bytes) => bytes.with(bytes.length - 1, 1)),
  ofBytes("a manifest alone", FIRST, (bytes) => bytes.slice(0, FIRST)),
  ofBytes(
    "a manifest and its end",
    { artifact_tree_integrity: "object_missing: law" },
    (bytes) => joined([bytes.slice(0, FIRST), new Uint8Array(END_BYTES)]),
  ),
  ofBytes("a manifest and half a header", FIRST, (bytes) => bytes.slice(0, FIRST + 100)),
  ofBytes("a second file that is cut short", FIRST, (bytes) => bytes.slice(0, FIRST + 600)),
  ofBytes("half a manifest", "none", (bytes) => bytes.slice(0, 700)),
  ofBytes("no bytes", "none", () => new Uint8Array()),
  ofBytes("no manifest", { structural_format_validity: "manifest_missing" }, (bytes) => bytes.slice(FIRST)),
  ofBytes("an end alone", { structural_format_validity: "manifest_missing" }, () => new Uint8Array(1024)),
  ofBytes("text", "none", () => new TextEncoder().encode("gate\n".repeat(300))),
];

/** Files whose headers or names are not those of a pack. */
const HEADER_ROWS: readonly ArchiveRow[] = [
  ofBytes(
    "a manifest with one other byte",
    { structural_format_validity: "manifest_invalid" },
    (bytes) => bytes.with(600, 0x20),
  ),
  ofBytes("a filling that is not zero", 1418, (bytes) => bytes.with(FIRST - 1, 1)),
  ofBytes("a sum that is not the header's", FIRST, (bytes) => bytes.with(FIRST + 148, 0x37)),
  ofHeader("another mode", 100, "0000755"),
  ofHeader("another owner", 108, "0001750"),
  ofHeader("another time", 136, "15000000000"),
  ofHeader("the type of a link", 156, "2"),
  ofHeader("the type of a folder", 156, "5"),
  ofHeader("the type of the older format", 156, "\0"),
  ofHeader("an extended header", 156, "x"),
  ofHeader("the magic of GNU tar", 257, "ustar  \0"),
  ofHeader("an owner's name", 265, "root"),
  ofHeader("a prefix of the name", 345, "packs"),
  ofHeader("a size with spaces", 124, "       1234 "),
  ofHeader("a size without its zero byte", 135, "0"),
  ofEntries(
    "a name that leads out of the folder",
    FIRST,
    ([first, second, ...rest]) =>
      first === undefined || second === undefined ? [] : [first, { ...second, name: `../${second.name}` }, ...rest],
  ),
  ofEntries(
    "a name that has no place",
    FIRST,
    ([first, ...rest]) => first === undefined ? [] : [first, { name: "note", bytes: new Uint8Array() }, ...rest],
  ),
  ofEntries("a file twice", FIRST, ([first, ...rest]) => first === undefined ? [] : [first, first, ...rest]),
  ofEntries(
    "files in the other order",
    3072,
    ([first, second, third, ...rest]) =>
      first === undefined || second === undefined || third === undefined ? [] : [first, third, second, ...rest],
  ),
];

/** The rows. */
export const ARCHIVE_ROWS: readonly ArchiveRow[] = [...END_ROWS, ...HEADER_ROWS];
