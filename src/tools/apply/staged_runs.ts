/**
 * The run store of a list of operations: what they accept waits here, and is committed together. Only later
 * operations of the list see it.
 */

import type { CompiledLaw } from "../../run/compile.ts";
import type { OperationId, RunKey, RunState } from "../../run/types.ts";
import {
  type Append,
  type AppendResult,
  type Artifact,
  type Receipt,
  type RunStore,
  type StoredRecord,
  StoreError,
} from "../../store/types.ts";
import { auditUnavailable } from "../framework/errors.ts";
import type { Services } from "../services/services.ts";

/** Thrown where an operation has to wait: what is staged is committed first, then the operation is made again. */
export const COMMIT_FIRST: Error = new Error("Cannot go on before the staged operations are committed");

/** An accepted append with what follows its commit. */
interface Staged {
  readonly operation: number;
  readonly append: Append;
  law: CompiledLaw | null;
  state: RunState | null;
  readonly followed: (() => void)[];
}

/** The operation that is being made. */
export interface Current {
  readonly index: number;
  /** Whether the audit log has the line of its beginning. */
  readonly isLogged: () => Promise<boolean>;
}

/** The staged appends of one list. */
export interface Staging {
  /** The services of the operations. */
  readonly services: Services;
  /** Begins an operation; returns whether it queried providers, once it has ended. */
  readonly begin: (current: Current) => () => boolean;
  /** Drops what an operation staged last. */
  readonly drop: (operation: number) => void;
  /** Commits; returns the operations that have to be made again. */
  readonly commit: () => Promise<ReadonlySet<number>>;
  /** Releases the locks of operations. */
  readonly [Symbol.dispose]: () => void;
}

interface State {
  readonly base: Services;
  /** By the name of the run. */
  readonly runs: Map<string, Staged[]>;
  readonly locks: Map<string, Disposable>;
  /** What the store answered a staged append, by {@link answerKey}: the operation gets it when it is made again. */
  readonly answers: Map<string, AppendResult>;
  /** The failures of the store, by operation. */
  readonly failures: Map<number, StoreError>;
  /** The operations since the last commit. */
  readonly begun: Map<number, Current>;
  last: Staged | null;
  current: Current | null;
  hasQueried: boolean;
}

/** Stages what operations append. Each append is compared with the store when it is committed. */
export function stageRuns(base: Services): Staging {
  const state: State = {
    base,
    runs: new Map(),
    locks: new Map(),
    answers: new Map(),
    failures: new Map(),
    begun: new Map(),
    last: null,
    current: null,
    hasQueried: false,
  };
  return {
    services: stagedServices(state),
    begin: (current) => {
      state.current = current;
      state.hasQueried = false;
      state.begun.set(current.index, current);
      return () => state.hasQueried;
    },
    drop: (operation) => {
      for (const [name, staged] of state.runs) {
        if (staged.at(-1)?.operation !== operation) continue;
        staged.pop();
        if (staged.length === 0) state.runs.delete(name);
      }
    },
    commit: () => commit(state),
    [Symbol.dispose]: () => release(state),
  };
}

function release({ locks }: State): void {
  for (const lock of locks.values()) lock[Symbol.dispose]();
  locks.clear();
}

function nameOf({ namespace_id, run_id }: RunKey): string {
  return `${namespace_id}/${run_id}`;
}

const RELEASED_LATER: Disposable = { [Symbol.dispose]: () => {} };

/** The services with staged runs. A lock stays held until the commit decides about its operation. */
function stagedServices(state: State): Services {
  const { base, runs, locks } = state;
  const isFirst = (): boolean => state.begun.size === 1;
  return {
    ...base,
    // Read anew: a start of a run reads the keys of people again.
    get environment() {
      return base.environment;
    },
    get profiles() {
      return base.profiles;
    },
    runs: stagedStore(state),
    projections: {
      law: (namespaceId, identity) => base.projections.law(namespaceId, identity),
      read: (runKey) => base.projections.read(runKey),
      load: async (runKey) => {
        const last = runs.get(nameOf(runKey))?.at(-1);
        const { law = null, state: after = null } = last ?? {};
        return law === null || after === null ? await base.projections.load(runKey) : { law, state: after };
      },
      advance: (law, after) => {
        const { last } = state;
        if (last === null) return;
        [last.law, last.state] = [law, after];
        last.followed.push(() => base.projections.advance(law, after));
      },
    },
    decisions: {
      ...base.decisions,
      decided: (scenario, decision) => state.last?.followed.push(() => base.decisions.decided(scenario, decision)),
    },
    // An append brings its artifacts unless they are committed: the append of another run may be refused.
    storedArtifacts: { has: (identity) => base.storedArtifacts.has(identity), add: () => undefined },
    operationLock: {
      isHeld: (key) => base.operationLock.isHeld(key),
      acquire: async (key) => {
        if (locks.has(key)) return RELEASED_LATER;
        // Two lists that hold a lock and wait for that of the other would wait for ever.
        if (base.operationLock.isHeld(key) && !isFirst()) throw COMMIT_FIRST;
        locks.set(key, await base.operationLock.acquire(key));
        return RELEASED_LATER;
      },
    },
    acquirer: {
      acquire: async (request) => {
        if (!isFirst()) throw COMMIT_FIRST;
        state.hasQueried = true;
        if (await state.current?.isLogged() === false) throw auditUnavailable();
        return await base.acquirer.acquire(request);
      },
    },
  };
}

/** The store with the staged appends after its own records. Only what operations of a list use differs. */
function stagedStore(state: State): RunStore {
  const { runs } = state.base;
  const all = (): Staged[] => [...state.runs.values()].flat();
  return {
    ...runs,
    append: (append) => new Promise((resolve) => resolve(stage(state, append))),
    artifacts: {
      ...runs.artifacts,
      get: async (identity) =>
        artifactsOf(all()).find((one) => one.identity === identity) ?? await runs.artifacts.get(identity),
    },
    receipts: {
      ...runs.receipts,
      get: async (runKey, operation) =>
        receiptOf(state, runKey, operation) ?? await runs.receipts.get(runKey, operation),
      ofCreation: async (namespaceId, identity) => {
        const created = all().find(({ append: { run_key, expected_head, records } }) =>
          expected_head === null && run_key.namespace_id === namespaceId &&
          records[0]?.receipt.operation.identity === identity
        );
        return created === undefined
          ? await runs.receipts.ofCreation(namespaceId, identity)
          : receiptOf(state, created.append.run_key, { family: "create_run", identity });
      },
    },
    listRecords: async (runKey, after, limit, maximumBytes) => {
      const staged = state.runs.get(nameOf(runKey));
      if (staged === undefined) return await runs.listRecords(runKey, after, limit, maximumBytes);
      const committed = staged[0]?.append.expected_head?.revision ?? 0;
      if (after < committed) {
        return await runs.listRecords(runKey, after, Math.min(limit, committed - after), maximumBytes);
      }
      return recordsOf(staged).slice(after - committed, after - committed + limit);
    },
  };
}

function recordsOf(staged: readonly Staged[]): StoredRecord[] {
  return staged.flatMap(({ append }) => append.records);
}

/** The artifacts of appends, each once. */
function artifactsOf(staged: readonly Staged[]): Artifact[] {
  return [
    ...new Map(staged.flatMap(({ append }) => append.artifacts.map((one) => [one.identity, one] as const))).values(),
  ];
}

function receiptOf(state: State, runKey: RunKey, { family, identity }: OperationId): Receipt | null {
  const found = recordsOf(state.runs.get(nameOf(runKey)) ?? []).find(({ receipt: { operation } }) =>
    operation.identity === identity && operation.family === family
  );
  return found === undefined ? null : { ...found.receipt, run_key: runKey, revision: found.revision };
}

function answerKey(operation: number, runKey: RunKey): string {
  return `${operation} ${nameOf(runKey)}`;
}

function stage(state: State, append: Append): AppendResult {
  const { run_key, records } = append;
  const operation = state.current?.index ?? 0;
  const failure = state.failures.get(operation);
  if (failure !== undefined) throw failure;
  const answer = state.answers.get(answerKey(operation, run_key));
  if (answer !== undefined) return answer;
  for (const { receipt } of records) {
    const known = receiptOf(state, run_key, receipt.operation);
    if (known !== null) return { outcome: "operation_exists", receipt: known };
  }
  state.last = { operation, append, law: null, state: null, followed: [] };
  state.runs.set(nameOf(run_key), [...state.runs.get(nameOf(run_key)) ?? [], state.last]);
  return { outcome: "accepted" };
}

/** One append for each run, in one transaction. An operation whose beginning is not in the audit log is left out. */
async function commit(state: State): Promise<ReadonlySet<number>> {
  const again = new Set<number>();
  try {
    for (const [index, { isLogged }] of state.begun) if (!await isLogged()) again.add(index);
    const runs = [...state.runs.values()];
    const logged = runs.filter((staged) => !staged.some(({ operation }) => again.has(operation)));
    const results = await appendAll(state.base.runs, logged.map(merged));
    for (const [place, result] of results.entries()) settle(state, logged[place] ?? [], result);
    const accepted = new Set(logged.filter((_, place) => isAccepted(results[place])));
    for (const staged of runs) {
      if (!accepted.has(staged)) { for (const { operation } of staged) again.add(operation); }
    }
    return again;
  } finally {
    state.runs.clear();
    state.begun.clear();
    state.last = null;
    release(state);
  }
}

function isAccepted(result: AppendResult | StoreError | undefined): boolean {
  return result !== undefined && !(result instanceof StoreError) && result.outcome === "accepted";
}

/** Does what follows the commit of a run; keeps the answer of the store where it refused. */
function settle(
  { base, answers, failures }: State,
  staged: readonly Staged[],
  result: AppendResult | StoreError,
): void {
  if (result instanceof StoreError) {
    for (const { operation } of staged) failures.set(operation, result);
  } else if (result.outcome === "accepted") {
    for (const { append, followed } of staged) {
      for (const { identity } of append.artifacts) base.storedArtifacts.add(identity);
      for (const follow of followed) follow();
    }
  } else {
    const exists = result.outcome === "operation_exists" ? result.receipt.operation : null;
    const refused = staged.find(({ append: { records } }) =>
      records.some(({ receipt: { operation } }) =>
        operation.family === exists?.family && operation.identity === exists.identity
      )
    ) ?? staged[0];
    if (refused !== undefined) {
      answers.set(answerKey(refused.operation, refused.append.run_key), result);
    }
  }
}

function merged(staged: readonly Staged[]): Append {
  const [first] = staged;
  if (first === undefined) throw new RangeError("Cannot commit: no append is staged");
  return { ...first.append, records: recordsOf(staged), artifacts: artifactsOf(staged) };
}

/** The results of appends. Where they fail together, each is made alone, so that the fault of one is not that of all. */
async function appendAll(runs: RunStore, appends: readonly Append[]): Promise<readonly (AppendResult | StoreError)[]> {
  try {
    return appends.length === 0 ? [] : await runs.appendTogether(appends);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (appends.length === 1) return [error];
    return (await Promise.all(appends.map((append) => appendAll(runs, [append])))).flat();
  }
}
