/** `gate status`: shows where a run stands. */

import { instantText } from "../../canonical/instant_text.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { writeAnswer } from "../terminal/output.ts";
import { wantsColour } from "../terminal/text.ts";
import { archivedOf } from "../../store/rows/tombstones.ts";
import { archivedLine } from "./archived_text.ts";
import { findRun, type RunFlags, withRunTools } from "./find_run.ts";
import { parametersLine } from "./parameters_text.ts";
import { readLaw } from "./read_law.ts";
import { describeStanding, readStanding, standingAsJson } from "./standing.ts";
import { exitCodeOfAttempts } from "./explain_view.ts";

/** The flags of `gate status`. */
export interface RunStatusFlags extends RunFlags {
  /** The file for the drawing. */
  readonly svg?: string;
}

/** Runs `gate status RUN`. Returns 0 for a complete run, 3 if the last attempt of an open stage was False, else 4. */
export function runStatus(prefix: string, flags: RunStatusFlags): Promise<number> {
  return withRunTools(flags, async (session) => {
    const run = await findRun(session, flags, prefix);
    const { run_key, scenario_law_identity, created_instant, parameters, correlation } = run;
    const law = await readLaw(session, run_key.namespace_id, scenario_law_identity);
    const standing = await readStanding(session, run_key, law);
    const exitCode = exitCodeOfAttempts(standing.status, standing.attempts);
    if (flags.svg !== undefined) {
      const { drawLaw } = await import("../../runpack/picture/draw_law.ts");
      await writeNewFile(flags.svg, `${drawLaw(law, standing.picture, { as: "file" }).markup}\n`);
    }
    const result = {
      ...standingAsJson(standing),
      scenario_law_identity,
      created_instant,
      correlation,
      ...parameters === undefined ? {} : { parameters },
      ...archivedOf(run.archived),
    };
    const begun = `Law ${scenario_law_identity}, begun ${instantText(created_instant)}\n`;
    const about = begun + parametersLine(run) + archivedLine(run);
    return writeAnswer("status", flags, result, about + describeStanding(standing, wantsColour()), { exitCode });
  });
}
