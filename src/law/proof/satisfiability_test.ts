import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { compileFormula } from "./formula.ts";
import { classifySatisfiability, findSatisfyingAssignment, type SatisfiabilityVerdict } from "./satisfiability.ts";
import type { Requirement } from "../types.ts";

const BUDGET = 2 ** 20;
const leaf = (id: string): Requirement => ({ Condition: id });
const not = (operand: Requirement): Requirement => ({ Not: operand });
const xor = (a: Requirement, b: Requirement): Requirement => ({ Or: [{ And: [a, not(b)] }, { And: [b, not(a)] }] });

/** The value of a requirement, by definition. */
function valueOf(requirement: Requirement, truth: (id: string) => boolean): boolean {
  if ("Condition" in requirement) return truth(requirement.Condition);
  if ("Not" in requirement) return !valueOf(requirement.Not, truth);
  if ("And" in requirement) return requirement.And.every((operand) => valueOf(operand, truth));
  if ("Or" in requirement) return requirement.Or.some((operand) => valueOf(operand, truth));
  const { min, reqs } = requirement.RequireGroup;
  return reqs.filter((operand) => valueOf(operand, truth)).length >= min;
}

/** The verdict by trying all assignments. */
function verdictOf(requirement: Requirement, ids: readonly string[]): SatisfiabilityVerdict {
  const values = new Set<boolean>();
  for (let assignment = 0; assignment < 2 ** ids.length; assignment++) {
    values.add(valueOf(requirement, (id) => (assignment >> ids.indexOf(id) & 1) === 1));
  }
  if (values.size === 2) return "varies";
  return values.has(true) ? "tautology" : "contradiction";
}

/** Requirements over a few ids, so that constant ones are common. */
function requirementOver(ids: readonly string[]): fc.Arbitrary<Requirement> {
  return fc.letrec<{ node: Requirement }>((tie) => {
    const operands = fc.array(tie("node"), { minLength: 1, maxLength: 4 });
    const node = fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom(...ids).map(leaf),
      tie("node").map(not),
      operands.map((And): Requirement => ({ And })),
      operands.map((Or): Requirement => ({ Or })),
      fc.tuple(operands, fc.nat(3)).map(([reqs, n]): Requirement => ({
        RequireGroup: { min: 1 + n % reqs.length, reqs },
      })),
    );
    return { node };
  }).node;
}

Deno.test("classifySatisfiability() agrees with a truth table", () => {
  const seen = new Map<SatisfiabilityVerdict, number>();
  for (const ids of [["a"], ["a", "b"], ["a", "b", "c", "d"]]) {
    fc.assert(
      fc.property(requirementOver(ids), (requirement) => {
        const { verdict } = classifySatisfiability(requirement, BUDGET);
        seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
        assert.equal(verdict, verdictOf(requirement, ids));
      }),
      { numRuns: 2000 },
    );
  }
  for (const verdict of ["varies", "contradiction", "tautology"] as const) {
    assert.ok((seen.get(verdict) ?? 0) > 50, `${verdict} was hardly met`);
  }
});

Deno.test("findSatisfyingAssignment() finds literals that make a satisfiable requirement true for any other values", () => {
  const ids = ["a", "b", "c", "d"];
  let found = 0;
  fc.assert(
    fc.property(requirementOver(ids), fc.nat(15), (requirement, rest) => {
      const witness = findSatisfyingAssignment(compileFormula(requirement, (id) => ids.indexOf(id)), { left: BUDGET });
      assert.equal(witness === null, verdictOf(requirement, ids) === "contradiction");
      if (witness === null) return;
      found++;
      for (const literal of witness) assert.ok(!witness.includes(literal ^ 1), "it contradicts itself");
      const truth = (id: string): boolean => {
        const variable = ids.indexOf(id);
        return witness.includes(variable * 2) || (!witness.includes(variable * 2 + 1) && (rest >> variable & 1) === 1);
      };
      assert.ok(valueOf(requirement, truth));
    }),
    { numRuns: 2000 },
  );
  assert.ok(found > 1000, `${found}`);
  assert.equal(findSatisfyingAssignment(compileFormula(pigeons(10), () => 0), { left: 0 }), null, "no visit is left");
});

Deno.test("classifySatisfiability() distinguishes constant requirements from others", () => {
  const a = leaf("a");
  const b = leaf("b");
  const c = leaf("c");
  const parity = (count: number): Requirement =>
    Array.from({ length: count }, (_, i) => leaf(`x${i}`)).reduce((left, right) => xor(left, right));
  const cases: readonly (readonly [Requirement, SatisfiabilityVerdict])[] = [
    [a, "varies"],
    [{ Not: { Not: a } }, "varies"],
    [{ And: [a, not(a)] }, "contradiction"],
    [{ Or: [a, not(a)] }, "tautology"],
    [{ RequireGroup: { min: 1, reqs: [a, not(a)] } }, "tautology"],
    [{ RequireGroup: { min: 2, reqs: [a, not(a), { And: [b, not(b)] }] } }, "contradiction"],
    [{ RequireGroup: { min: 2, reqs: [a, not(a), b] } }, "varies"],
    [{ And: [{ Or: [a, b] }, { Or: [not(a), b] }, { Or: [a, not(b)] }, { Or: [not(a), not(b)] }] }, "contradiction"],
    [{ And: [{ Or: [a, b] }, { Or: [not(a), c] }, not({ Or: [b, c] })] }, "contradiction"],
    [parity(6), "varies"],
    [{ Or: [parity(5), not(parity(5))] }, "tautology"],
  ];
  for (const [requirement, verdict] of cases) {
    assert.equal(classifySatisfiability(requirement, BUDGET).verdict, verdict, JSON.stringify(requirement));
  }
});

Deno.test("classifySatisfiability() decides the largest ordinary requirements in a few visits for each node", () => {
  const wide: Requirement = { And: Array.from({ length: 4095 }, (_, i) => leaf(`c${i}`)) };
  const pairs: Requirement = {
    And: Array.from({ length: 455 }, (_, i) => xor(leaf(`a${i}`), leaf(`b${i}`))),
  };
  const guarded: Requirement = {
    Or: Array.from({ length: 511 }, (_, i): Requirement => ({
      And: [leaf("override"), not(leaf("freeze")), leaf(`c${i}`), { Or: [leaf("freeze"), leaf(`d${i}`)] }],
    })),
  };
  const cases: readonly (readonly [string, Requirement, number])[] = [
    ["one And", wide, 3 * 4096],
    ["an And of unlike pairs", pairs, 8 * 4096],
    ["shared switches", guarded, 16 * 4096],
  ];
  for (const [what, requirement, most] of cases) {
    const { verdict, visits } = classifySatisfiability(requirement, BUDGET);
    assert.equal(verdict, "varies", what);
    assert.ok(visits <= most, `${what}: ${visits} visits`);
  }
});

Deno.test("classifySatisfiability() holds its budget at n-1 and n visits", () => {
  const requirement: Requirement = { And: [{ Or: [leaf("a"), leaf("b")] }, not(leaf("a")), not(leaf("b"))] };
  const { verdict, visits } = classifySatisfiability(requirement, BUDGET);
  assert.equal(verdict, "contradiction");
  assert.deepEqual(classifySatisfiability(requirement, visits), { verdict, visits });
  assert.deepEqual(classifySatisfiability(requirement, visits - 1), { verdict: "budget_exceeded", visits: visits - 1 });
});

/** "At most one pigeon in each hole, every pigeon in a hole": false with one pigeon too many, and hard to decide. */
function pigeons(holes: number): Requirement {
  const at = (pigeon: number, hole: number): Requirement => leaf(`p${pigeon}h${hole}`);
  const clauses: Requirement[] = [];
  for (let pigeon = 0; pigeon <= holes; pigeon++) {
    clauses.push({ Or: Array.from({ length: holes }, (_, hole) => at(pigeon, hole)) });
    for (let other = 0; other < pigeon; other++) {
      for (let hole = 0; hole < holes; hole++) clauses.push(not({ And: [at(pigeon, hole), at(other, hole)] }));
    }
  }
  return { And: clauses };
}

Deno.test("classifySatisfiability() gives up on a requirement built to be hard, and does not overflow", () => {
  assert.equal(classifySatisfiability(pigeons(4), BUDGET).verdict, "contradiction");
  assert.deepEqual(classifySatisfiability(pigeons(10), BUDGET), { verdict: "budget_exceeded", visits: BUDGET });
});
