/** `gate config check` finds the same problems in the files of a configuration as a start. */

import assert from "node:assert/strict";
import { type Ended, gate, gateArgs, inFolder, processOf } from "../gate_command.ts";

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

const ADDRESS = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/** What the variable of both databases holds, and the fault that a check, a start and every other command report. */
const VARIABLES: readonly (readonly [value: string | null, fault: string | null])[] = [
  [null, 'refers to variable "GATE_TEST_DATABASE", which is not set'],
  ["", 'refers to variable "GATE_TEST_DATABASE", which is not set'],
  ["mysql://user:canary@db/gate", `refers to variable "GATE_TEST_DATABASE", which must be ${ADDRESS}`],
  ["postgres://user:canary@127.0.0.1:1/gate", null],
];

for (const [value, fault] of VARIABLES) {
  Deno.test(`gate config check of a database whose variable is ${value}: ${fault ?? "valid"}`, () =>
    inFolder(async (folder) => {
      const database = 'type = "postgres"\nurl = "env:GATE_TEST_DATABASE"\n';
      const toml = `[run_state_store]\n${database}[schema_registry]\n${database}`;
      await Deno.writeTextFile(`${folder}/gate.toml`, toml);
      const run = async (...args: readonly string[]): Promise<Ended> => {
        const { command, args: all } = processOf(gateArgs(...args, "--config", "gate.toml"));
        const env = { NO_COLOR: "1", ...value === null ? {} : { GATE_TEST_DATABASE: value } };
        const ended = await new Deno.Command(command, { args: [...all], cwd: folder, env, stdin: "null" }).output();
        const [stdout, stderr] = [ended.stdout, ended.stderr].map((bytes) => new TextDecoder().decode(bytes));
        assert.ok(!`${stdout}${stderr}`.includes("canary"));
        return { code: ended.code, stdout: stdout ?? "", stderr: stderr ?? "" };
      };
      const checked = await run("config", "check", "--json");
      const problems = fault === null
        ? []
        : ["run_state_store.url", "schema_registry.url"].map((path) => ({ path, message: fault }));
      assert.deepEqual([checked.code, JSON.parse(checked.stdout).result.problems], [fault === null ? 0 : 2, problems]);
      // An address at which nothing listens is a database that does not answer.
      for (const command of [["serve"], ["runs"], ["doctor"], ["store", "check"]]) {
        const { code, stdout, stderr } = await run(...command);
        assert.equal(code, fault === null ? 8 : 2, `${command}: ${stderr}`);
        if (fault !== null) {
          assert.ok(`${stdout}${stderr}`.replaceAll('\\"', '"').includes(fault), `${stdout}${stderr}`);
        }
      }
    }));
}
