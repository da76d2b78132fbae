/**
 * The boxes of a drawing: one for each stage with its conditions, and one for the end. Texts are cut to their space.
 */

import { isConjunction, leavesOf } from "../../law/requirement_walk.ts";
import { layersOf, stagesBefore } from "../../law/stage_layers.ts";
import type { ScenarioLaw, Stage } from "../../law/types.ts";
import { expressionText, type LawWords, lawWords, type NamedParts } from "../../law/words.ts";
import { neededText } from "../../run/missing/sentence.ts";
import { visible } from "../view/markup.ts";
import { type Mark, MARKS, stateWords } from "./marks.ts";
import type { RunPicture, StagePicture } from "./run_picture.ts";
import { fitText, textWidth } from "./text_width.ts";

/** The part of a law that is drawn. */
export type DrawnLaw = Omit<NamedParts, "stages"> & Pick<ScenarioLaw, "scenario_id" | "completion_requirement"> & {
  readonly stages: readonly Pick<Stage, "stage_id" | "prerequisite" | "completion_requirement">[];
};

type DrawnStage = DrawnLaw["stages"][number];

/** Font sizes of names, and of all other text. */
export const NAME_SIZE = 13;
export const TEXT_SIZE = 12;
/** From an edge of a box to its text. */
export const PADDING = 12;
/** From the left end of a mark to the text beside it. */
export const MARK_SPACE = 22;
/** Height of one condition. */
export const LINE = 19;
/** Between a name and the word at the right end of its line. */
const WORD_SPACE = 14;
const NAME_MAXIMUM = 300;
const TEXT_MAXIMUM = 230;
/** Conditions that are drawn: in one stage, and in about all stages together. */
const STAGE_CONDITIONS = 12;
const ALL_CONDITIONS = 2400;
const LEAST_CONDITIONS = 3;

/** A line of a box: a condition, or a remark without a mark. */
export interface BoxLine {
  readonly text: string;
  readonly mark: Mark | null;
  readonly isRemark: boolean;
  /** The whole text, which the line may have to cut. */
  readonly title: string;
}

/** A box: a stage, or the end. */
export interface Box {
  /** Null for the end. */
  readonly stageId: string | null;
  readonly name: string;
  /** The state, the requirement and the whole name. */
  readonly title: string;
  readonly mark: Mark | null;
  /** The state in words; empty without one. */
  readonly words: string;
  readonly lines: readonly BoxLine[];
  readonly width: number;
  /** Height of the part above the conditions. */
  readonly headHeight: number;
  readonly height: number;
  /** Whether some of the stages that it names need not be complete. */
  readonly isDashed: boolean;
  /** The boxes of rows above at which its lines begin. */
  readonly from: readonly Box[];
  row: number;
  x: number;
  y: number;
}

/** The layers of boxes from the top, the end last, and the number of lines beyond the maximum. */
export function makeBoxes(law: DrawnLaw, run: RunPicture | null, maximumLines: number): {
  readonly layers: Box[][];
  readonly hidden: number;
} {
  const share = Math.floor(ALL_CONDITIONS / Math.max(1, law.stages.length));
  const conditions = Math.max(LEAST_CONDITIONS, Math.min(STAGE_CONDITIONS, share));
  const words = lawWords(law);
  const stages = new Map<string, Box>();
  let left = maximumLines;
  let hidden = 0;
  const linesFrom = (ids: readonly string[]): readonly Box[] => {
    const from = ids.flatMap((id) => stages.get(id) ?? []).slice(0, left);
    left -= from.length;
    hidden += ids.length - from.length;
    return from;
  };
  const layers = layersOf(law.stages).map((layer) =>
    layer.map((stage) => {
      const box = stageBox(stage, words, run, linesFrom(stagesBefore(stage)), conditions);
      stages.set(stage.stage_id, box);
      return box;
    })
  );
  return { layers: [...layers, [endBox(law, run, linesFrom(leavesOf(law.completion_requirement)))]], hidden };
}

function stageBox(
  { stage_id, prerequisite, completion_requirement: completion }: DrawnStage,
  law: LawWords,
  run: RunPicture | null,
  from: readonly Box[],
  maximum: number,
): Box {
  const state = run?.stages.get(stage_id) ?? null;
  const isRoot = prerequisite.kind === "root";
  const after = isRoot ? "immediately" : `after ${expressionText(prerequisite.requirement)}`;
  const words = state === null ? "" : stateWords(state.mark, state.detail);
  const title = [`${stage_id}: ${words === "" ? "" : `${words}. `}${after}`, `needs ${law.requirement(completion)}`];
  const ids = leavesOf(completion);
  const shown = ids.length <= maximum ? ids : ids.slice(0, maximum - 1);
  const conditions = shown.map((id): BoxLine => {
    const one = state?.conditions.get(id);
    const sentence = one === undefined ? law.condition(id) : neededText(one, law);
    const title = one === undefined ? sentence : `${sentence}: ${stateWords(one.mark, one.detail)}`;
    return { text: visible(sentence), mark: one?.mark ?? null, isRemark: false, title };
  });
  const rest = ids.slice(shown.length);
  const needs = isConjunction(completion) ? [] : [remark(`needs ${law.requirement(completion)}`)];
  const more = rest.length === 0 ? [] : [remark(`and ${restText(rest, state)}`)];
  return makeBox(stage_id, stage_id, title.join("; "), state?.mark ?? null, words, [...needs, ...conditions, ...more], {
    from,
    isDashed: !isRoot && !isConjunction(prerequisite.requirement),
  });
}

function endBox({ completion_requirement: completion }: DrawnLaw, run: RunPicture | null, from: readonly Box[]): Box {
  const mark = run === null ? null : run.isComplete ? "reached" : "not_reached";
  const words = mark === null ? "" : stateWords(mark, "");
  const title = `complete: ${words === "" ? "" : `${words}. `}complete when ${expressionText(completion)}`;
  return makeBox(null, "complete", title, mark, words, [], { from, isDashed: !isConjunction(completion) });
}

function remark(text: string): BoxLine {
  return { text: visible(text), mark: null, isRemark: true, title: text };
}

/** The conditions that are not drawn, by their marks. */
function restText(ids: readonly string[], state: StagePicture | null): string {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const mark = state?.conditions.get(id)?.mark;
    if (mark !== undefined) counts.set(MARKS[mark].word, (counts.get(MARKS[mark].word) ?? 0) + 1);
  }
  const tally = [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
  return `${ids.length} more${tally === "" ? "" : `: ${tally}`}`;
}

function makeBox(
  stageId: string | null,
  label: string,
  title: string,
  mark: Mark | null,
  words: string,
  given: readonly BoxLine[],
  { from, isDashed }: Pick<Box, "from" | "isDashed">,
): Box {
  const name = fitText(visible(label), NAME_SIZE, NAME_MAXIMUM);
  const state = fitText(words, TEXT_SIZE, NAME_MAXIMUM);
  const lines = given.map((line) => ({
    ...line,
    text: fitText(line.text, TEXT_SIZE, line.isRemark ? NAME_MAXIMUM : TEXT_MAXIMUM),
  }));
  const indent = mark === null ? 0 : MARK_SPACE;
  const inside = [
    indent + textWidth(name, NAME_SIZE),
    indent + textWidth(state, TEXT_SIZE),
    ...lines.map((line) => lineWidth(line)),
  ];
  const width = 2 * Math.ceil((Math.max(72, ...inside) + 2 * PADDING) / 2);
  const headHeight = mark === null ? 34 : 52;
  const height = headHeight + (lines.length === 0 ? 0 : lines.length * LINE + 12);
  return {
    stageId,
    name,
    title,
    mark,
    words: state,
    lines,
    width,
    headHeight,
    height,
    isDashed,
    from,
    row: 0,
    x: 0,
    y: 0,
  };
}

function lineWidth({ text, mark }: BoxLine): number {
  const width = textWidth(text, TEXT_SIZE);
  return mark === null ? width : MARK_SPACE + width + WORD_SPACE + textWidth(MARKS[mark].word, TEXT_SIZE);
}
