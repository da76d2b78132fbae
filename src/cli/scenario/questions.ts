/** `gate scenario prove`, `who` and `compare`: questions to laws, without a run. */

import { isAllowed } from "../../law/questions/question_text.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { type AnsweredQuestion, askLaw, type Question } from "../../scenario/ask_law.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { writeAnswer } from "../terminal/output.ts";
import { shown } from "../terminal/text.ts";
import { type ScenarioFlags, withLaw } from "./check.ts";

/** The flags of questions. */
interface QuestionFlags extends ScenarioFlags {
  readonly oneValue?: boolean;
  readonly case?: string;
}

/** The flags of `gate scenario prove`. */
export interface ProveFlags extends QuestionFlags {
  readonly needs: string;
  readonly stage?: string;
}

/** Answers a question, and writes the way that shows it where `--case` asks for it. */
async function answered(law: ScenarioLaw, question: Question, flags: QuestionFlags): Promise<AnsweredQuestion> {
  const answer = askLaw(law, { ...question, oneValue: flags.oneValue }, { shown });
  if (!answer.ok) {
    const needs = question.ask === "prove" ? question.needs : "";
    const reasons = answer.faults.map(({ message, start }) => `${shown(message)}, at character ${start + 1}`);
    throw new CliError("usage", `Cannot read "${needs}"`, null, EXIT.usage, reasons);
  }
  if (flags.case !== undefined && answer.caseText !== undefined) await writeNewFile(flags.case, answer.caseText);
  return answer;
}

/** Runs `gate scenario prove`. Returns 0 for a claim that is proved, 3 for one that is not, 4 if it is undecided. */
export function runScenarioProve(file: string, flags: ProveFlags): Promise<number> {
  return withLaw("prove", file, flags, async (law) => {
    const { needs, stage } = flags;
    const { verdict, data, words } = await answered(law, { ask: "prove", needs, stage }, flags);
    const result = { file, needs, ...stage === undefined ? {} : { stage }, ...data };
    const exitCode = verdict === "proved" ? EXIT.ok : verdict === "undecided" ? EXIT.unknown : EXIT.evaluatedFalse;
    return writeAnswer("scenario prove", flags, result, words, { exitCode });
  });
}

/** Runs `gate scenario who`. Returns 0, or 4 if it is undecided. */
export function runScenarioWho(file: string, flags: QuestionFlags): Promise<number> {
  return withLaw("who", file, flags, async (law) => {
    const { verdict, data, words } = await answered(law, { ask: "who" }, flags);
    const exitCode = verdict === "undecided" ? EXIT.unknown : EXIT.ok;
    return writeAnswer("scenario who", flags, { file, ...data }, words, { exitCode });
  });
}

/** The flags of `gate scenario compare`. */
export interface CompareFlags extends QuestionFlags {
  readonly allow?: string;
}

/** Runs `gate scenario compare`. Returns 0 if the change is allowed, 3 if not, 4 if that is undecided. */
export function runScenarioCompare(old: string, next: string, flags: CompareFlags): Promise<number> {
  if (flags.allow !== undefined && flags.allow !== "stricter") {
    throw new CliError("usage", `Cannot allow "${flags.allow}"`, "expected stricter");
  }
  return withLaw("compare", old, flags, (before) =>
    withLaw("compare", next, flags, async (after) => {
      const { comparison, data, words } = await answered(after, { ask: "compare", old: before }, flags);
      const allowed = comparison === undefined ? null : isAllowed(comparison, flags.allow === "stricter");
      const exitCode = allowed === null ? EXIT.unknown : allowed ? EXIT.ok : EXIT.evaluatedFalse;
      const result = { old, new: next, allowed: allowed === true, ...data };
      return writeAnswer("scenario compare", flags, result, words, { exitCode });
    }));
}
