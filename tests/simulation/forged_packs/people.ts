/**
 * A run in which people decide over days: two stages wait at once, one person signs with two keys of which the older one is
 * retired, and answers are JSON. The run has a parameter.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import type { ParameterValue } from "../../../src/law/types.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import type { Accepted, Command, Environment } from "../../../src/run/command.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import { hashValue } from "../../../src/run/evidence.ts";
import { bindLaw } from "../../../src/run/parameters.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { RunState } from "../../../src/run/types.ts";
import {
  accepted,
  createCommand,
  evaluateCommand,
  hex32,
  int,
  KEY_1,
  KEY_2,
  lawOf,
  NOW,
  numberedKey,
  openCommand,
  openRecordOf,
  SHA256,
  stampsAt,
  type TestKey,
} from "../kernel/fixture.ts";
import { policy } from "../kernel/law_specs.ts";
import { type PlayedRun, stored } from "../runpack/run.ts";
import { evidenceCommand, signedPayload, type StatementChanges, trustingPeople, WAITS } from "../waiting_fixture.ts";

/** Alice has two keys, one after the other; Bob has one. */
export const ALICE: TestKey = { ...KEY_1, key_id: "alice" };
export const ALICE_2: TestKey = numberedKey("alice-2", 0xa1);
export const BOB: TestKey = { ...KEY_2, key_id: "bob" };

/** The operator profiles: the first key, both keys beside each other, and the older key retired. */
export const PROFILES: readonly Environment[] = [
  trustingPeople(ALICE, BOB),
  trustingPeople(ALICE, ALICE_2, BOB),
  trustingPeople(ALICE_2, BOB),
];

/** The values of the parameters. */
export const PEOPLE_PARAMETERS: readonly ParameterValue[] = [
  { parameter_id: "version", value: { value: "v1", value_type: "String" } },
];

/** Most bytes of a review, which is JSON. */
export const REVIEW_BYTES = 40;

/** The law: two of the keys agree on `c` in each stage, and the first stage wants a review too. */
export function peopleLaw(): CompiledLaw {
  const waiting = policy({ ...WAITS, allowed_channels: ["accepted_submission"] });
  const stage = (stage_id: string, ...conditions: readonly string[]): JsonValue => ({
    stage_id,
    prerequisite: { kind: "root" },
    completion_requirement: conditions.length === 1
      ? { Condition: conditions[0] ?? "" }
      : { And: conditions.map((Condition) => ({ Condition })) },
  });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "people",
    namespace_id: 2,
    parameters: [{ parameter_id: "version", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 8 } }],
    conditions: [
      {
        condition_id: "c",
        observation_domain: { domain: "Integer" },
        predicate: { predicate: "LessThan", expected: int(5) },
        evidence_use_policy: { ...waiting, combination: { combination: "Quorum", minimum: 2 } },
      },
      {
        condition_id: "review",
        observation_domain: { domain: "Json", maximum_bytes: REVIEW_BYTES },
        predicate: { predicate: "NotEquals", expected: { value: { risks: 1 }, value_type: "Json" } },
        evidence_use_policy: waiting,
      },
    ],
    stages: [stage("s", "c", "review"), stage("t", "c")],
    completion_requirement: { And: [{ Condition: "s" }, { Condition: "t" }] },
  });
}

/** What differs from the run of the base pack. */
export interface PeoplePlay {
  /** The last statement: Bob's review. */
  readonly last?: StatementChanges;
  /** How long after the end of Bob's approval the last evaluation is, in milliseconds. */
  readonly late?: number;
}

/** The revision of the last submission; the last evaluation follows it. */
export const LAST_REVIEW = 16;

/** The end of Bob's approval in the first stage: the reading of the last evaluation. */
const VALID_UNTIL = NOW + 10 * LAST_REVIEW;

/** The review of the base pack. */
export const REVIEW: TypedValue = { value: { risks: [], ok: true, score: 0.5 }, value_type: "Json" };

const [HOLDS, FAILS] = [int(1), int(9)];

/** One move under one of the {@link PROFILES}. */
type Move = readonly [profile: number, command: (law: CompiledLaw, state: RunState, operation: number) => Command];

function says(profile: number, key: TestKey, stage_id: string, changes: StatementChanges): Move {
  return [profile, (law, state, operation) => {
    const stage_open_record_id = openRecordOf(state, stage_id) ?? "";
    const observed_at = NOW + 10 * state.head.revision;
    const payload = signedPayload(law, state, key, { stage_id, stage_open_record_id, observed_at, ...changes });
    const scope = { kind: "stage_open", stage_id, stage_open_record_id } as const;
    return evidenceCommand(operation, state, payload, { scope });
  }];
}

function moves(last: StatementChanges): readonly Move[] {
  const review = { condition_id: "review", value: REVIEW, ...last };
  const held = [HOLDS, FAILS, review.value ?? REVIEW].map((value) =>
    [hashValue(SHA256, value).identity, value] as const
  );
  const submitted_values = new Map(held);
  const open = (stage: string): Move => [0, (_law, state, operation) => openCommand(operation, state.head, stage)];
  const evaluate = (profile: number, stage: string): Move => [
    profile,
    (_law, state, operation) => evaluateCommand(operation, state.head, stage, { submitted_values }),
  ];
  return [
    open("s"),
    open("t"),
    says(0, ALICE, "s", { value: HOLDS }),
    says(0, ALICE, "t", { value: FAILS, comment: "Not on a Friday" }),
    evaluate(0, "t"),
    says(0, ALICE, "t", { value: HOLDS, comment: "It is Monday" }),
    says(1, ALICE_2, "s", { value: HOLDS }),
    evaluate(1, "s"),
    evaluate(2, "s"),
    says(2, BOB, "s", { value: HOLDS, valid_until: VALID_UNTIL }),
    says(2, ALICE_2, "t", { value: FAILS }),
    says(2, ALICE_2, "t", { value: null, comment: "I meant the first stage" }),
    says(2, BOB, "t", { value: HOLDS }),
    evaluate(2, "t"),
    says(2, BOB, "s", review),
    evaluate(2, "s"),
  ];
}

/** Plays the run: its revisions are the creation, and one for each move. */
export function playPeople({ last = {}, late = 0 }: PeoplePlay = {}): PlayedRun {
  const law = peopleLaw();
  const bound = bindLaw(law, PEOPLE_PARAMETERS);
  const records: PlayedRun["records"][number][] = [];
  const take = (under: CompiledLaw, state: RunState | null, profile: number, command: Command): Accepted => {
    const isLast = records.length === LAST_REVIEW;
    const stamps = stampsAt(NOW + 10 * records.length + (isLast ? late : 0));
    const decided = accepted(decide(under, state, command, stamps, PROFILES[profile] ?? trustingPeople()));
    records.push(stored(decided));
    return decided;
  };
  let { state } = take(
    law,
    null,
    0,
    createCommand({
      allocation: { authority_id: "gate.random", run_id: hex32(0x31) },
      genesis: { kind: "parameters", parameters: PEOPLE_PARAMETERS },
    }),
  );
  for (const [profile, command] of moves(last)) {
    ({ state } = take(bound, state, profile, command(bound, state, records.length + 1)));
  }
  const { scenario_law_identity, graph_identity } = law;
  const { scenario_id, namespace_id } = law.law;
  return {
    law: { namespace_id, scenario_id, scenario_law_identity, graph_identity, law: canonicalize(lawAsJson(law.law)) },
    records,
    artifacts: PROFILES.map(({ profile, profile_identity }) => ({
      kind: "operator-profile",
      identity: profile_identity,
      body: canonicalize(asJson(profile)),
    })),
    state,
  };
}
