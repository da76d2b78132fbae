import assert from "node:assert/strict";
import { gate, inFolder, STORES } from "../gate_command.ts";
import { evidence, LAW } from "./run_command_fixture.ts";

/** Ids with characters that reorder text in terminals, and a parameter id with an equals sign. */
const RENAMED: readonly (readonly [plain: string, hostile: string])[] = [
  ["scenario_id: release", 'scenario_id: "re\\u202elease"'],
  ["condition_id: built", 'condition_id: "bu\\u2066ilt"'],
  ["Condition: built", 'Condition: "bu\\u2066ilt"'],
  ["stage_id: build", 'stage_id: "b\\u202euild"'],
  ["Condition: build", 'Condition: "b\\u202euild"'],
  [
    "namespace_id: 2\n",
    `namespace_id: 2
parameters:
  - { parameter_id: "a", domain: { domain: Boolean } }
  - { parameter_id: "a=b", domain: { domain: Boolean } }
`,
  ],
];

const HOSTILE_LAW = RENAMED.reduce((law, [plain, hostile]) => law.replaceAll(plain, hostile), LAW)
  .replace('"b\\u202euild"t', '"bu\\u2066ilt"');

const GIVEN = ["--parameter", "a=b=true", "--parameter", "a=false"];

Deno.test("commands show ids that reorder text without these characters, and JSON has them escaped", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    await Deno.writeTextFile(`${folder}/law.yaml`, HOSTILE_LAW);
    await Deno.writeTextFile(`${folder}/evidence.json`, evidence({ "bu\u2066ilt": true, deployed: false }));
    const run = ["run", "law.yaml", "--run-key", "one", "--evidence", "evidence.json", ...GIVEN];
    const begun = await gate(folder, ...run, "--json", "--export", "run.gate");
    assert.equal(begun.code, 3, begun.stderr);
    const { run_id, scenario_law_identity: identity } = JSON.parse(begun.stdout).result;
    const admit = ["runpack", "admit", "run.gate", "--origin-unchecked", "--allow-asserted", ...GIVEN];
    const changed = HOSTILE_LAW.replace("value: true", "value: false");
    await Deno.writeTextFile(`${folder}/changed.yaml`, changed);
    // The command, and its exit code.
    const rows: readonly (readonly [readonly string[], number])[] = [
      [run, 3],
      [["runs"], 0],
      [["status", run_id], 3],
      [["explain", run_id], 3],
      [["history", run_id], 0],
      [["scenario", "explain", "law.yaml"], 0],
      [["scenario", "graph", "law.yaml"], 0],
      [["scenario", "build", "law.yaml"], 0],
      [["replay", "run.gate", "--law", "changed.yaml"], 0],
      [["runpack", "show", "run.gate"], 0],
      [[...admit, "--law", "law.yaml"], 3],
      [[...admit, "--law", identity], 3],
      [["status", run_id, "--parameter", "\u202e"], 2],
    ];
    for (const [args, expected] of rows) {
      for (const flags of [[], ["--json"]]) {
        const { code, stdout, stderr } = await gate(folder, ...args, ...flags);
        assert.equal(code, expected, `${args.join(" ")}: ${stdout}${stderr}`);
        assert.doesNotMatch(stdout + stderr, /[\u202a-\u202e\u2066-\u2069]/, args.join(" "));
        const ids = flags.length > 0 && stdout !== "" && stdout.includes("uild");
        if (ids) assert.match(JSON.stringify(JSON.parse(stdout)), /[\u202e\u2066]/, args.join(" "));
      }
    }
  }));
