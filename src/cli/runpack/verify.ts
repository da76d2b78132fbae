/** `gate runpack verify`: verifies each claim of a runpack. */

import { words } from "../../canonical/words.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import { resultLine } from "../../runpack/verify/result_line.ts";
import { type Examination, examineRunpack } from "../../runpack/verify/verify.ts";
import {
  BUDGET_MEMBERS,
  type BudgetLimits,
  type BudgetMember,
  PROFILES,
  type UnavailableReason,
  type ValidateSchema,
  type VerificationProfile,
  type VerificationReport,
} from "../../runpack/verify/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { showVerification } from "./claims.ts";
import { type OpenPack, openPack, type RepositoryFlags } from "./open.ts";
import { withPackErrors } from "./session.ts";
import { readTrustedKeys, rejectPrivateKeys, type TrustedKey } from "./trust.ts";
import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";

/** The time limits of JSON Schema validation. */
export interface SchemaTimeLimits {
  /** Milliseconds for one verdict: many times what a slow machine under load needs. */
  readonly verdictMillis: number;
  /** Milliseconds for all verdicts of a runpack. */
  readonly totalMillis: number;
}

const TIME_LIMITS: SchemaTimeLimits = { verdictMillis: 10_000, totalMillis: 120_000 };

/**
 * Creates a validator whose worker has no permissions and starts with the first verdict. A verdict that exceeds its
 * time ends the verification with {@link CliError} `not_evaluated`: a slow machine, or a malicious schema, proves
 * nothing about a claim.
 */
export function schemaValidator(
  { verdictMillis, totalMillis }: SchemaTimeLimits = TIME_LIMITS,
): { readonly validate: ValidateSchema; readonly close: () => void } {
  let sandbox: SchemaSandbox | null = null;
  let left = totalMillis;
  return {
    async validate(name, schema, value): Promise<"valid" | "invalid" | null> {
      const { createSchemaSandbox, SchemaSandboxError } = await import("../../evidence/sandbox/schema_sandbox.ts");
      if (left <= 0) throw notEvaluated(`the JSON Schemas of the runpack take longer than ${totalMillis} ms`);
      sandbox ??= createSchemaSandbox({ deadlineMillis: verdictMillis });
      const begun = performance.now();
      try {
        return await sandbox.validate(name, schema, value) === "valid" ? "valid" : "invalid";
      } catch (error) {
        if (!(error instanceof SchemaSandboxError)) throw error;
        // No validator accepts this schema, on this machine or another.
        if (error.code === "schema_refused") return null;
        throw notEvaluated(error.message);
      } finally {
        left -= performance.now() - begun;
      }
    },
    close: () => sandbox?.close(),
  };
}

function notEvaluated(why: string): CliError {
  const hint = "--recorded-verdicts accepts the recorded verdicts of JSON Schemas";
  return new CliError("not_evaluated", `Cannot verify here: ${why}`, hint, EXIT.unknown);
}

/** The flags of `gate runpack verify`. */
export interface RunpackVerifyOptions extends RepositoryFlags {
  readonly profile?: string;
  readonly trustedKey?: readonly string[];
  /** Requires a signature by a trusted key. */
  readonly requireSignature?: boolean;
  readonly budget?: readonly string[];
  /** Accepts recorded verdicts instead of validating with the JSON Schemas of the runpack. */
  readonly recordedVerdicts?: boolean;
}

/** Reasons that are not a defect of the pack: no pack can decide the claim, or the command line lacks an input. */
export const EXPECTED_GAPS: readonly UnavailableReason[] = words(
  "no_trusted_keys no_evidence needs_current_head needs_external_checkpoint needs_dispatch_log",
  "needs_effect_observation needs_deployment_evidence needs_build_provenance",
);

/** Runs `gate runpack verify`. Returns 0 if every evaluated claim holds, 6 if one is violated, 4 if material is missing. */
export async function runRunpackVerify(named: string, flags: RunpackVerifyOptions): Promise<number> {
  refuseRuntimeTelemetry();
  if (flags.requireSignature === true && (flags.trustedKey ?? []).length === 0) {
    throw new CliError("usage", "Cannot require a signature without a trusted key", "add --trusted-key FILE");
  }
  const request = await requestOf(flags);
  const { examination, identity } = await withPackErrors(async () => {
    const pack = await openPack(named, flags);
    try {
      return { examination: await verifyPack(pack, request), identity: pack.identity };
    } finally {
      pack.close();
    }
  });
  const { report, verdict_identity } = examination;
  const unsigned = flags.requireSignature === true && !isSigned(report);
  const exitCode = unsigned ? EXIT.verificationFailed : exitCodeOf(report);
  const line = resultLine(examination);
  const text = `${showVerification(examination, identity)}${
    unsigned ? "No trusted key has signed this runpack\n" : ""
  }`;
  return writeAnswer("runpack verify", flags, { line, report, verdict_identity }, text, { exitCode });
}

/** Whether a signature of the runpack itself verifies with a trusted key. */
function isSigned({ trusted_bases }: VerificationReport): boolean {
  return trusted_bases.some((basis) => basis.startsWith("runpack_signature:"));
}

/** The inputs of a verification. */
export interface VerificationRequest {
  readonly profile: VerificationProfile;
  readonly budget: BudgetLimits | null;
  /** Keys that may have signed evidence, and the runpack. */
  readonly keys: readonly TrustedKey[];
  /** Keys of those who may have made the runpack. */
  readonly producers: readonly TrustedKey[];
  readonly recordedVerdicts: boolean;
}

/**
 * Parses the flags and reads the keys, before the runpack is opened.
 *
 * @throws {CliError} `usage`
 */
async function requestOf(flags: RunpackVerifyOptions): Promise<VerificationRequest> {
  return {
    profile: profileOf(flags.profile),
    budget: budgetOf(flags.budget ?? []),
    keys: await readTrustedKeys(flags.trustedKey ?? []),
    producers: [],
    recordedVerdicts: flags.recordedVerdicts === true,
  };
}

/**
 * Verifies an open pack.
 *
 * @throws {CliError} `not_evaluated` if validation with a JSON Schema of the pack exceeds its time limit
 */
export async function verifyPack(pack: OpenPack, request: VerificationRequest): Promise<Examination> {
  const signatures = pack.signatures.map(({ bytes }) => bytes);
  rejectPrivateKeys([...request.keys, ...request.producers], signatures);
  const schemas = request.recordedVerdicts ? null : schemaValidator();
  try {
    const primitives = verificationPrimitives(HOST_PRIMITIVES, schemas?.validate);
    const asked = {
      runpack_identity: pack.identity,
      profile: request.profile,
      budget: request.budget,
      trusted_keys: request.keys.length === 0 ? null : request.keys.map(({ key }) => key),
      signatures,
    };
    return await examineRunpack(pack.source, asked, primitives, request.producers.map(({ key }) => key));
  } finally {
    schemas?.close();
  }
}

/** A request for a full replay without keys or budget. */
export function fullReplay({ recordedVerdicts = false }: RunpackVerifyOptions): VerificationRequest {
  return { profile: "full_replay_v1", budget: null, keys: [], producers: [], recordedVerdicts };
}

/** The exit code of a report. */
export function exitCodeOf({ claims }: VerificationReport): ExitCode {
  if (claims.some(({ status }) => status.status === "violated")) return EXIT.verificationFailed;
  const isIncomplete = claims.some(({ status }) =>
    status.status === "unavailable" && !EXPECTED_GAPS.includes(status.reason)
  );
  return isIncomplete ? EXIT.unknown : EXIT.ok;
}

function profileOf(named: string | undefined): VerificationProfile {
  if (named === undefined) return "full_replay_v1";
  const profile = PROFILES.find((known) => known === named);
  if (profile !== undefined) return profile;
  throw new CliError("usage", `Unknown profile "${named}"`, `expected one of ${PROFILES.join(", ")}`);
}

function budgetOf(given: readonly string[]): BudgetLimits | null {
  if (given.length === 0) return null;
  const limits: Partial<Record<BudgetMember, number>> = {};
  for (const one of given) {
    const [name = "", value = ""] = one.split("=", 2);
    const member = BUDGET_MEMBERS.find((known) => known === name);
    const limit = Number(value);
    if (member === undefined || !/^\d{1,16}$/.test(value) || !Number.isSafeInteger(limit)) {
      throw new CliError(
        "usage",
        `Cannot use budget "${one}"`,
        `expected NAME=NUMBER with a name of ${BUDGET_MEMBERS.join(", ")}`,
      );
    }
    if (limits[member] !== undefined) {
      throw new CliError("usage", `Cannot use budget "${one}": "${member}" is repeated`);
    }
    limits[member] = limit;
  }
  return limits;
}
