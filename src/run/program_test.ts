import assert from "node:assert/strict";
import type { Requirement } from "../law/types.ts";
import { FALSE, type Kleene, type Tri, triName, TRUE, UNKNOWN } from "../law/value/truth.ts";
import { compileProgram, runProgram } from "./program.ts";

const CODES: Readonly<Record<Kleene, Tri>> = { false: FALSE, unknown: UNKNOWN, true: TRUE };

function run(requirement: Requirement, values: Readonly<Record<string, Kleene>>): Kleene {
  const program = compileProgram(requirement);
  return triName(runProgram(program, Uint8Array.from(program.slots, (name) => CODES[values[name] ?? "unknown"])));
}

/** Kleene logic by definition: the value that is the same for all values of the unknown operands. */
function oracle(requirement: Requirement, values: Readonly<Record<string, Kleene>>): Kleene {
  if ("Condition" in requirement) return values[requirement.Condition] ?? "unknown";
  if ("Not" in requirement) {
    const operand = oracle(requirement.Not, values);
    return operand === "unknown" ? "unknown" : operand === "true" ? "false" : "true";
  }
  const operands = "And" in requirement
    ? requirement.And
    : "Or" in requirement
    ? requirement.Or
    : requirement.RequireGroup.reqs;
  const minimum = "And" in requirement ? operands.length : "Or" in requirement ? 1 : requirement.RequireGroup.min;
  const results = operands.map((operand) => oracle(operand, values));
  // All values of the unknown operands; the result is certain if all of them agree.
  const unknown = results.filter((result) => result === "unknown").length;
  const sure = results.filter((result) => result === "true").length;
  const verdicts = new Set(Array.from({ length: 2 ** unknown }, (_, bits) => {
    let turned = 0;
    for (let bit = bits; bit > 0; bit >>= 1) turned += bit & 1;
    return sure + turned >= minimum;
  }));
  if (verdicts.size === 2) return "unknown";
  return verdicts.has(true) ? "true" : "false";
}

const LEAVES: readonly Requirement[] = [{ Condition: "a" }, { Condition: "b" }, { Condition: "c" }];

/** Every operator over operands of the given trees, up to three of them. */
function above(trees: readonly Requirement[]): Requirement[] {
  const lists: Requirement[][] = [];
  for (const x of trees) {
    lists.push([x]);
    for (const y of trees) {
      lists.push([x, y]);
      for (const z of LEAVES) lists.push([x, y, z]);
    }
  }
  return lists.flatMap((reqs) => [
    ...reqs.length === 1 ? reqs.map((operand): Requirement => ({ Not: operand })) : [],
    { And: reqs },
    { Or: reqs },
    ...reqs.map((_, index): Requirement => ({ RequireGroup: { min: index + 1, reqs } })),
  ]);
}

const KLEENES: readonly Kleene[] = ["false", "unknown", "true"];

function everyAssignment(): Readonly<Record<string, Kleene>>[] {
  return KLEENES.flatMap((a) => KLEENES.flatMap((b) => KLEENES.map((c) => ({ a, b, c }))));
}

Deno.test("runProgram() is strong Kleene logic on every small tree and assignment", () => {
  const low = above(LEAVES);
  // All trees of depth 1, and those of depth 2 over a sample with every operator.
  const trees = [...LEAVES, ...low, ...above([...LEAVES, ...low.filter((_, index) => index % 11 === 0)])];
  assert.ok(trees.length > 2000, `${trees.length}`);
  for (const tree of trees) {
    const program = compileProgram(tree);
    for (const values of everyAssignment()) {
      const codes = Uint8Array.from(program.slots, (name) => CODES[values[name] ?? "unknown"]);
      const got = triName(runProgram(program, codes));
      if (got !== oracle(tree, values)) assert.equal(got, oracle(tree, values), JSON.stringify({ tree, values }));
    }
  }
});

Deno.test("compileProgram() numbers leaves by first appearance and paths every visit", () => {
  const program = compileProgram({
    Or: [
      { And: [{ Condition: "b" }, { Not: { Condition: "a" } }] },
      { RequireGroup: { min: 1, reqs: [{ Condition: "a" }, { Condition: "c" }] } },
    ],
  });
  assert.deepEqual(program.slots, ["b", "a", "c"]);
  assert.deepEqual([...program.visits], [0, 1, 1, 2]);
  assert.deepEqual(program.paths, [
    "$.Or[0].And[0]",
    "$.Or[0].And[1].Not",
    "$.Or[1].RequireGroup.reqs[0]",
    "$.Or[1].RequireGroup.reqs[1]",
  ]);
});

Deno.test("compileProgram() treats a leaf named __proto__ as any other", () => {
  const requirement: Requirement = { And: [{ Condition: "__proto__" }, { Condition: "constructor" }] };
  assert.deepEqual(compileProgram(requirement).slots, ["__proto__", "constructor"]);
  assert.equal(run({ Condition: "__proto__" }, JSON.parse('{"__proto__": "true"}')), "true");
});

Deno.test("runProgram() runs requirements of the maximum depth and size", () => {
  let deep: Requirement = { Condition: "a" };
  for (let depth = 0; depth < 32; depth++) deep = { Not: deep };
  assert.equal(run(deep, { a: "true" }), "true");
  const reqs = Array.from({ length: 4095 }, (_, index): Requirement => ({ Condition: `c${index}` }));
  const values = Object.fromEntries(reqs.map((_, index) => [`c${index}`, index < 2000 ? "true" : "unknown"] as const));
  assert.equal(run({ RequireGroup: { min: 2000, reqs } }, values), "true");
  assert.equal(run({ RequireGroup: { min: 2001, reqs } }, values), "unknown");
  assert.equal(run({ And: reqs }, values), "unknown");
});
