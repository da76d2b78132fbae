/** `gate scenario build`: prints a scenario file in long form, which is the form that tools take. */

import { lawAsJson } from "../../law/normal_form.ts";
import { prettyJson, writeAnswer } from "../terminal/output.ts";
import { identitiesOf, type ScenarioFlags, withLaw } from "./check.ts";

/** Runs `gate scenario build`. Prints the normal form, which is a spec of the same law. Returns 2 if the file is not a law. */
export function runScenarioBuild(file: string, flags: ScenarioFlags): Promise<number> {
  return withLaw("build", file, flags, (law) => {
    const spec = lawAsJson(law);
    return writeAnswer("scenario build", flags, { file, ...identitiesOf(law), spec }, prettyJson(spec));
  });
}
