/** `gate config check` finds the same problems in the files of a configuration as a start. */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";

Deno.test("gate config check accepts the names of all tools in lists", () =>
  inFolder(async (folder) => {
    const toml =
      `server.tools.denylist = ["typed_providers_list"]\nserver.auth = { allowed_tools = ["typed_providers_import"] }\n`;
    await Deno.writeTextFile(`${folder}/gate.toml`, toml);
    const { code, stdout } = await gate(folder, "config", "check", "--json", "gate.toml");
    const { result } = JSON.parse(stdout);
    assert.deepEqual([code, result.valid, result.problems, result.notices], [0, true, [], []]);
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
