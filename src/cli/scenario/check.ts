/** `gate scenario check`: reports errors and warnings of a scenario by file, line and column. */

import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { countOf } from "../../config/problems.ts";
import { QUESTION_VISITS } from "../../law/questions/formulas.ts";
import { LONE_OPENERS } from "../../law/questions/question_text.ts";
import { graphIdentity, lawIdentity } from "../../law/law.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { type Diagnostic, type ReadScenario, type ScenarioOptions, withScenario } from "./law.ts";
import { paint, shown, wantsColour } from "../terminal/text.ts";

/** The flags of every `gate scenario` command on a file. */
export interface ScenarioFlags extends ConfigFlags {
  readonly evidenceKeys?: string;
}

/** The flags of `gate scenario check`. */
export interface CheckFlags extends ScenarioFlags {
  readonly forbid?: readonly string[];
}

/** Runs `gate scenario check`. Returns 0 if the file is a law without a forbidden opener, 4 if that is undecided, else 2. */
export function runScenarioCheck(file: string, flags: CheckFlags): Promise<number> {
  const forbidden = flags.forbid ?? [];
  const unknown = forbidden.find((one) => !LONE_OPENERS.some((known) => known === one));
  if (unknown !== undefined) {
    throw new CliError("usage", `Cannot forbid "${unknown}"`, `expected ${LONE_OPENERS.join(" or ")}`);
  }
  return withScenario(
    file,
    flags.config,
    ({ scenario: read }) => {
      const { law, assumptions } = read;
      const errors = forbidden.length === 0
        ? []
        : ["openers_undecided", ...forbidden.map((one) => one.replaceAll(" ", "_"))];
      const diagnostics = read.diagnostics.map((one): Diagnostic =>
        errors.includes(one.code) ? { ...one, severity: "error" } : one
      );
      const scenario = { ...read, diagnostics };
      const identities = law === null ? {} : identitiesOf(law);
      const result = { file, valid: law !== null, ...identities, diagnostics, assumptions };
      const found = diagnostics.filter(({ severity }) => severity === "error");
      const isUndecided = law !== null && found.some(({ code }) => code === "openers_undecided");
      const exitCode = found.length === 0 ? EXIT.ok : isUndecided ? EXIT.unknown : EXIT.usage;
      const text = describeCheck(scenario, wantsColour());
      return Promise.resolve(writeAnswer("scenario check", flags, result, text, { exitCode }));
    },
    { evidenceKeys: flags.evidenceKeys, visits: QUESTION_VISITS },
  );
}

/** Runs a command on the law of a file. Writes the diagnostics and returns 2 if the file is not a law. */
export function withLaw(
  command: string,
  file: string,
  flags: ScenarioFlags,
  work: (law: ScenarioLaw) => number | Promise<number>,
  options?: ScenarioOptions,
): Promise<number> {
  return withScenario(file, flags.config, async ({ scenario }) => {
    const { law, diagnostics } = scenario;
    if (law !== null) return await work(law);
    const text = describeDiagnostics(scenario, false);
    return writeAnswer(`scenario ${command}`, flags, { file, diagnostics }, text, { exitCode: EXIT.usage });
  }, options);
}

/** The identities of a law, as the server computes them. */
export function identitiesOf(
  law: ScenarioLaw,
): { readonly scenario_id: string; readonly scenario_law_identity: string; readonly graph_identity: string } {
  const { sha256 } = HOST_PRIMITIVES;
  return {
    scenario_id: law.scenario_id,
    scenario_law_identity: lawIdentity(sha256, law),
    graph_identity: graphIdentity(sha256, law),
  };
}

/** Formats the diagnostics, one per line. */
export function describeDiagnostics({ file, diagnostics }: ReadScenario, colour: boolean): string {
  return diagnostics.map((one) => {
    const excerpt = one.excerpt?.split("\n").map((line) => `  ${shown(line)}\n`).join("") ?? "";
    return `${describeDiagnostic(file, one, colour)}\n${excerpt}`;
  }).join("");
}

/** Formats a diagnostic as a line that editors can link to: `FILE:LINE:COLUMN: error: ...`. */
export function describeDiagnostic(file: string, diagnostic: Diagnostic, colour: boolean): string {
  const { line, column, severity, path, message, code } = diagnostic;
  const tone = severity === "error" ? "bad" : "warning";
  const where = path === "$" ? "" : `${shown(path)}: `;
  return `${file}:${line}:${column}: ${paint(severity, tone, colour)}: ${where}${shown(message)} [${code}]`;
}

function describeCheck(scenario: ReadScenario, colour: boolean): string {
  const { file, law, diagnostics, assumptions } = scenario;
  const lines = describeDiagnostics(scenario, colour);
  if (law === null) {
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    return `${lines}${file}: ${countOf(errors.length, "error")}, not a law\n`;
  }
  const counts = [countOf(law.stages.length, "stage"), countOf(law.conditions.length, "condition")];
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const found = [[errors, "error"], [diagnostics.length - errors, "warning"]] as const;
  const warned = found.map(([count, noun]) => count === 0 ? "" : `, ${countOf(count, noun)}`).join("");
  const assumed = assumptions.map((assumption) => `${file}: assumed: ${shown(assumption)}\n`).join("");
  const identity = identitiesOf(law).scenario_law_identity;
  return `${lines}${assumed}${file}: a law with ${counts.join(" and ")}${warned}\nscenario_law_identity ${identity}\n`;
}
