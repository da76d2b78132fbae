/** `gate scenario json`: prints a scenario file as the arguments of `scenario_define`. */

import { prettyJson, writeAnswer } from "../terminal/output.ts";
import { type ScenarioFlags, withLaw } from "./check.ts";
import { lawAsJson } from "../../law/normal_form.ts";

/** Runs `gate scenario json`. Prints the normal form, so equal laws have equal output. Returns 2 if the file is not a law. */
export function runScenarioJson(file: string, flags: ScenarioFlags): Promise<number> {
  return withLaw("json", file, flags, (law) => {
    const call = { spec: lawAsJson(law) };
    return writeAnswer("scenario json", flags, call, prettyJson(call));
  });
}
