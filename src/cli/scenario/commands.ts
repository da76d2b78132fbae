/**
 * The commands of `gate scenario`: names, help and flags.
 *
 * @module
 */

import type { Command } from "commander";
import { GRAPH_FORMATS } from "../terminal/choices.ts";
import { command, type Finish, type Flags, group, withJson, withValues } from "../terminal/command_parts.ts";

const FILE = "scenario file: YAML, TOML or JSON";
const CONFIG = "configuration file, for providers, keys and limits (default: GATE_CONFIG, then ./gate.toml)";

/** Adds `gate scenario` with all of its commands. */
export function addScenario(program: Command, finish: Finish): void {
  const scenario = group(program, "scenario", "Check, explain, draw and test scenario files", [
    "gate scenario check release.yaml",
    "gate scenario test release.yaml",
    "gate scenario json release.yaml | gate client call scenario_define --input -",
  ]);
  addCheck(scenario, finish);
  addExplain(scenario, finish);
  addGraph(scenario, finish);
  addTest(scenario, finish);
  addBuild(scenario, finish);
  addJson(scenario, finish);
  addSchema(scenario, finish);
}

function addCheck(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "check", "Check a scenario file; report errors by file, line and column", [
    "gate scenario check release.yaml",
    "gate scenario check --json release.toml --config /etc/gate/gate.toml",
  ]))
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .option("--evidence-keys <DIR>", "as for gate serve")
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./check.ts")).runScenarioCheck(file, flags))
    );
}

function addExplain(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "explain", "Describe the stages, conditions and evidence of a scenario in plain words", [
    "gate scenario explain release.yaml",
  ]))
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./explain.ts")).runScenarioExplain(file, flags))
    );
}

function addGraph(scenario: Command, finish: Finish): void {
  const added = withJson(command(scenario, "graph", "Draw the stages and their prerequisites", [
    "gate scenario graph release.yaml",
    "gate scenario graph release.yaml --format svg > release.svg",
    "gate scenario graph release.yaml --format mermaid",
  ]));
  withValues(added, { "--format": GRAPH_FORMATS })
    .argument("<file>", FILE)
    .option("--format <FORMAT>", "terminal, mermaid or svg", "terminal")
    .option("--config <PATH>", CONFIG)
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./graph.ts")).runScenarioGraph(file, flags))
    );
}

function addTest(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "test", "Run the test cases of a scenario: given evidence, expected outcome", [
    "gate scenario test release.yaml",
    "gate scenario test release.yaml --cases hotfix.cases.yaml --json",
  ]))
    .argument("<file>", FILE)
    .option("--cases <FILE>", "cases file (default: beside the scenario, release.cases.yaml for release.yaml)")
    .option("--config <PATH>", CONFIG)
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./run_cases.ts")).runScenarioTest(file, flags))
    );
}

function addBuild(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "build", "Print a scenario in long form, as tools take it", [
    "gate scenario build release.yaml > release.json",
  ]))
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./build.ts")).runScenarioBuild(file, flags))
    );
}

function addJson(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "json", "Print a scenario as the arguments of scenario_define", [
    "gate scenario json release.yaml | gate client call scenario_define --input -",
  ]))
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .action(async (file: string, flags: Flags) =>
      finish(await (await import("./json.ts")).runScenarioJson(file, flags))
    );
}

function addSchema(scenario: Command, finish: Finish): void {
  withJson(command(scenario, "schema", "Print the JSON Schema of scenario files, for editors", [
    "gate scenario schema > scenario.schema.json",
    "gate scenario schema --cases > cases.schema.json",
  ]))
    .option("--cases", "print the schema of cases files instead")
    .action(async (flags: Flags) => finish((await import("./schema.ts")).runScenarioSchema(flags)));
}
