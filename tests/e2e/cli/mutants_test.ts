/** Claims of cases files, and the changes of a law that its cases do not notice. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

/** Most claims of a file. */
const CLAIMS_MAXIMUM = 256;

const LAW = `law: coverage
people:
  leads: [alice, bob]
evidence:
  coverage: count
  approved: 2 of leads
stages:
  check: coverage >= 80
  ship: { after: check, when: approved }
`;

const CASES = `enough: { coverage: 80, sign: [alice, bob], then: complete }
too little: { coverage: 79, then: "held: coverage >= 80" }
`;

const claims = (count: number): string =>
  `proves: [${Array.from({ length: count }, () => "coverage >= 80").join(", ")}]\n`;

/** Claims, exit code, and output. */
const ROWS: readonly (readonly [claims: string, code: number, said: RegExp])[] = [
  ["", 0, /2 passed, 0 failed\n$/],
  ["proves: [coverage >= 80]\n", 0, /failed\nProved: the run needs coverage >= 80\n$/],
  [
    `proves: [{ needs: 'key("alice")', stage: ship }, { needs: 'key("bob")', stage: check }]\n`,
    3,
    /Proved: stage ship needs key\("alice"\)\nNot proved: stage check needs key\("bob"\)\n {2}1\. stage check\n/,
  ],
  ["proves: [coverage >= 90]\n", 2, /:1:10: error: .*The law does not compare it so: it has coverage >= 80/],
  ["proves: [{ need: coverage >= 80 }]\n", 2, /Unknown member "need"; did you mean "needs"\?/],
  ["proves: coverage >= 80\n", 2, /Expected a list of at most 256 claims/],
  [claims(CLAIMS_MAXIMUM), 0, /failed\n(Proved: .*\n){256}$/],
  [claims(CLAIMS_MAXIMUM + 1), 2, /Expected a list of at most 256 claims/],
];

Deno.test("claims of a cases file are decided, and one that is not proved fails the test", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    for (const [text, code, said] of ROWS) {
      await Deno.writeTextFile(`${folder}/law.cases.yaml`, text + CASES);
      const ended = await gate(folder, "scenario", "test", "law.yaml");
      assert.equal(ended.code, code, text.slice(0, 80) + ended.stdout + ended.stderr);
      assert.match(ended.stdout, said);
    }
  }));

Deno.test("gate scenario test --mutants shows what no case notices, and claims notice more", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/law.cases.yaml`, CASES);
    const ended = await gate(folder, "scenario", "test", "law.yaml", "--mutants");
    assert.equal(ended.code, 0, "the cases alone decide the exit");
    assert.match(ended.stdout, /no case notices: quorum lowered, looser\n {2}- .*2 of \[alice, bob\]\n {2}\+ .*1 of/);
    assert.match(ended.stdout, /\ncases notice \d+ of \d+ changed laws \(\d+ %\)/);
    await Deno.writeTextFile(
      `${folder}/law.cases.yaml`,
      `proves: ['key("alice") && key("bob")', { needs: 'stage("check")', stage: ship }]\n${CASES}`,
    );
    const { result } = JSON.parse((await gate(folder, "scenario", "test", "law.yaml", "--mutants", "--json")).stdout);
    assert.deepEqual([result.mutants.survived, result.proves.length], [[], 2]);
    assert.ok(result.mutants.killed > 5);
  }));

Deno.test("gate scenario test --mutants judges no mutant while the law itself fails", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    for (
      const wrong of [
        "wrong: { coverage: 79, then: complete }\n",
        `proves: [{ needs: 'key("alice")', stage: check }]\n`,
      ]
    ) {
      await Deno.writeTextFile(`${folder}/law.cases.yaml`, wrong + CASES);
      const text = await gate(folder, "scenario", "test", "law.yaml", "--mutants");
      assert.equal(text.code, 3, text.stdout + text.stderr);
      assert.match(text.stdout, /\nmutants are not judged while a case fails or a claim is not proved\n$/);
      assert.doesNotMatch(text.stdout, /notice/);
      const { code, stdout } = await gate(folder, "scenario", "test", "law.yaml", "--mutants", "--json");
      assert.deepEqual([code, "mutants" in JSON.parse(stdout).result], [3, false]);
    }
  }));

/** Examples, and how many changes of their laws no case notices. */
const EXAMPLES: readonly (readonly [name: string, file: string, survived: number])[] = [
  ["agent_task", "scenario.yaml", 0],
  ["change_approval", "scenario.yaml", 0],
  // The signatures of a case are made for its call.
  ["database_migration", "scenario.yaml", 1],
  ["model_promotion", "scenario.json", 0],
  ["release_gate", "scenario.yaml", 0],
  // The policy closes one of two ways, so no case shows that it would complete the run.
  ["data_disclosure", "scenario.yaml", 1],
];

for (const [name, file, survived] of EXAMPLES) {
  Deno.test(`the cases of ${name} notice all changes of its law but ${survived}`, async () => {
    const folder = new URL(`../../../docs/examples/${name}/`, import.meta.url).pathname;
    const flags = ["--mutants", "--json", "--config", `${folder}gate.toml`];
    const { code, stdout } = await gate(folder, "scenario", "test", file, ...flags);
    assert.equal(code, 0, stdout);
    const { mutants } = JSON.parse(stdout).result;
    assert.equal(mutants.survived.length, survived, JSON.stringify(mutants.survived));
    assert.ok(mutants.killed / (mutants.killed + survived) >= 0.93, JSON.stringify(mutants));
  });
}
