/** Questions to a law with their answers in words, as JSON and as a case, for the command line and for tools. */

import { compareLaws, type Comparison } from "../law/questions/compare.ts";
import type { Difference } from "../law/questions/differences.ts";
import { proveClaim } from "../law/questions/prove.ts";
import {
  changeOf,
  claimData,
  claimText,
  comparisonData,
  comparisonText,
  whoData,
  whoText,
} from "../law/questions/question_text.ts";
import { whoCompletes } from "../law/questions/who.ts";
import type { ScenarioLaw } from "../law/types.ts";
import { lawWords } from "../law/words.ts";
import { type ClaimFault, readClaim } from "./claim.ts";
import { type CaseStep, caseText } from "./question_case.ts";

/** A question to a law. */
export type Question =
  & { /** Whether the comparisons of a name have one value in an attempt. */ readonly oneValue?: boolean | undefined }
  & (
    | { readonly ask: "prove"; readonly needs: string; readonly stage?: string | undefined }
    | { readonly ask: "who" }
    /** What the change from the older law does. */
    | { readonly ask: "compare"; readonly old: ScenarioLaw }
  );

/** An answer in every form. */
export interface AnsweredQuestion {
  readonly ok: true;
  /** `known` for an answer of parties. */
  readonly verdict: string;
  readonly words: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The way that shows it, as the text of a cases file. */
  readonly caseText?: string;
  readonly comparison?: Comparison;
}

/** How questions are answered. */
export interface AskOptions {
  readonly visits?: number;
  /** Makes a name fit for the reader of the words; as it is unless given. */
  readonly shown?: (text: string) => string;
}

const GIVEN = "if each name has one value in an attempt";

/** Answers a question, or returns every fault of its claim. */
export function askLaw(
  law: ScenarioLaw,
  question: Question,
  { visits, shown = (text) => text }: AskOptions = {},
): AnsweredQuestion | { readonly ok: false; readonly faults: readonly ClaimFault[] } {
  const oneValue = question.oneValue === true;
  if (question.ask === "compare") {
    const named = (law: ScenarioLaw) => ({ law, names: lawWords(law).evidence });
    const comparison = compareLaws(named(question.old), named(law), { oneValue, visits });
    const given = oneValue ? `${GIVEN}:\n` : "";
    return {
      ok: true,
      verdict: changeOf(comparison),
      words: `${given}${comparisonText(comparison, shown)}`,
      data: comparisonData(comparison),
      comparison,
      ...differenceCase(question.old, law, comparison),
    };
  }
  if (question.ask === "who") {
    const { evidence } = lawWords(law);
    const groupOf = ({ condition_id }: { readonly condition_id: string }): unknown => evidence.get(condition_id);
    const answer = whoCompletes(law, { visits, ...oneValue ? { groupOf } : {} });
    if (answer === null) {
      return { ok: true, verdict: "undecided", words: "Undecided\n", data: { verdict: "undecided" } };
    }
    const given = oneValue ? "If each name has one value in an attempt:\n" : "";
    return { ok: true, verdict: "known", words: `${given}${whoText(answer, shown)}`, data: whoData(answer) };
  }
  const { needs, stage } = question;
  const read = readClaim(law, needs, stage, oneValue);
  if (!read.ok) return read;
  const answer = proveClaim(law, read.claim, { visits, ...oneValue ? { groupOf: read.groupOf } : {} });
  const what = `${oneValue ? `${GIVEN}: ` : ""}${stage === undefined ? "the run" : `stage ${shown(stage)}`} needs ` +
    shown(needs);
  return {
    ok: true,
    verdict: answer.verdict,
    words: claimText(law, lawWords(law), what, answer, shown),
    data: claimData(law, answer),
    ...answer.verdict === "not_proved"
      ? { caseText: caseText(law, `without ${needs}`, answer.way.parameters, answer.way.steps) }
      : {},
  };
}

/** The first difference that only the new law accepts, else one that only the old law accepts, as a case. */
function differenceCase(
  old: ScenarioLaw,
  law: ScenarioLaw,
  { run, stages }: Comparison,
): { readonly caseText?: string } {
  const changes = [run, ...stages.values()];
  const looser = changes.find((one) => one.looser !== undefined)?.looser;
  const stricter = changes.find((one) => one.stricter !== undefined)?.stricter;
  const casedBy = (side: "old" | "new", own: ScenarioLaw, { parameters, steps }: Difference) => {
    const asked = steps.map(({ stage_id, evidence }): CaseStep => ({
      stage_id,
      evidence: evidence.flatMap(({ value, by, ...one }) =>
        one[side].map((condition_id) => ({ condition_id, value, by }))
      ),
    }));
    return { caseText: caseText(own, `only in the ${side} law`, parameters, asked) };
  };
  if (looser !== undefined) return casedBy("new", law, looser);
  return stricter === undefined ? {} : casedBy("old", old, stricter);
}
