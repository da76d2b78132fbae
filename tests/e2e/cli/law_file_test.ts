import assert from "node:assert/strict";
import { gate, inFolder, STORES } from "../gate_command.ts";

const LAW = `# May it go?
law: release
parameters:
  commit: text(7..40)
people:
  owners: [ alice,
    bob ]
evidence:
  tested_commit: caller # the commit of the report
  tests_failed: count
stages:
  ship: tested_commit==commit&&tests_failed==0
`;

const FORMATTED = `# May it go?
law: release
parameters:
  commit: text(7..40)
people:
  owners: [alice, bob]
evidence:
  tested_commit: caller # the commit of the report
  tests_failed: count
stages:
  ship: tested_commit == commit && tests_failed == 0
`;

/** A law that asks no caller. */
const CLOCK = `law: clock
evidence:
  begun: after 2026-03-01T09:00:00Z
stages:
  ship: begun
`;

const IN_LINE = "tests_failed == 0 && coverage >= 80";
const RUNS: readonly (readonly [readonly string[], number, RegExp])[] = [
  [
    ["--when", IN_LINE, "--set", "tests_failed=0", "--set", "coverage=91.5"],
    0,
    /scenario "inline" in namespace 2 is complete/,
  ],
  [["--when", IN_LINE, "--set", "tests_failed=2", "--set", "coverage=91.5"], 3, /tests_failed/],
  [["--when", IN_LINE, "--set", "tests_failed=0", "--namespace", "7"], 4, /in namespace 7 is active/],
  [["--when", "tests_failed = 0"], 2, /--when:1:14: error: .*Expected "==" in place of "="/],
  [["--when", IN_LINE, "--set", "covrage=9"], 2, /the law has no such name; did you mean "coverage"\?/],
  [["--when", IN_LINE, "--set", "coverage=high"], 2, /expected decimal/],
  [["--when", IN_LINE, "law.yaml"], 2, /either a file or --when/],
  [[], 2, /either a file or --when/],
  [
    ["law.yaml", "--set", "commit=3a7bd3e", "--set", "tested_commit=@commit.txt", "--set", "tests_failed=0"],
    0,
    /complete/,
  ],
  [
    ["law.yaml", "--set", "commit=3a7bd3e", "--set", "tested_commit=@none.txt"],
    2,
    /Cannot use --set "tested_commit=@none.txt"/,
  ],
  [
    ["clock.yaml", "--set", "begun=true"],
    2,
    /Cannot use --set "begun": the law takes it from no caller; gate fetches it/,
  ],
];

for (const [flags, code, text] of RUNS) {
  Deno.test(`gate run ${flags.join(" ")}: ${code}`, () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
      await Deno.writeTextFile(`${folder}/clock.yaml`, CLOCK);
      await Deno.writeTextFile(`${folder}/gate.toml`, '[[providers]]\nname = "time"\ntype = "builtin"\n');
      await Deno.writeTextFile(`${folder}/commit.txt`, "3a7bd3e\n");
      const ended = await gate(folder, "run", ...flags);
      assert.equal(ended.code, code, ended.stderr);
      assert.match(ended.stdout + ended.stderr, text);
    }));
}

Deno.test("gate scenario format writes one layout in place, with comments and the same identity", () =>
  inFolder(async (folder) => {
    const file = `${folder}/law.yaml`;
    await Deno.writeTextFile(file, LAW);
    const before = await gate(folder, "scenario", "json", "law.yaml");
    assert.equal((await gate(folder, "scenario", "format", "--check", "law.yaml")).code, 3);
    assert.equal((await gate(folder, "scenario", "format", "law.yaml")).code, 0);
    assert.equal(await Deno.readTextFile(file), FORMATTED);
    assert.equal((await gate(folder, "scenario", "format", "--check", "law.yaml")).code, 0);
    assert.equal((await gate(folder, "scenario", "json", "law.yaml")).stdout, before.stdout);
    await Deno.writeTextFile(`${folder}/other.yaml`, "a: 1\n");
    assert.equal((await gate(folder, "scenario", "format", "other.yaml")).code, 2);
  }));

Deno.test("gate scenario write prints the law of a file in any form, and of a store", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    const built = await gate(folder, "scenario", "build", "law.yaml");
    await Deno.writeTextFile(`${folder}/long.json`, built.stdout);
    const written = await gate(folder, "scenario", "write", "long.json");
    assert.match(written.stdout, /^law: release\nnamespace: 2\n/);
    await Deno.writeTextFile(`${folder}/again.yaml`, written.stdout);
    assert.equal((await gate(folder, "scenario", "build", "again.yaml")).stdout, built.stdout);
    assert.equal((await gate(folder, "run", "law.yaml", "--set", "commit=3a7bd3e")).code, 4);
    const identity = JSON.parse((await gate(folder, "scenario", "check", "law.yaml", "--json")).stdout).result
      .scenario_law_identity;
    const stored = await gate(folder, "scenario", "write", identity, "--config", "gate.toml");
    assert.deepEqual([stored.code, stored.stdout], [0, written.stdout]);
  }));

/** The form before law files: sources in conditions, and values without types. */
const SHORT = `spec_version: dag-v3
scenario_id: release
namespace_id: 2
conditions:
  - condition_id: tests_failed
    observation_domain: { domain: Integer, minimum: 0 }
    predicate: { predicate: Equals, expected: 0 }
    from: { provider: env, check: get, params: { key: FAILED } }
stages:
  - stage_id: ship
    prerequisite: { kind: root }
    completion_requirement: { Condition: tests_failed }
completion_requirement: { Condition: ship }
`;

/** Every command that takes a law. */
const TAKE_A_LAW: readonly (readonly string[])[] = [
  ["scenario", "check", "short.yaml"],
  ["scenario", "explain", "short.yaml"],
  ["scenario", "graph", "short.yaml"],
  ["scenario", "test", "short.yaml"],
  ["scenario", "build", "short.yaml"],
  ["scenario", "json", "short.yaml"],
  ["scenario", "prove", "short.yaml", "--needs", "tests_failed == 0"],
  ["scenario", "who", "short.yaml"],
  ["scenario", "compare", "short.yaml", "law.yaml"],
  ["scenario", "compare", "law.yaml", "short.yaml"],
  ["run", "short.yaml"],
  ["replay", "run.gate", "--law", "short.yaml"],
  ["runpack", "admit", "run.gate", "--law", "short.yaml", "--origin-unchecked"],
];

Deno.test("only gate scenario write reads the form before law files: every other command names it", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/short.yaml`, SHORT);
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    const pack = await gate(folder, "run", "--when", "a", "--set", "a=true", "--export", "run.gate");
    assert.equal(pack.code, 0, pack.stderr);
    for (const args of TAKE_A_LAW) {
      const { code, stdout, stderr } = await gate(folder, ...args);
      assert.equal(code, 2, args.join(" "));
      const errors = (stdout + stderr).split("\n").filter((line) => line.includes(": error: "));
      assert.equal(errors.length, 1, `${args.join(" ")}: ${stdout}${stderr}`);
      assert.match(errors[0] ?? "", /short\.yaml:8:5: error: .*: gate scenario write short\.yaml \[short_form\]$/);
    }
    const written = await gate(folder, "scenario", "write", "short.yaml");
    assert.match(written.stdout, /^law: release\n[^]*tests_failed: count from env FAILED\n/);
    await Deno.writeTextFile(`${folder}/short.yaml`, written.stdout);
    assert.equal((await gate(folder, "scenario", "check", "short.yaml")).code, 0);
  }));
