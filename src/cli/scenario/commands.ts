/** The commands of `gate scenario`: names, help and flags. */

import { GRAPH_FORMATS } from "../terminal/choices.ts";
import { collect, command, type GateCommand, group } from "../terminal/command_parts.ts";

const FILE = "scenario file: YAML, TOML or JSON";
const CONFIG = "configuration file, for providers, keys and limits (default: GATE_CONFIG, then ./gate.toml)";

/** Adds `gate scenario` with all of its commands. */
export function addScenario(program: GateCommand): void {
  const scenario = group(program, "scenario", "Check, explain, draw and test scenario files", [
    "gate scenario check release.yaml",
    "gate scenario test release.yaml",
    "gate scenario json release.yaml | gate client call scenario_define --input -",
  ]);
  addReading(scenario);
  addForms(scenario);
  addQuestions(scenario);
}

/** Adds `gate new`. */
export function addNew(program: GateCommand): void {
  command(program, "new", "Write a law to start from, with its cases", ["gate new release", "gate new approval"])
    .argument("<kind>", "release, approval, migration, agent-task or artifact")
    .runs(async () => (await import("./new.ts")).runNew);
}

/** Adds `gate lsp`. */
export function addLsp(program: GateCommand): void {
  command(program, "lsp", "Serve an editor of law files over standard input and output", ["gate lsp"])
    .runs(async () => (await import("./lsp.ts")).runLsp);
}

function addReading(scenario: GateCommand): void {
  command(scenario, "check", "Check a scenario file; report errors by file, line and column", [
    "gate scenario check release.yaml",
    "gate scenario check --json release.toml --config /etc/gate/gate.toml",
    "gate scenario check release.yaml --forbid 'caller alone'",
  ])
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .option("--forbid <WHO>", "error if it completes the run: 'caller alone', 'one person alone' (repeatable)", collect)
    .asForServe("evidence-keys")
    .runs(async () => (await import("./check.ts")).runScenarioCheck);
  command(scenario, "explain", "Describe the stages, conditions and evidence of a scenario in plain words", [
    "gate scenario explain release.yaml",
  ])
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./explain.ts")).runScenarioExplain);
  command(scenario, "graph", "Draw the stages and their prerequisites", [
    "gate scenario graph release.yaml",
    "gate scenario graph release.yaml --format svg > release.svg",
    "gate scenario graph release.yaml --format mermaid",
  ])
    .withValues({ "--format": GRAPH_FORMATS })
    .argument("<file>", FILE)
    .option("--format <FORMAT>", "terminal, mermaid or svg", "terminal")
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./graph.ts")).runScenarioGraph);
  command(scenario, "test", "Run the test cases of a scenario: given evidence, expected outcome", [
    "gate scenario test release.yaml",
    "gate scenario test release.yaml --cases hotfix.cases.yaml --json",
    "gate scenario test release.yaml --mutants",
  ])
    .argument("<file>", FILE)
    .option("--cases <FILE>", "cases file (default: beside the scenario, release.cases.yaml for release.yaml)")
    .option("--set <NAME=VALUE>", "evidence or a parameter for every case; @FILE reads it (repeatable)", collect)
    .option("--mutants", "show small changes of the law that no case notices")
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./run_cases.ts")).runScenarioTest);
}

function addForms(scenario: GateCommand): void {
  command(scenario, "build", "Print a scenario in long form, as tools take it", [
    "gate scenario build release.yaml > release.json",
  ])
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./build.ts")).runScenarioBuild);
  command(scenario, "write", "Print any law as a law file: of a file in any form, or of a store", [
    "gate scenario write release.json > release.yaml",
    "gate scenario write 53b1... --namespace 2 --config gate.toml",
  ])
    .argument("<law>", "a file, or the identity of a stored law in 64 hex digits")
    .option("--namespace <N>", "namespace of a stored law (default: 2)")
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./write.ts")).runScenarioWrite);
  command(scenario, "format", "Write law files in YAML in one layout; comments and identities stay", [
    "gate scenario format release.yaml",
    "gate scenario format --check *.yaml",
    "gate scenario format - < release.yaml",
  ])
    .argument("<file...>", "law files in YAML, written in place; - reads standard input and prints")
    .option("--check", "write nothing; exit with 3 if a file has another layout")
    .runs(async () => (await import("./format.ts")).runScenarioFormat);
  command(scenario, "json", "Print a scenario as the arguments of scenario_define", [
    "gate scenario json release.yaml | gate client call scenario_define --input -",
  ])
    .argument("<file>", FILE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./build.ts")).runScenarioJson);
  command(scenario, "schema", "Print the JSON Schema of scenario files, for editors", [
    "gate scenario schema > scenario.schema.json",
    "gate scenario schema --cases > cases.schema.json",
  ])
    .option("--cases", "print the schema of cases files instead")
    .runs(async () => (await import("./schema.ts")).runScenarioSchema);
}

const ONE_VALUE = "take it that each name of evidence has one value in an attempt";
const CASE = "new file for a case that shows it, for gate scenario test --cases";

function addQuestions(scenario: GateCommand): void {
  command(scenario, "prove", "Decide whether a law can be completed without what it is said to need", [
    "gate scenario prove release.yaml --needs 'tests_failed == 0'",
    "gate scenario prove release.yaml --needs 'key(\"alice\")' --case way.yaml",
  ])
    .argument("<file>", FILE)
    .requiredOption("--needs <EXPR>", 'comparisons of the law, stage("S"), key("K"), caller(), provider("P")')
    .option("--stage <STAGE>", "the stage whose own attempt has to show it (default: the run)")
    .option("--one-value", ONE_VALUE)
    .option("--case <FILE>", CASE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./questions.ts")).runScenarioProve);
  command(scenario, "who", "List the smallest sets of callers, keys and sources that complete a law", [
    "gate scenario who release.yaml",
    "gate scenario who release.yaml --json",
  ])
    .argument("<file>", FILE)
    .option("--one-value", ONE_VALUE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./questions.ts")).runScenarioWho);
  command(scenario, "compare", "Say whether a changed law is equivalent, stricter, looser or incomparable", [
    "gate scenario compare main/release.yaml release.yaml",
    "gate scenario compare main.yaml release.yaml --allow stricter",
  ])
    .argument("<old>", FILE)
    .argument("<new>", FILE)
    .option("--allow <CHANGE>", "stricter: exit with 0 for a stricter law too")
    .option("--one-value", ONE_VALUE)
    .option("--case <FILE>", CASE)
    .option("--config <PATH>", CONFIG)
    .runs(async () => (await import("./questions.ts")).runScenarioCompare);
}
