import assert from "node:assert/strict";
import { lawAsJson } from "../law/normal_form.ts";
import { formatOf, readLaw } from "./read_law.ts";
import { LAW_CHARACTERS_MAXIMUM } from "./share.ts";

const YAML = await Deno.readTextFile(new URL("../../docs/examples/first_gate/release.yaml", import.meta.url));

const TOML = `
spec_version = "dag-v3"
namespace_id = 2
scenario_id = "release"
completion_requirement = { Condition = "ship" }

[[parameters]]
parameter_id = "commit"
domain = { domain = "String", minimum_bytes = 7, maximum_bytes = 40 }

[[conditions]]
condition_id = "tested_commit"
observation_domain = { domain = "String", minimum_bytes = 7, maximum_bytes = 40 }
predicate = { predicate = "Equals", expected = { parameter = "commit" } }

[[conditions]]
condition_id = "tests_failed"
observation_domain = { domain = "Integer" }
predicate = { predicate = "Equals", expected = { value = 0, value_type = "Integer" } }

[[stages]]
stage_id = "ship"
prerequisite = { kind = "root" }
completion_requirement = { And = [{ Condition = "tested_commit" }, { Condition = "tests_failed" }] }
entry_packets = []
`;

const FORMATS = [
  ["{}", "json"],
  ["\n  # a comment\n{", "json"],
  ["a: 1", "yaml"],
  ["- a", "yaml"],
  ["# a = 1\na: 1", "yaml"],
  ["a = 1", "toml"],
  ['"a b" = 1', "toml"],
  ["[[a]]\nb = 1", "toml"],
  ["[a.b] # c", "toml"],
  ["[1, 2]", "yaml"],
  ["", "yaml"],
] as const;

for (const [text, format] of FORMATS) {
  Deno.test(`formatOf() ${JSON.stringify(text)}: ${format}`, () => assert.equal(formatOf(text), format));
}

Deno.test("readLaw() reads one law from YAML, TOML and JSON", () => {
  const law = readLaw(YAML).law;
  assert.ok(law !== null);
  const json = JSON.stringify(lawAsJson(law.law));
  for (const text of [TOML, json]) assert.equal(readLaw(text).law?.scenario_law_identity, law.scenario_law_identity);
});

const FAULTS = [
  ["no law at all", "1", 1, 1],
  ["a fault of the format", "a: [", 1, 4],
  ["a parameter that is not declared", YAML.replace("== commit", "== branch"), 8, 26],
  ["a fault of the law", `${YAML}complete: shop\n`, 9, 11],
] as const;

for (const [name, text, line, column] of FAULTS) {
  Deno.test(`readLaw() ${name}: an error in line ${line}`, () => {
    const { law, problems } = readLaw(text);
    assert.equal(law, null);
    const found = problems.map(({ severity, position: { line, column } }) => [severity, line, column]);
    assert.deepEqual(found[0], ["error", line, column], JSON.stringify(problems));
  });
}

for (const [more, isLaw] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`readLaw() ${LAW_CHARACTERS_MAXIMUM + more} characters: ${isLaw ? "a law" : "refused"}`, () => {
    const text = `${YAML}#`.padEnd(LAW_CHARACTERS_MAXIMUM + more, " ");
    assert.equal(readLaw(text).law !== null, isLaw);
  });
}
