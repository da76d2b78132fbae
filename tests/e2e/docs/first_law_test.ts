/** The page "Your first law": its files and commands, in order, do what the page says, within its size. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

const PAGE = await Deno.readTextFile(new URL("../../../docs/guide/first_law.md", import.meta.url));

function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(([, name, block = ""]) =>
    name === language ? [block] : []
  );
}

const MIGRATE = "run migration.yaml --run-key orders-7";

/** Exit codes of commands that do not end with 0, by their begin, one for each time that they are given. */
const CODES: readonly (readonly [string, readonly number[]])[] = [
  [
    "run release.yaml --parameter commit=4f2a9c1 --run-key 4f2a9c1 --set tested_commit=4f2a9c1 --set tests_failed=2",
    [3],
  ],
  [MIGRATE, [4, 4, 0]],
  ["status ", [4]],
  ["runpack verify release.runpack --trusted-key", [4]],
];

/** The law of the migration with its times open on every day, as the page tells who runs it. */
function open(law: string): string {
  return law.replace("after 2026", "after 2020").replace("before 2026", "before 2999")
    .replace("Mon-Fri 08:00-18:00", "Mon-Sun 00:00-24:00");
}

/** The law of the migration with the two words exchanged. */
function exchanged(law: string): string {
  return law.replace("begun: after", "begun: before").replace("not_late: before", "not_late: after");
}

Deno.test("the commands of the first law take both laws from their text to a complete run", () =>
  inFolder(async (folder) => {
    const [law = "", cases = "", migration = "", migrationCases = "", backup = "", backupCases = "", ...others] =
      blocks("yaml");
    assert.deepEqual(others, []);
    await Deno.writeTextFile(`${folder}/release.yaml`, law);
    await Deno.writeTextFile(`${folder}/release.cases.yaml`, cases);
    await Deno.writeTextFile(`${folder}/migration.yaml`, migration);
    await Deno.writeTextFile(`${folder}/migration.cases.yaml`, migrationCases);
    await Deno.writeTextFile(`${folder}/backup.yaml`, backup);
    await Deno.writeTextFile(`${folder}/backup.cases.yaml`, backupCases);
    const commands = blocks("sh").flatMap((block) => block.trim().split("\n"));
    const outputs: string[] = [];
    const given = new Map<string, number>();
    let run = "";
    for (const command of commands) {
      const words = command.replace("RUN", run).split(" ").slice(1);
      const line = words.join(" ");
      const [begin, codes] = CODES.find(([begin]) => line.startsWith(begin)) ?? [line, [0]];
      const time = given.get(begin) ?? 0;
      given.set(begin, time + 1);
      if (begin === MIGRATE && time === 0) await Deno.writeTextFile(`${folder}/migration.yaml`, open(migration));
      if (begin === MIGRATE && time === 2) await Deno.writeTextFile(`${folder}/evidence/rows.json`, '{"lost": 0}');
      const { code, stdout, stderr } = await gate(folder, ...words);
      assert.equal(code, codes[time] ?? 0, `${command}\n${stdout}${stderr}`);
      outputs.push(stdout);
      if (line === "init") {
        const config = `${folder}/gate.toml`;
        await Deno.writeTextFile(config, `${await Deno.readTextFile(config)}\n${blocks("toml").join("\n")}`);
      }
      if (line === "scenario check release.yaml") {
        for (const [, name] of PAGE.matchAll(/^- `(\w+)`: /gm)) {
          assert.ok(`${stdout}${stderr}`.includes(`[${name}]`), name);
        }
      }
      if (words[0] === "status") {
        const { stages } = JSON.parse(stdout).result;
        const classes = stages.map((
          { stage_id, classification }: Record<string, string>,
        ) => [stage_id, classification]);
        assert.deepEqual(classes, [["migrate", "complete"], ["verify", "open_incomplete"]]);
      }
      run = /^Run ([0-9a-f]{32}) /.exec(stdout)?.[1] ?? run;
    }
    await Deno.writeTextFile(`${folder}/migration.yaml`, exchanged(migration));
    const wrong = await gate(folder, "scenario", "test", "migration.yaml");
    assert.equal(wrong.code, 3, wrong.stdout);
    const printed = [...outputs, wrong.stdout].join("\n");
    for (const text of blocks("text")) assert.ok(printed.includes(text.trim()), text);
    assert.match(printed, /\n4 passed, 0 failed\n/);
    assert.match(printed, /\nno case notices: freshness dropped, looser\n/);
    assert.match(printed, /\n3 passed, 0 failed\n/);
    assert.match(printed, /source_authenticity +unavailable .* \[unsigned_evidence\]\n/);
    assert.match(printed, /\n6 passed, 0 failed\n/);
    assert.match(printed, / is complete at revision \d+\n1 of 1 stage complete\n/);
    assert.match(printed, / is complete at revision \d+\n2 of 2 stages complete\n/);
  }));

Deno.test("a value by name hides that the words of the page's law are exchanged", () =>
  inFolder(async (folder) => {
    const [, , migration = ""] = blocks("yaml");
    await Deno.writeTextFile(`${folder}/migration.yaml`, exchanged(migration));
    const values = "begun: true, not_late: true, working_hours: true, rows_lost: 0";
    await Deno.writeTextFile(
      `${folder}/migration.cases.yaml`,
      `by name: { ${values}, sign: [alice, carol], then: complete }\n`,
    );
    const { code, stdout } = await gate(folder, "scenario", "test", "migration.yaml");
    assert.equal(code, 0, stdout);
  }));

Deno.test("the page of the first law has at most 2,500 words and names at most 12 concepts", () => {
  assert.ok(PAGE.split(/\s+/).length <= 2500);
  const concepts = new Set([...PAGE.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name));
  assert.ok(concepts.size >= 8 && concepts.size <= 12, [...concepts].join(", "));
});
