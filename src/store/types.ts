/**
 * The interfaces of the run store and the schema registry. They are asynchronous and compare-and-set, so that a
 * networked store can implement them. One suite of cases runs over every implementation.
 */

import type { Identity } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { AcceptedRecord, Correlation, Head, OperationId, RunKey, RunStatus } from "../run/types.ts";
import type { Outbox } from "./outbox.ts";
import type { TypedProviderStore } from "./typed_provider_types.ts";

/** A registered scenario law. */
export interface StoredLaw {
  readonly namespace_id: number;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly graph_identity: Identity;
  /** Canonical text of the normal form. */
  readonly law: string;
}

/** The names of a law in a listing. */
export type LawListItem = Pick<StoredLaw, "namespace_id" | "scenario_id" | "scenario_law_identity">;

/** The receipt of an accepted operation: the original result, byte for byte. */
export interface Receipt {
  readonly operation: OperationId;
  readonly invocation_identity: Identity;
  /** JSON text of the returned `result`. */
  readonly result: string;
  /** The run of the operation; for `create_run` the created run. */
  readonly run_key: RunKey;
  readonly revision: number;
}

/** One accepted record with its material and its receipt, as an export reads it. */
export type StoredRecord = AcceptedRecord;

/** A record of a run as its receipt has it; an archived run has no more. */
export type StoredReceipt = Pick<StoredRecord, "revision" | "record_id" | "receipt">;

/** Where the records of an archived run are. */
export interface Archived {
  readonly runpack_identity: Identity;
  /** When the records were removed, in Unix milliseconds. */
  readonly archived_instant: number;
}

/** What replaces the records of an archived run. Its head, its entry in the list of runs and its receipts stay beside it. */
export interface Tombstone extends Archived {
  /** Identity of kind `run-state` of the state at the head. */
  readonly state_identity: Identity;
  /** Canonical text of that state. */
  readonly state: string;
}

/** A receipt of an archived run. */
export interface ArchivedReceipt extends StoredReceipt {
  /** Kind and identity of each piece of material of the record, one on each line: the receipt's seal covers them. */
  readonly material_names: string;
}

/** An archived run, as a copy brings it to another store. */
export interface ArchivedRun {
  readonly run: Omit<RunHead, "archived">;
  readonly entry: RunEntry;
  readonly receipts: readonly ArchivedReceipt[];
  readonly tombstone: Tombstone;
}

/** The outcome of archiving a run. */
export type ArchiveResult =
  | { readonly outcome: "archived" }
  | { readonly outcome: "already_archived"; readonly archived: Archived }
  | { readonly outcome: "run_active" }
  | { readonly outcome: "stale"; readonly head: Head }
  | { readonly outcome: "run_not_found" };

/** An object that many runs share: an operator profile, a provider's contract or version, or a JSON Schema. */
export interface Artifact {
  readonly kind: "operator-profile" | "contract" | "provider-version" | "schema";
  readonly identity: Identity;
  /** Canonical text that the identity covers. */
  readonly body: string;
}

/** Records to append to one run, atomically. */
export interface Append {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** The exact head that the records follow; null creates the run. */
  readonly expected_head: Head | null;
  /** At least one, of consecutive revisions. */
  readonly records: readonly StoredRecord[];
  /** Stored in the same transaction, unless they exist. */
  readonly artifacts: readonly Artifact[];
}

/** The outcome of an append. Operation identities are compared first, the head second. */
export type AppendResult =
  | { readonly outcome: "accepted" }
  | { readonly outcome: "operation_exists"; readonly receipt: Receipt }
  | { readonly outcome: "run_exists"; readonly head: Head }
  | { readonly outcome: "run_not_found" }
  | { readonly outcome: "archived"; readonly archived: Archived }
  | { readonly outcome: "stale"; readonly head: Head };

/** Head of a run with its scenario and law. */
export interface RunHead {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly head: Head;
  /** Present for an archived run. */
  readonly archived?: Archived;
}

/** A derived state, so that a cold read does not fold history. */
export interface Snapshot {
  readonly revision: number;
  /** Identity of kind `run-state` of the state. */
  readonly state_identity: Identity;
  /** Canonical text of the state. */
  readonly state: string;
}

/** One run in a list. */
export interface ListedRun {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  /** The parameters of the run, in the order of their ids; empty without parameters. */
  readonly parameters: readonly JsonValue[];
  readonly correlation: Correlation;
  readonly status: RunStatus;
  readonly head: Head;
  /** The instant at which the creation was accepted, in Unix milliseconds. */
  readonly created_instant: number;
  /** Present for an archived run. */
  readonly archived?: Archived;
}

/** What the index has about a run: everything except its head, and where its records are. */
export type RunEntry = Omit<ListedRun, "head" | "archived">;

/** Which runs of a namespace are listed. A member that is left out admits every run. */
export interface RunQuery {
  readonly namespace_id: number;
  readonly scenario_id?: string;
  readonly scenario_law_identity?: Identity;
  readonly status?: RunStatus;
  readonly correlation_id?: string;
  /** Canonical texts of parameters with their values; a run must have them all. */
  readonly parameters?: readonly string[];
}

/** A position in a list of runs, which is in descending order of (creation instant, run id). */
export interface RunPosition {
  readonly created_instant: number;
  readonly run_id: string;
  /** The newest run of the store when the first page was read: later ones are not listed. */
  readonly newest: number;
}

/** A page of a list of runs. */
export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Where the next page begins; null at the end. */
  readonly next: RunPosition | null;
  /** {@link RunPosition.newest} of the whole list. */
  readonly newest: number;
}

/** What metrics say of the runs of a store. */
export interface RunFigures {
  readonly active: number;
  readonly complete: number;
  /** When the stage was opened that is open for the longest time, in Unix milliseconds; null where no stage is open. */
  readonly oldestOpened: number | null;
}

/** The load of a store's writer, now and since the store was opened. */
export interface WriterLoad {
  /** Operations that wait for a transaction. */
  readonly queued: number;
  /** Transactions that were committed. */
  readonly batches: number;
  /** Operations in these transactions. */
  readonly operations: number;
}

/** Laws of scenarios. All methods reject with {@link StoreError}, as those of all parts of a {@link RunStore}. */
export interface LawStore {
  /** Registers a law; `exists` where this exact law is registered. */
  put(law: StoredLaw): Promise<"stored" | "exists">;
  get(namespaceId: number, lawIdentity: Identity): Promise<StoredLaw | null>;
  /** Whether any law of that scenario exists in the namespace. */
  hasScenario(namespaceId: number, scenarioId: string): Promise<boolean>;
  /** Laws of a namespace in (scenario_id, law identity) code point order, after the given key. */
  list(
    namespaceId: number,
    after: { readonly scenario_id: string; readonly scenario_law_identity: Identity } | null,
    limit: number,
  ): Promise<LawListItem[]>;
  /** Namespaces above `after` that hold laws, in ascending order. */
  listNamespaces(after: number, limit: number): Promise<number[]>;
}

/** Objects that many runs share. */
export interface ArtifactStore {
  get(identity: Identity): Promise<Artifact | null>;
  /** Stores an artifact without a run, unless it exists: a copy has the artifacts before the runs. */
  put(artifact: Artifact): Promise<void>;
}

/** Receipts of accepted operations, also of archived runs. */
export interface ReceiptStore {
  /** Receipt of an operation on a run. */
  get(runKey: RunKey, operation: OperationId): Promise<Receipt | null>;
  /** Receipt of a run creation. */
  ofCreation(namespaceId: number, creationRequestId: string): Promise<Receipt | null>;
  /** Receipts of the records with a revision above `after`, in order, at most `limit`. */
  list(runKey: RunKey, after: number, limit: number): Promise<StoredReceipt[]>;
}

/** Derived states of runs. Correctness never depends on them. */
export interface SnapshotStore {
  /** Stores a snapshot and removes older ones beyond `max_versions` of the run. */
  put(runKey: RunKey, snapshot: Snapshot): Promise<void>;
  /** The newest snapshot at or below a revision. */
  get(runKey: RunKey, atMost: number): Promise<Snapshot | null>;
}

/** Archived runs. On PostgreSQL only the owner of the tables may write them: another role is rejected with `io`. */
export interface ArchiveStore {
  /**
   * Replaces the records of a complete run by a tombstone, in one transaction: texts and material are removed, receipts
   * stay.
   *
   * @param head The head of the run that the tombstone was made for
   * @throws {StoreError} `corrupt` where the tombstone does not fit the head
   */
  archive(runKey: RunKey, head: Head, tombstone: Tombstone): Promise<ArchiveResult>;
  /**
   * Stores an archived run in one transaction, unless a run of its id or of its creation request exists.
   *
   * @throws {StoreError} `corrupt` where the tombstone does not fit the head
   */
  put(archived: ArchivedRun): Promise<"stored" | "exists">;
  /** The tombstone of an archived run; null for any other. */
  get(runKey: RunKey): Promise<Tombstone | null>;
}

/** Runs with their records, and what belongs to them. All methods reject with {@link StoreError}. */
export interface RunStore {
  readonly laws: LawStore;
  readonly artifacts: ArtifactStore;
  readonly receipts: ReceiptStore;
  readonly snapshots: SnapshotStore;
  readonly archives: ArchiveStore;
  /** The records that wait for announcement. */
  readonly outbox: Outbox;
  /** Atomic append; resolves after the commit. */
  append(append: Append): Promise<AppendResult>;
  /**
   * Appends to several runs in one transaction, at most once to each. Each is compared by itself: the refusal of one
   * does not refuse the others.
   */
  appendTogether(appends: readonly Append[]): Promise<readonly AppendResult[]>;
  /** Head of a run as committed by any process; null where the run does not exist. */
  getHead(runKey: RunKey): Promise<RunHead | null>;
  /**
   * Records with a revision above `after`, in order, at most `limit`. The list ends before its texts exceed
   * `maximumBytes`, but has at least one record. A record that was read from a file or a database is verified: its
   * texts hash to their identities, its seal holds, and it links to the record before it.
   *
   * @throws {StoreError} `archived` where the records were removed; `corrupt` where a record differs from the written one
   */
  listRecords(runKey: RunKey, after: number, limit: number, maximumBytes?: number): Promise<StoredRecord[]>;
  /**
   * Runs of a namespace in descending order of (creation instant, run id). A page may have fewer than `limit` runs, or
   * none, where more follow: the number of runs that one call examines is limited.
   *
   * @param after The end of the previous page; null for the first page
   * @throws {StoreError} `index_missing` where an older store has runs without an entry in the index
   */
  findRuns(query: RunQuery, after: RunPosition | null, limit: number): Promise<RunPage>;
  /**
   * The figures of all runs for metrics; they may be a moment old.
   *
   * @throws {StoreError} `index_missing` as {@link findRuns}
   */
  figures(): Promise<RunFigures>;
  /** Run keys of the whole store in (namespace_id, run_id) order, for checks and backups. */
  listRuns(after: RunKey | null, limit: number): Promise<RunHead[]>;
  /** Resolves where the store can write and read. */
  ready(): Promise<void>;
  /** The load of the writer. */
  load(): WriterLoad;
  /** Commits queued operations, then closes. */
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

/** Registered schemas, and typed providers in the same store. */
export interface SchemaRegistry {
  readonly typedProviders: TypedProviderStore;
  /**
   * Registers a schema; `limit` where the namespace holds `max_entries` schemas of one of the tenants.
   *
   * @param tenants The tenants that the caller acts for; null, the default, for every tenant
   */
  register(schema: SchemaRecord, tenants?: readonly number[] | null): Promise<"registered" | "exists" | "limit">;
  get(namespaceId: number, schemaId: string, version: string): Promise<SchemaRecord | null>;
  /** The tenants for which a schema counts, in ascending order; null for every tenant, and for an unregistered schema. */
  getTenants(namespaceId: number, schemaId: string, version: string): Promise<readonly number[] | null>;
  /**
   * Schemas in (schema_id, version) code point order after the given key. Reading ends once two or more schemas
   * together exceed `maximumCharacters`: the last one does not fit into a page of that size, which shows that more
   * follow.
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

/** The codes of store errors. */
export type StoreErrorCode =
  /** The writer's queue is full; retry after `retryAfterMillis`. */
  | "queue_full"
  /** Another process holds the database longer than `busy_timeout_ms`. */
  | "busy"
  /** Data differs from what was written: hashes, links or counts disagree. */
  | "corrupt"
  /** The file has a format version that this program does not support. */
  | "version_unsupported"
  /** Runs of an older store are not in the index yet: `gate store migrate` adds them. */
  | "index_missing"
  /** The records of the run are no longer in the store. */
  | "archived"
  | "disk_full"
  /**
   * The database does not answer; retry after `retryAfterMillis`. Whether the call was committed is not known: its
   * receipt says so.
   */
  | "unavailable"
  /**
   * A file of the store was removed, replaced or cut short while it was open: nothing is accepted or read until the
   * next start.
   */
  | "file_lost"
  | "closed"
  /** The settings of the store stand for no database. */
  | "misconfigured"
  | "io";

/**
 * A failure of the store itself. The failed call changed nothing, with one exception: `file_lost`, or `io` in the
 * comparison after a commit. Such a call may be committed in a file that the path no longer names.
 */
export class StoreError extends Error {
  /** The kind of failure. */
  readonly code: StoreErrorCode;
  /** Delay before a retry of `queue_full` and `busy`, in milliseconds. */
  readonly retryAfterMillis: number | null;
  /** The reason for callers; it names no path. */
  readonly publicReason: string | null;

  /** Creates the error. */
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
    return this.code === "queue_full" || this.code === "busy" || this.code === "unavailable";
  }
}

/** Settings shared by both stores (docs/guide/operations.md, "Stores and durability"). */
export interface StorageOptions {
  readonly type: "memory" | "sqlite" | "postgres";
  readonly path: string | null;
  readonly journal_mode: "wal" | "delete";
  readonly sync_mode: "full" | "normal";
  readonly busy_timeout_ms: number;
  readonly batch_max_ops: number;
  readonly batch_max_bytes: number;
  readonly batch_max_wait_ms: number;
  readonly read_pool_size: number;
  readonly writer_queue_capacity: number;
  /** Address of a PostgreSQL database, or `env:NAME` for a variable that holds it. */
  readonly url: string | null;
  /** PEM file of the authorities that sign the certificates of its servers; null for those of the system. */
  readonly tls_ca_path: string | null;
  /** Connections to it. */
  readonly connections: number;
}
