import assert from "node:assert/strict";
import { readJson } from "../canonical/scan.ts";
import type { JsonObject } from "../canonical/json.ts";
import { expectedOf, isTypedValue, type TypedValue } from "../law/value/types.ts";
import { accepted, KEY_1, NOW, SHA256, stampsAt, submitCommand } from "../../tests/simulation/kernel/fixture.ts";
import { openRun, PEOPLE, waitingLaw } from "../../tests/simulation/waiting_fixture.ts";
import { knownValues, lastStatementAt, prepareApproval, questionsOf, recordedCauses } from "./approval.ts";
import { expectedBoolean } from "./missing/causes.ts";
import type { SubmitCommand } from "./command.ts";
import { decide } from "./decide/decide.ts";
import { hashValue } from "./evidence.ts";
import type { EvidenceItem, TraceItem } from "./types.ts";

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

Deno.test("recordedCauses() counts and shows the values that a reader of the law knows by their hash", () => {
  const condition_id = LAW.stages[0]?.conditions[0]?.condition.condition_id ?? "";
  const stage_id = LAW.stages[0]?.stage.stage_id ?? "";
  const { predicate } = LAW.stages[0]?.conditions[0]?.condition ?? assert.fail();
  const [known] = expectedOf(predicate).filter(isTypedValue);
  const item = (value: TypedValue | undefined, qualified: boolean): EvidenceItem => ({
    item_id: "i",
    condition_id,
    channel: "accepted_submission",
    qualified,
    ...qualified ? {} : { reason: "not_fresh" },
    ...value === undefined ? {} : { value_identity: hashValue(SHA256, value).identity },
  });
  const other = { value: 77, value_type: "Integer" } as const;
  const counts = (fails: number): object => ({ holds: 0, fails, needed: 1 });
  const hash = "a value of which the record has the hash";
  // The judgement, the items, and what is said of them.
  const rows: readonly (readonly [Pick<TraceItem, "value" | "reason">, readonly EvidenceItem[], object[]])[] = [
    [{ value: "true" }, [item(known, true)], [{ value: "true", counts: counts(1), found: [String(known?.value)] }]],
    [
      { value: "true" },
      [item(known, false)],
      [{ value: "true", cause: ["not_fresh"], counts: counts(0), found: [hash] }],
    ],
    [{ value: "false" }, [item(known, true)], [{ value: "false", counts: counts(1), found: [String(known?.value)] }]],
    [{ value: "false" }, [item(other, true)], [{ value: "false", found: [hash] }]],
    [{ value: "unknown", reason: "no_evidence" }, [], [{ value: "unknown", reason: "no_evidence", counts: counts(0) }]],
    [
      { value: "unknown", reason: "unqualified" },
      [item(other, false)],
      [{ value: "unknown", reason: "unqualified", cause: ["not_fresh"], counts: counts(0) }],
    ],
  ];
  for (const [judged, evidence, expected] of rows) {
    const trace = [{ path: "$", condition_id, ...judged }];
    const attempt = { attempt_number: 1, record_id: "", stage_id, outcome: "unknown", completed: false } as const;
    const found = recordedCauses(LAW, knownValues(SHA256, LAW), { ...attempt, trace, evidence });
    assert.deepEqual(found, expected.map((one) => ({ condition_id, ...one })));
  }
});
