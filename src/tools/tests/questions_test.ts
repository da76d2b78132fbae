import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { CLAIM_CHARACTERS_MAXIMUM } from "../scenario_questions.ts";
import { withTools } from "./tools_fixture.ts";

const LAW = `law: waiver
evidence:
  tests_failed: count
  waived: boolean
stages:
  ship: tests_failed == 0 || waived
`;

const STRICT = LAW.replace("|| waived", "&& waived");

/** 32 of 64 keys: more sets than a budget of visits lists. */
const CROWD = `law: crowd
people:
  all: [${Array.from({ length: 64 }, (_, at) => `k${at}`).join(", ")}]
evidence:
  approved: 32 of all
stages:
  ship: approved
`;

const LONGEST = `tests_failed == 0${" ".repeat(CLAIM_CHARACTERS_MAXIMUM - 17)}`;

const ANSWERS: readonly (readonly [law: string, question: JsonObject, verdict: string, words: RegExp])[] = [
  [
    LAW,
    { ask: "prove", needs: "tests_failed == 0" },
    "not_proved",
    /^Not proved: .*\n {2}1\. stage ship\n {4}waived is/,
  ],
  [LAW, { ask: "prove", needs: LONGEST }, "not_proved", /^Not proved/],
  [LAW, { ask: "prove", needs: "tests_failed == 0 || waived", stage: "ship" }, "proved", /^Proved: stage ship needs/],
  [LAW, { ask: "prove", needs: "tests_failed < 5 || waived", one_value: true }, "proved", /^Proved: if each name has/],
  [LAW, { ask: "who" }, "known", /The run is completed by\n {2}the caller's word\n$/],
  [CROWD, { ask: "who" }, "undecided", /^Undecided\n$/],
  [LAW, { ask: "compare", old: { law_text: STRICT } }, "looser", /^the run: looser\n {2}only the new law accepts\n/],
  [STRICT, { ask: "compare", old: { law_text: LAW } }, "stricter", /^the run: stricter\n/],
  [LAW, { ask: "compare", old: { law_text: LAW } }, "equivalent", /^the run: equivalent\n/],
];

for (const [law_text, question, verdict, words] of ANSWERS) {
  Deno.test(`scenario_questions answers ${JSON.stringify(question).slice(0, 100)}: ${verdict}`, () =>
    withTools(async ({ call }) => {
      const answer = await call("scenario_questions", { namespace_id: 2, law_text, question });
      assert.equal(answer["verdict"], verdict);
      assert.match(answer["words"] as string, words);
      const isShown = ["not_proved", "looser", "stricter"].includes(verdict);
      assert.equal(answer["case"] !== undefined, isShown, "a way that is shown is a case too");
    }));
}

Deno.test("scenario_questions asks a registered law, and compares with one", () =>
  withTools(async ({ call }) => {
    const { scenario_law_identity } = await call("scenario_define", { law_text: STRICT });
    const who = await call("scenario_questions", {
      namespace_id: 2,
      scenario_law_identity: scenario_law_identity as string,
      question: { ask: "who" },
    });
    assert.deepEqual(who["answer"], { stages: { ship: [["caller"]] }, run: [["caller"]] });
    const compared = await call("scenario_questions", {
      namespace_id: 2,
      law_text: LAW,
      question: { ask: "compare", old: { scenario_law_identity: scenario_law_identity as string } },
    });
    assert.equal(compared["verdict"], "looser");
    const { laws } = await call("scenarios_list", { namespace_id: 2 }) as { laws?: unknown[]; items?: unknown[] };
    assert.ok((laws ?? []).length <= 1, "a question registers nothing");
  }));

const WHO = { ask: "who" };

const REFUSED: readonly (readonly [JsonObject, code: string, path: string])[] = [
  [{ question: WHO }, "invalid_input", "$"],
  [{ law_text: LAW }, "invalid_input", "$.question"],
  [{ law_text: LAW, question: { ask: "why" } }, "invalid_input", "$.question.ask"],
  [{ law_text: LAW, question: { ask: "prove" } }, "invalid_input", "$.question.needs"],
  [{ law_text: LAW, question: { ask: "prove", needs: `${LONGEST} ` } }, "invalid_input", "$.question.needs"],
  [{ law_text: LAW, question: { ask: "prove", needs: "coverage > 3" } }, "invalid_input", "$.question.needs"],
  [{ law_text: LAW, question: { ask: "prove", needs: "waived", stage: "land" } }, "invalid_input", "$.question.needs"],
  [{ law_text: LAW, question: { ask: "compare", old: {} } }, "invalid_input", "$"],
  [{ law_text: LAW, question: { ask: "compare", old: { law_text: "law: x\n" } } }, "invalid_input", "$.question.old"],
  [{ law_text: "law: x\n", question: WHO }, "invalid_spec", "$"],
  [{ scenario_law_identity: "0".repeat(64), question: WHO }, "law_not_found", ""],
  [
    { law_text: LAW, question: { ask: "compare", old: { scenario_law_identity: "0".repeat(64) } } },
    "law_not_found",
    "",
  ],
];

for (const [input, code, path] of REFUSED) {
  Deno.test(`scenario_questions refuses ${JSON.stringify(input).slice(0, 120)}: ${code} ${path}`, () =>
    withTools(async ({ fail }) => {
      const error = await fail("scenario_questions", { namespace_id: 2, ...input });
      const issues = (error.details?.["issues"] ?? error.details?.["refusals"] ?? []) as unknown as JsonObject[];
      assert.deepEqual([error.code, issues[0]?.["path"] ?? ""], [code, path], JSON.stringify(error));
    }));
}
