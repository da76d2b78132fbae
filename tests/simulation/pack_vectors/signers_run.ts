/**
 * A run that CI and two people sign, honest, and made by somebody else who calls keys of their own by these names.
 *
 * @module
 */

import type { CompiledLaw } from "../../../src/run/compile.ts";
import type { CallerEvidence } from "../../../src/run/evidence.ts";
import type { ProcedureName, RunState } from "../../../src/run/types.ts";
import {
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  hex32,
  lawOf,
  NOW,
  numberedKey,
  openCommand,
  presented,
  type TestKey,
} from "../kernel/fixture.ts";
import { flag, policy, stage } from "../kernel/law_specs.ts";
import { type PlayedRun, playRun } from "../runpack/run.ts";
import { signatureOf } from "./acquired.ts";

/** The keys of those that the law names. */
export const CI: TestKey = numberedKey("ci", 11);
export const ANN: TestKey = numberedKey("ann", 12);
export const BEN: TestKey = numberedKey("ben", 13);

/** A key under the id of another. */
export function calling(key: TestKey, { key_id }: TestKey): TestKey {
  return { ...key, key_id };
}

/** What differs from the honest run. */
export interface SignersPlay {
  /** Whether the law pins the keys. */
  readonly isPinned?: boolean;
  /** The keys of this gate, by the ids that the law has. */
  readonly keys?: readonly TestKey[];
  readonly procedure?: ProcedureName;
}

/** The law: tests that CI signs, and two different people who approve. */
export function signersLaw(isPinned = false): CompiledLaw {
  const signed = (keys: readonly TestKey[], combination: string, minimum?: number) =>
    policy({
      allowed_channels: ["caller_submission"],
      authorization: "signature",
      authorized_key_ids: keys.map(({ key_id }) => key_id),
      ...isPinned
        ? { authorized_public_keys: Object.fromEntries(keys.map(({ key_id, public_key }) => [key_id, public_key])) }
        : {},
      combination: { combination, ...minimum === undefined ? {} : { minimum } },
      independence: "distinct_acquisition",
    });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "signers",
    namespace_id: 2,
    conditions: [
      { ...flag("approved"), evidence_use_policy: signed([ANN, BEN], "Quorum", 2) },
      { ...flag("tests_ok"), evidence_use_policy: signed([CI], "AllQualifyingAgree") },
    ],
    stages: [{
      ...stage("release", "approved"),
      completion_requirement: { And: [{ Condition: "tests_ok" }, { Condition: "approved" }] },
    }],
    completion_requirement: { Condition: "release" },
  });
}

function item(law: CompiledLaw, state: RunState, condition: string, key: TestKey): CallerEvidence {
  const observed = { observed_at: NOW };
  const signature = signatureOf(
    { law, state, stage_id: "release" },
    presented(condition, bool(true), observed),
    { value: true, signs: [key, 0] },
  );
  if (signature === null) throw new TypeError(`Cannot sign condition "${condition}"`);
  return { ...callerItem(condition, bool(true), observed), signature };
}

/** Plays the run to its end. */
export function playSigners({ isPinned = false, keys = [CI, ANN, BEN], procedure }: SignersPlay = {}): PlayedRun {
  const law = signersLaw(isPinned);
  const [ci = CI, ann = ANN, ben = BEN] = keys;
  return playRun({
    law,
    environment: environmentWith({
      evidence_keys: keys.map(({ key_id, public_key }) => ({ key_id, public_key })),
    }),
    start: createCommand({ allocation: { authority_id: "gate.random", run_id: hex32(0x31) } }),
    moves: [
      (_law, state, operation) => openCommand(operation, state.head, "release"),
      (law, state, operation) =>
        evaluateCommand(operation, state.head, "release", {
          caller_evidence: [
            item(law, state, "tests_ok", ci),
            item(law, state, "approved", ann),
            item(law, state, "approved", ben),
          ],
        }),
    ],
    clock: (move) => 1000 * (move + 1),
    artifacts: [],
    ...procedure === undefined ? {} : { procedureAt: () => procedure },
  });
}
