/** `gate runpack admit`: decides whether a runpack shows what its reader expects. */

import { isIdentity } from "../../canonical/identity.ts";
import type { Parameter } from "../../law/types.ts";
import { firstMillisFrom } from "../../law/value/timestamp.ts";
import { PROCEDURES } from "../../run/record_shapes.ts";
import { type Admission, decideAdmission, describeSigner, type Expectation } from "../../runpack/verify/admission.ts";
import type { Examination } from "../../runpack/verify/verify.ts";
import { countOf } from "../../config/problems.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { paint, shown, wantsColour } from "../terminal/text.ts";
import { showBasis } from "./claims.ts";
import { readLawFile } from "./law_file.ts";
import { type OpenPack, openPack, readOnce, type RepositoryFlags } from "./open.ts";
import { withPackErrors } from "./session.ts";
import { readNamedKeys, readTrustedKeys } from "./trust.ts";
import { verifyPack } from "./verify.ts";
import { namedTexts } from "../terminal/named_values.ts";

/** The flags that say what is expected of a runpack. */
export interface AdmissionFlags extends RepositoryFlags {
  readonly law?: string;
  readonly parameter?: readonly string[];
  readonly anyParameter?: readonly string[];
  readonly stage?: string;
  readonly producerKey?: readonly string[];
  /** `NAME=FILE`: whose key it is. */
  readonly key?: readonly string[];
  /** `NAME=VERSION_IDENTITY` of typed providers. */
  readonly provider?: readonly string[];
  readonly acceptProcedure?: readonly string[];
  readonly signersUnchecked?: boolean;
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
  const { exit_code, line, reasons, waived, signers, providers } = admission;
  const { report, producers, verdict_identity } = examination;
  const sources = { signers, providers, producers };
  const admitted = exit_code === EXIT.ok;
  const result = { admitted, exit_code, line, reasons, waived, ...sources, verdict_identity, report };
  const first = paint(shown(line), exit_code === EXIT.ok ? "good" : "bad", wantsColour());
  const why = reasons.map(({ code, message }) => `  ${code}: ${shown(message)}\n`);
  const text = `${first}\n${why.join("")}${showSources(sources)}${showBasis(examination)}`;
  return writeAnswer("runpack admit", flags, result, text, { exitCode: exit_code });
}

/** Signatures that the answer shows; all of them are in the JSON form. */
const SHOWN_SIGNERS = 64;

/** Who signed, which version of each typed provider answered, and which producer made the pack. */
function showSources(
  { signers, providers, producers }: Pick<Admission, "signers" | "providers"> & Pick<Examination, "producers">,
): string {
  const left = signers.length - SHOWN_SIGNERS;
  return [
    ...signers.slice(0, SHOWN_SIGNERS).map(describeSigner),
    ...left > 0 ? [`and ${countOf(left, "more signature")}`] : [],
    ...providers.map(({ provider_id, version_identity }) => `provider ${provider_id} ${version_identity}`),
    ...producers.map((keyId) => `producer key ${keyId}`),
  ].map((line) => `${shown(line)}\n`).join("");
}

/**
 * Verifies a runpack and decides on it. A pack is read once: its manifest names every object by hash.
 *
 * @param use Called while the runpack is open
 * @throws {CliError} `usage` for flags that do not fit, and where the decision itself has exit code 2
 */
export async function decidePack(
  named: string,
  flags: AdmissionFlags,
  use: (decided: DecidedPack, pack: OpenPack) => Promise<void> = () => Promise.resolve(),
): Promise<DecidedPack> {
  const people = await readNamedKeys(namedTexts("--key", flags.key ?? []));
  const expected = { ...await expectationOf(flags), keys: new Map(people.map(({ name, text }) => [name, text])) };
  const request = {
    profile: "full_replay_v1",
    budget: null,
    keys: people,
    producers: await readTrustedKeys(flags.producerKey ?? []),
    recordedVerdicts: false,
  } as const;
  return await withPackErrors(async () => {
    const pack = readOnce(await openPack(named, flags));
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

/** The version identities of `--provider NAME=VERSION_IDENTITY`. */
function versionsOf(given: readonly string[]): ReadonlyMap<string, string> {
  const versions = namedTexts("--provider", given);
  for (const [name, version] of versions) {
    if (isIdentity(version)) continue;
    throw new CliError("usage", `Cannot use --provider "${name}=${version}": expected an identity, 64 hex digits`);
  }
  return versions;
}

function proceduresOf(given: readonly string[]): readonly string[] {
  const unknown = given.find((name) => !PROCEDURES.some((known) => known === name));
  if (unknown === undefined) return [...new Set(given)];
  throw new CliError("usage", `Cannot accept procedure "${unknown}": expected ${PROCEDURES.join(" or ")}`);
}

async function expectationOf(flags: AdmissionFlags): Promise<Omit<Expectation, "parameters" | "keys">> {
  const { law = "", anyParameter: any_parameters = [], stage = null, notBefore } = flags;
  const document = isIdentity(law) ? null : await readLawFile(law);
  return {
    law: document?.scenario_law_identity ?? law,
    document: document?.law ?? null,
    any_parameters,
    stage,
    not_before: notBefore === undefined ? null : instantOf(notBefore),
    needs_producer: (flags.producerKey ?? []).length > 0,
    providers: versionsOf(flags.provider ?? []),
    accept_procedures: proceduresOf(flags.acceptProcedure ?? []),
    origin_unchecked: flags.originUnchecked === true,
    signers_unchecked: flags.signersUnchecked === true,
    allow_asserted: flags.allowAsserted === true,
  };
}

/** The first Unix millisecond that is not before an RFC 3339 date-time. */
function instantOf(text: string): number {
  const millis = firstMillisFrom(text);
  if (millis !== null) return millis;
  throw new CliError("usage", `Cannot read --not-before "${text}": expected an instant such as 2026-03-01T09:00:00Z`);
}
