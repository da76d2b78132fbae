/**
 * A run in which two people approve, refuse, withdraw and change their mind.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { Environment } from "../../../src/run/command.ts";
import { hashValue } from "../../../src/run/evidence.ts";
import {
  callerItem,
  createCommand,
  evaluateCommand,
  int,
  KEY_1,
  KEY_2,
  NOW,
  openCommand,
  presented,
  SHA256,
  type TestKey,
} from "../kernel/fixture.ts";
import { signatureOf } from "../pack_vectors/acquired.ts";
import { type PlayedRun, playRun, type RunMove } from "../runpack/run.ts";
import {
  evidenceCommand,
  PEOPLE,
  signedPayload,
  type StatementChanges,
  trustingPeople,
  waitingLaw,
} from "../waiting_fixture.ts";

/** The law of the run: two of two people have to approve. */
export const WAITING_LAW = waitingLaw({ combination: { combination: "Quorum", minimum: 2 } });
const [HOLDS, FAILS] = [int(1), int(9)];
const VALUES: ReadonlyMap<string, TypedValue> = new Map(
  [HOLDS, FAILS].map((value) => [hashValue(SHA256, value).identity, value]),
);

const says = (key: TestKey, changes: StatementChanges): RunMove => (law, state, operation) =>
  evidenceCommand(operation, state, signedPayload(law, state, key, { observed_at: NOW + operation, ...changes }));

const evaluateWith = (submitted_values: typeof VALUES): RunMove => (_law, state, operation) =>
  evaluateCommand(operation, state.head, "s", { submitted_values });
const evaluate = evaluateWith(VALUES);

const UNTIL_REFUSED: readonly RunMove[] = [
  (_law, state, operation) => openCommand(operation, state.head, "s"),
  says(KEY_1, { value: HOLDS }),
  says(KEY_1, { value: null, comment: "Too early" }),
  evaluate,
  says(KEY_1, { value: HOLDS, comment: "Now it is fine" }),
  says(KEY_2, { value: FAILS }),
];

function play(moves: readonly RunMove[], law = WAITING_LAW, environment: Environment = PEOPLE): PlayedRun {
  const schema_identity = identify(SHA256, "schema", {});
  return playRun({
    law,
    environment,
    start: createCommand({ schemas: [{ schema_id: "release", version: "1", schema_identity }] }),
    moves,
    clock: (move) => 10 * (move + 1),
    artifacts: [{ kind: "schema", identity: schema_identity, body: "{}" }],
  });
}

/** Plays the run: its revisions are the creation, the opening, and one for each move after them. */
export function playWaiting(): PlayedRun {
  return play([
    ...UNTIL_REFUSED,
    evaluate,
    says(KEY_2, { value: HOLDS, valid_until: NOW + 60_000 }),
    evaluate,
  ]);
}

/** The law of {@link playKeys}: one of any keys has to approve. */
export const KEYS_LAW = waitingLaw();

/**
 * Plays a run in which each key approves once, the last one twice, before the only evaluation.
 *
 * @param strangers Trusted keys that do not approve
 */
export function playKeys(keys: readonly TestKey[], strangers: readonly TestKey[] = []): PlayedRun {
  const approvals = [...keys, ...keys.slice(-1)].map((key) => says(key, { value: HOLDS }));
  const open: RunMove = (_law, state, operation) => openCommand(operation, state.head, "s");
  return play([open, ...approvals, evaluate], KEYS_LAW, trustingPeople(...keys, ...strangers));
}

/** The run of a kernel that was given, under the identity of the refusal, a value that approves. */
export function playSwappedValue(): PlayedRun {
  return play([...UNTIL_REFUSED, evaluateWith(new Map([...VALUES.keys()].map((identity) => [identity, HOLDS])))]);
}

/** The revision of the last submission; the last evaluation follows it. */
export const LAST_SUBMISSION = 9;

/** The moves of a run under a policy: what the call adds of its own, and when the evaluation is. */
interface PolicyRun {
  readonly policy: Readonly<Record<string, JsonValue>>;
  /** The value of a signed item of the call; null for no item. */
  readonly called: number | null;
  /** The reading of the evaluation, milliseconds after the first record. */
  readonly evaluated: number;
}

/** Runs of one evaluation under policies that judge evidence that waited differently, at times around its end. */
export function* policyRuns(): Generator<readonly [name: string, run: PlayedRun]> {
  const ages: readonly JsonValue[] = [{ freshness: "NotRequired" }, {
    freshness: "MaximumAge",
    maximum_age_millis: 500,
  }];
  for (const independence of ["not_required", "distinct_acquisition", "distinct_provider"]) {
    for (const freshness of ages) {
      for (const combination of ["AnyQualifying", "AllQualifyingAgree"]) {
        for (const called of [null, 1, 2]) {
          for (const evaluated of [-70_000, 100, 600, 1001]) {
            const policy = { independence, freshness, combination: { combination } };
            yield [
              canonicalize({ ...policy, called, evaluated }),
              playPolicy({ policy, called, evaluated }),
            ];
          }
        }
      }
    }
  }
}

function playPolicy({ policy, called, evaluated }: PolicyRun): PlayedRun {
  const law = waitingLaw(policy);
  const schema_identity = identify(SHA256, "schema", {});
  const moves: readonly RunMove[] = [
    (_law, state, operation) => openCommand(operation, state.head, "s"),
    says(KEY_1, { value: HOLDS, valid_until: NOW + 1000 }),
    (_law, state, operation) => {
      const observed_at = NOW + 1;
      const scene = { law, state, stage_id: "s" };
      const value = int(called ?? 0);
      const signature = signatureOf(scene, presented("c", value, { observed_at }), {
        value: value.value,
        observed_at,
        signs: [KEY_1, 3],
      });
      const item = callerItem("c", value, { observed_at, ...signature === null ? {} : { signature } });
      return evaluateCommand(operation, state.head, "s", {
        submitted_values: VALUES,
        caller_evidence: called === null ? [] : [item],
      });
    },
  ];
  return playRun({
    law,
    environment: PEOPLE,
    start: createCommand({ schemas: [{ schema_id: "release", version: "1", schema_identity }] }),
    moves,
    clock: (move) => move === 2 ? evaluated : move,
    artifacts: [{ kind: "schema", identity: schema_identity, body: "{}" }],
  });
}
