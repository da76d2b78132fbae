import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  oneStage,
  openRun,
  serveGate,
  startGate,
} from "./acquisition_serve.ts";
import { gate as runGate, inFolder, logText } from "../gate_command.ts";

const DAY_SECONDS = 86_400;

const CONDITION = acquiredCondition("window", { domain: "Boolean" }, {
  predicate: "Equals",
  expected: { value: true, value_type: "Boolean" },
});
const BINDING = binding("window", "window", "time", "after", { timestamp: "2020-01-01T00:00:00Z" });

/** A trigger time of the caller, at which the result of a time check is asserted. */
const ASSERTED: JsonObject = {
  local_acquisition: [{ binding_id: "window", trigger_time: { kind: "unix_millis", value: 2_000_000_000_000 } }],
};

/** Name, settings, age of the file in days, outcome of an asserted item, part of standard error. */
const ROWS: readonly [string, string, number, string, RegExp | null][] = [
  ["strict", "", 0, "lane", null],
  ["permissive", "[dev]\npermissive = true", 900, "qualified", /dev\.permissive is in force without expiry/],
  ["the mode dev_permissive", '[server]\nmode = "dev_permissive"', 0, "qualified", /dev\.permissive is in force/],
  ["permissive within its time", "[dev]\npermissive = true\npermissive_ttl_days = 2", 1, "qualified", /in force until/],
  [
    "permissive after its time",
    "[dev]\npermissive = true\npermissive_ttl_days = 2",
    3,
    "lane",
    /has expired and is off/,
  ],
  [
    "permissive after its time, quietly",
    "[dev]\npermissive = true\npermissive_ttl_days = 2\npermissive_warn = false",
    3,
    "lane",
    null,
  ],
  [
    "an exempt provider",
    '[dev]\npermissive = true\npermissive_exempt_providers = ["time"]',
    0,
    "lane",
    /except from time/,
  ],
  ["a lower lane", '[trust]\nmin_lane = "asserted"', 0, "qualified", /trust\.min_lane is "asserted"/],
];

for (const [name, settings, days, expected, warning] of ROWS) {
  Deno.test(`gate serve, ${name}: an asserted item is ${expected}`, () =>
    inFolder(async (folder) => {
      const path = `${folder}/gate.toml`;
      await Deno.writeTextFile(path, `${settings}\n[[providers]]\nname = "time"\ntype = "builtin"\n`);
      const changed = Date.now() / 1000 - days * DAY_SECONDS;
      await Deno.utime(path, changed, changed);
      await using gate = await startGate(folder);
      const open = await openRun(gate, oneStage([CONDITION], [BINDING]));
      const { result } = await evaluate(gate, open, ASSERTED);
      assert.deepEqual(attemptOf(result).items, { window: expected });
      if (warning === null) assert.doesNotMatch(gate.server.errors(), /permissive/);
      else assert.match(logText(gate.server.errors()), warning);
    }));
}

Deno.test("permissive mode and a namespace authority exclude each other", () =>
  inFolder(async (folder) => {
    const authority = '[namespace.authority]\nmode = "ledger_http"\nledger = { base_url = "http://127.0.0.1:1" }\n';
    for (const settings of ["[dev]\npermissive = true\n", '[server]\nmode = "dev_permissive"\n']) {
      await Deno.writeTextFile(`${folder}/gate.toml`, settings + authority);
      const { code, stdout } = await runGate(folder, "config", "check", "gate.toml");
      assert.equal(code, 2);
      assert.match(stdout, /when namespace\.authority\.mode is "ledger_http"/);
    }
  }));

Deno.test("gate provider lists and checks the providers of a configuration", () =>
  inFolder(async (folder) => {
    await using _gate = await serveGate(folder, '[[providers]]\nname = "time"\ntype = "builtin"\n');
    const listed = await runGate(folder, "provider", "list", "--json");
    const { result } = JSON.parse(listed.stdout) as {
      result: { providers: { provider_id: string; checks: unknown[] }[] };
    };
    assert.deepEqual(result.providers.map(({ provider_id, checks }) => [provider_id, checks.length]), [["time", 3]]);
    const rows: readonly (readonly [args: readonly string[], code: number, output: RegExp])[] = [
      [["time", "after", "--param", "timestamp=5", "--trigger-time", "6"], 0, /"value": true/],
      [["time", "after", "--params", '{"timestamp":5}', "--trigger-time", "5"], 0, /"value": false/],
      [["time", "now", "--trigger-time", "7", "--json"], 0, /"value":7\}.*"lane":"asserted"/],
      [["time", "now"], 0, /"lane": "verified"/],
      [["time", "after"], 2, /requires params; its params are "timestamp" \(required\)/],
      [
        ["time", "after", "--param", "at=5"],
        2,
        /do not fit check "after": .*; its params are "timestamp" \(required\)/,
      ],
      [["time", "after", "--param", "x"], 2, /expected NAME=VALUE/],
      [["time", "never"], 2, /it has after, before, now|it has now, after, before/],
      [["nobody", "now"], 2, /configured are time/],
    ];
    await Promise.all(rows.map(async ([args, code, output]) => {
      const ended = await runGate(folder, "provider", "check", ...args);
      assert.equal(ended.code, code, `${args.join(" ")}: ${ended.stderr}`);
      assert.match(ended.stdout + ended.stderr, output);
    }));
  }));
