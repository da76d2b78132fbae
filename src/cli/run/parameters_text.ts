import type { JsonValue } from "../../canonical/json.ts";
import { shown } from "../terminal/text.ts";

/** A run or its state, as far as its parameters are concerned. */
export interface WithParameters {
  /** Absent for a law without parameters. */
  readonly parameters?: readonly { readonly parameter_id: string; readonly value: { readonly value: JsonValue } }[];
}

/** The parameters as text, such as `commit="3f2a", version="1"`. */
export function parametersText({ parameters = [] }: WithParameters): string {
  return parameters.map(({ parameter_id, value }) => shown(`${parameter_id}=${JSON.stringify(value.value)}`)).join(
    ", ",
  );
}

/** The parameters in one line; empty for a law without parameters. */
export function parametersLine(run: WithParameters): string {
  return run.parameters === undefined ? "" : `Parameters ${parametersText(run)}\n`;
}
