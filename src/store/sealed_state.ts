/**
 * The state of a snapshot, before the records up to it are verified.
 *
 * The identity of a snapshot is a hash over the whole state, which names the run, the law and the head. So a snapshot
 * that was changed, that belongs to another run, or that another head follows, is refused.
 */

import type { Identity } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import type { CompiledLaw } from "../run/compile.ts";
import type { RunState } from "../run/types.ts";
import type { RunHead, RunStore, Snapshot } from "./types.ts";

/** A state with the snapshot that it came from. */
export interface SealedState {
  readonly state: RunState;
  readonly sealed: Identity;
}

/**
 * The state of a snapshot of a run, where it fits the run, its law and the verified record that it names; else null.
 *
 * @param snapshot As the store returned it, its hash verified; null without a snapshot
 * @throws {StoreError} `corrupt` where the record is damaged
 */
export async function readSealed(
  store: Pick<RunStore, "listRecords">,
  law: CompiledLaw,
  head: RunHead,
  snapshot: Snapshot | null,
): Promise<SealedState | null> {
  if (snapshot === null) return null;
  const state = readJson<RunState>(snapshot.state);
  if (!fits(state, snapshot.revision, law, head)) return null;
  const [record] = await store.listRecords(head.run_key, snapshot.revision - 1, 1);
  return record?.record_id === state.head.record_id ? { state, sealed: snapshot.state_identity } : null;
}

function fits(state: RunState, revision: number, law: CompiledLaw, head: RunHead): boolean {
  const { namespace_id, run_id } = head.run_key;
  return state.run_key.namespace_id === namespace_id && state.run_key.run_id === run_id &&
    state.scenario_id === head.scenario_id && state.scenario_law_identity === head.scenario_law_identity &&
    state.head.revision === revision && revision >= 1 && revision <= head.head.revision &&
    state.stages.length === law.stages.length &&
    state.stages.every(({ stage_id }, index) => stage_id === law.stages[index]?.stage.stage_id);
}
