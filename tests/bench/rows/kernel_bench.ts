/**
 * Row 7: one evaluation of a stage, from typed values in hand to outcome and whole trace, against rule engines and expression
 * languages on npm. All sides get the same facts and the same logic, and have to say the same.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JsonValue } from "../../../src/canonical/json.ts";
import type { CompiledStage } from "../../../src/run/compile.ts";
import { evaluateEvidence } from "../../../src/run/evaluate.ts";
import { presentCallerEvidence } from "../../../src/run/evidence.ts";
import type { ValueType } from "../../../src/law/value/types.ts";
import { callerItem, lawOf, profileWith, qualificationWith, SHA256 } from "../../simulation/kernel/fixture.ts";
import { policy } from "../../simulation/kernel/law_specs.ts";
import { Engine, jsonLogic, parseCel, preparsePolicySet, statefulIsAuthorized } from "../peers.ts";
import { type BenchRow, compare, median } from "../harness.ts";

/** How long one round of one side takes, about. */
const ROUND_MILLIS = 150;

/** A condition in words that every side has. */
interface Condition {
  readonly name: string;
  readonly type: ValueType;
  readonly comparison: ">=" | "==" | "<";
  readonly expected: number | boolean | string;
  readonly passes: number | boolean | string;
  readonly fails: number | boolean | string;
}

type Facts = Readonly<Record<string, number | boolean | string>>;

/** One way to evaluate all fact sets in turns; `judge` is for the comparison of results, `run` does the given number of evaluations. */
interface Side {
  readonly name: string;
  readonly judge: (index: number) => boolean | Promise<boolean>;
  readonly run: (count: number) => number | Promise<number>;
}

function conditionsOf(count: number): Condition[] {
  const kinds: readonly Omit<Condition, "name">[] = [
    { type: "Integer", comparison: ">=", expected: 80, passes: 91, fails: 79 },
    { type: "Boolean", comparison: "==", expected: true, passes: true, fails: false },
    { type: "String", comparison: "==", expected: "main", passes: "main", fails: "feature" },
    { type: "Integer", comparison: "<", expected: 5, passes: 2, fails: 7 },
  ];
  return Array.from({ length: count }, (_, index) => ({
    name: `c${index}`,
    ...kinds[index % 4] as Omit<Condition, "name">,
  }));
}

/** Fact sets: the first half passes, some by the other way of an Or; the others fail late, early and in between. */
function factSets(conditions: readonly Condition[]): Facts[] {
  const failing = [[], [2], [3], [], [conditions.length - 4], [conditions.length - 3], [2, 3], [0]];
  return failing.map((indexes) =>
    Object.fromEntries(conditions.map(({ name, passes, fails }, at) => [name, indexes.includes(at) ? fails : passes]))
  );
}

/** The requirement: of every four conditions the first two, and one of the last two. */
function allOf<T>(
  conditions: readonly Condition[],
  leaf: (condition: Condition) => T,
  and: (all: T[]) => T,
  or: (any: T[]) => T,
): T {
  const groups: T[] = [];
  for (let at = 0; at < conditions.length; at += 4) {
    const [a, b, c, d] = conditions.slice(at, at + 4).map(leaf) as [T, T, T, T];
    groups.push(and([a, b, or([c, d])]));
  }
  return groups.length === 1 ? groups[0] as T : and(groups);
}

function gate(conditions: readonly Condition[], facts: readonly Facts[]): Side {
  const predicates = { ">=": "GreaterThanOrEqual", "==": "Equals", "<": "LessThan" } as const;
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "bench",
    namespace_id: 1,
    conditions: conditions.map(({ name, type, comparison, expected }) => ({
      condition_id: name,
      observation_domain: type === "String" ? { domain: type, minimum_bytes: 0, maximum_bytes: 64 } : { domain: type },
      predicate: { predicate: predicates[comparison], expected: { value: expected, value_type: type } },
      evidence_use_policy: policy(),
    })),
    stages: [{
      stage_id: "s",
      prerequisite: { kind: "root" },
      completion_requirement: allOf<JsonValue>(
        conditions,
        ({ name }) => ({ Condition: name }),
        (all) => ({ And: all }),
        (any) => ({ Or: any }),
      ),
    }],
    completion_requirement: { Condition: "s" },
  });
  const stage = law.stages[0] as CompiledStage;
  const environment = qualificationWith(law);
  const presented = facts.map((set) => {
    const evidence = conditions.map(({ name, type }) =>
      callerItem(name, { value: set[name] as JsonValue, value_type: type })
    );
    const presentation = presentCallerEvidence(SHA256, law, stage, profileWith(), evidence, new Map());
    assert.ok(presentation.ok);
    return presentation.items;
  });
  const evaluate = (index: number) => evaluateEvidence(stage, presented[index & 7] ?? [], environment);
  return {
    name: "gate",
    judge: (index) => {
      const { outcome, trace } = evaluate(index);
      assert.equal(trace.length, conditions.length);
      return outcome === "true";
    },
    run: (count) => {
      let seen = 0;
      for (let index = 0; index < count; index++) seen += evaluate(index).trace.length;
      return seen;
    },
  };
}

/** A side that is one synchronous function of an index. */
function sideOf(name: string, judge: (index: number) => boolean): Side {
  return {
    name,
    judge,
    run: (count) => {
      let seen = 0;
      for (let index = 0; index < count; index++) seen += judge(index) ? 2 : 1;
      return seen;
    },
  };
}

function logic(conditions: readonly Condition[], facts: readonly Facts[]): Side {
  const rule = allOf<object>(
    conditions,
    ({ name, comparison, expected }) => ({ [comparison === "==" ? "===" : comparison]: [{ var: name }, expected] }),
    (all) => ({ and: all }),
    (any) => ({ or: any }),
  );
  return sideOf("json-logic-js 2.0.5", (index) => jsonLogic.apply(rule as never, facts[index & 7]) === true);
}

/** The requirement as an expression that Cedar and CEL share, up to how they name facts. */
function expression(conditions: readonly Condition[], prefix: string): string {
  return allOf(
    conditions,
    ({ name, comparison, expected }) => `${prefix}${name} ${comparison} ${JSON.stringify(expected)}`,
    (all) => all.join(" && "),
    (any) => `(${any.join(" || ")})`,
  );
}

function cel(conditions: readonly Condition[], facts: readonly Facts[]): Side {
  const program = parseCel(expression(conditions, ""));
  // CEL integers are 64 bits wide.
  const sets = facts.map((set) =>
    Object.fromEntries(
      Object.entries(set).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]),
    )
  );
  return sideOf("cel-js 8.0.0", (index) => program(sets[index & 7]) === true);
}

function cedar(conditions: readonly Condition[], facts: readonly Facts[]): Side {
  const id = `bench-${conditions.length}`;
  const text = `permit(principal, action, resource) when { ${expression(conditions, "context.")} };`;
  assert.equal(preparsePolicySet(id, { staticPolicies: text }).type, "success");
  const calls = facts.map((context) => ({
    principal: { type: "User", id: "ci" },
    action: { type: "Action", id: "evaluate" },
    resource: { type: "Stage", id: "s" },
    context,
    preparsedPolicySetId: id,
    entities: [],
  }));
  return sideOf("cedar-wasm 4.13.0 stateful", (index) => {
    const answer = statefulIsAuthorized(calls[index & 7] as Parameters<typeof statefulIsAuthorized>[0]);
    if (answer.type === "failure") throw new Error(answer.errors[0]?.message);
    return answer.response.decision === "allow";
  });
}

function rules(conditions: readonly Condition[], facts: readonly Facts[]): Side {
  const operators = { ">=": "greaterThanInclusive", "==": "equal", "<": "lessThan" } as const;
  const requirement = allOf<object>(
    conditions,
    ({ name, comparison, expected }) => ({ fact: name, operator: operators[comparison], value: expected }),
    (all) => ({ all }),
    (any) => ({ any }),
  );
  const engine = new Engine([{ conditions: requirement as never, event: { type: "complete" } }]);
  const judge = async (index: number): Promise<boolean> => (await engine.run(facts[index & 7])).events.length === 1;
  return {
    name: "json-rules-engine 7.3.1",
    judge,
    run: async (count) => {
      let seen = 0;
      for (let index = 0; index < count; index++) seen += await judge(index) ? 2 : 1;
      return seen;
    },
  };
}

/** Evaluations a second in one round of a side that does about as many as fit. */
async function throughput(side: Side, count: number): Promise<number> {
  const start = performance.now();
  assert.ok(await side.run(count) > 0);
  return count / (performance.now() - start) * 1000;
}

/** How many evaluations of a side fill a round. */
async function calibrate(side: Side): Promise<number> {
  let count = 64;
  for (;;) {
    const start = performance.now();
    await side.run(count);
    const millis = performance.now() - start;
    if (millis > 20) return Math.ceil(count * ROUND_MILLIS / millis);
    count *= 4;
  }
}

/** Measures row 7. */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const count of [4, 32]) {
    const conditions = conditionsOf(count);
    const facts = factSets(conditions);
    const ours = gate(conditions, facts);
    const peers = [
      { side: rules(conditions, facts), must: 5, goal: 12 },
      { side: cedar(conditions, facts), must: 10, goal: 30 },
      { side: logic(conditions, facts), must: 0.5, goal: 1 },
    ];
    const ceiling = cel(conditions, facts);
    for (const side of [...peers.map((peer) => peer.side), ceiling]) await assertSame(ours, side, facts.length);
    const oursCount = await calibrate(ours);
    const ceilingCount = await calibrate(ceiling);
    const fastest = median(await sample(() => throughput(ceiling, ceilingCount)));
    for (const { side, must, goal } of peers) {
      const peerCount = await calibrate(side);
      rows.push(
        await compare({
          row: "7",
          name: `kernel evaluation with trace, ${count} conditions`,
          peer_name: side.name,
          unit: "evals/s",
          must,
          goal,
          direction: "higher",
          ceiling: `${ceiling.name} without trace, ${fastest.toFixed(0)} evals/s`,
          ours: () => throughput(ours, oursCount),
          peer: () => throughput(side, peerCount),
        }),
      );
    }
  }
  return rows;
}

async function sample(measure: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < 7; round++) samples.push(await measure());
  return samples.slice(2);
}

async function assertSame(ours: Side, peer: Side, count: number): Promise<void> {
  const verdicts: boolean[] = [];
  for (let index = 0; index < count; index++) {
    const verdict = await ours.judge(index);
    assert.equal(await peer.judge(index), verdict, `${peer.name} differs on fact set ${index}`);
    verdicts.push(verdict);
  }
  assert.ok(verdicts.includes(true) && verdicts.includes(false));
}
