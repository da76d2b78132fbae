/**
 * Runpack format v6: the manifest, the object tree, and the source that a verifier reads them from
 * (docs/format/runpack.md).
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Head, RunKey } from "../../run/types.ts";

/** The format that this program writes. */
export const FORMAT = "runpack-v6";
/** Records of a full segment. A full segment never changes, so later exports share its objects. */
export const SEGMENT_RECORDS = 256;
/** Children of one tree node. */
export const NODE_CHILDREN = 256;
/** Maximum levels of a segment tree: enough for 256^5 records. */
export const TREE_LEVELS = 4;
/** Bytes of a manifest. */
export const MANIFEST_BYTES = 1024 * 1024;
/** Bytes of a node of the segment tree, and of the artifact list. */
export const NODE_BYTES = 64 * 1024 * 1024;
/**
 * Maximum bytes of one text that a replay parses: the law, an artifact, a large value, a line of records or receipts.
 * `gate-kernel-1` accepts values of 1 MiB and payloads of 2 MiB, so all of its texts fit, and the memory of a reader is
 * bounded.
 */
export const TEXT_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of all artifacts of a pack: a verifier holds them throughout a replay. */
export const ARTIFACTS_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of all values that one record names: a verifier holds them at the same time. */
export const RECORD_VALUES_BYTES = 64 * 1024 * 1024;
/** Bytes of the records, receipts or values of a segment. */
export const OBJECT_BYTES = 256 * 1024 * 1024;
/** Maximum conditions whose values one pack withholds. */
export const WITHHELD_CONDITIONS = 4096;
/** Bytes of one signature file. */
export const SIGNATURE_BYTES = 16 * 1024;
/** Maximum signature files beside one pack. */
export const SIGNATURES = 64;
/** Maximum signatures of one signature file. */
export const ENVELOPE_SIGNATURES = 16;
/** Maximum nesting of containers in a text of a pack. It exceeds the limit of inputs, since records wrap them. */
export const PACK_DEPTH = 128;
/** Maximum canonical bytes of a value within its segment; a larger value is an object of its own. */
export const INLINE_VALUE_BYTES = 16 * 1024;

/** A reference to an object: its identity, of kind `object` over its bytes, and how many bytes it has. */
export interface ObjectReference {
  readonly object: Identity;
  readonly bytes: number;
}

/**
 * A value or payload that is too large for its segment. Its object holds the canonical bytes that `identity` is
 * computed over.
 */
export interface LargeValue extends ObjectReference {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
}

/**
 * Up to 256 consecutive records. Each of the three objects holds lines of canonical JSON, each ended by one line feed.
 * `records` holds the records, `receipts` the receipt of each record. `values` holds one {@link ValueLine}
 * for each distinct value that the records name, in the order in which they first name it. Withheld, large and
 * unretained values are absent.
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

/** A line of a segment's `values` object. */
export interface ValueLine {
  readonly kind: "evidence-value" | "payload";
  readonly identity: Identity;
  readonly body: JsonValue;
}

/**
 * A node of the segment tree, as canonical JSON. The level falls by one from a node to its children, so no tree is
 * cyclic.
 */
export type SegmentNode =
  | { readonly node: "segments"; readonly level: 0; readonly segments: readonly Segment[] }
  | { readonly node: "segments"; readonly level: number; readonly children: readonly ObjectReference[] };

/** One line of the artifact list: an operator profile, contract, provider version or schema that records name. */
export interface ArtifactReference extends ObjectReference {
  readonly kind: "operator-profile" | "contract" | "provider-version" | "schema";
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
  /** Conditions whose values are withheld, sorted. */
  readonly withheld_conditions: readonly string[];
}

/** Why bytes of a pack could not be read. */
export type SourceFault = "missing" | "unreadable";

/** The source of a pack's bytes. It never returns more than `maximumBytes` of one file. */
export interface PackSource {
  /** The manifest's bytes. */
  readonly manifest: () => Promise<Uint8Array | SourceFault>;
  /**
   * The bytes of an object in chunks, up to the end of the object or `maximumBytes` + 1. A chunk is valid until the
   * next one is requested: copy it to keep it.
   */
  readonly object: (identity: Identity, maximumBytes: number) => AsyncIterable<Uint8Array> | SourceFault;
  /**
   * Names of all files of the pack except its manifest and its signatures; null where the source is shared by many
   * packs. {@link import("./archive.ts").strayName} names an unexpected file.
   */
  readonly list: (() => AsyncIterable<string>) | null;
  /** The byte at which the single file of the pack departs from its form; absent where it does not. */
  readonly departs?: number;
}

/** An incremental SHA-256, supplied by the host. */
export interface HashStream {
  readonly update: (chunk: Uint8Array) => void;
  /** Ends the stream; returns 64 lower-case hex digits. */
  readonly digest: () => string;
}

/** A signature over a runpack identity: a DSSE envelope that holds an in-toto statement. */
export interface RunpackSignature {
  readonly payloadType: "application/vnd.in-toto+json";
  readonly payload: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}
