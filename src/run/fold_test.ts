import assert from "node:assert/strict";
import { hex32, NOW, SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import {
  complete,
  evaluate,
  LAW,
  type Move,
  open,
  play,
  releaseLaw,
  submit,
} from "../../tests/simulation/kernel/release.ts";
import type { Accepted } from "./command.ts";
import { fold, FoldError, RECENT_ATTEMPTS, stateIdentity } from "./fold.ts";
import type { RunRecord, RunState } from "./types.ts";

const PLAYED = play(
  LAW,
  ...complete("build", "built"),
  submit(),
  open("scan"),
  evaluate("scan", "scanned", false),
  evaluate("scan", "scanned", true),
);

function foldAll(decisions: readonly Accepted[]): RunState | null {
  let state: RunState | null = null;
  for (const { records: [{ record, record_id }] } of decisions) state = fold(LAW, state, record, record_id);
  return state;
}

Deno.test("fold() of the records is the state after the decisions, at every revision", () => {
  PLAYED.forEach((decision, index) => assert.deepEqual(foldAll(PLAYED.slice(0, index + 1)), decision.state));
});

Deno.test("fold() counts submissions, attempts and intents, and keeps the status of each stage", () => {
  const state = foldAll(PLAYED);
  assert.ok(state !== null);
  assert.deepEqual([state.submission_count, state.attempt_count, state.committed_intent_count], [1, 3, 0]);
  assert.deepEqual(state.stages.map((stage) => [stage.stage_id, stage.classification, stage.attempt_count]), [
    ["build", "complete", 1],
    ["scan", "complete", 2],
    ["ship", "ready_unopened", 0],
    ["spare", "ready_unopened", 0],
  ]);
  assert.equal(state.stages[1]?.completion_record_id, state.head.record_id);
});

Deno.test("fold() keeps the last 20 attempts: 19, 20, 21", () => {
  assert.equal(RECENT_ATTEMPTS, 20);
  for (const [count, first] of [[19, 1], [20, 1], [21, 2]] as const) {
    const moves = Array.from({ length: count }, (): Move => evaluate("build", "built", false));
    const state = (play(LAW, open("build"), ...moves).at(-1) as Accepted).state;
    assert.equal(state.attempt_count, count);
    assert.equal(state.recent_attempts.length, Math.min(count, 20));
    assert.equal(state.recent_attempts[0]?.attempt_number, first);
    assert.equal(state.recent_attempts.at(-1)?.attempt_number, count);
  }
});

/** The record at a revision, with changes to it and to its body. */
function forged(revision: number, changes: object, body: object = {}): RunRecord {
  const record = (PLAYED[revision - 1] as Accepted).records[0].record;
  return { ...record, ...changes, body: { ...record.body, ...body } } as RunRecord;
}

Deno.test("fold() rejects every record that does not follow", () => {
  const rows: readonly [string, number, RunRecord][] = [
    ["a later revision", 1, forged(2, { revision: 3 })],
    ["another record before it", 1, forged(2, { previous_record_id: SHA256("other") })],
    ["another run", 1, forged(2, { run_key: { namespace_id: 1, run_id: hex32(7) } })],
    ["another namespace", 1, forged(2, { run_key: { namespace_id: 2, run_id: hex32(0xabc) } })],
    ["an earlier acceptance", 1, forged(2, { acceptance_time: { accepted_audit_instant: NOW - 1 } })],
    ["a second creation", 1, forged(2, { record_kind: "run_created" })],
    ["a stage that the law lacks", 1, forged(2, {}, { stage_id: "nowhere" })],
    ["an opening of a blocked stage", 1, forged(2, {}, { stage_id: "ship" })],
    ["an evaluation of an unopened stage", 2, forged(3, {}, { stage_id: "scan" })],
    ["an outcome that did not complete", 2, forged(3, {}, { completed: false })],
    ["a false completion", 5, forged(6, {}, { completed: true })],
    ["another status of the run", 2, forged(3, {}, { run_status: "complete" })],
    ["another attempt number", 2, forged(3, {}, { attempt_number: 2 })],
  ];
  for (const [name, revision, record] of rows) {
    const { state } = PLAYED[revision - 1] as Accepted;
    assert.throws(() => fold(LAW, state, record, SHA256(name)), FoldError, name);
  }
});

Deno.test("fold() accepts only a creation under this law as the first record", () => {
  const rows: readonly [string, RunRecord][] = [
    ["another record first", (PLAYED[1] as Accepted).records[0].record],
    ["a creation at revision 2", forged(1, { revision: 2 })],
    ["a creation after something", forged(1, { previous_record_id: SHA256("a") })],
    ["a creation under another law", forged(1, {}, { scenario_law_identity: SHA256("law") })],
  ];
  for (const [name, record] of rows) assert.throws(() => fold(LAW, null, record, SHA256(name)), FoldError, name);
  const other = releaseLaw({ kind: "logical", value: 1000 });
  const [{ record, record_id }] = (PLAYED[0] as Accepted).records;
  assert.throws(() => fold(other, null, record, record_id), FoldError);
});

Deno.test("stateIdentity() differs from state to state", () => {
  const identities = PLAYED.map(({ state }) => stateIdentity(SHA256, state));
  assert.equal(new Set(identities).size, PLAYED.length);
});
