/**
 * `gate scenario prove`, `who` and `compare`: questions to laws, without a run.
 *
 * @module
 */

import { compareLaws, type Comparison, type Difference } from "../../law/questions/compare.ts";
import { proveClaim } from "../../law/questions/prove.ts";
import {
  claimData,
  comparisonData,
  comparisonText,
  isAllowed,
  wayText,
  whoData,
  whoText,
} from "../../law/questions/question_text.ts";
import { whoCompletes } from "../../law/questions/who.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { lawWords } from "../../law/words.ts";
import { readClaim } from "../../scenario/claim.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { writeAnswer } from "../terminal/output.ts";
import { shown } from "../terminal/text.ts";
import { type CaseStep, caseText } from "./question_case.ts";
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

/** Runs `gate scenario prove`. Returns 0 for a claim that is proved, 3 for one that is not, 4 if it is undecided. */
export function runScenarioProve(file: string, flags: ProveFlags): Promise<number> {
  return withLaw("prove", file, flags, async (law) => {
    const { needs, stage, oneValue = false } = flags;
    const read = readClaim(law, needs, stage, oneValue);
    if (!read.ok) {
      const reasons = read.faults.map(({ message, start }) => `${shown(message)}, at character ${start + 1}`);
      throw new CliError("usage", `Cannot read "${needs}"`, null, EXIT.usage, reasons);
    }
    const { claim, groupOf } = read;
    const answer = proveClaim(law, claim, oneValue ? { groupOf } : {});
    const what = `${stage === undefined ? "the run" : `stage ${shown(stage)}`} needs ${shown(needs)}`;
    const given = oneValue ? "if each name has one value in an attempt: " : "";
    const result = { file, needs, ...stage === undefined ? {} : { stage }, ...claimData(law, answer) };
    if (answer.verdict === "undecided") {
      return writeAnswer("scenario prove", flags, result, `Undecided: ${given}${what}\n`, { exitCode: EXIT.unknown });
    }
    if (answer.verdict === "proved") {
      const note = answer.vacuous ? ", since nothing completes it" : "";
      return writeAnswer("scenario prove", flags, result, `Proved: ${given}${what}${note}\n`);
    }
    const { way } = answer;
    if (flags.case !== undefined) await writeCase(flags.case, law, `without ${needs}`, way.parameters, way.steps);
    const text = `Not proved: ${given}${what}\n${wayText(law, lawWords(law), way, shown)}`;
    return writeAnswer("scenario prove", flags, result, text, { exitCode: EXIT.evaluatedFalse });
  });
}

async function writeCase(
  path: string,
  law: ScenarioLaw,
  name: string,
  parameters: Difference["parameters"],
  steps: readonly CaseStep[],
): Promise<void> {
  await writeNewFile(path, caseText(law, name, parameters, steps));
}

/** Runs `gate scenario who`. Returns 0, or 4 if it is undecided. */
export function runScenarioWho(file: string, flags: QuestionFlags): Promise<number> {
  return withLaw("who", file, flags, (law) => {
    const { evidence } = lawWords(law);
    const oneValue = flags.oneValue === true;
    const groupOf = ({ condition_id }: { readonly condition_id: string }): unknown => evidence.get(condition_id);
    const answer = whoCompletes(law, oneValue ? { groupOf } : {});
    if (answer === null) {
      return writeAnswer("scenario who", flags, { file, verdict: "undecided" }, "Undecided\n", {
        exitCode: EXIT.unknown,
      });
    }
    const given = oneValue ? "If each name has one value in an attempt:\n" : "";
    return writeAnswer("scenario who", flags, { file, ...whoData(answer) }, `${given}${whoText(answer, shown)}`);
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
      const named = (law: ScenarioLaw) => ({ law, names: lawWords(law).evidence });
      const oneValue = flags.oneValue === true;
      const compared = compareLaws(named(before), named(after), { oneValue });
      const allowed = isAllowed(compared, flags.allow === "stricter");
      const shownCase = differenceOf(compared);
      if (flags.case !== undefined && shownCase !== null) {
        const [side, { parameters, steps }] = shownCase;
        const own = steps.map(({ stage_id, evidence }): CaseStep => ({
          stage_id,
          evidence: evidence.flatMap(({ value, by, ...one }) =>
            one[side].map((condition_id) => ({ condition_id, value, by }))
          ),
        }));
        await writeCase(flags.case, side === "new" ? after : before, `only in the ${side} law`, parameters, own);
      }
      const given = oneValue ? "if each name has one value in an attempt:\n" : "";
      const exitCode = allowed === null ? EXIT.unknown : allowed ? EXIT.ok : EXIT.evaluatedFalse;
      const result = { old, new: next, allowed: allowed === true, ...comparisonData(compared) };
      return writeAnswer("scenario compare", flags, result, `${given}${comparisonText(compared, shown)}`, { exitCode });
    }));
}

/** The difference to write as a case: the first that only the new law accepts, else one that only the old law accepts. */
function differenceOf({ run, stages }: Comparison): readonly ["new" | "old", Difference] | null {
  const changes = [run, ...stages.values()];
  const looser = changes.find((one) => one.looser !== undefined)?.looser;
  if (looser !== undefined) return ["new", looser];
  const stricter = changes.find((one) => one.stricter !== undefined)?.stricter;
  return stricter === undefined ? null : ["old", stricter];
}
