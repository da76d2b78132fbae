import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import type { Requirement } from "../../law/types.ts";
import { FALSE, type Kleene, triName, TRUE, UNKNOWN } from "../../law/value/truth.ts";
import { type Judged, MISSING_SETS, MISSING_STEPS, type MissingCondition, missingSets } from "./missing.ts";
import { compileProgram, runProgram } from "../program.ts";

const KLEENE: readonly Kleene[] = ["false", "unknown", "true"];
const leaf = (id: string): Requirement => ({ Condition: id });

function judge(requirement: Requirement, values: Judged): Kleene {
  const program = compileProgram(requirement);
  const codes = program.slots.map((id) =>
    ({ false: FALSE, unknown: UNKNOWN, true: TRUE })[values.get(id) ?? "unknown"]
  );
  return triName(runProgram(program, Uint8Array.from(codes)));
}

function nameOf(set: readonly MissingCondition[]): string {
  return set.map(({ condition_id, needed }) => `${needed ? "" : "!"}${condition_id}`).join(" ");
}

/** Every smallest completing set of changes, by trying all of them. */
function bruteForce(requirement: Requirement, values: Judged): string[] {
  const ids = [...compileProgram(requirement).slots].sort(compareCodePoints);
  let completing: MissingCondition[][] = [[]];
  for (const condition_id of ids) {
    const judged = values.get(condition_id) ?? "unknown";
    completing = completing.flatMap((set) => [
      set,
      ...[true, false].filter((needed) => String(needed) !== judged).map((
        needed,
      ) => [...set, { condition_id, needed }]),
    ]);
  }
  const ways = completing.filter((set) => {
    const changed = new Map(values);
    for (const { condition_id, needed } of set) changed.set(condition_id, needed ? "true" : "false");
    return judge(requirement, changed) === "true";
  }).map((set) => new Set(set.map((one) => nameOf([one]))));
  return ways.filter((way) => !ways.some((other) => other.size < way.size && other.isSubsetOf(way)))
    .map((way) => [...way].join(" "));
}

function agrees(requirement: Requirement, values: Judged): void {
  const { sets, complete } = missingSets(requirement, values);
  const context = () => JSON.stringify([requirement, [...values]]);
  assert.ok(complete, context());
  assert.deepEqual(sets.map(nameOf).sort(), bruteForce(requirement, values).sort(), context());
}

/** {@link agrees} for a requirement so large that the steps may end the search. Each set found is then among all sets. */
function agreesAsFarAsItWent(requirement: Requirement, values: Judged): boolean {
  const { sets, complete } = missingSets(requirement, values);
  if (complete) {
    agrees(requirement, values);
    return true;
  }
  const all = new Set(bruteForce(requirement, values));
  for (const set of sets) assert.ok(all.has(nameOf(set)), JSON.stringify([requirement, [...values], set]));
  return false;
}

/** Every way to judge some conditions. */
function assignments(ids: readonly string[]): Judged[] {
  let all: [string, Kleene][][] = [[]];
  for (const id of ids) all = all.flatMap((one) => KLEENE.map((value) => [...one, [id, value] as [string, Kleene]]));
  return all.map((one) => new Map(one));
}

/** Every requirement tree up to a number of nodes over some leaves, with distinct operands in order. */
function trees(ids: readonly string[], nodes: number): Requirement[][] {
  const bySize: Requirement[][] = [[], ids.map(leaf)];
  for (let size = 2; size <= nodes; size++) {
    const made: Requirement[] = (bySize[size - 1] ?? []).map((Not) => ({ Not }));
    for (const operands of operandLists(bySize, size - 1)) {
      made.push({ And: operands }, { Or: operands });
      for (let min = 1; min <= operands.length; min++) made.push({ RequireGroup: { min, reqs: operands } });
    }
    bySize.push(made);
  }
  return bySize;
}

/** Lists of two or more operands with a number of nodes together, in ascending order of their text. */
function operandLists(bySize: readonly Requirement[][], nodes: number): Requirement[][] {
  const lists: Requirement[][] = [];
  const extend = (list: Requirement[], left: number, after: string): void => {
    if (left === 0 && list.length > 1) lists.push(list);
    for (let size = 1; size <= left; size++) {
      for (const operand of bySize[size] ?? []) {
        const text = JSON.stringify(operand);
        if (text > after) extend([...list, operand], left - size, text);
      }
    }
  };
  extend([], nodes, "");
  return lists;
}

Deno.test("missingSets() agrees with brute force on every requirement of seven nodes over two conditions, for all judgements", () => {
  const all = trees(["a", "b"], 7).flat();
  assert.ok(all.length > 1000, `${all.length}`);
  for (const requirement of all) for (const values of assignments(["a", "b"])) agrees(requirement, values);
});

Deno.test("missingSets() agrees with brute force on every requirement of six nodes over three conditions, for all judgements", () => {
  const all = trees(["a", "b", "c"], 6).flat();
  assert.ok(all.length > 500, `${all.length}`);
  for (const requirement of all) for (const values of assignments(["a", "b", "c"])) agrees(requirement, values);
});

Deno.test("missingSets() agrees with brute force on larger requirements", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const { requirement } = fc.letrec<{ requirement: Requirement; operands: Requirement[] }>((tie) => ({
    operands: fc.array(tie("requirement"), { minLength: 1, maxLength: 4 }),
    requirement: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom(...ids).map(leaf),
      tie("requirement").map((Not) => ({ Not })),
      tie("operands").map((And) => ({ And })),
      tie("operands").map((Or) => ({ Or })),
      fc.tuple(tie("operands"), fc.nat()).map(([reqs, nat]) => ({
        RequireGroup: { min: 1 + nat % reqs.length, reqs },
      })),
    ),
  }));
  const values = fc.array(fc.constantFrom(...KLEENE), { minLength: 5, maxLength: 5 });
  let searched = 0;
  let ended = 0;
  fc.assert(
    fc.property(requirement, values, (tree, judged) => {
      searched++;
      if (!agreesAsFarAsItWent(tree, new Map(ids.map((id, at) => [id, judged[at] ?? "unknown"])))) ended++;
    }),
    { numRuns: 300 },
  );
  assert.ok(ended * 50 <= searched, `the steps ended ${ended} of ${searched} searches`);
});

Deno.test("missingSets() contradicts a judgement only together with all conditions that depend on it", () => {
  // Neither "!x" nor "!y" alone can be left out of the second way, yet both can.
  const x = leaf("x");
  const y = leaf("y");
  const b = leaf("b");
  const requirement = { Or: [{ And: [x, y, b] }, { And: [{ Not: x }, { Not: y }, b] }] };
  const judged: Judged = new Map([["x", "true"], ["y", "true"]]);
  assert.deepEqual(missingSets(requirement, judged), {
    sets: [[{ condition_id: "b", needed: true }]],
    complete: true,
  });
});

Deno.test("missingSets() finds some sets if conditions overlap too much to find all", () => {
  const [, overlapping] = wideRequirements().find(([name]) => name.includes("overlap")) ?? [];
  assert.ok(overlapping !== undefined);
  const { sets, complete } = missingSets(overlapping, new Map());
  assert.deepEqual([sets.length > 0, complete], [true, false]);
  for (const set of sets) {
    const values = new Map<string, Kleene>(set.map(({ condition_id }) => [condition_id, "true"]));
    assert.equal(judge(overlapping, values), "true");
    for (const { condition_id } of set) {
      assert.equal(judge(overlapping, new Map([...values].filter(([id]) => id !== condition_id))), "unknown");
    }
  }
});

const conditions = (count: number, from = 0): Requirement[] =>
  Array.from({ length: count }, (_, at) => leaf(`c${String(from + at).padStart(4, "0")}`));

Deno.test("missingSets() shows at most 64 sets, and reports whether there are more", () => {
  const rows: readonly [Requirement, number, boolean][] = [
    [{ Or: conditions(MISSING_SETS - 1) }, 63, true],
    [{ Or: conditions(MISSING_SETS) }, 64, true],
    [{ Or: conditions(MISSING_SETS + 1) }, 64, false],
    [{ RequireGroup: { min: 100, reqs: conditions(200) } }, 64, false],
    [{ And: conditions(4000) }, 1, true],
  ];
  for (const [requirement, count, complete] of rows) {
    const missing = missingSets(requirement, new Map());
    assert.deepEqual([missing.sets.length, missing.complete], [count, complete]);
  }
});

Deno.test("missingSets() shows smaller sets first, and tries cheap ones first if it stops early", () => {
  const requirement = { Or: [{ And: conditions(70) }, ...conditions(70, 100)] };
  const { sets } = missingSets(requirement, new Map());
  assert.ok(sets.every((set) => set.length === 1));
  const few = missingSets({ Or: [{ And: conditions(3) }, leaf("z")] }, new Map());
  assert.deepEqual(few.sets.map(nameOf), ["z", "c0000 c0001 c0002"]);
});

Deno.test("missingSets() is not complete if its steps end, and shows smallest sets only", () => {
  const requirement = { RequireGroup: { min: 3, reqs: conditions(6) } };
  for (let steps = 0; steps < 200; steps++) {
    const { sets, complete } = missingSets(requirement, new Map(), { left: steps });
    assert.ok(sets.every((set) => set.length === 3));
    assert.equal(complete, sets.length === 20 && complete);
    if (steps < 10) assert.equal(complete, false);
  }
});

/** Requirements over 200 conditions, simple and hard. */
function wideRequirements(): readonly [string, Requirement][] {
  const all = conditions(200);
  const at = (index: number): Requirement => all[index % 200] ?? leaf("c0000");
  const pairs = Array.from({ length: 100 }, (_, index) => ({ Or: [at(2 * index), at(2 * index + 1)] }));
  const shared = Array.from(
    { length: 200 },
    (_, index) => ({ Or: [at(index), at(index * 7 + 3), at(index * 11 + 5)] }),
  );
  const mixed = Array.from({ length: 200 }, (_, index) => ({
    RequireGroup: { min: 2, reqs: [at(index), { Not: at(index * 3 + 1) }, at(index * 5 + 2), at(index * 9 + 4)] },
  }));
  return [
    ["all of 200", { And: all }],
    ["one of 200", { Or: all }],
    ["100 of 200", { RequireGroup: { min: 100, reqs: all } }],
    ["100 choices", { And: pairs }],
    ["one of 100 pairs", { Or: Array.from({ length: 100 }, (_, i) => ({ And: [at(2 * i), at(2 * i + 1)] })) }],
    ["200 choices that overlap", { And: shared }],
    ["groups of both signs", { And: mixed }],
    ["most groups of both signs", { RequireGroup: { min: 150, reqs: mixed } }],
  ];
}

/** Requirements over some 200 conditions where `x` must be contradicted, or rules out the first alternative. */
function contestedRequirements(): readonly [string, Requirement][] {
  const all = conditions(200);
  const at = (index: number): Requirement => all[2 + index % 198] ?? leaf("c0000");
  const x = leaf("x");
  const a = leaf("c0000");
  const b = leaf("c0001");
  const choices = (count: number): Requirement[] =>
    Array.from({ length: count }, (_, index) => ({ Or: [at(index * 5), at(index * 13 + 7)] }));
  const few = conditions(9);
  const pairs = few.flatMap((one, index) => few.slice(index + 1).map((other) => ({ And: [one, other] })));
  return [
    [
      "x given up beside 1300 choices",
      { And: [{ Not: x }, { Or: pairs }, { Or: [{ Not: x }, { And: choices(1300) }] }, { Or: [x, a, b] }] },
    ],
    ["x given up among 300 choices", { And: [{ Not: x }, { Or: [x, a, b] }, ...choices(300)] }],
    ["a ruled out after 300 choices", { And: [{ Or: [a, b] }, ...choices(300), { Or: [{ And: [{ Not: a }, x] }] }] }],
  ];
}

Deno.test("missingSets() finds a set if a judgement, or the first alternative, rules out others", () => {
  for (const [name, requirement] of contestedRequirements()) {
    for (const values of [new Map<string, Kleene>(), new Map<string, Kleene>([["x", "true"]])]) {
      const [set] = missingSets(requirement, values).sets;
      assert.ok(set !== undefined, name);
      const judged = (part: readonly MissingCondition[]): Judged =>
        new Map([...values, ...part.map((one) => [one.condition_id, one.needed ? "true" : "false"] as const)]);
      assert.equal(judge(requirement, judged(set)), "true", name);
      for (const one of set) assert.notEqual(judge(requirement, judged(set.filter((other) => other !== one))), "true");
    }
  }
});

Deno.test("missingSets() shows smallest sets only, for any number of steps", () => {
  const a = leaf("a");
  const b = leaf("b");
  const judged: Judged = new Map([["b", "true"]]);
  for (let left = 0; left < 40; left++) {
    const { sets } = missingSets({ Or: [a, b] }, judged, { left });
    assert.ok(sets.every((set) => set.length === 0), `${left}`);
  }
  const many = conditions(3000);
  const late: Judged = new Map(Array.from({ length: 700 }, (_, at) => [`c${2300 + at}`, "true"]));
  for (const set of missingSets({ RequireGroup: { min: 1500, reqs: many } }, late).sets) assert.equal(set.length, 800);
});

Deno.test("missingSets() answers for 200 conditions within its steps", () => {
  const partly: Judged = new Map(
    Array.from({ length: 200 }, (_, at) => [`c${String(at).padStart(4, "0")}`, KLEENE[at * 7 % 3] ?? "unknown"]),
  );
  const begin = performance.now();
  for (const [name, requirement] of [...wideRequirements(), ...contestedRequirements()]) {
    for (const values of [new Map(), partly, new Map([...partly, ["x", "true" as const]])]) {
      const meter = { left: MISSING_STEPS };
      missingSets(requirement, values, meter);
      assert.ok(meter.left > -1_000, `${name}: ${meter.left}`);
    }
  }
  // The steps take some ten milliseconds.
  assert.ok(performance.now() - begin < 60_000);
});
