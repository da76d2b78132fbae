/**
 * Runpack format v6: manifest, object tree, and where a verifier reads them from (docs/format/runpack.md).
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import type { Head, OperationId, RunKey } from "../../run/types.ts";

/** The format that this program writes. */
export const FORMAT = "runpack-v6";
/** Records of a full segment; a full segment never changes, so later exports share its objects. */
export const SEGMENT_RECORDS = 256;
/** Children of one tree node. */
export const NODE_CHILDREN = 256;
/** Levels that a segment tree may have: 256^5 records are out of reach. */
export const TREE_LEVELS = 4;
/** Bytes of a manifest. */
export const MANIFEST_BYTES = 1024 * 1024;
/** Bytes of a node of the segment tree, and of the artifact list. */
export const NODE_BYTES = 64 * 1024 * 1024;
/**
 * Bytes of one text that is parsed in a replay: the law, an artifact, a large value, a line of records or receipts.
 * Values have at most 1 MiB and payloads 2, so nothing that `gate-kernel-1` accepts is longer, and no text makes a reader
 * allocate without end.
 */
export const TEXT_BYTES = 16 * 1024 * 1024;
/** Bytes of all artifacts of a pack: a verifier holds them from the first record to the last. */
export const ARTIFACTS_BYTES = 64 * 1024 * 1024;
/** Bytes of all values that one record names: a verifier holds them at the same time. */
export const RECORD_VALUES_BYTES = 64 * 1024 * 1024;
/** Bytes of the records, receipts or values of a segment. */
export const OBJECT_BYTES = 256 * 1024 * 1024;
/** Conditions whose values one pack may withhold. */
export const WITHHELD_CONDITIONS = 4096;
/** Bytes of one signature file. */
export const SIGNATURE_BYTES = 16 * 1024;
/** Signatures that lie beside one pack. */
export const SIGNATURES = 64;
/** How deep containers may nest in a text of a pack: gate wraps what it received. */
export const PACK_DEPTH = 128;
/** Canonical bytes up to which a value lies in its segment's `values` object; a larger one is an object of its own. */
export const INLINE_VALUE_BYTES = 16 * 1024;

/** A reference to an object: its identity, of kind `object` over its bytes, and how many bytes it has. */
export interface ObjectReference {
  readonly object: Identity;
  readonly bytes: number;
}

/** A value or payload too large to lie in its segment: the object's bytes are the canonical bytes that `identity` is over. */
export interface LargeValue extends ObjectReference {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
}

/**
 * Up to 256 consecutive records. Each of the three objects is lines of canonical JSON, every line ended by one line
 * feed: `records` the records, `receipts` one {@link ReceiptLine} a record, `values` one {@link ValueLine} for each
 * distinct value that the segment's records name and that is retained, not withheld and not large, in the order in
 * which they are first named.
 */
export interface Segment {
  readonly first_revision: number;
  readonly last_revision: number;
  readonly records: ObjectReference;
  readonly receipts: ObjectReference;
  readonly values: ObjectReference;
  /** In the order in which they are first named. */
  readonly large_values: readonly LargeValue[];
}

/** What stands in a segment's `receipts` object for each record. */
export interface ReceiptLine {
  readonly operation: OperationId;
  readonly invocation_identity: Identity;
  readonly result: JsonObject;
}

/** What stands in a segment's `values` object. */
export interface ValueLine {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
  readonly body: JsonValue;
}

/** A node of the segment tree, as canonical JSON. Levels fall by one towards the leaves, so no tree is cyclic or deep. */
export type SegmentNode =
  | { readonly node: "segments"; readonly level: 0; readonly segments: readonly Segment[] }
  | { readonly node: "segments"; readonly level: number; readonly children: readonly ObjectReference[] };

/** One line of the artifact list: an operator profile, contract or schema that records name. */
export interface ArtifactReference extends ObjectReference {
  readonly kind: "operator-profile" | "contract" | "schema";
  readonly identity: Identity;
}

/** The artifact list, as canonical JSON, sorted by kind and identity. */
export interface ArtifactList {
  readonly node: "artifacts";
  readonly artifacts: readonly ArtifactReference[];
}

/** The manifest; the runpack identity is of kind `runpack` over its canonical bytes. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  /** The accepted head that was exported. */
  readonly head: Head;
  /** Identity of kind `run-state` of the state that the records fold to. */
  readonly state_identity: Identity;
  /** RFC 6962 Merkle tree whose leaves are the records' canonical bytes. */
  readonly record_tree: { readonly root: string; readonly size: number };
  /** The law's normal form, canonical JSON. */
  readonly law: ObjectReference;
  readonly artifacts: ObjectReference;
  /** Root of the segment tree. */
  readonly segments: ObjectReference;
  /** Conditions whose values are withheld, sorted; empty where nothing is. */
  readonly withheld_conditions: readonly string[];
}

/** Why bytes of a pack could not be had. */
export type SourceFault = "missing" | "unreadable";

/** Where a pack's bytes come from. A source never answers more than `maximumBytes` of one thing. */
export interface PackSource {
  /** The manifest's bytes. */
  readonly manifest: () => Promise<Uint8Array | SourceFault>;
  /**
   * The bytes of an object in chunks. Ends after the object's bytes, or after `maximumBytes` + 1, whichever is first. A
   * chunk holds until the next one is asked for: who keeps it keeps a copy.
   */
  readonly object: (identity: Identity, maximumBytes: number) => AsyncIterable<Uint8Array> | SourceFault;
  /**
   * Names of all files that the pack holds in its form, but for its manifest and its signatures; null where the source is
   * shared by many packs. What has no place in a pack is named by {@link import("./archive.ts").strayName}.
   */
  readonly list: (() => AsyncIterable<string>) | null;
  /** The byte at which the single file that holds the pack departs from its form; left out where it does not. */
  readonly departs?: number;
}

/** An incremental SHA-256, handed to the verifier. */
export interface HashStream {
  readonly update: (chunk: Uint8Array) => void;
  /** 64 lower-case hex digits; ends the stream. */
  readonly digest: () => string;
}

/** A signature over a runpack identity: a DSSE envelope that holds an in-toto statement. */
export interface RunpackSignature {
  readonly payloadType: "application/vnd.in-toto+json";
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}
