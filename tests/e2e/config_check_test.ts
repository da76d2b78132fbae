/** `gate config check` finds the same problems in the files of a configuration as a start. */

import assert from "node:assert/strict";
import { gate, inFolder, logText } from "./gate_command.ts";

const UNSERVED = `server.tools.denylist = ["typed_providers_import", "precheck"]
server.auth = { allowed_tools = ["typed_providers_import", "scenario_define"] }
`;

Deno.test("gate config check, gate doctor and a start report listed tools that this version does not serve", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, UNSERVED);
    const notices = [
      'server.tools.denylist[0]: this version does not serve the tool "typed_providers_import"',
      'server.auth.allowed_tools[0]: this version does not serve the tool "typed_providers_import"',
    ];
    const checked = await gate(folder, "config", "check", "gate.toml");
    assert.deepEqual(checked, {
      code: 0,
      stdout: [`${folder}/gate.toml: valid`, ...notices.map((notice) => `notice: ${notice}`), ""].join("\n"),
      stderr: "",
    });
    const { result } = JSON.parse((await gate(folder, "config", "check", "--json", "gate.toml")).stdout);
    assert.deepEqual([result.valid, result.problems, result.notices], [true, [], notices]);
    const { result: { findings } } = JSON.parse((await gate(folder, "doctor", "--json")).stdout);
    const started = logText((await gate(folder, "serve")).stderr);
    for (const notice of notices) {
      assert.ok(findings.some(({ message }: { message: string }) => message === notice), notice);
      assert.ok(started.includes(`gate warn: ${notice}\n`), started);
    }
  }));

/** A contract beside the configuration, and the problem that both check and start report. */
const CONTRACTS: readonly (readonly [what: string, text: string | null, problem: RegExp])[] = [
  ["that is not there", null, /^providers\[0\]\.capabilities_path: must be a usable contract: .*/],
  ["that is not JSON", "{", /^providers\[0\]\.capabilities_path: must be a usable contract: .*/],
  [
    "of another provider",
    '{"provider_id": "other"}',
    /^providers\[0\]\.capabilities_path: must be a usable contract: .*/,
  ],
];

for (const [what, text, problem] of CONTRACTS) {
  Deno.test(`gate config check rejects a contract ${what} with the message of a start`, () =>
    inFolder(async (folder) => {
      const provider = '[[providers]]\nname = "lab"\ntype = "mcp"\nurl = "https://lab.example/mcp"\n';
      await Deno.writeTextFile(`${folder}/lab.toml`, `${provider}capabilities_path = "lab.json"\n`);
      if (text !== null) await Deno.writeTextFile(`${folder}/lab.json`, text);
      const { code, stdout } = await gate(folder, "config", "check", "lab.toml");
      const [heading, ...lines] = stdout.trimEnd().split("\n");
      assert.deepEqual([code, heading?.replace(/\d+ problems?$/, "N")], [2, `${folder}/lab.toml: N`]);
      assert.ok(lines.length > 0);
      const started = await gate(folder, "serve", "--config", "lab.toml");
      assert.equal(started.code, 2);
      for (const line of lines) {
        assert.match(line, problem);
        assert.ok(started.stderr.includes(JSON.stringify(line).slice(1, -1)) || started.stderr.includes(line), line);
      }
    }));
}
