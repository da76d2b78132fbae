import assert from "node:assert/strict";
import { checkComparison, checkSeed, type Tally } from "../../../tests/simulation/questions/checked_answers.ts";
import { lawOf } from "../../../tests/simulation/kernel/fixture.ts";
import { type Editable, policy } from "../../../tests/simulation/kernel/law_specs.ts";
import type { Requirement, ScenarioLaw } from "../types.ts";
import { candidatesOf } from "./candidates.ts";
import { compareLaws } from "./compare.ts";
import { differenceBetween } from "./differences.ts";
import { isTrue, negationOf } from "./formulas.ts";
import { readPair } from "./law_pair.ts";
import { findStage } from "./stage_findings.ts";
import { mutantsOf } from "./mutants.ts";
import { pairConditions } from "./paired_conditions.ts";
import { parameterChoices } from "./parameter_choices.ts";
import { namedKeys, partyTable } from "./parties.ts";
import { loneOpeners, partyText } from "./question_text.ts";
import { ofAtLeast, smallest } from "./party_sets.ts";
import { type ClaimAtom, proveClaim } from "./prove.ts";
import { askedLaw, unitsOf } from "./asked_law.ts";
import { routesIn } from "./routes.ts";
import { valueOptions } from "./value_options.ts";
import { UNRESTRICTED } from "./ways.ts";
import { whoCompletes } from "./who.ts";

const CALLER = policy({ allowed_channels: ["caller_submission"] });

/** An integer condition of a name, compared with an operator. */
function condition(condition_id: string, predicate: string, expected: number, evidence_use_policy = CALLER): Editable {
  return {
    condition_id,
    observation_domain: { domain: "Integer", minimum: 0, maximum: 40 },
    predicate: { predicate, expected: { value: expected, value_type: "Integer" } },
    evidence_use_policy,
  };
}

/** A law of one stage `s`. */
function oneStage(conditions: readonly Editable[], completion_requirement: Requirement): ScenarioLaw {
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "asked",
    namespace_id: 2,
    conditions,
    stages: [{ stage_id: "s", prerequisite: { kind: "root" }, completion_requirement }],
    completion_requirement: { Condition: "s" },
  }).law;
}

const all = (...ids: readonly string[]): Requirement => ({ And: ids.map((id) => ({ Condition: id })) });
const any = (...ids: readonly string[]): Requirement => ({ Or: ids.map((id) => ({ Condition: id })) });
const needs = (requirement: Requirement, atoms: Readonly<Record<string, ClaimAtom>>) => ({
  needs: requirement,
  atoms: new Map(Object.entries(atoms)),
});

Deno.test("claims and parties agree with all evidence of all parties, and every way replays", () => {
  const tally: Tally = {};
  for (let seed = 0; seed < 60; seed++) checkSeed(seed, tally);
  assert.ok((tally["proved"] ?? 0) > 10 && (tally["not_proved"] ?? 0) > 10, JSON.stringify(tally));
});

Deno.test("comparisons hold on random evidence, and every difference replays", () => {
  const tally: Tally = {};
  for (let seed = 0; seed < 100; seed++) checkComparison(seed, 10, tally);
  for (const verdict of ["equivalent", "stricter", "looser", "incomparable"]) {
    assert.ok((tally[verdict] ?? 0) > 3, `${verdict} was hardly met: ${JSON.stringify(tally)}`);
  }
});

Deno.test("comparisons of one name are independent, or decided together", () => {
  const range = [
    condition("x < 20", "LessThan", 20),
    condition("x > 10", "GreaterThan", 10),
    condition("y", "Equals", 1),
  ];
  const together = { groupOf: ({ condition_id }: { readonly condition_id: string }) => condition_id[0] };
  const below = { atom: { condition: "x < 20" } };
  const between = { comparison: { ...lawOf0(range), ...condition("x < 30", "LessThan", 30) } };
  const leaf: Requirement = { Condition: "atom" };
  const rows: readonly [Requirement, Readonly<Record<string, ClaimAtom>>, string, string][] = [
    [all("x < 20", "x > 10"), below, "proved", "proved"],
    [
      { And: [{ Not: { Condition: "x < 20" } }, any("x > 10", "y")] },
      { atom: { condition: "x > 10" } },
      "not_proved",
      "proved",
    ],
    [any("x < 20", "y"), below, "not_proved", "not_proved"],
    [all("x < 20", "x > 10"), { atom: between }, "not_proved", "proved"],
  ];
  for (const [requirement, atoms, apart, joint] of rows) {
    const law = oneStage(
      range.filter(({ condition_id }) => JSON.stringify(requirement).includes(condition_id)),
      requirement,
    );
    assert.equal(proveClaim(law, needs(leaf, atoms)).verdict, apart, JSON.stringify(requirement));
    assert.equal(proveClaim(law, needs(leaf, atoms), together).verdict, joint, JSON.stringify(requirement));
  }
});

/** The normal form of the first condition. */
function lawOf0(conditions: readonly Editable[]): ScenarioLaw["conditions"][number] {
  const [first] = oneStage(conditions, all("x < 20", "x > 10", "y")).conditions;
  assert.ok(first !== undefined);
  return first;
}

Deno.test("values together agree with all values of a domain", () => {
  const operators = [
    "Equals",
    "NotEquals",
    "LessThan",
    "LessThanOrEqual",
    "GreaterThan",
    "GreaterThanOrEqual",
  ] as const;
  for (const first of operators) {
    for (const second of operators) {
      for (const [low, high] of [[0, 0], [0, 1], [5, 6], [5, 7], [39, 40]] as const) {
        const law = oneStage(
          [condition("a", first, low), condition("b", second, high), condition("c", "Equals", 1)],
          any("a", "b", "c"),
        );
        const found = unitsOf(law.conditions.slice(0, 2), new Map(), () => 0).units[0]?.values;
        const holds = (operator: string, value: number, expected: number): number =>
          Number(
            [
              value === expected,
              value !== expected,
              value < expected,
              value <= expected,
              value > expected,
              value >= expected,
            ][
              operators.indexOf(operator as typeof operators[number])
            ],
          ) * 2;
        const forced = new Set(
          Array.from({ length: 41 }, (_, value) => `${holds(first, value, low)}${holds(second, value, high)}`),
        );
        assert.deepEqual(
          new Set(found?.options.map(({ truths }) => truths.join(""))),
          forced,
          `${first} ${low}, ${second} ${high}`,
        );
        assert.ok(found?.exact);
      }
    }
  }
});

Deno.test("a question beyond its visits is undecided", () => {
  const law = oneStage([condition("a", "Equals", 1), condition("b", "Equals", 1)], any("a", "b"));
  const claim = needs({ Condition: "a" }, { a: { condition: "a" } });
  const decided = (visits: number): readonly string[] => {
    const named = { law, names: new Map() };
    return [
      proveClaim(law, claim, { visits }).verdict,
      whoCompletes(law, { visits }) === null ? "undecided" : "known",
      compareLaws(named, { ...named, law: { ...law, completion_requirement: law.completion_requirement } }, { visits })
        .run.verdict,
    ];
  };
  assert.deepEqual(decided(3), ["undecided", "undecided", "undecided"]);
  assert.deepEqual(decided(1000), ["not_proved", "known", "equivalent"]);
  // With each number of visits the answer is the right one, or there is none.
  for (let visits = 0; visits < 200; visits++) {
    const [claimed, known, compared] = decided(visits);
    assert.ok(["undecided", "not_proved"].includes(claimed ?? ""), `${visits}: ${claimed}`);
    assert.ok(["undecided", "known"].includes(known ?? ""), `${visits}: ${known}`);
    assert.ok(["undecided", "equivalent"].includes(compared ?? ""), `${visits}: ${compared}`);
  }
});

Deno.test("changes of a law have the verdict of their meaning", () => {
  const signed = (keys: readonly string[], minimum: number) =>
    policy({
      allowed_channels: ["accepted_submission"],
      authorization: "signature",
      authorized_key_ids: keys,
      combination: { combination: "Quorum", minimum },
    });
  const aged = (maximum_age_millis: number | null) =>
    policy({
      allowed_channels: ["accepted_submission"],
      authorization: "signature",
      freshness: maximum_age_millis === null
        ? { freshness: "NotRequired" }
        : { freshness: "MaximumAge", maximum_age_millis },
    });
  const rows: readonly [string, Editable, Editable, string][] = [
    ["the same", condition("x", "LessThan", 5), condition("x", "LessThan", 5), "equivalent"],
    ["the same values", condition("x", "LessThan", 5), condition("x", "LessThanOrEqual", 4), "equivalent"],
    ["a higher bound", condition("x", "LessThan", 5), condition("x", "LessThan", 6), "looser"],
    ["a lower bound", condition("x", "LessThan", 5), condition("x", "LessThan", 4), "stricter"],
    ["another side", condition("x", "LessThan", 5), condition("x", "GreaterThan", 5), "incomparable"],
    [
      "a key more",
      condition("x", "Equals", 1, signed(["a", "b"], 1)),
      condition("x", "Equals", 1, signed(["a", "b", "c"], 1)),
      "looser",
    ],
    [
      "a key for another",
      condition("x", "Equals", 1, signed(["a", "b"], 1)),
      condition("x", "Equals", 1, signed(["a", "c"], 1)),
      "incomparable",
    ],
    [
      "a quorum one less",
      condition("x", "Equals", 1, signed(["a", "b"], 2)),
      condition("x", "Equals", 1, signed(["a", "b"], 1)),
      "looser",
    ],
    ["an age more", condition("x", "Equals", 1, aged(1000)), condition("x", "Equals", 1, aged(2000)), "looser"],
    ["no age", condition("x", "Equals", 1, aged(1000)), condition("x", "Equals", 1, aged(null)), "looser"],
    ["a caller's word", condition("x", "Equals", 1, aged(null)), condition("x", "Equals", 1), "looser"],
  ];
  for (const [name, before, after, verdict] of rows) {
    const law = (one: Editable) => ({ law: oneStage([one], all("x")), names: new Map<string, string>() });
    const { run, stages } = compareLaws(law(before), law(after));
    assert.deepEqual([run.verdict, stages.get("s")?.verdict], [verdict, verdict], name);
  }
});

Deno.test("who opens a law alone is named", () => {
  const caller = { kind: "caller" } as const;
  const key = (key_id: string) => ({ kind: "key", key_id }) as const;
  const source = {
    kind: "source",
    provider_id: "rest",
    check_id: "json_path",
    params: { url: { $template: "https://a/{c}" } },
  } as const;
  const rows: readonly [Parameters<typeof loneOpeners>[0]["run"], string][] = [
    [[[caller]], "caller alone"],
    [[[key("a")]], "one person alone"],
    [[[caller, key("a")]], "one person alone"],
    [[[caller], [key("a")]], "caller alone, one person alone"],
    [[[key("a"), key("b")], [source, caller]], ""],
  ];
  for (const [run, expected] of rows) assert.equal(loneOpeners({ run }).join(", "), expected);
  assert.equal(partyText(source), "rest.json_path https://a/{c}");
});

Deno.test("mutants name what they change", () => {
  const quorum = policy({
    allowed_channels: ["accepted_submission"],
    authorization: "signature",
    authorized_key_ids: ["a", "b"],
    combination: { combination: "Quorum", minimum: 2 },
    freshness: { freshness: "MaximumAge", maximum_age_millis: 1000 },
  });
  const law = oneStage([condition("x", "LessThan", 5, quorum), condition("y", "Equals", 1)], all("x", "y"));
  const kinds = mutantsOf(law).map(({ kind, place }) => `${kind}: ${Object.values(place ?? { run: "run" })[0]}`);
  assert.deepEqual(kinds, [
    "comparison turned: x",
    "bound moved: x",
    "bound moved: x",
    "key added: x",
    "quorum lowered: x",
    "freshness dropped: x",
    "channel widened: x",
    "comparison turned: y",
    "operand dropped: s",
    "operand dropped: s",
  ]);
});

Deno.test("the parts of a question", () => {
  const meter = { left: 10_000 };
  const law = oneStage([condition("x", "LessThan", 5), condition("y", "Equals", 1)], any("x", "y"));
  const table = partyTable();
  const asked = askedLaw(law, table);
  assert.deepEqual(table.parties, [{ kind: "caller" }]);
  assert.deepEqual(namedKeys([law]), []);
  assert.deepEqual(routesIn(asked, meter, () => 1).towards(asked.goal), [0]);
  assert.equal(UNRESTRICTED.bars(0), false);
  const formula = { minimum: 1, operands: [0, 3] };
  assert.ok(isTrue(formula, (literal) => literal === 3) && !isTrue(negationOf(formula), (literal) => literal === 3));
  assert.deepEqual(smallest([3n, 1n, 5n, 6n], meter), [1n, 6n]);
  assert.deepEqual(ofAtLeast(2, [[1n], [2n], [4n]], meter), [3n, 5n, 6n]);
  const small = candidatesOf({ domain: "String", minimum_bytes: 0, maximum_bytes: 0 }, [], 1).map(({ value }) => value);
  assert.deepEqual(small, [""]);
  const limit = { parameter_id: "limit", domains: [{ domain: "Boolean" as const }] };
  assert.equal(parameterChoices([limit], [], meter).choices.length, 1);
  const text = { domain: "String" as const, minimum_bytes: 1, maximum_bytes: 64 };
  const contains = { predicate: "Contains" as const, expected: { value: "ab", value_type: "String" as const } };
  assert.deepEqual(
    valueOptions([{ predicate: contains, domain: text }]).options.map(({ truths: [truth] }) => truth).sort(),
    [0, 2],
  );
  const other = {
    law: oneStage([condition("x", "LessThan", 6), condition("y", "Equals", 1)], any("x", "y")),
    names: new Map(),
  };
  const pair = readPair({ law, names: new Map() }, other, false, meter);
  const [world] = pair?.worlds ?? [];
  assert.ok(pair !== null && world !== undefined);
  const wider = { pair, world, from: "new", other: "old", optimistic: false } as const;
  assert.notEqual(findStage(wider, "s").alone, null);
  assert.deepEqual(differenceBetween(wider, null)?.steps.map(({ evidence }) => evidence[0]?.value?.value), [5]);
  assert.equal(differenceBetween({ ...wider, from: "old", other: "new" }, null), null);
  const pairs = pairConditions({ law, names: new Map() }, { law, names: new Map() }, false);
  assert.equal(new Set(pairs.values()).size, 2);
});
