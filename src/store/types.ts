/**
 * What a store of runs and laws, and a schema registry, must do. Asynchronous and compare-and-set shaped, so that a networked store can
 * implement it. One case suite runs over every implementation.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { Head, OperationId, RunKey } from "../run/types.ts";

/** A registered scenario law. */
export interface StoredLaw {
  readonly namespace_id: number;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  /** Canonical text of the normal form. */
  readonly law: string;
}

/** What names a law in a listing. */
export type LawListItem = Pick<StoredLaw, "namespace_id" | "scenario_id" | "scenario_law_identity">;

/** The receipt of an accepted operation: the original answer, byte for byte. */
export interface Receipt {
  readonly operation: OperationId;
  readonly invocation_identity: Identity;
  /** JSON text of the `result` that was answered. */
  readonly result: string;
  /** The run it belongs to; for `create_run` the run that was created. */
  readonly run_key: RunKey;
  readonly revision: number;
}

/** One accepted record with what it names and the receipt it leaves. */
export interface StoredRecord {
  readonly revision: number;
  readonly record_id: Identity;
  /** Canonical text of the record. */
  readonly record: string;
  /** Canonical texts of the objects that the record names, in the order it names them. */
  readonly material: readonly { readonly kind: string; readonly identity: Identity; readonly body: string }[];
  readonly receipt: {
    readonly operation: OperationId;
    readonly invocation_identity: Identity;
    readonly result: string;
  };
}

/** An object shared by many runs: operator profiles, provider contracts, JSON Schemas. */
export interface Artifact {
  readonly kind: "operator-profile" | "contract" | "schema";
  readonly identity: Identity;
  /** Canonical text of what the identity is over. */
  readonly body: string;
}

/** Records to append to one run, all or none. */
export interface Append {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** The exact head the records follow; null creates the run. */
  readonly expected_head: Head | null;
  /** At least one, of consecutive revisions. */
  readonly records: readonly StoredRecord[];
  /** Stored where not yet there, in the same transaction. */
  readonly artifacts: readonly Artifact[];
}

/** What became of an append. Operation identities are looked at first, the head second. */
export type AppendResult =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "operation_exists"; readonly receipt: Receipt }
  | { readonly outcome: "run_exists"; readonly head: Head }
  | { readonly outcome: "run_not_found" }
  | { readonly outcome: "stale"; readonly head: Head };

/** Head of a run with what it is bound to. */
export interface RunHead {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly head: Head;
}

/** A derived state kept so that a cold read need not fold history. */
export interface Snapshot {
  readonly revision: number;
  /** Identity of kind `run-state` of the state. */
  readonly state_identity: Identity;
  /** Canonical text of the state. */
  readonly state: string;
}

/** How busy a store's writer is, and has been since the store was opened. */
export interface WriterLoad {
  /** Operations that wait for a transaction. */
  readonly queued: number;
  /** Transactions that were committed. */
  readonly batches: number;
  /** Operations in them. */
  readonly operations: number;
}

/** Laws, runs, receipts. All methods reject with {@link StoreError}. */
export interface RunStore {
  /** Registers a law; `exists` when that exact law is there already. */
  putLaw(law: StoredLaw): Promise<"stored" | "exists">;
  getLaw(namespaceId: number, lawIdentity: Identity): Promise<StoredLaw | null>;
  /** Whether any law of that scenario exists in the namespace. */
  hasScenario(namespaceId: number, scenarioId: string): Promise<boolean>;
  /** Laws of a namespace in (scenario_id, law identity) code point order, after the given key. */
  listLaws(
    namespaceId: number,
    after: { readonly scenario_id: string; readonly scenario_law_identity: Identity } | null,
    limit: number,
  ): Promise<LawListItem[]>;

  /** Namespaces above `after` that hold laws, in ascending order. */
  listNamespaces(after: number, limit: number): Promise<number[]>;

  /** Atomic append; answers only after the commit. */
  append(append: Append): Promise<AppendResult>;
  /** Head of a run as committed by any process; null = no such run. */
  getHead(runKey: RunKey): Promise<RunHead | null>;
  /** Receipt of an operation on a run. */
  getReceipt(runKey: RunKey, operation: OperationId): Promise<Receipt | null>;
  /** Receipt of a run creation. */
  getCreationReceipt(namespaceId: number, creationRequestId: string): Promise<Receipt | null>;
  /**
   * Records with revision above `after`, in order, at most `limit`; stops early once their texts exceed `maximumBytes`, yet gives at
   * least one.
   */
  listRecords(runKey: RunKey, after: number, limit: number, maximumBytes?: number): Promise<StoredRecord[]>;
  getArtifact(identity: Identity): Promise<Artifact | null>;
  /** Keeps a derived snapshot; older ones beyond `max_versions` of the run are dropped. Never needed for correctness. */
  putSnapshot(runKey: RunKey, snapshot: Snapshot): Promise<void>;
  /** The newest snapshot at or below a revision. */
  getSnapshot(runKey: RunKey, atMost: number): Promise<Snapshot | null>;
  /** Run keys of the whole store in (namespace_id, run_id) order, for checks and backups. */
  listRuns(after: RunKey | null, limit: number): Promise<RunHead[]>;
  /** Resolves when the store can take a write and answer a read. */
  ready(): Promise<void>;
  /** How busy the writer is; absent where there is none. */
  load?(): WriterLoad;
  /** Commits what is queued, then closes. */
  close(): Promise<void>;
}

/** A registered JSON Schema (docs/reference/tools/schemas_register.md). */
export interface SchemaRecord {
  readonly schema_id: string;
  readonly version: string;
  readonly namespace_id: number;
  /** Canonical text of the whole record, as registered. */
  readonly record: string;
  /** Identity of kind `schema` over the JSON Schema document. */
  readonly schema_identity: Identity;
  /** Bytes of the canonical JSON Schema document. */
  readonly schema_bytes: number;
}

/** Registered schemas. */
export interface SchemaRegistry {
  /**
   * Registers; `limit` when the namespace holds `max_entries` of one of the tenants already.
   *
   * @param tenants Whom the caller acts for; null for every tenant, the default
   */
  register(schema: SchemaRecord, tenants?: readonly number[] | null): Promise<"registered" | "exists" | "limit">;
  get(namespaceId: number, schemaId: string, version: string): Promise<SchemaRecord | null>;
  /**
   * In (schema_id, version) code point order after the given key. No more are read once two or more hold over
   * `maximumCharacters` together: then there is one that a page of that size leaves out, so that it shows that more follow.
   */
  list(
    namespaceId: number,
    after: { readonly schema_id: string; readonly version: string } | null,
    limit: number,
    maximumCharacters?: number,
  ): Promise<SchemaRecord[]>;
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Why a store refuses; closed list. */
export type StoreErrorCode =
  /** The writer's queue is full: try again after `retryAfterMillis`. */
  | "queue_full"
  /** Another process holds the database longer than `busy_timeout_ms`. */
  | "busy"
  /** What was read is not what was written: hashes, links or counts disagree. */
  | "corrupt"
  /** The file is of a format version this program does not know. */
  | "version_unsupported"
  | "disk_full"
  /** A file of the store was removed, replaced or cut short while it was open: nothing is accepted or read until the next start. */
  | "file_lost"
  | "closed"
  | "io";

/**
 * A failure of the store itself. Nothing was changed by the call that got it, except with `file_lost`: such a call may have been
 * committed into a file that the path no longer names.
 */
export class StoreError extends Error {
  /** What went wrong. */
  readonly code: StoreErrorCode;
  /** Hint for retryable codes (`queue_full`, `busy`), milliseconds. */
  readonly retryAfterMillis: number | null;
  /** Why, in words that callers may read: they name no path. */
  readonly publicReason: string | null;

  /** A store failure with its code, a sentence, and for retryable codes a hint. */
  constructor(
    code: StoreErrorCode,
    message: string,
    options?: { cause?: unknown; retryAfterMillis?: number; publicReason?: string },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StoreError";
    this.code = code;
    this.retryAfterMillis = options?.retryAfterMillis ?? null;
    this.publicReason = options?.publicReason ?? null;
  }

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return this.code === "queue_full" || this.code === "busy";
  }
}

/** Settings shared by both stores (docs/guide/operations.md, "Stores and durability"). */
export interface StorageOptions {
  readonly type: "memory" | "sqlite";
  readonly path: string | null;
  readonly journal_mode: "wal" | "delete";
  readonly sync_mode: "full" | "normal";
  readonly busy_timeout_ms: number;
  readonly batch_max_ops: number;
  readonly batch_max_bytes: number;
  readonly batch_max_wait_ms: number;
  readonly read_pool_size: number;
  readonly writer_queue_capacity: number;
}
