/** Describes a law in plain words, for `gate scenario explain` and `scenarios_get`. */

import { shown } from "../../canonical/shown.ts";
import { countOf } from "../../config/problems.ts";
import { usedParameters } from "../../law/expand.ts";
import { eachLeaf } from "../../law/requirement_walk.ts";
import { layersOf } from "../../law/stage_layers.ts";
import type { Condition, EntryPacket, ScenarioLaw, Stage, Target } from "../../law/types.ts";
import { expressionText, lawWords, shownType } from "../../law/words.ts";
import { describeEvidence } from "./describe_law.ts";

/** Describes a law: its stages in an order in which they can be passed, and the evidence for each condition. */
export function explainLaw(law: ScenarioLaw): string {
  const { scenario_id, namespace_id, stages, conditions, acquisition_bindings } = law;
  const counts = [
    countOf(stages.length, "stage"),
    countOf(conditions.length, "condition"),
    countOf(acquisition_bindings.length, "binding"),
  ];
  const described = layersOf(law.stages).flat().map((stage, index) => explainStage(law, stage, index + 1));
  return [
    `Scenario ${shown(scenario_id)} in namespace ${namespace_id}: ${counts.join(", ")}`,
    `A run is complete when ${expressionText(law.completion_requirement, shown)}`,
    ...explainParameters(law),
    "",
    ...described,
  ].join("\n");
}

function explainParameters(law: ScenarioLaw): string[] {
  if (law.parameters === undefined) return [];
  const used = usedParameters(law);
  const lines = law.parameters.map(({ parameter_id, domain, description }) => {
    const note = description === undefined ? "" : ` (${shown(description)})`;
    const mark = used.has(parameter_id) ? "" : "; not used, so its value ties no evidence to it";
    return `- ${shown(parameter_id)}: ${shownType(domain)}${note}${mark}`;
  });
  return ["The start of a run gives these values", ...lines];
}

/** When a stage can be opened. */
export function opensWhen({ prerequisite }: Stage): string {
  return prerequisite.kind === "root"
    ? "can be opened immediately"
    : `can be opened when complete: ${expressionText(prerequisite.requirement, shown)}`;
}

/** The conditions that a stage names. */
export function conditionsOf(law: ScenarioLaw, { completion_requirement }: Stage): Condition[] {
  const named = new Set<string>();
  eachLeaf(completion_requirement, null, (id) => named.add(id));
  return law.conditions.filter(({ condition_id }) => named.has(condition_id));
}

function explainStage(law: ScenarioLaw, stage: Stage, number: number): string {
  const words = lawWords(law);
  const lines = [`${number}. ${shown(stage.stage_id)}: ${opensWhen(stage)}`];
  for (const packet of stage.entry_packets) lines.push(`   discloses ${describePacket(packet)}`);
  lines.push(`   completes when true: ${shown(words.requirement(stage.completion_requirement))}`);
  for (const condition of conditionsOf(law, stage)) {
    lines.push(`   - ${shown(words.condition(condition.condition_id))}`);
    describeEvidence(law, condition).forEach((line) => lines.push(`       ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

/** What a packet discloses, and to which targets. */
export function describePacket({ packet_id, content_type, targets, expiry }: EntryPacket): string {
  const to = targets.length === 0 ? "any target" : targets.map(describeTarget).join(", ");
  const until = expiry === null ? "" : `, until ${expiry.kind} ${expiry.value}`;
  return `packet ${shown(packet_id)} (${shown(content_type)}) to ${to}, if the operator's policy permits${until}`;
}

function describeTarget(target: Target): string {
  switch (target.kind) {
    case "agent":
      return `agent ${shown(target.agent_id)}`;
    case "session":
      return `session ${shown(target.session_id)}`;
    case "channel":
      return `channel ${shown(target.channel)}`;
    case "external":
      return `${shown(target.target)} at ${shown(target.system)}`;
  }
}
