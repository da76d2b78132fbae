import assert from "node:assert/strict";
import { constructLaw } from "../../../src/law/law.ts";
import { compileFormula } from "../../../src/law/proof/formula.ts";
import { proveGraph } from "../../../src/law/proof/proof_graph.ts";
import type { Prerequisite, Requirement } from "../../../src/law/types.ts";
import { type Editable, environment, flag, stage } from "./law_specs.ts";

/**
 * All graphs of four stages: each stage is a root or has one of the 18 non-constant monotone functions of the other
 * three as its prerequisite, 19^4 in all. Each function is written as And/Or and, if possible, as one RequireGroup.
 */
const STAGES = ["a", "b", "c", "d"] as const;

/**
 * A monotone function of three variables as its truth table: bit `i` is its value if the variables are the bits of `i`.
 */
type Table = number;

function monotoneTables(): Table[] {
  const tables: Table[] = [];
  for (let table = 1; table < 255; table++) {
    let monotone = true;
    for (let inputs = 0; inputs < 8; inputs++) {
      for (let bit = 1; bit < 8; bit <<= 1) {
        if ((table >> inputs & 1) > (table >> (inputs | bit) & 1)) monotone = false;
      }
    }
    if (monotone) tables.push(table);
  }
  return tables;
}

/** The minimal true inputs of a table. */
function leastTrue(table: Table): number[] {
  return [1, 2, 3, 4, 5, 6, 7].filter((inputs) =>
    (table >> inputs & 1) === 1 &&
    [1, 2, 4].every((bit) => (inputs & bit) === 0 || (table >> (inputs & ~bit) & 1) === 0)
  );
}

function one(kind: "And" | "Or", operands: Requirement[]): Requirement {
  if (operands.length === 1) return operands[0] as Requirement;
  return kind === "And" ? { And: operands } : { Or: operands };
}

/** A table over three names as an Or of Ands. */
function andOr(table: Table, names: readonly string[]): Requirement {
  return one(
    "Or",
    leastTrue(table).map((inputs) =>
      one("And", names.filter((_, bit) => (inputs >> bit & 1) === 1).map((name) => ({ Condition: name })))
    ),
  );
}

/** A table as one group over the names that it depends on, or null. */
function group(table: Table, names: readonly string[]): Requirement | null {
  const least = leastTrue(table);
  const mask = least.reduce((all, inputs) => all | inputs, 0);
  const used = names.filter((_, bit) => (mask >> bit & 1) === 1);
  for (let min = 1; min <= used.length; min++) {
    let same = true;
    for (let inputs = 0; inputs < 8; inputs++) {
      if ((bits(inputs & mask) >= min) !== ((table >> inputs & 1) === 1)) same = false;
    }
    if (same) return { RequireGroup: { min, reqs: used.map((name) => ({ Condition: name })) } };
  }
  return null;
}

function bits(inputs: number): number {
  return (inputs & 1) + (inputs >> 1 & 1) + (inputs >> 2 & 1);
}

/** A possible prerequisite of a stage, with the truth table over all four stages for the oracle. */
interface Choice {
  readonly prerequisites: readonly Prerequisite[];
  /** The stages that it depends on, as bits. */
  readonly names: number;
  /** Whether it holds, by the set of completed stages. */
  readonly holds: readonly boolean[];
}

function choicesFor(stage: number): Choice[] {
  const others = [0, 1, 2, 3].filter((other) => other !== stage);
  const names = others.map((other) => STAGES[other] as string);
  const root: Choice = { prerequisites: [{ kind: "root" }], names: 0, holds: Array(16).fill(true) };
  return [
    root,
    ...monotoneTables().map((table): Choice => {
      const forms = [andOr(table, names), group(table, names)].filter((form) => form !== null);
      const used = leastTrue(table).reduce((all, inputs) => all | inputs, 0);
      return {
        prerequisites: forms.map((requirement) => ({ kind: "requires", requirement })),
        names: others.reduce((all, other, bit) => all | ((used >> bit & 1) << other), 0),
        holds: Array.from({ length: 16 }, (_, completed) => {
          const inputs = others.reduce((all, other, bit) => all | ((completed >> other & 1) << bit), 0);
          return (table >> inputs & 1) === 1;
        }),
      };
    }),
  ];
}

interface Verdict {
  readonly acyclic: boolean;
  readonly reached: number;
}

/** The definition as an oracle: in some order stages name earlier ones only, and each stage that opens is completed. */
function oracle(choices: readonly Choice[], orders: readonly (readonly number[])[]): Verdict {
  const acyclic = orders.some((order) => {
    let earlier = 0;
    return order.every((stage) => {
      const fine = ((choices[stage] as Choice).names & ~earlier) === 0;
      earlier |= 1 << stage;
      return fine;
    });
  });
  let reached = 0;
  for (let round = 0; round < 4; round++) {
    choices.forEach((choice, stage) => {
      if (choice.holds[reached] === true) reached |= 1 << stage;
    });
  }
  return { acyclic, reached };
}

function ordersOf(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => ordersOf(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

/** Visits every graph, with the choice of each stage and an index. */
function eachGraph(take: (choices: readonly Choice[], number: number) => void): number {
  const choices = STAGES.map((_, stage) => choicesFor(stage));
  const size = (choices[0] as Choice[]).length;
  const count = size ** 4;
  for (let number = 0; number < count; number++) {
    take(choices.map((of, stage) => of[Math.floor(number / size ** stage) % size] as Choice), number);
  }
  return count;
}

const numberOf = (id: string): number => STAGES.indexOf(id as typeof STAGES[number]);
const ORDERS = ordersOf([0, 1, 2, 3]);
const COMPLETIONS: readonly Requirement[] = [
  { Condition: "d" },
  { And: STAGES.map((id) => ({ Condition: id })) },
  { RequireGroup: { min: 2, reqs: STAGES.map((id) => ({ Condition: id })) } },
];
const ATTAINS: readonly ((reached: number) => boolean)[] = [
  (reached) => (reached & 8) !== 0,
  (reached) => reached === 15,
  (reached) => bits(reached & 7) + (reached >> 3) >= 2,
];

Deno.test("there are 18 monotone functions of three variables that are not constant", () => {
  assert.equal(monotoneTables().length, 18);
});

Deno.test("proveGraph() accepts exactly the sound graphs of four stages, in every form", () => {
  const compiled = new Map<Prerequisite, ReturnType<typeof compileFormula> | null>();
  const formulaOf = (prerequisite: Prerequisite): ReturnType<typeof compileFormula> | null => {
    const known = compiled.get(prerequisite);
    if (known !== undefined) return known;
    const formula = prerequisite.kind === "root" ? null : compileFormula(prerequisite.requirement, numberOf);
    compiled.set(prerequisite, formula);
    return formula;
  };
  const completions = COMPLETIONS.map((requirement) => compileFormula(requirement, numberOf));
  let sound = 0;
  const count = eachGraph((choices, number) => {
    const { acyclic, reached } = oracle(choices, ORDERS);
    const last = Math.max(...choices.map((choice) => choice.prerequisites.length)) - 1;
    for (let form = 0; form <= last; form++) {
      const prerequisites = choices.map(({ prerequisites: forms }) =>
        formulaOf(forms[form % forms.length] as Prerequisite)
      );
      const which = number % completions.length;
      const findings = proveGraph({ prerequisites, completion: completions[which] as number });
      const unreachable = [0, 1, 2, 3].filter((stage) => (reached >> stage & 1) === 0);
      if ((findings.cycles.length === 0) !== acyclic) assert.fail(`cycles of ${JSON.stringify(choices)}`);
      if (findings.unreachable.join() !== unreachable.join()) assert.fail(`reach of ${JSON.stringify(choices)}`);
      if (findings.attainable !== ATTAINS[which]?.(reached)) assert.fail(`completion of ${JSON.stringify(choices)}`);
      for (const cycle of findings.cycles) assertCycle(cycle, choices);
    }
    if (acyclic) sound++;
  });
  assert.equal(count, 19 ** 4);
  assert.equal(sound, SOUND_GRAPHS);
});

/** Each stage of a cycle names the next one, and the last one the first; no stage is repeated. */
function assertCycle(cycle: readonly number[], choices: readonly Choice[]): void {
  assert.equal(new Set(cycle).size, cycle.length);
  cycle.forEach((stage, index) => {
    const next = cycle[(index + 1) % cycle.length] as number;
    assert.ok(((choices[stage] as Choice).names >> next & 1) === 1, "A cycle follows prerequisites");
  });
}

/**
 * Graphs without a cycle among the 19^4: over all acyclic graphs of four named nodes, the product of 1, 1, 2, 9. These
 * are the numbers of monotone functions that depend on all of 0, 1, 2, 3 variables.
 */
const SOUND_GRAPHS = 2165;

Deno.test("constructLaw() accepts every sound graph, and refuses a sample of the others", () => {
  const facts = environment();
  let accepted = 0;
  eachGraph((choices, number) => {
    const { acyclic, reached } = oracle(choices, ORDERS);
    if (!acyclic && number % 29 !== 0) return;
    const which = number % COMPLETIONS.length;
    const spec: Editable = {
      spec_version: "dag-v3",
      scenario_id: "graph",
      namespace_id: 1,
      conditions: [flag("x")],
      stages: choices.map(({ prerequisites }, index) =>
        stage(STAGES[index] as string, "x", prerequisites[number % prerequisites.length] as Editable)
      ),
      completion_requirement: COMPLETIONS[which],
    };
    const result = constructLaw(spec, facts);
    const sound = acyclic && reached === 15 && ATTAINS[which]?.(reached) === true;
    assert.equal(result.ok, sound, JSON.stringify(spec.stages));
    if (result.ok) accepted++;
  });
  assert.equal(accepted, SOUND_GRAPHS);
});
