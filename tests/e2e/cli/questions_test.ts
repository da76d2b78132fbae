/** Questions to the laws of the guide and of the examples, and the cases that show their answers. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, inFolder } from "../gate_command.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Writes the laws of the guide, whose first line names their file. */
async function writeGuideLaws(folder: string): Promise<void> {
  const page = await Deno.readTextFile(join(ROOT, "docs/guide/questions.md"));
  for (const [, file = "", text = ""] of page.matchAll(/```yaml\n# (\S+)\n([^`]*)```/g)) {
    await Deno.writeTextFile(join(folder, file), text);
  }
}

const AGENT = join(ROOT, "docs/examples/agent_task/scenario.yaml");
const CHANGE = join(ROOT, "docs/examples/change_approval/scenario.yaml");

/** Command, exit code, and output. */
const ROWS: readonly (readonly [command: readonly string[], code: number, said: RegExp])[] = [
  [
    ["prove", "waiver.yaml", "--needs", "tests_failed == 0"],
    3,
    /^Not proved: .*\n {2}1\. stage ship\n {4}waived is true/,
  ],
  [["prove", "waiver.yaml", "--needs", "tests_failed == 0 || waived"], 0, /^Proved: the run needs /],
  [["prove", "waiver.yaml", "--needs", "caller()", "--stage", "ship"], 0, /^Proved: stage ship needs /],
  [["prove", "waiver.yaml", "--needs", "!waived"], 3, /^Not proved/],
  [["prove", "waiver.yaml", "--needs", "!caller()"], 2, /Expected a comparison after !/],
  [
    ["prove", "waiver.yaml", "--needs", "tests_failed == 1"],
    2,
    /The law does not compare it so: it has tests_failed == 0/,
  ],
  [["prove", "waiver.yaml", "--needs", "waved"], 2, /Name "waved" is not declared; did you mean "waived"\?/],
  [
    ["prove", "waiver.yaml", "--needs", "waived", "--stage", "shop"],
    2,
    /Stage "shop" is not in the law; did you mean "ship"\?/,
  ],
  [["prove", "waiver.yaml", "--needs", 'key("alice")'], 2, /Key "alice" is not in the law/],
  [["prove", "waiver.yaml", "--needs", 'provider("json")'], 2, /Provider "json" is not in the law/],
  [["prove", "range.yaml", "--needs", "x < 20", "--one-value"], 3, /^Not proved: if each name has one value/],
  [["prove", "range.yaml", "--needs", "x < 20 || y", "--one-value"], 0, /^Proved: if each name has one value/],
  [["who", "alone.yaml"], 0, /The run is completed by\n {2}key alice\n {2}key bob\n$/],
  [["check", "alone.yaml"], 0, /^alone\.yaml:1:1: warning: one person alone: .* \[one_person_alone\]\n.*, 1 warning\n/],
  [["check", "alone.yaml", "--forbid", "caller alone"], 0, /warning: one person alone/],
  [
    ["check", "alone.yaml", "--forbid", "caller alone", "--forbid", "one person alone"],
    2,
    /error: one person alone: .*\n.*, 1 error\n/,
  ],
  [["check", "waiver.yaml"], 0, /warning: caller alone: /],
  [["check", "waiver.yaml", "--forbid", "caller alone"], 2, /error: caller alone: /],
  [["check", "waiver.yaml", "--forbid", "caller"], 2, /Cannot forbid "caller"/],
  [["check", CHANGE, "--forbid", "caller alone", "--forbid", "one person alone"], 0, /a law with \d+ stages?/],
  [["explain", "alone.yaml"], 0, /\nThe run is completed by\n {2}key alice\n {2}key bob\n$/],
  [["prove", "alone.yaml", "--needs", 'key("alice")'], 3, /approved is true: true by key bob/],
  [["prove", "alone.yaml", "--needs", 'key("alice") || key("bob")'], 0, /^Proved/],
  [["prove", "aside.yaml", "--needs", 'stage("analysis")'], 3, /1\. stage share_raw/],
  [["prove", "aside.yaml", "--needs", 'stage("analysis")', "--stage", "share"], 0, /^Proved/],
  [
    ["prove", "range.yaml", "--needs", "x < 30 || y", "--one-value"],
    0,
    /^Proved: if each name has one value in an attempt/,
  ],
  [["prove", "range.yaml", "--needs", "x < 15 || y", "--one-value"], 3, /^Not proved/],
  [["compare", "old.yaml", "new.yaml"], 3, /^the run: looser\n {2}only the new law accepts\n/],
  [["compare", "new.yaml", "old.yaml"], 3, /^the run: stricter\n/],
  [["compare", "new.yaml", "old.yaml", "--allow", "stricter"], 0, /^the run: stricter\n/],
  [["compare", "new.yaml", "old.yaml", "--allow", "looser"], 2, /Cannot allow "looser"/],
  [["compare", "old.yaml", "old.yaml"], 0, /^the run: equivalent\nstage check: equivalent\n$/],
  [["compare", "old.yaml", "alone.yaml"], 3, /^the run: incomparable\n/],
  [["prove", AGENT, "--needs", "unit_tests_pass || types_check"], 3, /waived is true: true by key maintainer/],
  [["who", CHANGE], 0, /The run is completed by\n {2}key alice \+ key bob \+ the caller's word\n/],
];

Deno.test("questions to laws have answers and exit codes", async () => {
  await inFolder(async (folder) => {
    await writeGuideLaws(folder);
    for (const [command, code, said] of ROWS) {
      const ended = await gate(folder, "scenario", ...command);
      assert.match(ended.stdout + ended.stderr, said, command.join(" "));
      assert.equal(ended.code, code, command.join(" "));
    }
  });
});

Deno.test("a way round runs as a case to the end that it shows", async () => {
  await inFolder(async (folder) => {
    await writeGuideLaws(folder);
    const rows: readonly (readonly [law: string, question: readonly string[]])[] = [
      ["waiver.yaml", ["prove", "waiver.yaml", "--needs", "tests_failed == 0"]],
      ["alone.yaml", ["prove", "alone.yaml", "--needs", 'key("alice")']],
      ["aside.yaml", ["prove", "aside.yaml", "--needs", 'stage("analysis")']],
      ["range.yaml", ["prove", "range.yaml", "--needs", "y"]],
      ["new.yaml", ["compare", "old.yaml", "new.yaml"]],
      ["new.yaml", ["compare", "new.yaml", "old.yaml"]],
      [CHANGE, ["prove", CHANGE, "--needs", 'key("alice")', "--stage", "checks"]],
    ];
    for (const [at, [law, question]] of rows.entries()) {
      const file = `way${at}.cases.yaml`;
      const asked = await gate(folder, "scenario", ...question, "--case", file);
      assert.equal(asked.code, 3, question.join(" ") + asked.stderr);
      const run = await gate(folder, "scenario", "test", law, "--cases", file);
      assert.match(run.stdout, /1 passed, 0 failed/, question.join(" ") + run.stdout + run.stderr);
    }
  });
});

Deno.test("answers as JSON name the parties", async () => {
  await inFolder(async (folder) => {
    await writeGuideLaws(folder);
    const { result } = JSON.parse((await gate(folder, "scenario", "who", "alone.yaml", "--json")).stdout);
    assert.deepEqual(result, {
      file: "alone.yaml",
      stages: { deploy: [["key:alice"], ["key:bob"]] },
      run: [["key:alice"], ["key:bob"]],
    });
    const proved = JSON.parse(
      (await gate(folder, "scenario", "prove", "waiver.yaml", "--needs", "waived", "--json")).stdout,
    );
    assert.deepEqual([proved.ok, proved.result.verdict, proved.result.way.steps[0].evidence[0].by], [
      false,
      "not_proved",
      ["caller"],
    ]);
  });
});

Deno.test("gate scenario compare shows the parameters of a way on a line of their own", () =>
  inFolder(async (folder) => {
    const law = `law: release
parameters:
  commit: text(7..40)
people:
  owners: [alice, bob]
evidence:
  tested_commit: caller
  approved: 2 of owners within 24h
stages:
  ship: tested_commit == commit && approved
`;
    await Deno.writeTextFile(`${folder}/old.yaml`, law);
    await Deno.writeTextFile(`${folder}/new.yaml`, law.replace("2 of owners", "1 of owners"));
    const { code, stdout } = await gate(folder, "scenario", "compare", "old.yaml", "new.yaml");
    assert.equal(code, 3, stdout);
    assert.match(stdout, /^ {2}only the new law accepts\n {2}with commit = "[^"]*"\n {4}stage ship: /m);
  }));
