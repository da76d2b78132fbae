/**
 * Run states in memory, so that a read does not fold history. The first read of a run verifies and folds all of its records;
 * later records are folded one by one, those of other processes as a delta.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { type CompiledLaw, compileLaw } from "../run/compile.ts";
import { fold, FoldError } from "../run/fold.ts";
import { bindLaw } from "../run/parameters.ts";
import { asJson } from "../run/primitives.ts";
import { readRecord } from "../run/record.ts";
import type { RunKey, RunState } from "../run/types.ts";
import { BoundedMap } from "./bounded_map.ts";
import { verifyRun } from "./integrity.ts";
import { type RunHead, type RunStore, StoreError } from "./types.ts";

/** Records between two derived snapshots of a run. */
const SNAPSHOT_INTERVAL = 64;
/** Run states in memory. */
const STATES_KEPT = 2048;
/** Compiled laws in memory. */
const LAWS_KEPT = 256;
/** Runs that this process remembers as verified. */
const VERIFIED_KEPT = 65_536;
/** Records of one read during a fold. */
const FOLD_PAGE = 256;
/** Bytes of texts of one read during a fold. */
const FOLD_BYTES = 4 * 1024 * 1024;

/** A run at its committed head. */
export interface ProjectedRun {
  /** Bound to the parameters of the run. */
  readonly law: CompiledLaw;
  readonly state: RunState;
}

/** The states of runs, always at a committed head. */
export interface Projections {
  /** A run at the head that any process committed last; null where the run does not exist. */
  load(runKey: RunKey): Promise<ProjectedRun | null>;
  /** Reports a state whose records this process just committed. */
  advance(law: CompiledLaw, state: RunState): void;
  /** A registered law, compiled; null where the law does not exist. */
  law(namespaceId: number, lawIdentity: Identity): Promise<CompiledLaw | null>;
}

function foldText(law: CompiledLaw, state: RunState | null, record: string, recordId: Identity): RunState {
  return fold(law, state, readRecord(record), recordId);
}

/** The state at `head`, folded from the newest snapshot at or below it, or from `base`. */
async function foldTo(
  store: Pick<RunStore, "listRecords">,
  law: CompiledLaw,
  base: RunState | null,
  head: Pick<RunHead, "run_key" | "head">,
): Promise<RunState> {
  let state = base;
  while ((state?.head.revision ?? 0) < head.head.revision) {
    const after = state?.head.revision ?? 0;
    const limit = Math.min(FOLD_PAGE, head.head.revision - after);
    const page = await store.listRecords(head.run_key, after, limit, FOLD_BYTES);
    if (page.length === 0) {
      throw new StoreError("corrupt", `Cannot read run: records after revision ${after} are missing`);
    }
    for (const { record, record_id } of page) state = foldText(law, state, record, record_id);
  }
  // A base beyond the requested head is a committed head too: another process committed it meanwhile.
  if (state !== null && state.head.revision > head.head.revision) return state;
  if (state === null || state.head.record_id !== head.head.record_id) {
    throw new StoreError("corrupt", `Cannot read run: its records do not lead to head "${head.head.record_id}"`);
  }
  return state;
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
  /** Identity of the newest snapshot that this process made of its own fold; other snapshots are not trusted. */
  readonly snapshot: Identity | null;
}

class StoreProjections implements Projections {
  readonly #store: RunStore;
  readonly #sha256: Sha256;
  readonly #states: BoundedMap<string, ProjectedRun>;
  readonly #laws = new BoundedMap<string, CompiledLaw>(LAWS_KEPT);
  readonly #verified = new BoundedMap<string, Verified>(VERIFIED_KEPT);
  readonly #loading = new Map<string, Promise<ProjectedRun | null>>();

  constructor(store: RunStore, sha256: Sha256, statesKept: number) {
    this.#store = store;
    this.#sha256 = sha256;
    this.#states = new BoundedMap(statesKept);
  }

  async load(runKey: RunKey): Promise<ProjectedRun | null> {
    const name = runName(runKey);
    const head = await this.#store.getHead(runKey);
    if (head === null) return null;
    const known = this.#states.get(name);
    if (known !== undefined && known.state.head.record_id === head.head.record_id) return known;
    // A projection beyond the head that was just read: a commit of this process advanced it meanwhile.
    if (known !== undefined && known.state.head.revision > head.head.revision) return known;
    const loading = this.#loading.get(name);
    if (loading !== undefined) {
      await loading;
      return this.load(runKey);
    }
    const work = this.#catchUp(name, head, known).finally(() => this.#loading.delete(name));
    this.#loading.set(name, work);
    return await work;
  }

  async #catchUp(name: string, head: RunHead, known: ProjectedRun | undefined): Promise<ProjectedRun | null> {
    const law = await this.law(head.run_key.namespace_id, head.scenario_law_identity);
    if (law === null) {
      throw new StoreError("corrupt", `Cannot read run: its law "${head.scenario_law_identity}" is missing`);
    }
    try {
      const base = known?.state ?? await this.#verifyFirst(name, law, head) ?? await this.#fromSnapshot(name, head);
      const state = await foldTo(this.#store, law, base, head);
      const run = { law: known?.law ?? bindLaw(law, state.parameters), state };
      this.#keep(name, run);
      return run;
    } catch (error) {
      if (error instanceof FoldError) throw new StoreError("corrupt", error.message, { cause: error });
      throw error;
    }
  }

  /** Verifies and folds every record of a run that this process has not read yet; null for a verified run. */
  async #verifyFirst(name: string, law: CompiledLaw, head: RunHead): Promise<RunState | null> {
    if (this.#verified.get(name) !== undefined) return null;
    let state: RunState | null = null;
    await verifyRun(this.#store, head.run_key, {
      sha256: this.#sha256,
      onRecords: (records) => {
        for (const { record, record_id } of records) state = foldText(law, state, record, record_id);
      },
    });
    this.#verified.set(name, { snapshot: null });
    return state;
  }

  async #fromSnapshot(name: string, head: RunHead): Promise<RunState | null> {
    const own = this.#verified.get(name)?.snapshot ?? null;
    if (own === null) return null;
    try {
      const snapshot = await this.#store.getSnapshot(head.run_key, head.head.revision);
      return snapshot?.state_identity === own ? readJson(snapshot.state) as unknown as RunState : null;
    } catch (error) {
      // Snapshots are derived: the records still yield the state where a snapshot is damaged.
      if (error instanceof StoreError && error.code === "corrupt") return null;
      throw error;
    }
  }

  #keep(name: string, run: ProjectedRun): void {
    const known = this.#states.get(name);
    if (known === undefined || known.state.head.revision <= run.state.head.revision) this.#states.set(name, run);
  }

  advance(law: CompiledLaw, state: RunState): void {
    const name = runName(state.run_key);
    // A run that this process created needs no verification: this process wrote every byte of it.
    if (state.head.revision === 1) this.#verified.set(name, { snapshot: null });
    // A commit of several records may skip the revision at which a snapshot is due.
    const before = this.#states.get(name)?.state.head.revision ?? state.head.revision - 1;
    this.#keep(name, { law, state });
    if (Math.floor(state.head.revision / SNAPSHOT_INTERVAL) <= Math.floor(before / SNAPSHOT_INTERVAL)) return;
    const text = canonicalize(asJson(state));
    const snapshot = {
      revision: state.head.revision,
      state_identity: identifyCanonical(this.#sha256, "run-state", text),
      state: text,
    };
    this.#verified.set(name, { snapshot: snapshot.state_identity });
    // Derived data: without the snapshot a later fold takes longer, and every answer stays the same.
    this.#store.putSnapshot(state.run_key, snapshot).catch(() => {});
  }

  async law(namespaceId: number, lawIdentity: Identity): Promise<CompiledLaw | null> {
    const name = `${namespaceId}/${lawIdentity}`;
    const known = this.#laws.get(name);
    if (known !== undefined) return known;
    const stored = await this.#store.getLaw(namespaceId, lawIdentity);
    if (stored === null) return null;
    const law = compileLaw(
      readJson(stored.law) as unknown as ScenarioLaw,
      stored.scenario_law_identity,
      stored.graph_identity,
    );
    this.#laws.set(name, law);
    return law;
  }
}

/**
 * Projections of a store's runs.
 *
 * @param statesKept The number of states in memory
 */
export function projectRuns(store: RunStore, sha256: Sha256, statesKept: number = STATES_KEPT): Projections {
  return new StoreProjections(store, sha256, statesKept);
}
