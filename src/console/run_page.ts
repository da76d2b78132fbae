/// <reference lib="dom" />
/**
 * One run: its stages as a graph, what each needs and has, what waits for a person, and its timeline.
 *
 * @module
 */

import { everyFinding } from "../run/missing/causes.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { lawWords } from "../law/words.ts";
import { layersOf } from "../law/stage_layers.ts";
import { type ApprovalQuestion, questionsOf } from "../run/approval.ts";
import type { CompiledStage } from "../run/compile.ts";
import { judgedBy, type MissingCondition } from "../run/missing/missing.ts";
import { neededText } from "../run/missing/sentence.ts";
import { type WaitingCondition, withRefusals } from "../run/missing/waiting.ts";
import type { RecordedEvidence, RunRecord, TraceItem } from "../run/types.ts";
import type { PackView } from "../runpack/material_view.ts";
import { pictureOfStatus, type RunPicture, type StagePicture } from "../runpack/picture/run_picture.ts";
import { markedWords } from "../runpack/picture/stage_list.ts";
import { decisionId, verdictOf } from "../runpack/view/decisions.ts";
import { renderGraph } from "../runpack/view/graph.ts";
import { renderOpeners } from "../runpack/view/openers.ts";
import { sourceText } from "../runpack/view/statements.ts";
import { all, type Markup } from "../runpack/view/markup.ts";
import { renderTimeline } from "../runpack/view/timeline.ts";
import { cut, foundIn } from "../runpack/view/words.ts";
import { describeEvidence } from "../tools/law_words/describe_law.ts";
import { callTool, listen, runUri } from "./gate_client.ts";
import { currentKey } from "./key_store.ts";
import { type Content, make, nodesOf } from "./nodes.ts";
import {
  type CheckedRun,
  readFurther,
  readHints,
  readRun,
  type RunHints,
  type RunName,
  viewOf,
} from "./run_reading.ts";
import { announce, failureOf, focusable, headingOf, shortIdentity, shownText, statusBadge, tableOf } from "./shell.ts";
import { questionActions } from "./sign_dialog.ts";

/** Records of the timeline that are shown. */
const RECORDS = 200;
const VALUE_CHARACTERS = 240;

type Evaluated = Extract<RunRecord, { record_kind: "stage_evaluated" }>["body"];

/** What the drawing of a run needs. */
export interface ShownRun {
  readonly run: CheckedRun;
  readonly hints: RunHints;
  readonly view: PackView;
  /** What is shown for a question of an open stage. */
  readonly actions: (question: ApprovalQuestion, waiting: WaitingCondition | undefined) => Content;
  /** Who can complete the law. The view in other clients, which is sent whole with each request, leaves it out. */
  readonly openers?: Markup;
}

/** Shows a run: `NAMESPACE/SCENARIO/RUN[/STAGE]`. */
export async function showRun(main: HTMLElement, route: readonly string[], signal: AbortSignal): Promise<void> {
  const [namespace = "", scenario_id = "", run_id = "", stage] = route;
  const name: RunName = { namespace_id: Number(namespace), scenario_id, run_id };
  const live = make("span", { class: "live", id: "live" }, "");
  const body = make("div", { "aria-busy": "true" });
  main.replaceChildren(headingOf("Run of ", shownText(scenario_id)), make("p", {}, live), body);
  let run: CheckedRun | null = null;
  const draw = async (): Promise<void> => {
    const before = run;
    run = before === null ? await readRun(callTool, name) : await readFurther(callTool, before);
    const hints = await readHints(callTool, name);
    if (signal.aborted) return;
    const publicKey = (await currentKey().catch(() => null))?.public_key ?? null;
    const focused = document.activeElement?.id ?? "";
    const asked = run;
    const actions: ShownRun["actions"] = (question, waiting) =>
      questionActions({ run: asked, hints, question, waiting, publicKey, reload: refresh });
    body.replaceChildren(
      ...sectionsOf({ run, hints, view: viewOf(run), actions, openers: renderOpeners(run.law.law) }),
    );
    body.setAttribute("aria-busy", "false");
    body.dataset["revision"] = `${run.state.head.revision}`;
    if (focused !== "" && document.activeElement === document.body) document.getElementById(focused)?.focus();
    if (before !== null && before !== run) announce(`The run moved to revision ${run.state.head.revision}`);
  };
  let drawing: Promise<void> = Promise.resolve();
  const refresh = (): void => {
    // One reading follows the other, so that each goes on where the one before ended.
    drawing = drawing.then(draw).catch((error) => {
      if (signal.aborted) return;
      body.replaceChildren(failureOf(error));
      body.setAttribute("aria-busy", "false");
    });
  };
  refresh();
  await drawing;
  if (stage !== undefined) document.getElementById(`stage-${stage}`)?.scrollIntoView();
  const state = (current: string): void => {
    live.textContent = LIVE[current] ?? "";
    // Records of the time before the stream are read now.
    if (current === "live") refresh();
  };
  void listen([runUri(name.namespace_id, run_id)], { changed: refresh, state }, signal);
}

const LIVE: Readonly<Record<string, string>> = {
  live: "Live: changes appear by themselves",
  reconnecting: "Not live: reconnecting",
  unsupported: "Not live: reload to see changes",
};

function section(id: string, title: string, ...content: readonly Content[]): HTMLElement {
  return make("section", { "aria-labelledby": `${id}-title` }, make("h2", { id: `${id}-title` }, title), ...content);
}

/** The sections of a run: facts, graph, stages and timeline. */
export function sectionsOf(shown: ShownRun): readonly HTMLElement[] {
  const { run: { law, state }, view, openers = "" } = shown;
  const order = layersOf(law.law.stages).flat().map(({ stage_id }) => law.stageIndex.get(stage_id) ?? 0);
  const picture = pictureOf(shown);
  const graph = nodesOf(all(renderGraph(view, picture), openers));
  const timeline = nodesOf(renderTimeline(view, RECORDS));
  for (const scrolled of timeline.querySelectorAll(".scroll:not([tabindex])")) {
    focusable(scrolled, "Evidence of an attempt");
  }
  return [
    factsOf(shown),
    section("graph", "Graph", graph),
    section(
      "stages",
      "Stages",
      order.flatMap((index) => law.stages[index] ?? []).map((one) => stageCard(shown, one, picture)),
    ),
    section("timeline", "Timeline", timeline),
    section("evidence-note", "What this page checked", make("p", {}, checkedText(state.head.revision))),
  ];
}

/** The run as the drawing shows it: by its records, with the causes and waits that the server derives. */
function pictureOf({ run: { law, records, state }, hints }: ShownRun): RunPicture {
  const causes = new Map(
    hints.attempts.map((attempt) => [attempt.record_id, everyFinding(attempt)]),
  );
  const recent_attempts = records.flatMap(({ record, record_id }) =>
    record.record_kind === "stage_evaluated"
      ? [{
        ...record.body,
        causes: withRefusals(record.body.stage_id, causes.get(record_id) ?? [], hints.waiting),
      }]
      : []
  );
  return pictureOfStatus(law.law, { ...state, recent_attempts, waiting: hints.waiting });
}

function checkedText(records: number): string {
  return `The page computed the identity of the law and of ${records} records, and derived this state from them. ` +
    "It does not verify the decisions: export the run as a runpack, and drop it on the page that verifies runpacks.";
}

function factsOf({ run: { name, ownLaw, state } }: ShownRun): HTMLElement {
  const fact = (
    term: string,
    ...value: readonly Content[]
  ): Content => [make("dt", {}, term), make("dd", {}, ...value)];
  const parameters = (state.parameters ?? []).map(({ parameter_id, value }) =>
    make("li", {}, shownText(parameter_id), " = ", make("code", {}, cut(canonicalize(value.value), VALUE_CHARACTERS)))
  );
  const open = state.stages.filter(({ classification }) => classification === "open_incomplete").map(({ stage_id }) =>
    make(
      "button",
      { click: () => document.getElementById(`heading-${stage_id}`)?.focus() },
      shownText(stage_id),
    )
  );
  return make(
    "dl",
    { class: "facts" },
    fact("Status", statusBadge(state.status)),
    fact("Run", make("code", {}, name.run_id), ` in namespace ${name.namespace_id}`),
    fact("Law", make("code", {}, ownLaw.scenario_law_identity)),
    fact("Head", `revision ${state.head.revision}, `, shortIdentity(state.head.record_id)),
    parameters.length === 0 ? null : fact("Parameters", make("ul", {}, parameters)),
    open.length === 0 ? null : fact("Open stages", make("div", { class: "actions" }, open)),
  );
}

function stageCard(shown: ShownRun, stage: CompiledStage, { stages }: RunPicture): HTMLElement {
  const { run: { law, state }, hints, actions, run } = shown;
  const { stage_id } = stage.stage;
  const picture = stages.get(stage_id);
  const questions = questionsOf(law, state).filter((one) => one.stage_id === stage_id);
  const last = run.records.findLast(({ record }) =>
    record.record_kind === "stage_evaluated" && record.body.stage_id === stage_id
  )?.record;
  const attempt = last?.record_kind === "stage_evaluated" ? last.body : null;
  return make(
    "article",
    { class: "stage-card", id: `stage-${stage_id}` },
    make(
      "h3",
      // The focus finds it again after the run was drawn anew.
      // Without a label a screen reader reads the name and the state as one word.
      {
        tabindex: -1,
        id: `heading-${stage_id}`,
        "aria-label": [stage_id, ...picture === undefined ? [] : [picture.mark]].join(", "),
      },
      shownText(stage_id),
      " ",
      picture === undefined ? null : nodesOf(markedWords(picture.mark)),
    ),
    last === undefined || attempt === null ? null : make(
      "p",
      { class: "quiet", id: decisionId(last) },
      `Attempt ${attempt.attempt_number} was `,
      nodesOf(verdictOf(attempt.outcome)),
    ),
    conditionTable(shown, stage, attempt, picture),
    picture?.mark === "complete" ? null : missingOf(shown, stage_id, attempt?.trace ?? []),
    questions.map((question) => {
      const waiting = hints.waiting.find((one) =>
        one.stage_id === stage_id && one.condition_id === question.condition.condition_id
      );
      return actions(question, waiting);
    }),
  );
}

function conditionTable(
  shown: ShownRun,
  stage: CompiledStage,
  attempt: Evaluated | null,
  picture: StagePicture | undefined,
): HTMLElement {
  const { stage_id } = stage.stage;
  const words = lawWords(shown.run.ownLaw.law);
  const rows = stage.conditions.map(({ condition }): readonly Content[] => {
    const { condition_id } = condition;
    const state = picture?.conditions.get(condition_id);
    const items = attempt?.evidence.filter((one) => one.condition_id === condition_id) ?? [];
    const evidence = items.length === 0
      ? make("span", { class: "quiet" }, "no evidence")
      : make("ul", {}, items.map((item) => make("li", {}, itemText(shown.view, item))));
    return [
      make(
        "div",
        {},
        make("b", {}, shownText(state === undefined ? words.condition(condition_id) : neededText(state, words))),
        make(
          "details",
          {},
          make("summary", {}, "Which evidence counts"),
          make("ul", {}, describeEvidence(shown.run.law.law, condition).map((text) => make("li", {}, text))),
        ),
      ),
      state === undefined ? "not judged" : nodesOf(markedWords(state.mark, state.detail)),
      evidence,
    ];
  });
  return tableOf(`Conditions of stage ${stage_id}`, ["Condition", "Is", "Evidence and why it counts"], rows);
}

/** An item of evidence: its source, what it says, and why it counts or not. */
function itemText(view: PackView, item: RecordedEvidence): readonly Content[] {
  const why = item.reason ?? item.error?.code ?? "error";
  return [
    shownText(`${sourceText(view, item)}: ${foundIn(view, item)}. `),
    make(
      "span",
      // A source without an answer is no failure of what is checked.
      { class: item.qualified ? "yes" : item.error === undefined ? "no" : "absent" },
      item.qualified ? `It counts (${item.lane}).` : `It does not count: ${why.replaceAll("_", " ")}.`,
    ),
  ];
}

/** What a stage needs beside what held in its last attempt. */
function missingOf({ hints, run }: ShownRun, stageId: string, trace: readonly TraceItem[]): Content {
  const words = lawWords(run.ownLaw.law);
  const judged = judgedBy(trace);
  const standing = hints.missing.find((one) => one.stage_id === stageId);
  if (standing === undefined) return null;
  const names = (set: readonly MissingCondition[]): string => set.map((one) => neededText(one, words)).join(" and ");
  const left = standing.sets.map((set) =>
    names(set.filter(({ condition_id, needed }) => judged.get(condition_id) !== String(needed)))
  );
  const sets = [...new Set(left)].filter((text) => text !== "").map((text) => make("li", {}, shownText(text)));
  if (sets.length === 0) return null;
  return [
    make("p", {}, make("b", {}, "Missing"), sets.length === 1 ? "" : ", one of"),
    make("ul", { class: "missing" }, sets),
    standing.waits_for === undefined
      ? null
      : make("p", {}, "It waits for ", shownText(standing.waits_for.sets.map((set) => set.join(" and ")).join(" or "))),
  ];
}
