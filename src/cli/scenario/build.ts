/**
 * `gate scenario build`: prints a scenario file in long form, which is the form that tools take.
 *
 * @module
 */

import { lawAsJson } from "../../law/normal_form.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { describeDiagnostics, identitiesOf, type ScenarioFlags } from "./check.ts";
import { withScenario } from "./law.ts";

/** Runs `gate scenario build`. Prints the normal form, which is a spec of the same law. Returns 2 if the file is not a law. */
export function runScenarioBuild(file: string, flags: ScenarioFlags): Promise<number> {
  return withScenario(file, flags.config, ({ scenario }) => {
    const { law, diagnostics } = scenario;
    if (law === null) {
      if (flags.json === true) writeResult("scenario build", { file, diagnostics }, false);
      else writeOut(describeDiagnostics(scenario, false));
      return Promise.resolve(EXIT.usage);
    }
    if (flags.json === true) writeResult("scenario build", { file, ...identitiesOf(law), spec: lawAsJson(law) });
    else writeOut(`${JSON.stringify(lawAsJson(law), null, 2)}\n`);
    return Promise.resolve(EXIT.ok);
  });
}
