/** Renders the form and the verdicts of the page. All text of a law or of evidence is escaped. */

import { layersOf } from "../law/stage_layers.ts";
import { type LawWords, lawWords, valueText } from "../law/words.ts";
import type { UnmetCause } from "../run/missing/causes.ts";
import { asNeeded, neededText } from "../run/missing/sentence.ts";
import { drawLaw } from "../runpack/picture/draw_law.ts";
import { pictureOfStatus, type StagePicture } from "../runpack/picture/run_picture.ts";
import { verdictOf } from "../runpack/view/decisions.ts";
import { all, element, type Markup } from "../runpack/view/markup.ts";
import { renderOpeners } from "../runpack/view/openers.ts";
import type { Field, fieldsOf, Given } from "./fields.ts";
import type { FieldFault, JudgedStage, Verdict } from "./judge.ts";
import type { ReadLaw } from "./read_law.ts";

/** Arrows that are drawn at most. */
const ARROWS = 4000;

const ROUTES: Readonly<Record<NonNullable<Field["route"]>, string>> = {
  caller: "sent by the caller",
  provider: "acquired by gate; null means that nothing was found",
  statements: "statements of people, KEY = VALUE on each line",
  none: "no evidence is possible",
};

/** The form for some laws, with what was entered before. */
export function renderForm(fields: ReturnType<typeof fieldsOf>, given: Given): Markup {
  const { parameters, conditions, needsTime } = fields;
  return all(
    parameters.length === 0 ? "" : fieldset(
      "Parameters of the run",
      parameters.map((field) => renderField("parameter", field, given.parameters.get(field.id) ?? "", given)),
    ),
    conditions.length === 0 ? "" : fieldset(
      "Evidence",
      conditions.map((field) => renderField("evidence", field, given.evidence.get(field.id) ?? "", given)),
    ),
    !needsTime ? "" : fieldset("Time of the evaluation", [
      renderField("at", { id: "at", words: "RFC 3339, such as 2026-03-01T09:00:00Z" }, given.at, given),
    ]),
  );
}

function fieldset(title: string, fields: readonly Markup[]): Markup {
  return element("fieldset", {}, element("legend", {}, title), fields);
}

function renderField(kind: string, field: Field, value: string, { signed }: Given): Markup {
  const { id, words, route, needsSignature } = field;
  const name = `${kind}:${id}`;
  const about = route === undefined ? words : `${words}; ${ROUTES[route]}`;
  const common = { id: name, "data-kind": kind, "data-name": id, spellcheck: "false", autocomplete: "off" };
  const described = { ...common, "aria-describedby": `about:${name}` };
  const input = route === "statements"
    ? element("textarea", { ...described, rows: 2 }, value)
    : element("input", { ...described, value, ...route === "none" ? { disabled: "" } : {} });
  const box = { type: "checkbox", "data-kind": "signed", "data-name": id, ...signed.has(id) ? { checked: "" } : {} };
  return element(
    "div",
    { class: "field" },
    element("label", { for: name }, element("code", {}, id)),
    input,
    needsSignature !== true ? "" : element("label", {}, element("input", box), " signed by an authorized key"),
    element("p", { class: "by", id: `about:${name}` }, about),
  );
}

/** The errors and warnings of a law. */
export function renderProblems(problems: ReadLaw["problems"]): Markup {
  return element(
    "ul",
    { class: "problems" },
    problems.map(({ severity, message, position: { line, column } }) =>
      element(
        "li",
        { class: severity },
        element("b", {}, severity === "error" ? "Error" : "Warning"),
        ` in line ${line}, column ${column}: ${message}`,
      )
    ),
  );
}

/** The texts that are no values. */
export function renderFaults(faults: readonly FieldFault[]): Markup {
  return element("ul", { class: "problems" }, faults.map(({ message }) => element("li", { class: "error" }, message)));
}

/** What the change of a law does, in words. */
export function renderChange(words: string): Markup {
  const [first = "", ...rest] = words.trimEnd().split("\n");
  return element(
    "details",
    { class: "change" },
    element("summary", {}, `The change: ${first}`),
    rest.length === 0 ? "" : element("pre", {}, rest.join("\n")),
  );
}

/** A verdict: the answer in a line, the drawing, and each stage with its trace and what is missing. */
export function renderVerdict({ law, isComplete, stages }: Verdict): Markup {
  const picture = pictureOfStatus(law.law, {
    status: isComplete ? "complete" : "active",
    stages,
    recent_attempts: stages.flatMap(({ stage_id, result: { evaluation } }) =>
      evaluation === null ? [] : [{
        stage_id,
        attempt_number: 1,
        outcome: evaluation.outcome,
        trace: evaluation.trace,
        causes: causesOf(evaluation),
      }]
    ),
  });
  const drawing = drawLaw(law.law, picture, { maximumLines: ARROWS });
  // As in the drawing: a stage after those that it waits for.
  const place = new Map(layersOf(law.law.stages).flat().map(({ stage_id }, index) => [stage_id, index]));
  const drawn = stages.toSorted((a, b) => (place.get(a.stage_id) ?? 0) - (place.get(b.stage_id) ?? 0));
  const open = drawn.filter(({ classification }) => classification !== "complete").map(({ stage_id }) => stage_id);
  const line = isComplete
    ? "Open: the run is complete."
    : `Closed: ${open.length === 1 ? "stage" : "stages"} ${open.join(", ")} not complete.`;
  return all(
    element("p", { class: `banner ${isComplete ? "good" : "bad"}` }, line),
    element("p", { class: "by" }, "Law ", element("code", {}, law.scenario_law_identity)),
    element("div", { class: "graph", tabindex: 0, role: "group", "aria-label": "Drawing of the stages" }, drawing),
    drawing.hidden === 0 ? "" : element("p", { class: "note" }, `${drawing.hidden} more arrows are not drawn.`),
    renderOpeners(law.law),
    drawn.map((stage) => renderStage(stage, law, picture.stages.get(stage.stage_id)?.conditions)),
  );
}

/** What was entered for each condition, and why it does not count. */
function causesOf({ trace, evidence }: NonNullable<JudgedStage["result"]["evaluation"]>): UnmetCause[] {
  return trace.map(({ condition_id, value, reason }) => {
    const own = evidence.filter(({ item }) => item.condition_id === condition_id);
    const cause = own.flatMap((one) => one.item.error?.code ?? one.reason ?? []);
    const found = own.flatMap(({ item: { value: given } }) =>
      given === undefined ? [] : [given === null ? "nothing" : valueText(given)]
    );
    return {
      condition_id,
      value,
      ...reason === undefined ? {} : { reason },
      ...cause.length === 0 ? {} : { cause },
      ...found.length === 0 ? {} : { found: [...new Set(found)] },
    };
  });
}

function renderStage(
  { stage_id, result, missing }: JudgedStage,
  law: Verdict["law"],
  conditions: StagePicture["conditions"] | undefined,
): Markup {
  const stage = law.stages[law.stageIndex.get(stage_id) ?? -1]?.stage;
  const words = lawWords(law.law);
  const requirement = stage === undefined ? "" : words.requirement(stage.completion_requirement);
  return element(
    "section",
    { class: "judged" },
    element(
      "h3",
      {},
      element("code", {}, stage_id),
      " ",
      result.evaluation === null ? result.outcome : verdictOf(result.evaluation.outcome),
    ),
    element("p", { class: "by" }, "complete when ", element("code", {}, requirement)),
    result.why.map((why) => element("p", { class: "note" }, why)),
    result.evaluation === null ? "" : renderTrace(result.evaluation, words, conditions),
    missing === null ? "" : renderMissing(missing),
  );
}

function renderTrace(
  evaluation: NonNullable<JudgedStage["result"]["evaluation"]>,
  words: LawWords,
  conditions: StagePicture["conditions"] | undefined,
): Markup {
  const { trace, evidence } = evaluation;
  const rows = trace.map(({ condition_id, value, reason }) => {
    const { needed = true, detail = "" } = conditions?.get(condition_id) ?? {};
    const messages = evidence.flatMap(({ item }) =>
      item.condition_id === condition_id ? item.error?.message ?? [] : []
    );
    return element(
      "tr",
      {},
      element("td", {}, element("code", {}, neededText({ condition_id, needed }, words))),
      element("td", {}, verdictOf(asNeeded(value, needed), reason)),
      element("td", {}, [detail, ...new Set(messages)].join(": ")),
    );
  });
  const head = ["Condition", "Is", "Found"].map((one) => element("th", { scope: "col" }, one));
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": "Trace of the evaluation" },
    element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows)),
  );
}

function renderMissing({ sets, complete }: NonNullable<JudgedStage["missing"]>): Markup {
  const items = sets.map((set) =>
    element("li", {}, set.map((one, at) => [at === 0 ? "" : ", and ", element("code", {}, one.sentence)]))
  );
  return all(
    element("p", {}, sets.length === 1 ? "What is missing:" : "What is missing, any one of:"),
    element("ul", { class: "missing" }, items),
    complete ? "" : element("p", { class: "note" }, "There are more such sets."),
  );
}
