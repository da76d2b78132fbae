/**
 * `gate scenario build`: prints a scenario file in long form, which is the form that tools take.
 *
 * @module
 */

import { lawAsJson } from "../../law/normal_form.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { identitiesOf, type ScenarioFlags, withLaw } from "./check.ts";

/** Runs `gate scenario build`. Prints the normal form, which is a spec of the same law. Returns 2 if the file is not a law. */
export function runScenarioBuild(file: string, flags: ScenarioFlags): Promise<number> {
  return withLaw("build", file, flags, (law) => {
    if (flags.json === true) writeResult("scenario build", { file, ...identitiesOf(law), spec: lawAsJson(law) });
    else writeOut(`${JSON.stringify(lawAsJson(law), null, 2)}\n`);
    return EXIT.ok;
  });
}
