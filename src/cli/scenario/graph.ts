/**
 * `gate scenario graph`: draws the stages of a scenario and their prerequisites, for a terminal, as Mermaid or as SVG.
 */

import { isConjunction, leavesOf } from "../../law/requirement_walk.ts";
import { layersOf, stagesBefore } from "../../law/stage_layers.ts";
import type { Requirement, ScenarioLaw, Stage } from "../../law/types.ts";
import { expressionText } from "../../law/words.ts";
import { GRAPH_FORMATS } from "../terminal/choices.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeAnswer } from "../terminal/output.ts";
import { type ScenarioFlags, withLaw } from "./check.ts";
import { columns, shown } from "../terminal/text.ts";

/** The flags of `gate scenario graph`. */
export interface ScenarioGraphFlags extends ScenarioFlags {
  readonly format?: string;
}

/** Runs `gate scenario graph`. Returns 2 if the file is not a law, else 0. */
export function runScenarioGraph(file: string, flags: ScenarioGraphFlags): Promise<number> {
  const format = GRAPH_FORMATS.find((known) => known === (flags.format ?? "terminal"));
  if (format === undefined) {
    throw new CliError("usage", `Cannot draw as "${flags.format}"`, `expected one of ${GRAPH_FORMATS.join(", ")}`);
  }
  return withLaw("graph", file, flags, async (law) => {
    const text = format === "svg" ? await svgGraph(law) : format === "mermaid" ? mermaidGraph(law) : terminalGraph(law);
    return writeAnswer("scenario graph", flags, { file, format, text, ...graphData(law) }, text);
  });
}

async function svgGraph(law: ScenarioLaw): Promise<string> {
  const { drawLaw } = await import("../../runpack/picture/draw_law.ts");
  return `${drawLaw(law, null, { as: "file" }).markup}\n`;
}

interface GraphData {
  /** Absent for a law without parameters. */
  readonly parameters?: readonly string[];
  readonly stages: readonly { readonly stage_id: string; readonly layer: number; readonly after: readonly string[] }[];
  readonly completion: readonly string[];
}

function graphData(law: ScenarioLaw): GraphData {
  return {
    ...law.parameters === undefined ? {} : { parameters: law.parameters.map(({ parameter_id }) => parameter_id) },
    stages: layersOf(law.stages).flatMap((layer, index) =>
      layer.map((stage) => ({ stage_id: stage.stage_id, layer: index, after: stagesBefore(stage) }))
    ),
    completion: leavesOf(law.completion_requirement),
  };
}

/**
 * Draws the stages as a tree. The parent of a stage is the last stage that it waits for, so every branch is an edge;
 * the text beside a stage lists all prerequisites.
 */
export function terminalGraph(law: ScenarioLaw): string {
  const stages = layersOf(law.stages).flat();
  const positions = new Map(stages.map(({ stage_id }, index) => [stage_id, index]));
  const below = Map.groupBy(
    stages,
    (stage) => Math.max(-1, ...stagesBefore(stage).map((id) => positions.get(id) ?? -1)),
  );
  const draw = (parent: number, indent: string): string[][] => {
    const own = below.get(parent) ?? [];
    return own.flatMap((stage, at) => {
      const [branch, rail] = branchOf(parent < 0, at === own.length - 1);
      const row = [`${indent}${branch}○ ${shown(stage.stage_id)}`, describePrerequisite(stage)];
      return [row, ...draw(positions.get(stage.stage_id) ?? -1, `${indent}${rail}`)];
    });
  };
  const end = ` ● complete when ${expressionText(law.completion_requirement, shown)}`;
  return `${shown(law.scenario_id)}${parameterNames(law, " with ")}\n${columns(draw(-1, ""))}${end}\n`;
}

/** The names of the parameters after a word; empty for a law without parameters. */
function parameterNames({ parameters }: ScenarioLaw, before: string): string {
  return parameters === undefined ? "" : before + parameters.map(({ parameter_id }) => shown(parameter_id)).join(", ");
}

/** The characters before a stage, and before the stages below it. */
function branchOf(isRoot: boolean, isLast: boolean): readonly [branch: string, rail: string] {
  if (isRoot) return [" ", " "];
  return isLast ? ["└", "  "] : ["├", "│ "];
}

function describePrerequisite({ prerequisite, entry_packets }: Stage): string {
  const after = prerequisite.kind === "root"
    ? "immediately"
    : `after ${expressionText(prerequisite.requirement, shown)}`;
  if (entry_packets.length === 0) return after;
  return `${after}, discloses ${entry_packets.map((one) => shown(one.packet_id)).join(", ")}`;
}

/** Escapes a text for double quotes in Mermaid. */
function mermaidText(text: string): string {
  return shown(text).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Draws a flow chart. A prerequisite other than a conjunction becomes a diamond with its text. */
export function mermaidGraph(law: ScenarioLaw): string {
  const names = new Map(law.stages.map(({ stage_id }, index) => [stage_id, `s${index}`]));
  const lines = ["flowchart TD"];
  law.stages.forEach(({ stage_id }, index) => lines.push(`  s${index}["${mermaidText(stage_id)}"]`));
  lines.push('  done(["complete"])');
  if (law.parameters !== undefined) lines.push(`  given[/"${mermaidText(parameterNames(law, "given at start: "))}"/]`);
  const draw = (requirement: Requirement, to: string, at: string): void => {
    const from = leavesOf(requirement).map((id) => names.get(id) ?? "");
    if (isConjunction(requirement)) {
      from.forEach((name) => lines.push(`  ${name} --> ${to}`));
      return;
    }
    lines.push(`  ${at}{"${mermaidText(expressionText(requirement, shown))}"}`);
    from.forEach((name) => lines.push(`  ${name} -.-> ${at}`));
    lines.push(`  ${at} --> ${to}`);
  };
  law.stages.forEach(({ prerequisite }, index) => {
    if (prerequisite.kind === "requires") draw(prerequisite.requirement, `s${index}`, `r${index}`);
    else if (law.parameters !== undefined) lines.push(`  given -.-> s${index}`);
  });
  draw(law.completion_requirement, "done", "end_");
  return `${lines.join("\n")}\n`;
}
