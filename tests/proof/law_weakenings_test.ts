/** Seeded weakenings of the laws of the examples: what `compare` says of them, and whether the cases notice them. */

import assert from "node:assert/strict";
import { constructLaw } from "../../src/law/law.ts";
import { LAW_LIMITS } from "../../src/law/limits.ts";
import { lawAsJson } from "../../src/law/normal_form.ts";
import { type Mutant, mutantsOf } from "../../src/law/questions/mutants.ts";
import type { JsonValue } from "../../src/canonical/json.ts";
import type { Requirement, ScenarioLaw } from "../../src/law/types.ts";
import { permissiveEnvironment } from "../../src/runpack/verify/claims/scenario_law_construction.ts";
import { askLaw } from "../../src/scenario/ask_law.ts";
import { writeLaw } from "../../src/scenario/law_file.ts";
import { gate, inFolder } from "../e2e/gate_command.ts";
import { Dice } from "../simulation/questions/generated_laws.ts";

const EXAMPLES = new URL("../../docs/examples/", import.meta.url).pathname;
const LAWS = [
  ...["agent_task", "change_approval", "data_disclosure", "database_migration", "release_gate"].map((name) =>
    [name, "scenario.yaml"] as const
  ),
  ["model_promotion", "scenario.json"] as const,
];
const WEAKENINGS = 200;

function lawOf(spec: JsonValue): ScenarioLaw | null {
  const built = constructLaw(spec, { limits: LAW_LIMITS, hasPacketSchema: () => true, ...permissiveEnvironment(spec) });
  return built.ok ? built.law : null;
}

const operandsOf = (requirement: Requirement): number => "And" in requirement ? requirement.And.length : 0;

/** Whether a change asks for less than before, by its form alone. */
function isWeakening(law: ScenarioLaw, { kind, place, law: changed }: Mutant): boolean {
  if (kind === "key added" || kind === "quorum lowered" || kind === "channel widened") return true;
  if (kind === "freshness dropped") {
    const id = place !== null && "condition_id" in place ? place.condition_id : "";
    const channels = law.conditions.find(({ condition_id }) => condition_id === id)?.evidence_use_policy
      .allowed_channels;
    // Evidence that is acquired in the call is as old as the call.
    return channels?.some((channel) => channel.endsWith("submission")) === true;
  }
  if (place === null || !("stage_id" in place)) return false;
  const [old, next] = [law, changed].map((one) => one.stages.find(({ stage_id }) => stage_id === place.stage_id));
  if (old === undefined || next === undefined) return false;
  if (kind === "after dropped") {
    if (next.prerequisite.kind === "root") return true;
    return old.prerequisite.kind === "requires" &&
      operandsOf(next.prerequisite.requirement) < operandsOf(old.prerequisite.requirement);
  }
  return kind === "operand dropped" && operandsOf(next.completion_requirement) < operandsOf(old.completion_requirement);
}

/** One weakening, and often a second one of the weakened law. */
function weakened(dice: Dice, law: ScenarioLaw): { readonly law: ScenarioLaw; readonly what: string } | null {
  let found = law;
  const what: string[] = [];
  for (let count = 1 + dice.roll(2); count > 0; count--) {
    const options = mutantsOf(found).filter((one) => isWeakening(found, one));
    const chosen = options[dice.roll(Math.max(1, options.length))];
    const next = chosen === undefined ? null : lawOf(lawAsJson(chosen.law));
    if (chosen === undefined || next === null) continue;
    found = next;
    what.push(`${chosen.kind} at ${JSON.stringify(chosen.place)}`);
  }
  return what.length === 0 ? null : { law: found, what: what.join(", ") };
}

Deno.test("200 weakenings of the examples are looser, and their cases notice at least 95 of 100", () =>
  inFolder(async (folder) => {
    const laws = await Promise.all(LAWS.map(async ([name, file]) => {
      const built = await gate(folder, "scenario", "build", `${EXAMPLES}${name}/${file}`);
      const law = lawOf(JSON.parse(built.stdout));
      assert.ok(law !== null, name);
      return { name, law };
    }));
    const dice = new Dice(33);
    const unnoticed: string[] = [];
    let looser = 0;
    let equivalent = 0;
    for (let count = 0; count < WEAKENINGS; count++) {
      const { name, law } = laws[dice.roll(laws.length)] ?? { name: "", law: null };
      const weaker = law === null ? null : weakened(dice, law);
      assert.ok(law !== null && weaker !== null, name);
      const compared = askLaw(weaker.law, { ask: "compare", old: law });
      assert.ok(compared.ok);
      if (compared.verdict === "equivalent") {
        // Its bindings have to answer in any case, so the word of a caller adds nothing.
        assert.match(weaker.what, /^(channel widened at [^,]*(, )?)+$/, `${name}: ${weaker.what}`);
        equivalent++;
        continue;
      }
      assert.equal(compared.verdict, "looser", `${name}: ${weaker.what}`);
      looser++;
      const file = `${folder}/weaker.yaml`;
      await Deno.writeTextFile(file, writeLaw(weaker.law));
      const flags = ["--cases", `${EXAMPLES}${name}/scenario.cases.yaml`, "--config", `${EXAMPLES}${name}/gate.toml`];
      const { code } = await gate(folder, "scenario", "test", file, ...flags);
      if (code === 0) unnoticed.push(`${name}: ${weaker.what}`);
    }
    assert.ok(looser > 150, `${looser} looser, ${equivalent} equivalent`);
    assert.ok(unnoticed.length <= looser * 0.05, `${unnoticed.length} of ${looser}:\n${unnoticed.join("\n")}`);
  }));
