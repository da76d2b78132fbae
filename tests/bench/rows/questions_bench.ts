/**
 * Row 16: questions to a law of 1,000 stages and 4,000 conditions, against the seconds that they may take.
 *
 * @module
 */

import type { Requirement, ScenarioLaw } from "../../../src/law/types.ts";
import { proveClaim } from "../../../src/law/questions/prove.ts";
import { whoCompletes } from "../../../src/law/questions/who.ts";
import { lawOf } from "../../simulation/kernel/fixture.ts";
import { type Editable, policy } from "../../simulation/kernel/law_specs.ts";
import { type BenchRow, makeRow } from "../harness.ts";

const STAGES = 1000;
const CONDITIONS_OF_STAGE = 4;

/** What each question may take, in seconds. */
const MOST = { prove: 0.5, who: 2 };

const KEYS = ["alice", "bob", "carol", "dave", "erin"];

/** Who gives the evidence of a condition: the caller, or one of two people. */
function policyOf(number: number): Editable {
  if (number % 4 === 0) return policy({ allowed_channels: ["caller_submission"] });
  const keys = [KEYS[number % KEYS.length] ?? "", KEYS[(number + 1) % KEYS.length] ?? ""].sort();
  return policy({
    allowed_channels: ["accepted_submission"],
    authorization: "signature",
    authorized_key_ids: keys,
    integrity: "signed_content",
    required_assurance: ["content_integrity", "scope", "source_signature"],
  });
}

/** A law whose stages follow on each other, with a way round every second one. */
function largeLaw(): ScenarioLaw {
  const id = (name: string, number: number): string => `${name}${`${number}`.padStart(4, "0")}`;
  const leaf = (name: string, number: number): Requirement => ({ Condition: id(name, number) });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "large",
    namespace_id: 2,
    conditions: Array.from({ length: STAGES * CONDITIONS_OF_STAGE }, (_, number) => ({
      condition_id: id("c", number),
      observation_domain: { domain: "Integer", minimum: 0, maximum: 1000 },
      predicate: { predicate: "LessThan", expected: { value: number % 1000, value_type: "Integer" } },
      evidence_use_policy: policyOf(number),
    })),
    stages: Array.from({ length: STAGES }, (_, number) => {
      const [a, b, c, d] = [0, 1, 2, 3].map((at) => leaf("c", number * CONDITIONS_OF_STAGE + at)) as [
        Requirement,
        Requirement,
        Requirement,
        Requirement,
      ];
      return {
        stage_id: id("s", number),
        prerequisite: number === 0 ? { kind: "root" } : {
          kind: "requires",
          requirement: { Or: [leaf("s", number - 1), ...number > 1 ? [leaf("s", number - 2)] : []] },
        },
        completion_requirement: { And: [a, { Or: [b, { Not: c }] }, { Or: [c, d] }] },
      };
    }),
    completion_requirement: leaf("s", STAGES - 1),
  }).law;
}

/** Measures the row; each question once before it counts. */
export function run(quick: boolean): Promise<BenchRow[]> {
  const law = largeLaw();
  const first = law.conditions[0]?.condition_id ?? "";
  const claims = [
    { needs: { Condition: "a" }, atoms: new Map([["a", { condition: first }]]) },
    {
      needs: { Or: [{ Condition: "a" }, { Condition: "b" }] },
      atoms: new Map([["a", { key: "alice" }], ["b", { key: "bob" }]]),
    },
    { needs: { Condition: "a" }, atoms: new Map([["a", { stage: "s0500" }]]) },
  ];
  const ask = {
    prove: () => claims.forEach((claim) => decided(proveClaim(law, claim).verdict !== "undecided")),
    who: () => decided(whoCompletes(law) !== null),
  };
  const rows = (["prove", "who"] as const).map((name) => {
    const seconds: number[] = [];
    for (let round = 0; round < (quick ? 2 : 8); round++) {
      const start = performance.now();
      ask[name]();
      const each = name === "prove" ? claims.length : 1;
      if (round > 0) seconds.push((performance.now() - start) / 1000 / each);
    }
    return makeRow({
      row: "16",
      name: `${name}, a law of 1,000 stages and 4,000 conditions${name === "who" ? " of 6 parties" : ""}`,
      peer_name: "what it may take",
      unit: "s",
      must: 1,
      goal: name === "who" ? 0.25 : 0.2,
      direction: "lower",
    }, { ours: seconds, peer: [MOST[name]] });
  });
  return Promise.resolve(rows);
}

function decided(isDecided: boolean): void {
  if (!isDecided) throw new Error("Cannot measure: the question is undecided");
}
