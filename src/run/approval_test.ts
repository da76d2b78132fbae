import assert from "node:assert/strict";
import { readJson } from "../canonical/scan.ts";
import type { JsonObject } from "../canonical/json.ts";
import { accepted, KEY_1, NOW, SHA256, stampsAt, submitCommand } from "../../tests/simulation/kernel/fixture.ts";
import { openRun, PEOPLE, waitingLaw } from "../../tests/simulation/waiting_fixture.ts";
import { expectedBoolean, lastStatementAt, prepareApproval, questionsOf } from "./approval.ts";
import type { SubmitCommand } from "./command.ts";
import { decide } from "./decide/decide.ts";

const LAW = waitingLaw();

Deno.test("prepareApproval() makes a submission that the kernel accepts, and a statement that names what was shown", () => {
  const state = openRun(LAW);
  const [question, ...others] = questionsOf(LAW, state);
  assert.ok(question !== undefined && others.length === 0);
  assert.equal(lastStatementAt(question, KEY_1.public_key), 0);
  const value = { value: 1, value_type: question.condition.observation_domain.domain } as const;
  const { statement, submission } = prepareApproval(SHA256, question, { value, comment: "Fine", observed_at: NOW });
  const named = readJson(statement) as JsonObject;
  assert.equal(named["scenario_law_identity"], LAW.scenario_law_identity);
  assert.equal(named["stage_open_record_id"], question.stage_open_record_id);
  assert.deepEqual(named["seen_head"], { ...state.head });
  const { content_type, payload, scope } = submission(KEY_1.key_id, KEY_1.sign(statement)) as unknown as SubmitCommand;
  const command = submitCommand(3, state.head, { content_type, payload, scope });
  const after = accepted(decide(LAW, state, command, stampsAt(), PEOPLE)).state;
  const [again] = questionsOf(LAW, after);
  assert.ok(again !== undefined);
  assert.equal(lastStatementAt(again, KEY_1.public_key), NOW);
});

Deno.test("questionsOf() asks nothing of a stage that is not open, and of conditions without the channel", () => {
  assert.deepEqual(questionsOf(waitingLaw({ allowed_channels: ["caller_submission"] }), openRun(LAW)), []);
});

Deno.test("expectedBoolean() is the one boolean that a condition expects", () => {
  const [question] = questionsOf(LAW, openRun(LAW));
  assert.ok(question !== undefined);
  const expecting = (predicate: object, domain = "Boolean"): boolean | null =>
    expectedBoolean({ ...question.condition, observation_domain: { domain }, predicate } as typeof question.condition);
  const rows: readonly (readonly [object, string, boolean | null])[] = [
    [{ predicate: "Equals", expected: { value: true, value_type: "Boolean" } }, "Boolean", true],
    [{ predicate: "Equals", expected: { value: false, value_type: "Boolean" } }, "Boolean", false],
    [{ predicate: "Equals", expected: { parameter: "p" } }, "Boolean", null],
    [{ predicate: "NotEquals", expected: { value: true, value_type: "Boolean" } }, "Boolean", null],
    [{ predicate: "Equals", expected: { value: "true", value_type: "String" } }, "String", null],
  ];
  for (const [predicate, domain, expected] of rows) assert.equal(expecting(predicate, domain), expected);
});
