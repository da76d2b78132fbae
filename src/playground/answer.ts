/** What the page shows for the laws and the evidence in it. It needs no page, so that a worker can find it. */

import { all, type Content, element, type Markup } from "../runpack/view/markup.ts";
import { askLaw } from "../scenario/ask_law.ts";
import { fieldsOf, type Given } from "./fields.ts";
import { judge } from "./judge.ts";
import { type ReadLaw, readLaw } from "./read_law.ts";
import { renderChange, renderFaults, renderForm, renderProblems, renderVerdict } from "./view.ts";

/** What is in the page: the text of each law, and what was entered. */
export interface Question {
  readonly texts: readonly string[];
  readonly given: Given;
}

/** What the page shows then; problems and verdicts in the order of the texts. */
export interface Answer {
  readonly problems: readonly Markup[];
  readonly verdicts: readonly Markup[];
  readonly form: Markup;
  /** Forms with the same fields have the same text. */
  readonly fields: string;
}

/** Visits of the comparison, which is made again with each change of a text or of evidence. */
const CHANGE_VISITS = 2 ** 18;

/** Makes a function that answers questions. It reads a text again only where it differs from those of the last question. */
export function startAnswers(): (question: Question) => Promise<Answer> {
  let known: ReadonlyMap<string, ReadLaw> = new Map();
  return async ({ texts, given }) => {
    known = new Map(texts.map((text) => [text, known.get(text) ?? readText(text)]));
    const read = texts.map((text) => known.get(text) ?? readText(text));
    const fields = fieldsOf(read.flatMap(({ law }) => law?.law ?? []));
    return {
      problems: read.map(({ problems }) => renderProblems(problems)),
      verdicts: await Promise.all(
        read.map(async ({ law }, index) =>
          all(await verdictOn(texts[index] ?? "", law, given), index === 0 ? "" : changeOf(read[0]?.law ?? null, law))
        ),
      ),
      form: renderForm(fields, given),
      fields: JSON.stringify(fields),
    };
  };
}

/** What the change from the first law does. */
function changeOf(old: ReadLaw["law"], law: ReadLaw["law"]): Content {
  if (old === null || law === null) return "";
  const answer = askLaw(law.law, { ask: "compare", old: old.law }, { visits: CHANGE_VISITS });
  return answer.ok ? renderChange(answer.words) : "";
}

function readText(text: string): ReadLaw {
  return text.trim() === "" ? { law: null, problems: [] } : readLaw(text);
}

async function verdictOn(text: string, law: ReadLaw["law"], given: Given): Promise<Markup> {
  if (law === null) {
    const why = text.trim() === "" ? "No law yet." : "Nothing is decided under a text that is not a law.";
    return element("p", { class: "note" }, why);
  }
  const judged = await judge(law, given);
  return "faults" in judged ? renderFaults(judged.faults) : renderVerdict(judged.verdict);
}
