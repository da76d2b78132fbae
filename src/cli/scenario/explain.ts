/**
 * `gate scenario explain`: describes a scenario in plain words.
 *
 * @module
 */

import { countOf } from "../../config/problems.ts";
import type { Condition, EntryPacket, ScenarioLaw, Stage, Target } from "../../law/types.ts";
import { requirementText } from "../../law/requirement_text.ts";
import { eachLeaf } from "../../law/requirement_walk.ts";
import { layersOf } from "../../law/stage_layers.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { describeCondition, describeEvidence } from "./describe_law.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { describeDiagnostics, identitiesOf, type ScenarioFlags } from "./check.ts";
import { withScenario } from "./law.ts";
import { shown } from "../terminal/text.ts";

/** Runs `gate scenario explain`. Returns 2 if the file is not a law, else 0. */
export function runScenarioExplain(file: string, flags: ScenarioFlags): Promise<number> {
  return withScenario(file, flags.config, ({ scenario }) => {
    const { law, diagnostics } = scenario;
    if (law === null) {
      if (flags.json === true) writeResult("scenario explain", { file, diagnostics }, false);
      else writeOut(describeDiagnostics(scenario, false));
      return Promise.resolve(EXIT.usage);
    }
    if (flags.json === true) writeResult("scenario explain", { file, ...identitiesOf(law), ...explainedData(law) });
    else writeOut(explainLaw(law));
    return Promise.resolve(EXIT.ok);
  });
}

/** The description as JSON, by stage and condition. */
function explainedData(law: ScenarioLaw): Readonly<Record<string, unknown>> {
  const stages = layersOf(law.stages).flatMap((layer, index) =>
    layer.map((stage) => ({
      stage_id: stage.stage_id,
      layer: index,
      opens: opensWhen(stage),
      completes: requirementText(stage.completion_requirement, shown),
      discloses: stage.entry_packets.map(describePacket),
      conditions: conditionsOf(law, stage).map((condition) => ({
        condition_id: condition.condition_id,
        needs: describeCondition(condition),
        counts: describeEvidence(law, condition),
      })),
    }))
  );
  return { completes: requirementText(law.completion_requirement, shown), stages };
}

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
    `A run is complete when ${requirementText(law.completion_requirement, shown)}`,
    "",
    ...described,
  ].join("\n");
}

function opensWhen({ prerequisite }: Stage): string {
  return prerequisite.kind === "root"
    ? "can be opened immediately"
    : `can be opened when complete: ${requirementText(prerequisite.requirement, shown)}`;
}

function conditionsOf(law: ScenarioLaw, { completion_requirement }: Stage): Condition[] {
  const named = new Set<string>();
  eachLeaf(completion_requirement, null, (id) => named.add(id));
  return law.conditions.filter(({ condition_id }) => named.has(condition_id));
}

function explainStage(law: ScenarioLaw, stage: Stage, number: number): string {
  const lines = [`${number}. ${shown(stage.stage_id)}: ${opensWhen(stage)}`];
  for (const packet of stage.entry_packets) lines.push(`   discloses ${describePacket(packet)}`);
  lines.push(`   completes when true: ${requirementText(stage.completion_requirement, shown)}`);
  for (const condition of conditionsOf(law, stage)) {
    lines.push(`   - ${shown(condition.condition_id)}: ${describeCondition(condition)}`);
    describeEvidence(law, condition).forEach((line) => lines.push(`       ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

function describePacket({ packet_id, content_type, targets, expiry }: EntryPacket): string {
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
