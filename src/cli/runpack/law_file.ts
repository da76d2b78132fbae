/** Reads a law from a scenario file. Its providers and schemas are assumed to exist. */

import { countOf } from "../../config/problems.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { compileNextLaw } from "../../runpack/replay.ts";
import { describeDiagnostic } from "../scenario/check.ts";
import { type Diagnostic, diagnosticsOf, refusalsAt } from "../scenario/law.ts";
import { readSpec } from "../scenario/source.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { READER_PRIMITIVES } from "./view.ts";

/**
 * Reads and compiles the law of a file.
 *
 * @throws {CliError} `usage` with the faults of the file
 */
export async function readLawFile(path: string): Promise<CompiledLaw> {
  const read = await readSpec(path);
  if (!read.ok) throw notLaw(path, diagnosticsOf(read));
  const compiled = compileNextLaw(READER_PRIMITIVES, read.source.value);
  if (compiled.ok) return compiled.law;
  throw notLaw(path, refusalsAt(read.source, compiled.refusals));
}

/** The error for a file that is not a law, with its faults as reasons. */
export function notLaw(
  path: string,
  diagnostics: readonly Diagnostic[],
  why = countOf(diagnostics.length, "error"),
): CliError {
  const reasons = diagnostics.map((one) => describeDiagnostic(path, one, false));
  return new CliError("usage", `Cannot use law "${path}": ${why}`, null, EXIT.usage, reasons);
}
