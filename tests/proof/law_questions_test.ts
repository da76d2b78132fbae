import { checkComparison, checkSeed, type Tally } from "../simulation/questions/checked_answers.ts";

const LAWS = 20_000;

Deno.test("twenty thousand laws have no wrong claim and no wrong party", () => {
  const tally: Tally = {};
  for (let seed = 0; seed < LAWS; seed++) checkSeed(seed, tally);
});

Deno.test("two thousand comparisons hold on a thousand random evidences", () => {
  const tally: Tally = {};
  for (let seed = 0; seed < LAWS / 10; seed++) checkComparison(seed, 1000, tally);
});
