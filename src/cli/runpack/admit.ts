/**
 * `gate runpack admit`: decides whether a runpack shows what its reader expects.
 *
 * @module
 */

import { isIdentity } from "../../canonical/identity.ts";
import type { Parameter } from "../../law/types.ts";
import { firstMillisFrom } from "../../law/value/timestamp.ts";
import { type Admission, decideAdmission, type Expectation } from "../../runpack/verify/admission.ts";
import type { Examination } from "../../runpack/verify/verify.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { paint, shown, wantsColour } from "../terminal/text.ts";
import { showBasis } from "./claims.ts";
import { readLawFile } from "./law_file.ts";
import { type OpenPack, openPack, type RepositoryFlags } from "./open.ts";
import { withPackErrors } from "./session.ts";
import { readTrustedKeys } from "./trust.ts";
import { verifyPack } from "./verify.ts";
import { namedTexts } from "../terminal/named_values.ts";

/** The flags that say what is expected of a runpack. */
export interface AdmissionFlags extends RepositoryFlags {
  readonly law?: string;
  readonly parameter?: readonly string[];
  readonly anyParameter?: readonly string[];
  readonly stage?: string;
  readonly producerKey?: readonly string[];
  readonly trustedKey?: readonly string[];
  readonly notBefore?: string;
  readonly originUnchecked?: boolean;
  readonly allowAsserted?: boolean;
}

/** A runpack with the decision on it. */
export interface DecidedPack {
  readonly expectation: Expectation;
  readonly examination: Examination;
  readonly admission: Admission;
}

/** Runs `gate runpack admit`. Returns 0, 3, 4 or 6, as docs/format/runpack.md "Admission" describes them. */
export async function runRunpackAdmit(named: string, flags: AdmissionFlags): Promise<ExitCode> {
  refuseRuntimeTelemetry();
  const { admission, examination } = await decidePack(named, flags);
  const { exit_code, line, reasons, waived } = admission;
  const { report, verdict_identity } = examination;
  const result = { admitted: exit_code === EXIT.ok, exit_code, line, reasons, waived, verdict_identity, report };
  const first = paint(shown(line), exit_code === EXIT.ok ? "good" : "bad", wantsColour());
  const why = reasons.map(({ code, message }) => `  ${code}: ${shown(message)}\n`);
  const text = `${first}\n${why.join("")}${showBasis(examination)}`;
  return writeAnswer("runpack admit", flags, result, text, { exitCode: exit_code });
}

/**
 * Verifies a runpack and decides on it.
 *
 * @param use Called while the runpack is open
 * @throws {CliError} `usage` for flags that do not fit, and where the decision itself has exit code 2
 */
export async function decidePack(
  named: string,
  flags: AdmissionFlags,
  use: (decided: DecidedPack, pack: OpenPack) => Promise<void> = () => Promise.resolve(),
): Promise<DecidedPack> {
  const expected = await expectationOf(flags);
  const request = {
    profile: "full_replay_v1",
    budget: null,
    keys: await readTrustedKeys(flags.trustedKey ?? []),
    producers: await readTrustedKeys(flags.producerKey ?? []),
    recordedVerdicts: false,
  } as const;
  return await withPackErrors(async () => {
    const pack = await openPack(named, flags);
    try {
      const examination = await verifyPack(pack, request);
      const declared = (expected.document ?? examination.law?.law)?.parameters ?? [];
      const expectation = { ...expected, parameters: parametersOf(flags, declared) };
      const admission = decideAdmission(examination, expectation);
      if (admission.exit_code === EXIT.usage) throw unusable(named, admission);
      const decided = { expectation, examination, admission };
      await use(decided, pack);
      return decided;
    } finally {
      pack.close();
    }
  });
}

/** The expectation itself does not fit the law. */
function unusable(named: string, { exit_code, reasons }: Admission): CliError {
  const hint = "--parameter NAME=VALUE, or --any-parameter NAME, for each parameter of the law";
  const lines = reasons.map(({ code, message }) => `${shown(message)} [${code}]`);
  return new CliError(
    "usage",
    `Cannot decide on "${named}": the expectation does not fit the law`,
    hint,
    exit_code,
    lines,
  );
}

/** The texts of parameters. The domain of a parameter decides which value a text has. */
function parametersOf(
  { parameter = [], anyParameter = [] }: AdmissionFlags,
  declared: readonly Parameter[],
): Expectation["parameters"] {
  const parameters = namedTexts("--parameter", parameter, declared.map(({ parameter_id }) => parameter_id));
  const twice = anyParameter.find((name, index) => parameters.has(name) || anyParameter.indexOf(name) < index);
  if (twice !== undefined) throw new CliError("usage", `Cannot use --any-parameter "${twice}": it is named twice`);
  return parameters;
}

async function expectationOf(flags: AdmissionFlags): Promise<Omit<Expectation, "parameters">> {
  const { law = "", anyParameter: any_parameters = [], stage = null, notBefore } = flags;
  const document = isIdentity(law) ? null : await readLawFile(law);
  return {
    law: document?.scenario_law_identity ?? law,
    document: document?.law ?? null,
    any_parameters,
    stage,
    not_before: notBefore === undefined ? null : instantOf(notBefore),
    origin_unchecked: flags.originUnchecked === true,
    allow_asserted: flags.allowAsserted === true,
  };
}

/** The first Unix millisecond that is not before an RFC 3339 date-time. */
function instantOf(text: string): number {
  const millis = firstMillisFrom(text);
  if (millis !== null) return millis;
  throw new CliError("usage", `Cannot read --not-before "${text}": expected an instant such as 2026-03-01T09:00:00Z`);
}
