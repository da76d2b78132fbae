import assert from "node:assert/strict";
import { FULL_STEPS } from "./full.ts";
import { PROOF_STEPS } from "./proof.ts";
import { exitCodeOf, formatTally, runStep, tallyOf } from "./steps.ts";

const PASS = `<testcase name="a" line="1"></testcase>`;
const FAILURE = `<testcase name="b"><failure message="Uncaught"></failure></testcase>`;
const SKIPPED = `<testcase name="c"><skipped/></testcase>`;

const REPORTS: readonly (readonly [what: string, report: string, exitCode: number, outcome: string])[] = [
  ["all pass", PASS + PASS, 0, "2 passed, 0 failed"],
  ["one fails", PASS + FAILURE, 1, "1 passed, 1 failed"],
  ["a skipped test", PASS + SKIPPED, 0, "1 passed, 1 failed"],
  ["a bad end without a failed test", PASS, 1, "1 passed, 1 failed"],
  ["no test", "<testsuites></testsuites>", 0, "0 passed, 1 failed"],
  ["no report", "", 1, "0 passed, 1 failed"],
];

for (const [what, report, exitCode, outcome] of REPORTS) {
  Deno.test(`tallyOf() ${what}: ${outcome}`, () => assert.equal(formatTally(tallyOf(report, exitCode)), outcome));
}

const EXITS: readonly (readonly [passed: number, failed: number, exitCode: number])[] = [
  [1, 0, 0],
  [0, 0, 1],
  [0, 1, 1],
  [5, 1, 1],
];

for (const [passed, failed, exitCode] of EXITS) {
  Deno.test(`exitCodeOf() ${passed} passed, ${failed} failed: ${exitCode}`, () => {
    assert.equal(exitCodeOf({ passed, failed }), exitCode);
  });
}

const DENO = Deno.execPath();

Deno.test("runStep() counts a command as one test, passed when it exits with 0", async () => {
  const command = [DENO, "eval", "Deno.exit(0)"];
  assert.deepEqual(await runStep({ name: "zero", kind: "command", command, minutes: 1 }), { passed: 1, failed: 0 });
});

Deno.test("runStep() fails a command that exits with another code", async () => {
  const command = [DENO, "eval", "Deno.exit(3)"];
  assert.deepEqual(await runStep({ name: "three", kind: "command", command, minutes: 1 }), { passed: 0, failed: 1 });
});

Deno.test("runStep() ends a command whose time is over, and fails it", async () => {
  const command = [DENO, "eval", "await new Promise((done) => setTimeout(done, 60_000))"];
  assert.deepEqual(await runStep({ name: "slow", kind: "command", command, minutes: 0.01 }), { passed: 0, failed: 1 });
});

Deno.test("runStep() fails where a prerequisite is missing", async () => {
  const needs = [{ program: "no-such-program-here", debianPackage: "none" }];
  const command = [DENO, "eval", "Deno.exit(0)"];
  assert.deepEqual(await runStep({ name: "needs", kind: "command", command, minutes: 1, needs }), {
    passed: 0,
    failed: 1,
  });
});

Deno.test("runStep() counts the tests of a run of deno test, steps included, and shows what failed", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-steps-" });
  try {
    await Deno.writeTextFile(
      `${folder}/sample_test.ts`,
      `Deno.test("a", async (t) => { await t.step("b", () => {}); });\nDeno.test("c", () => { throw new Error("no"); });`,
    );
    const tally = await runStep({ name: "sample", kind: "tests", options: [], paths: [folder], minutes: 1 });
    assert.deepEqual(tally, { passed: 2, failed: 1 });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runStep() runs every file of a step that shares threads, in each number of them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-steps-" });
  try {
    const paths = ["a", "b", "c"].map((name) => `${folder}/${name}_test.ts`);
    for (const path of paths) await Deno.writeTextFile(path, `Deno.test("${path}", () => {});`);
    for (const threads of [1, 2, 8]) {
      const tally = await runStep({ name: "shared", kind: "tests", options: [], paths, minutes: 1, threads });
      assert.deepEqual(tally, { passed: 3, failed: 0 });
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The test files of a folder and those below. */
function testsIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? testsIn(path) : name.endsWith("_test.ts") ? [path] : [];
  });
}

for (const [folder, steps] of [["tests/full", FULL_STEPS], ["tests/proof", PROOF_STEPS]] as const) {
  Deno.test(`every test file of ${folder} belongs to a step of its plan`, () => {
    const paths = steps.flatMap((step) => step.kind === "tests" ? step.paths : []);
    const isListed = (file: string): boolean => paths.some((path) => file === path || file.startsWith(`${path}/`));
    const files = testsIn(folder);
    assert.ok(files.length > 5);
    assert.deepEqual(files.filter((file) => !isListed(file)), []);
  });
}
