import assert from "node:assert/strict";
import fc from "../../packages/fast_check.ts";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { FALSE, type Tri, TRUE, UNKNOWN } from "../../../src/law/value/truth.ts";
import type { Accepted, Command, Decision } from "../../../src/run/command.ts";
import type { CompiledLaw, CompiledStage } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import { evaluateCompletion, evaluateEvidence, type Judgement } from "../../../src/run/evaluate.ts";
import type { PresentedEvidence } from "../../../src/run/evidence.ts";
import { fold, stateIdentity } from "../../../src/run/fold.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { compileProgram, runProgram } from "../../../src/run/program.ts";
import type { RunRecord, RunState } from "../../../src/run/types.ts";
import {
  acquiredItem,
  ATTEMPT,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  NOW,
  openCommand,
  qualificationWith,
  SHA256,
  stampsAt,
  submitCommand,
} from "./fixture.ts";
import { randomLaw, randomStep, requirementOver, type Step } from "./laws.ts";

const ENVIRONMENT = environmentWith();

function acquiredBy(law: CompiledLaw, stage: CompiledStage, given: Step["acquired"]): PresentedEvidence[] {
  return stage.bindings.flatMap(({ binding_id }, index) => {
    const what = given[index] ?? "skip";
    if (what === "skip") return [];
    if (what === "error") return [acquiredItem(law, binding_id, { error: "http_status" })];
    if (what === "nothing") return [acquiredItem(law, binding_id, null)];
    const lane = what === "asserted" ? { lane: "asserted" as const } : {};
    return [acquiredItem(law, binding_id, bool(what !== "false"), lane)];
  });
}

function commandOf(law: CompiledLaw, state: RunState, step: Step, operation: number): Command {
  const stage = law.stages[step.stage % law.stages.length] as CompiledStage;
  const { stage_id } = stage.stage;
  switch (step.kind) {
    case "open":
      return openCommand(operation, state.head, stage_id);
    case "stale":
      return openCommand(operation, { ...state.head, revision: state.head.revision + 1 }, stage_id);
    case "submit":
      return submitCommand(operation, state.head);
    case "evaluate": {
      const caller_evidence = stage.completion.slots.flatMap((conditionId, index) => {
        const value = step.caller[index] ?? null;
        return value === null ? [] : [callerItem(conditionId, bool(value))];
      });
      const acquired = acquiredBy(law, stage, step.acquired);
      return evaluateCommand(operation, state.head, stage_id, { caller_evidence, acquired });
    }
  }
}

interface Play {
  readonly law: CompiledLaw;
  /** The state before each step, with its decision. */
  readonly turns: readonly {
    readonly state: RunState | null;
    readonly command: Command;
    readonly decision: Decision;
  }[];
}

function playOut(law: CompiledLaw, steps: readonly Step[]): Play {
  const first = createCommand();
  let decision: Decision = decide(law, null, first, stampsAt(NOW), ENVIRONMENT);
  const turns: Play["turns"][number][] = [{ state: null, command: first, decision }];
  let state = (decision as Accepted).state;
  steps.forEach((step, index) => {
    const command = commandOf(law, state, step, index + 2);
    decision = decide(law, state, command, stampsAt(NOW + step.clock), ENVIRONMENT);
    turns.push({ state, command, decision });
    if (decision.outcome === "accepted") state = decision.state;
  });
  return { law, turns };
}

const randomPlay: fc.Arbitrary<Play> = fc.tuple(randomLaw, fc.array(randomStep, { minLength: 1, maxLength: 30 }))
  .map(([law, steps]) => playOut(law, steps));

function recordsOf({ turns }: Play): Accepted["records"][0][] {
  return turns.flatMap(({ decision }) => decision.outcome === "accepted" ? [...decision.records] : []);
}

function lastState({ turns }: Play): RunState {
  const decisions = turns.map(({ decision }) => decision).filter(({ outcome }) => outcome === "accepted");
  return (decisions.at(-1) as Accepted).state;
}

Deno.test("the fold of the records is the state of the decisions, from objects and from canonical texts", () => {
  fc.assert(fc.property(randomPlay, (play) => {
    let live: RunState | null = null;
    let read: RunState | null = null;
    for (const { record, record_id, text } of recordsOf(play)) {
      live = fold(play.law, live, record, record_id);
      read = fold(play.law, read, JSON.parse(text) as RunRecord, record_id);
    }
    assert.ok(live !== null && read !== null);
    assert.deepEqual(live, lastState(play));
    assert.equal(stateIdentity(SHA256, read), stateIdentity(SHA256, lastState(play)));
  }));
});

Deno.test("random plays reach the rules: stages open, complete and unblock, runs complete", () => {
  const seen = new Set<string>();
  for (const { turns } of fc.sample(randomPlay, { numRuns: 200, seed: 1 })) {
    for (const { decision } of turns) {
      if (decision.outcome !== "accepted") {
        seen.add(decision.outcome);
        continue;
      }
      const { record } = decision.records[0];
      seen.add(record.record_kind);
      seen.add(decision.state.status);
      decision.state.stages.forEach(({ classification }) => seen.add(classification));
      if (record.record_kind !== "stage_evaluated") continue;
      seen.add(`attempt ${record.body.outcome}`);
      record.body.trace.forEach(({ reason }) => reason === undefined || seen.add(reason));
      record.body.evidence.forEach(({ reason }) => reason === undefined || seen.add(reason));
    }
  }
  const expected = ["run_created", "stage_opened", "stage_evaluated", "artifact_submitted", "active", "complete"]
    .concat(
      ["blocked", "ready_unopened", "open_incomplete", "attempt true", "attempt false", "attempt unknown"],
      ["no_evidence", "disagreement", "unqualified", "error", "lane", "not_fresh", "not_independent", "assurance"],
      ["stale", "stage_not_ready", "stage_already_opened", "stage_not_open"],
    );
  assert.deepEqual(expected.filter((one) => !seen.has(one)), []);
});

Deno.test("records form a chain: revisions count from 1, each names the previous one by the hash of its text", () => {
  fc.assert(fc.property(randomPlay, (play) => {
    let previous: string | null = null;
    let instant = 0;
    recordsOf(play).forEach(({ record, record_id, text }, index) => {
      assert.equal(record.revision, index + 1);
      assert.equal(record.previous_record_id, previous);
      assert.equal(canonicalize(asJson(record)), text);
      assert.equal(record_id, SHA256(`gate:run-record:v1\0${text}`));
      assert.ok(record.acceptance_time.accepted_audit_instant >= instant);
      instant = record.acceptance_time.accepted_audit_instant;
      previous = record_id;
    });
  }));
});

Deno.test("no sequence of calls makes a complete stage incomplete, closes an open one or blocks a ready one", () => {
  const rank = { blocked: 0, ready_unopened: 1, open_incomplete: 2, complete: 3 };
  fc.assert(fc.property(randomPlay, ({ turns }) => {
    for (const { state, decision } of turns) {
      if (state === null || decision.outcome !== "accepted") continue;
      assert.ok(state.status === "active" || decision.state.status === "complete");
      state.stages.forEach((stage, index) => {
        const after = decision.state.stages[index];
        assert.ok(after !== undefined && rank[after.classification] >= rank[stage.classification]);
        if (stage.classification === "complete") assert.deepEqual(after, stage);
        if (stage.stage_open_record_id !== null) assert.equal(after.stage_open_record_id, stage.stage_open_record_id);
      });
    }
  }));
});

Deno.test("a complete run accepts submissions only", () => {
  fc.assert(fc.property(randomPlay, ({ turns }) => {
    for (const { state, command, decision } of turns) {
      if (state?.status === "complete") assert.equal(decision.outcome === "accepted", command.kind === "submit");
    }
  }));
});

Deno.test("decide() is deterministic: the same inputs give the same bytes", () => {
  fc.assert(fc.property(randomPlay, ({ law, turns }) => {
    for (const { state, command, decision } of turns) {
      const { time } = decision.outcome === "accepted"
        ? { time: decision.records[0].record.body.time_source }
        : stampsAt(NOW);
      const again = decide(law, state, structuredClone(command), { time }, environmentWith());
      if (decision.outcome !== "accepted") {
        assert.deepEqual(again, decision);
        continue;
      }
      assert.ok(again.outcome === "accepted");
      assert.equal(again.records[0].text, decision.records[0].text);
      assert.equal(canonicalize(again.result), canonicalize(decision.result));
    }
  }));
});

Deno.test("decide() does not depend on the order in which acquired items arrive", () => {
  fc.assert(fc.property(randomPlay, fc.nat(), ({ law, turns }, seed) => {
    for (const { state, command, decision } of turns) {
      if (command.kind !== "evaluate" || decision.outcome !== "accepted") continue;
      const shift = seed % (command.acquired.length + 1);
      const acquired = [...command.acquired.slice(shift), ...command.acquired.slice(0, shift)].reverse();
      const { time_source: time } = decision.records[0].record.body;
      const again = decide(law, state, { ...command, acquired }, { time }, ENVIRONMENT);
      assert.ok(again.outcome === "accepted");
      assert.equal(again.records[0].text, decision.records[0].text);
    }
  }));
});

Deno.test("nothing passes by absence: without evidence no condition and no stage is true or false", () => {
  fc.assert(fc.property(randomLaw, (law) => {
    for (const stage of law.stages) {
      const { outcome, trace } = evaluateEvidence(stage, [], qualificationWith(law));
      assert.equal(outcome, "unknown");
      for (const line of trace) assert.deepEqual([line.value, line.reason], ["unknown", "no_evidence"]);
    }
  }));
});

const tri = fc.constantFrom<Tri>(FALSE, UNKNOWN, TRUE);

Deno.test("replacing any leaf by Unknown never decides a requirement, and deciding a leaf never changes a decided one", () => {
  const names = ["a", "b", "c", "d"];
  const requirement = requirementOver(names, true);
  fc.assert(
    fc.property(requirement, fc.array(tri, { minLength: 4, maxLength: 4 }), fc.nat(3), (tree, values, at) => {
      const program = compileProgram(tree);
      const all = Uint8Array.from(program.slots, (name) => values[names.indexOf(name)] ?? UNKNOWN);
      const less = all.slice();
      less[at % less.length] = UNKNOWN;
      const settled = runProgram(program, all);
      const weaker = runProgram(program, less);
      // In the order of information Unknown is below both others: less input never has more output.
      assert.ok(weaker === UNKNOWN || weaker === settled);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("replacing any condition's judgement by Unknown never makes an Unknown stage true or false", () => {
  fc.assert(fc.property(randomLaw, fc.array(tri, { minLength: 6, maxLength: 6 }), fc.nat(5), (law, values, at) => {
    for (const stage of law.stages) {
      const judgements = stage.conditions.map((_, slot): Judgement => ({ value: values[slot] ?? UNKNOWN }));
      const less = judgements.with(at % judgements.length, { value: UNKNOWN });
      const settled = evaluateCompletion(stage, judgements).outcome;
      const weaker = evaluateCompletion(stage, less).outcome;
      assert.ok(weaker === UNKNOWN || weaker === settled);
    }
  }));
});

Deno.test("removing an item never turns a condition of agreeing items from true to false or back", () => {
  fc.assert(fc.property(randomLaw, randomStep, fc.nat(), (law, step, at) => {
    for (const stage of law.stages) {
      const items = acquiredBy(law, stage, step.acquired);
      if (items.length === 0) continue;
      const environment = qualificationWith(law, {}, ATTEMPT);
      const all = evaluateEvidence(stage, items, environment).trace;
      const fewer = evaluateEvidence(stage, items.toSpliced(at % items.length, 1), environment).trace;
      all.forEach((line, index) => {
        const { combination } = law.conditionIndex.get(line.condition_id)?.condition.evidence_use_policy ?? {};
        if (combination?.combination !== "AllQualifyingAgree") return;
        const opposite = line.value === "true" ? "false" : line.value === "false" ? "true" : "";
        assert.notEqual(fewer[index]?.value, opposite);
      });
    }
  }));
});
