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

/** Runs `gate scenario json`. Prints the normal form, so equal laws have equal output. Returns 2 if the file is not a law. */
export function runScenarioJson(file: string, flags: ScenarioFlags): Promise<number> {
  return withLaw("json", file, flags, (law) => {
    const call = { spec: lawAsJson(law) };
    return writeAnswer("scenario json", flags, call, prettyJson(call));
  });
}
