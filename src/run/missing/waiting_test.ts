import assert from "node:assert/strict";
import { accepted, int, KEY_1, KEY_2, NOW, SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import {
  openRun,
  PEOPLE,
  signedPayload,
  type StatementChanges,
  submit,
  trustingPeople,
  waitingLaw,
} from "../../../tests/simulation/waiting_fixture.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { hashValue } from "../evidence.ts";
import { openForEvidence, waitingConditions } from "./waiting.ts";

const VALUES = new Map([int(1), int(8), int(9)].map((value) => [hashValue(SHA256, value).identity, value]));

Deno.test("waitingConditions() counts statements as an evaluation would now, and names the other keys", () => {
  const two = { combination: { combination: "Quorum", minimum: 2 } };
  const agree = { combination: { combination: "AllQualifyingAgree" } };
  type Row = readonly [
    policy: Readonly<Record<string, JsonValue>>,
    statements: readonly (readonly [typeof KEY_1, StatementChanges])[],
    now: number,
    environment: typeof PEOPLE,
    shown: string,
  ];
  const rows: readonly Row[] = [
    [{}, [], NOW, PEOPLE, "0 of 1: ci-1 ci-2"],
    [{ authorized_key_ids: ["ci-2"] }, [], NOW, PEOPLE, "0 of 1: ci-2"],
    [{}, [[KEY_1, {}]], NOW, PEOPLE, ""],
    [two, [[KEY_1, {}]], NOW, PEOPLE, "1 of 2, ci-1 signed: ci-2"],
    [agree, [[KEY_1, {}], [KEY_2, { value: int(9) }]], NOW, PEOPLE, "1 of 1, disagree, ci-1 signed: ci-2"],
    [agree, [[KEY_1, { value: int(9) }], [KEY_2, {}]], NOW, PEOPLE, "1 of 1, disagree, ci-2 signed: ci-1"],
    [agree, [[KEY_1, { value: int(9) }], [KEY_2, { value: int(8) }]], NOW, PEOPLE, "0 of 1, disagree: ci-1 ci-2"],
    [agree, [[KEY_1, {}], [KEY_2, { value: int(9) }], [KEY_2, { value: null, observed_at: NOW + 1 }]], NOW, PEOPLE, ""],
    [agree, [[KEY_1, {}], [KEY_2, {}]], NOW, PEOPLE, ""],
    [agree, [[KEY_1, {}], [KEY_2, { value: int(9) }]], NOW, trustingPeople(KEY_1), ""],
    [{}, [[KEY_1, {}], [KEY_2, { value: int(9) }]], NOW, PEOPLE, ""],
    [two, [[KEY_1, {}], [KEY_2, { value: int(9) }]], NOW, PEOPLE, "1 of 2, ci-1 signed: "],
    [two, [[KEY_1, { value: int(9) }]], NOW, PEOPLE, "0 of 2: ci-2"],
    [two, [[KEY_1, { valid_until: NOW + 5 }]], NOW + 5, PEOPLE, "1 of 2, ci-1 signed: ci-2"],
    [two, [[KEY_1, { valid_until: NOW + 5 }]], NOW + 6, PEOPLE, "0 of 2: ci-1 ci-2"],
    [two, [[KEY_1, {}]], NOW, trustingPeople(KEY_2), "0 of 2: ci-2"],
  ];
  for (const [policy, statements, now, environment, shown] of rows) {
    const law = waitingLaw(policy);
    let state = openRun(law);
    for (const [key, changes] of statements) {
      state = accepted(submit(law, state, signedPayload(law, state, key, changes))).state;
    }
    const [stage] = openForEvidence(law, state);
    assert.ok(stage !== undefined);
    const found = waitingConditions(law, stage, state, VALUES, environment, now)
      .map(({ have, needed, signed = [], keys, disagree }) =>
        [`${have} of ${needed}`, ...disagree ? ["disagree"] : [], ...signed.map((key) => `${key} signed`)].join(", ") +
        `: ${keys.map(({ key_id }) => key_id).join(" ")}`
      );
    assert.equal(found.join("; "), shown, JSON.stringify([policy, statements, now]));
  }
});

Deno.test("openForEvidence() has only open stages whose law takes submissions", () => {
  const stagesOf = (law: ReturnType<typeof waitingLaw>): readonly string[] =>
    openForEvidence(law, openRun(law)).map(({ stage }) => stage.stage_id);
  assert.deepEqual(stagesOf(waitingLaw()), ["s"]);
  assert.deepEqual(stagesOf(waitingLaw({ allowed_channels: ["caller_submission"] })), []);
});
