import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { FULL_STEPS } from "./full.ts";
import { PROOF_STEPS } from "./proof.ts";
import { LATER_UNITS, LONG, LONG_ALONE, LONG_APART, longTests, SLOW_UNITS } from "./long.ts";
import { readReport } from "./report.ts";
import {
  type Ending,
  exitCodeOf,
  formatTally,
  runStep,
  slowestFiles,
  type Step,
  tallyOf,
  testFilesIn,
  type TestsStep,
} from "./steps.ts";
import { until } from "./until.ts";
import { runWatched } from "./watched_process.ts";

const CASES: Readonly<Record<string, string>> = {
  passed: `<testcase name="a" classname="./a_test.ts" time="0.001" line="1" col="6">\n</testcase>`,
  failed:
    `<testcase name="b" classname="./a_test.ts" time="0.1" line="2"><failure message="Uncaught">at b</failure></testcase>`,
  skipped: `<testcase name="c" classname="./a_test.ts" time="0.000" line="3"><skipped/></testcase>`,
  not_run: `<testcase name="d" classname="./a_test.ts" line="4"><skipped/></testcase>`,
  cancelled: `<testcase name="e" classname="./a_test.ts" time="0.000"><error message="Cancelled"/></testcase>`,
};

for (const [outcome, xml] of Object.entries(CASES)) {
  Deno.test(`readReport() reads a case that is ${outcome}`, () => {
    assert.deepEqual(readReport(`<testsuites>${xml}</testsuites>`).map((test) => test.outcome), [outcome]);
  });
}

Deno.test("readReport() names the file of a test and of a block of documentation, and reads names as they are", () => {
  const xml = (name: string, file: string): string =>
    `<testcase name="${name}" classname="${file}" time="2.5"></testcase>`;
  assert.deepEqual(
    readReport(xml("a &gt; &quot;b&quot; &#10;&amp;lt;", "./src/a_test.ts") + xml("x", "./docs/a.md#12-20.ts")),
    [
      { file: "src/a_test.ts", name: 'a > "b" \n&lt;', outcome: "passed", seconds: 2.5 },
      { file: "docs/a.md", name: "x", outcome: "passed", seconds: 2.5 },
    ],
  );
});

Deno.test("slowestFiles() names five files of 10 s and more, the slowest first, and counts no step twice", () => {
  const times: readonly (readonly [file: string, name: string, seconds: number])[] = [
    ...[10, 11, 12, 13].map((seconds) => [`${seconds}`, "one", seconds] as const),
    ...[["sum", "one", 9], ["sum", "one > step", 9], ["sum", "two", 11], ["short", "one", 9.9]] as const,
    ["last", "one", 30],
  ];
  const cases = times.map(([file, name, seconds]) => ({ file, name, seconds, outcome: "passed" as const }));
  const lines = slowestFiles(cases).map((line) => line.replace("   slow: ", ""));
  assert.deepEqual(lines, ["30 s in last", "20 s in sum", "13 s in 13", "12 s in 12", "11 s in 11"]);
});

const REPORTS: readonly (readonly [what: string, cases: string, exitCode: number, outcome: string])[] = [
  ["all pass", "passed passed", 0, "2 passed, 0 failed"],
  ["one fails", "passed failed", 1, "1 passed, 1 failed"],
  ["a skipped test", "passed skipped", 0, "1 passed, 1 failed"],
  ["a test that was not run", "passed not_run", 0, "1 passed, 1 failed"],
  ["a bad end without a failed test", "passed", 1, "1 passed, 1 failed"],
  ["no test", "", 0, "0 passed, 1 failed"],
  ["no report", "", 1, "0 passed, 1 failed"],
];

for (const [what, cases, exitCode, outcome] of REPORTS) {
  Deno.test(`tallyOf() ${what}: ${outcome}`, () => {
    const xml = cases.split(" ").map((name) => CASES[name] ?? "").join("");
    assert.equal(formatTally(tallyOf(readReport(xml), exitCode)), outcome);
  });
}

const EXITS: readonly (readonly [passed: number, failed: number, exitCode: number])[] = [
  [1, 0, 0],
  [0, 0, 1],
  [0, 1, 1],
  [5, 1, 1],
];

for (const [passed, failed, exitCode] of EXITS) {
  Deno.test(`exitCodeOf() ${passed} passed, ${failed} failed: ${exitCode}`, () => {
    assert.equal(exitCodeOf({ passed, failed, failures: [] }), exitCode);
  });
}

const DENO = Deno.execPath();

/** Tests and steps of a run in a folder of its own, as `N passed, N failed`, and what was ended. */
async function outcomeOf(
  files: Readonly<Record<string, string>>,
  stepOf: (paths: readonly string[], folder: string) => Step,
  ending: (folder: string) => Partial<Ending> = () => ({}),
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-steps-" });
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const tally = await runStep(stepOf(Object.keys(files).map((name) => `${folder}/${name}`), folder), ending(folder));
    return [formatTally(tally), ...tally.failures.map((name) => name.replace(/(?<= of |^)\S*\/(?=\w+_test)/, ""))];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const tests = (paths: readonly string[]): Step => ({ name: "sample", kind: "tests", options: [], paths });

const COMMANDS: readonly (readonly [what: string, code: string, outcome: string])[] = [
  ["exits with 0", "Deno.exit(0)", "1 passed, 0 failed"],
  ["exits with another code", "Deno.exit(3)", "0 passed, 1 failed"],
  ["is killed", 'Deno.kill(Deno.pid, "SIGKILL")', "0 passed, 1 failed, killed (SIGKILL)"],
];

for (const [what, code, outcome] of COMMANDS) {
  Deno.test(`runStep() counts a command that ${what}: ${outcome}`, async () => {
    const step: Step = { name: "killed", kind: "command", command: [DENO, "eval", code] };
    assert.equal((await outcomeOf({}, () => step)).join(", "), outcome);
  });
}

Deno.test("runStep() ends a command that shows nothing for too long, with its children, and names it", async () => {
  const children = `new Deno.Command("sleep", { args: ["600"] }).spawn();`;
  const command = [DENO, "eval", `${children} await new Promise((done) => setTimeout(done, 600_000))`];
  const step: Step = { name: "silent", kind: "command", command, silentMinutes: 0.05 };
  assert.deepEqual(await outcomeOf({}, () => step), ["0 passed, 1 failed", "silent (no progress)"]);
});

Deno.test("runStep() fails where a prerequisite is missing", async () => {
  const needs = [{ program: "no-such-program-here", debianPackage: "none" }];
  const step: Step = { name: "needs", kind: "command", command: [DENO, "eval", "Deno.exit(0)"], needs };
  assert.deepEqual(await outcomeOf({}, () => step), ["0 passed, 1 failed"]);
});

Deno.test("runStep() counts the tests of a run of deno test, steps included, and shows what failed", async () => {
  const sample =
    `Deno.test("a", async (t) => { await t.step("b", () => {}); });\nDeno.test("c", () => { throw new Error("no"); });`;
  assert.deepEqual(await outcomeOf({ "sample_test.ts": sample }, tests), [
    "2 passed, 1 failed",
    `"c" of sample_test.ts`,
  ]);
});

Deno.test("runStep() runs every file of a step that shares threads, in each number of them", async () => {
  const files = Object.fromEntries(
    ["a", "b", "c"].map((name) => [`${name}_test.ts`, `Deno.test("${name}", () => {});`]),
  );
  for (const threads of [1, 2, 8]) {
    assert.deepEqual(await outcomeOf(files, (paths) => ({ ...tests(paths), threads })), ["3 passed, 0 failed"]);
  }
});

/** Writes down that it runs, and never ends; `how` is what it does meanwhile. */
const hang = (folder: string, how: string): string =>
  `await Deno.writeTextFile(${JSON.stringify(`${folder}/hangs`)}, ""); ${how}`;
const WAITS = "await new Promise((done) => setTimeout(done, 600_000));";
const SPINS = "for (;;);";

/** Once something hangs, the next process that makes no progress is ended. */
const whereItHangs = (folder: string): Partial<Ending> => ({
  isStuck: () => {
    try {
      Deno.removeSync(`${folder}/hangs`);
      return true;
    } catch {
      return false;
    }
  },
});

const STUCK: readonly (readonly [what: string, options: Partial<TestsStep>, hanging: string, outcome: string])[] = [
  ["a test that waits", {}, `Deno.test("b (1) [2]", async () => { HANG(WAITS) });`, `"b (1) [2]" of b_test.ts`],
  ["a test that spins", {}, `Deno.test("b", async () => { HANG(SPINS) });`, `"b" of b_test.ts`],
  [
    "one of three threads",
    { options: ["--parallel"] },
    `Deno.test("b", async () => { HANG(SPINS) });`,
    `"b" of b_test.ts`,
  ],
  ["files that share a thread", { threads: 1 }, `Deno.test("b", async () => { HANG(WAITS) });`, `"b" of b_test.ts`],
  [
    "a step of a test",
    {},
    `Deno.test("b", async (t) => { await t.step("c", async () => { HANG(WAITS) }); });`,
    `"b" of b_test.ts`,
  ],
  ["a module that loads", {}, "HANG(WAITS)", "b_test.ts"],
];

for (const [what, options, hanging, outcome] of STUCK) {
  Deno.test(`runStep() ends ${what}: ${outcome} has failed, and the rest go on`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "gate-hang-" });
    const text = hanging.replace(/HANG\((\w+)\)/, (_, how) => hang(folder, how === "WAITS" ? WAITS : SPINS));
    const others = (name: string): string =>
      `Deno.test("${name} a (1) [2]+ \\\\", () => {});\nDeno.test("${name} z", () => {});`;
    const files = {
      "a_test.ts": others("a"),
      "b_test.ts": what.includes("module") ? text : `${others("b")}\n${text}\n${others("y")}`,
      "c_test.ts": others("c"),
    };
    const passed = what.includes("module") ? 4 : 8;
    try {
      assert.deepEqual(
        await outcomeOf(files, (paths) => ({ ...tests(paths), ...options }) as Step, () => whereItHangs(folder)),
        [`${passed} passed, 1 failed`, `${outcome} (no progress)`],
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("runStep() counts what ran before its process was killed, and names what ran", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-hang-" });
  const killed = `${folder}/hangs`;
  const sample = `Deno.test("a", () => {});
Deno.test("b", () => {});
Deno.test("c", async () => { await Deno.writeTextFile(${JSON.stringify(killed)}, String(Deno.pid)); ${WAITS} });
Deno.test("d", () => {});`;
  // The marks of the first two were read when nothing was shown for a while.
  const isStuck = (silentSeconds: number): boolean => {
    if (silentSeconds >= 5) Deno.kill(Number(Deno.readTextFileSync(killed)), "SIGKILL");
    return false;
  };
  try {
    assert.deepEqual(
      await outcomeOf({ "sample_test.ts": sample }, tests, () => ({
        isStuck: (silentSeconds) => existsSync(killed) && isStuck(silentSeconds),
      })),
      ["2 passed, 1 failed", "sample_test.ts (SIGKILL)"],
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runStep() counts what ran before somebody interrupted it, and goes on with nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-hang-" });
  const controller = new AbortController();
  const files = {
    "a_test.ts": `Deno.test("a", () => {});\nDeno.test("b", async () => { ${hang(folder, WAITS)} });`,
    "c_test.ts": `Deno.test("c", () => {});`,
  };
  try {
    const ended = outcomeOf(files, tests, () => ({ signal: controller.signal }));
    await until("the test runs", () => Deno.stat(`${folder}/hangs`).then(() => true, () => false));
    controller.abort();
    assert.deepEqual(await ended, ["1 passed, 1 failed", '"b" of a_test.ts (interrupted)']);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runWatched() says how far a process is that says nothing, and forgets the silence before a line", async () => {
  const lines: string[] = [];
  const log = console.log;
  const folder = await Deno.makeTempDir({ prefix: "gate-steps-" });
  const spoken = `${folder}/speak`;
  const look = `try { Deno.statSync(${
    JSON.stringify(spoken)
  }); break; } catch { await new Promise((r) => setTimeout(r, 50)); }`;
  const silences: number[] = [];
  try {
    console.log = (line) => lines.push(line);
    await runWatched([DENO, "eval", `for (;;) { ${look} } console.log("spoken"); ${WAITS}`], {
      name: "quiet",
      environment: {},
      lineSeconds: 2,
      signal: new AbortController().signal,
      isStuck: (silent) => {
        silences.push(silent);
        if (silent === 5 && !lines.includes("spoken")) Deno.writeTextFileSync(spoken, "");
        return lines.includes("spoken") && silent === 3;
      },
    });
  } finally {
    console.log = log;
    await Deno.remove(folder, { recursive: true });
  }
  assert.match(lines[0] ?? "", /^ {3}quiet, 2 s$/);
  assert.deepEqual(silences.slice(-3), [1, 2, 3]);
  assert.ok(silences.includes(5));
});

Deno.test("longTests() takes every file of its folders and what imports the first SDK, and each of its paths exists", () => {
  const tree = [
    { path: "tests/e2e/people/new_test.ts", text: "" },
    { path: "tests/e2e/http/new_test.ts", text: "" },
    { path: "tests/e2e/http/sdk_test.ts", text: `import { ClientOne } from "../protocol/first_sdk.ts";` },
  ];
  const files = tree.map(({ path }) => path);
  assert.deepEqual(longTests(tree, files), ["tests/e2e/people/new_test.ts", "tests/e2e/http/sdk_test.ts"]);
  const named = [...LONG, ...LONG_ALONE, ...LONG_APART, ...SLOW_UNITS, ...LATER_UNITS];
  for (const path of named) assert.ok(existsSync(path), path);
});

for (const [folder, steps] of [["tests/full", FULL_STEPS], ["tests/proof", PROOF_STEPS]] as const) {
  Deno.test(`every test file of ${folder} belongs to a step of its plan`, () => {
    const paths = steps.flatMap((step) => step.kind === "tests" ? step.paths : []);
    const isListed = (file: string): boolean => paths.some((path) => file === path || file.startsWith(`${path}/`));
    const files = testFilesIn([folder]);
    assert.ok(files.length > 5);
    assert.deepEqual(files.filter((file) => !isListed(file)), []);
  });
}
