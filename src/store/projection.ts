/**
 * Run states in memory, so that a read does not fold history. The first decision on a run verifies and folds all of its
 * records; later records are folded one by one, those of other processes as a delta.
 *
 * The first read of a run may be answered from its newest snapshot, which is a seal over the state: the hash, the run
 * and the law of the snapshot are compared, the record that it names and all later records are verified. The records
 * before it are verified after the answer. No decision is made at such a state before that.
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { fold, FoldError, stateIdentity } from "../run/fold.ts";
import { bindLaw } from "../run/parameters.ts";
import { asJson } from "../run/primitives.ts";
import { readRecord } from "../run/record.ts";
import type { RunKey, RunState } from "../run/types.ts";
import { createBackgroundChecks } from "./background_checks.ts";
import { BoundedMap } from "./bounded_map.ts";
import { bindingProblems } from "./record_check.ts";
import { readSealed } from "./sealed_state.ts";
import { type Archived, type RunHead, type RunStore, type Snapshot, type StoredRecord, StoreError } from "./types.ts";

/** Records between two derived snapshots of a run. */
export const SNAPSHOT_INTERVAL = 64;
/** Run states in memory. */
const STATES_KEPT = 2048;
/** Compiled laws in memory. */
const LAWS_KEPT = 256;
/** Runs that this process remembers as verified. */
const VERIFIED_KEPT = 65_536;
/** Records of one read during a fold, and between two turns of the event loop. */
const FOLD_PAGE = 64;
/** Bytes of texts of one read during a fold. */
const FOLD_BYTES = 1_048_576;

/** A run at its committed head. */
export interface ProjectedRun {
  /** Bound to the parameters of the run. */
  readonly law: CompiledLaw;
  readonly state: RunState;
  /** Present for an archived run: its state is that of its tombstone, and it has no records here. */
  readonly archived?: Archived;
}

/** The states of runs, always at a committed head. */
export interface Projections {
  /**
   * A run at the head that any process committed last, folded from verified records; null where the run does not exist.
   *
   * @throws {StoreError} `corrupt`
   */
  load(runKey: RunKey): Promise<ProjectedRun | null>;
  /**
   * As {@link load}, for answers that only show: the state may come from a snapshot that fits, before the records up to
   * it are verified.
   *
   * @throws {StoreError} `corrupt`
   */
  read(runKey: RunKey): Promise<ProjectedRun | null>;
  /** Reports a state whose records this process just committed. */
  advance(law: CompiledLaw, state: RunState): void;
  /** A registered law, compiled; null where the law does not exist. */
  law(namespaceId: number, lawIdentity: Identity): Promise<CompiledLaw | null>;
}

/** @throws {StoreError} `corrupt` for a record that does not follow the state */
function foldText(law: CompiledLaw, state: RunState | null, record: string, recordId: Identity): RunState {
  try {
    return fold(law, state, readRecord(record), recordId);
  } catch (error) {
    if (error instanceof FoldError) throw new StoreError("corrupt", error.message, { cause: error });
    throw error;
  }
}

/**
 * The state at `head`, folded from `base`. The store verifies each record that it reads, and the fold its place in the
 * chain.
 *
 * @param folded Receives each record with the state after it
 */
async function foldTo(
  store: Pick<RunStore, "listRecords">,
  law: CompiledLaw,
  base: RunState | null,
  head: Pick<RunHead, "run_key" | "head">,
  folded: (record: StoredRecord, state: RunState) => void = () => {},
): Promise<RunState> {
  let state = base;
  while ((state?.head.revision ?? 0) < head.head.revision) {
    const after = state?.head.revision ?? 0;
    const limit = Math.min(FOLD_PAGE, head.head.revision - after);
    const page = await store.listRecords(head.run_key, after, limit, FOLD_BYTES);
    if (page.length === 0) {
      throw new StoreError("corrupt", `Cannot read run: records after revision ${after} are missing`);
    }
    for (const stored of page) {
      state = foldText(law, state, stored.record, stored.record_id);
      folded(stored, state);
    }
    const isBehind = after + page.length < head.head.revision;
    if (isBehind) await new Promise((resolve) => setImmediate(resolve));
  }
  // A base beyond the requested head is a committed head too: another process committed it meanwhile.
  if (state !== null && state.head.revision > head.head.revision) return state;
  if (state === null || state.head.record_id !== head.head.record_id) {
    throw new StoreError("corrupt", `Cannot read run: its records do not lead to head "${head.head.record_id}"`);
  }
  return state;
}

/** @throws {StoreError} `corrupt` for a run whose row names another scenario or law than its first record */
function refuseOtherBinding(run: RunHead, first: StoredRecord): void {
  const [problem] = bindingProblems(run, first);
  if (problem === undefined) return;
  const { namespace_id, run_id } = run.run_key;
  throw new StoreError("corrupt", `Cannot read run "${run_id}" of namespace ${namespace_id} at revision 1: ${problem}`);
}

/** The state of a run at an earlier revision, or at its head. */
export async function stateAt(
  store: Pick<RunStore, "listRecords">,
  { law, state }: ProjectedRun,
  revision: number,
): Promise<RunState> {
  if (revision === state.head.revision) return state;
  const [record] = await store.listRecords(state.run_key, revision - 1, 1);
  if (record === undefined) throw new StoreError("corrupt", `Cannot read run: revision ${revision} is missing`);
  return await foldTo(store, law, null, { run_key: state.run_key, head: { record_id: record.record_id, revision } });
}

function runName({ namespace_id, run_id }: RunKey): string {
  return `${namespace_id}/${run_id}`;
}

/** A run whose records this process has verified. */
interface Verified {
  /** Identity of the newest snapshot that equals a fold of this process; other snapshots are not trusted for decisions. */
  readonly snapshot: Identity | null;
}

/** A run in memory. */
interface KeptRun extends ProjectedRun {
  /** Identity of the snapshot that the state came from, while the records before it are unverified; null where they are not. */
  readonly sealed: Identity | null;
}

/** The result of a check of all records of a run. */
interface Checked {
  readonly state: RunState;
  /** Whether the store has no snapshot of one of the last revisions that equals the fold. */
  readonly isSnapshotDue: boolean;
}

class StoreProjections implements Projections {
  readonly #store: RunStore;
  readonly #sha256: Sha256;
  readonly #notice: (message: string) => void;
  readonly #states: BoundedMap<string, KeptRun>;
  readonly #laws = new BoundedMap<string, CompiledLaw>(LAWS_KEPT);
  readonly #verified = new BoundedMap<string, Verified>(VERIFIED_KEPT);
  /** Runs with damage: they are not read from a snapshot again. */
  readonly #damaged = new BoundedMap<string, true>(STATES_KEPT);
  readonly #loading = new Map<string, Promise<ProjectedRun | null>>();
  readonly #checking = new Map<string, Promise<Checked>>();
  readonly #later = createBackgroundChecks();

  constructor(store: RunStore, sha256: Sha256, { statesKept = STATES_KEPT, notice = () => {} }: ProjectionOptions) {
    this.#store = store;
    this.#sha256 = sha256;
    this.#notice = notice;
    this.#states = new BoundedMap(statesKept);
  }

  load(runKey: RunKey): Promise<ProjectedRun | null> {
    return this.#atHead(runKey, false);
  }

  read(runKey: RunKey): Promise<ProjectedRun | null> {
    return this.#atHead(runKey, true);
  }

  async #atHead(runKey: RunKey, maySeal: boolean): Promise<ProjectedRun | null> {
    const name = runName(runKey);
    const head = await this.#store.getHead(runKey);
    if (head === null) return null;
    const kept = this.#states.get(name);
    const known = maySeal || kept?.sealed === null ? kept : undefined;
    // A projection beyond the head that was just read: a commit of this process advanced it meanwhile.
    const isCurrent = known !== undefined &&
      (known.state.head.record_id === head.head.record_id || known.state.head.revision > head.head.revision) &&
      known.archived?.runpack_identity === head.archived?.runpack_identity;
    if (isCurrent) {
      if (known.sealed !== null) this.#checkLater(name, head);
      return known;
    }
    // A read does not wait for the verification that a decision waits for.
    const work = `${maySeal ? "read" : "load"} ${name}`;
    const loading = this.#loading.get(work);
    if (loading !== undefined) {
      await loading;
      return this.#atHead(runKey, maySeal);
    }
    const catchingUp = this.#catchUp(name, head, known, maySeal).finally(() => this.#loading.delete(work));
    this.#loading.set(work, catchingUp);
    return await catchingUp;
  }

  async #catchUp(name: string, head: RunHead, known: KeptRun | undefined, maySeal: boolean): Promise<ProjectedRun> {
    const law = await this.#lawOf(head);
    if (head.archived !== undefined) return await this.#fromTombstone(name, law, head.archived, head.run_key);
    const base = known ?? await this.#base(name, law, head, maySeal);
    const state = await foldTo(this.#store, law, base.state, head);
    const run = { law: known?.law ?? bindLaw(law, state.parameters), state, sealed: base.sealed };
    this.#keep(name, run);
    if (run.sealed !== null) this.#checkLater(name, head);
    return run;
  }

  /** The state that a fold begins with, of a run that is not in memory. */
  async #base(
    name: string,
    law: CompiledLaw,
    head: RunHead,
    maySeal: boolean,
  ): Promise<{ readonly state: RunState | null; readonly sealed: Identity | null }> {
    const verified = this.#verified.get(name);
    if (verified !== undefined) {
      const snapshot = verified.snapshot === null ? null : await this.#snapshot(head);
      const isOwn = snapshot !== null && snapshot.state_identity === verified.snapshot;
      return { state: isOwn ? readJson<RunState>(snapshot.state) : null, sealed: null };
    }
    const isSound = this.#damaged.get(name) === undefined;
    const sealed = maySeal && isSound ? await readSealed(this.#store, law, head, await this.#snapshot(head)) : null;
    if (sealed !== null) return sealed;
    const { state, isSnapshotDue } = await this.#check(name, law, head);
    if (maySeal && isSnapshotDue) this.#putSnapshot(state);
    return { state, sealed: null };
  }

  /** The newest snapshot at or below a head; null where it is missing or damaged. */
  async #snapshot(head: RunHead): Promise<Snapshot | null> {
    try {
      return await this.#store.snapshots.get(head.run_key, head.head.revision);
    } catch (error) {
      // Snapshots are derived: the records still yield the state where a snapshot is damaged.
      if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
      this.#notice(error.message);
      return null;
    }
  }

  /** Verifies the records of a run after an answer from its snapshot. */
  #checkLater(name: string, head: RunHead): void {
    this.#later.add(name, async () => {
      if (this.#verified.get(name) !== undefined) return;
      try {
        const law = await this.#lawOf(head);
        const { state, isSnapshotDue } = await this.#check(name, law, head);
        if (isSnapshotDue) this.#putSnapshot(state);
      } catch (error) {
        // Any other failure says nothing about the records: the next read of the run asks for the check again.
        if (error instanceof StoreError && error.code === "corrupt") this.#notice(error.message);
      }
    });
  }

  /** Verifies and folds every record of a run, and compares its newest snapshot; once, however many wait for it. */
  #check(name: string, law: CompiledLaw, head: RunHead): Promise<Checked> {
    const known = this.#checking.get(name);
    if (known !== undefined) return known;
    const work = this.#checkAll(name, law, head).catch((error: unknown) => {
      if (error instanceof StoreError && error.code === "corrupt") this.#refuse(name);
      throw error;
    }).finally(() => this.#checking.delete(name));
    this.#checking.set(name, work);
    return work;
  }

  async #checkAll(name: string, law: CompiledLaw, head: RunHead): Promise<Checked> {
    const snapshot = await this.#snapshot(head);
    const { state, sealed } = await this.#foldAll(law, head, snapshot?.revision ?? 0);
    const isSound = snapshot !== null && snapshot.state_identity === sealed;
    if (snapshot !== null && !isSound) {
      const { namespace_id, run_id } = head.run_key;
      const where = `run "${run_id}" of namespace ${namespace_id} at revision ${snapshot.revision}`;
      this.#notice(`The snapshot of ${where} is not the state that its records fold to: the records are used`);
    }
    this.#verified.set(name, { snapshot: isSound ? sealed : null });
    this.#damaged.delete(name);
    const kept = this.#states.get(name);
    if (kept !== undefined && kept.sealed !== null) {
      if (isSound && kept.sealed === sealed) this.#states.set(name, { ...kept, sealed: null });
      else this.#states.delete(name);
    }
    const since = isSound ? snapshot.revision : 0;
    return { state, isSnapshotDue: state.head.revision - since >= SNAPSHOT_INTERVAL };
  }

  /** The state that all records of a run fold to, and the identity of its state at a revision. */
  async #foldAll(
    law: CompiledLaw,
    head: RunHead,
    revision: number,
  ): Promise<{ readonly state: RunState; readonly sealed: Identity | null }> {
    let sealed: Identity | null = null;
    const state = await foldTo(this.#store, law, null, head, (record, after) => {
      if (record.revision === 1) refuseOtherBinding(head, record);
      if (record.revision === revision) sealed = stateIdentity(this.#sha256, after);
    });
    return { state, sealed };
  }

  /** Stops answering from the snapshot of a run whose records are damaged. */
  #refuse(name: string): void {
    this.#damaged.set(name, true);
    const kept = this.#states.get(name);
    if (kept !== undefined && kept.sealed !== null) this.#states.delete(name);
  }

  /** An archived run. Its state was folded and verified before its records were removed. */
  async #fromTombstone(name: string, law: CompiledLaw, archived: Archived, runKey: RunKey): Promise<ProjectedRun> {
    const tombstone = await this.#store.archives.get(runKey);
    if (tombstone === null) throw new StoreError("corrupt", `Cannot read run "${runKey.run_id}": it has no tombstone`);
    const state = readJson<RunState>(tombstone.state);
    const run = { law: bindLaw(law, state.parameters), state, archived, sealed: null };
    this.#states.set(name, run);
    return run;
  }

  #keep(name: string, run: KeptRun): void {
    const known = this.#states.get(name);
    const isNewer = known === undefined || known.state.head.revision < run.state.head.revision;
    if (isNewer || known.state.head.revision === run.state.head.revision && run.sealed === null) {
      this.#states.set(name, run);
    }
  }

  advance(law: CompiledLaw, state: RunState): void {
    const name = runName(state.run_key);
    // A run that this process created needs no verification: this process wrote every byte of it.
    if (state.head.revision === 1) this.#verified.set(name, { snapshot: null });
    // A commit of several records may skip the revision at which a snapshot is due.
    const before = this.#states.get(name)?.state.head.revision ?? state.head.revision - 1;
    this.#keep(name, { law, state, sealed: null });
    if (Math.floor(state.head.revision / SNAPSHOT_INTERVAL) <= Math.floor(before / SNAPSHOT_INTERVAL)) return;
    this.#putSnapshot(state);
  }

  /** Stores a snapshot of a state that this process folded. */
  #putSnapshot(state: RunState): void {
    const text = canonicalize(asJson(state));
    const snapshot = {
      revision: state.head.revision,
      state_identity: identifyCanonical(this.#sha256, "run-state", text),
      state: text,
    };
    this.#verified.set(runName(state.run_key), { snapshot: snapshot.state_identity });
    // Derived data: without the snapshot a later fold takes longer, and every answer stays the same.
    this.#store.snapshots.put(state.run_key, snapshot).catch(() => {});
  }

  async #lawOf(head: RunHead): Promise<CompiledLaw> {
    const law = await this.law(head.run_key.namespace_id, head.scenario_law_identity);
    if (law !== null) return law;
    throw new StoreError("corrupt", `Cannot read run: its law "${head.scenario_law_identity}" is missing`);
  }

  async law(namespaceId: number, lawIdentity: Identity): Promise<CompiledLaw | null> {
    const name = `${namespaceId}/${lawIdentity}`;
    const known = this.#laws.get(name);
    if (known !== undefined) return known;
    const stored = await this.#store.laws.get(namespaceId, lawIdentity);
    if (stored === null) return null;
    const law = compileLaw(
      readJson<ScenarioLaw>(stored.law),
      stored.scenario_law_identity,
      stored.graph_identity,
    );
    this.#laws.set(name, law);
    return law;
  }
}

/** Options of {@link projectRuns}. */
export interface ProjectionOptions {
  /** The number of states in memory; 2,048 by default. */
  readonly statesKept?: number;
  /** Receives a sentence where the store differs from what was written, and no caller waits for the finding. */
  readonly notice?: (message: string) => void;
}

/** Projections of a store's runs. */
export function projectRuns(store: RunStore, sha256: Sha256, options: ProjectionOptions = {}): Projections {
  return new StoreProjections(store, sha256, options);
}
