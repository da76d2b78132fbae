/**
 * `gate runpack verify`: says of each claim what a runpack shows.
 *
 * @module
 */

import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verificationPrimitives } from "../../runpack/host/verification.ts";
import { verifyRunpack } from "../../runpack/verify/verify.ts";
import {
  BUDGET_MEMBERS,
  type BudgetLimits,
  type BudgetMember,
  PROFILES,
  type UnavailableReason,
  type VerificationProfile,
  type VerificationReport,
} from "../../runpack/verify/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { showClaims } from "./claims.ts";
import { type OpenPack, openPack, type RepositoryFlags } from "./open.ts";
import { onPacks } from "./session.ts";
import { schemaValidator } from "./schemas.ts";
import { readTrustedKeys, refuseSigners, type TrustedKey } from "./trust.ts";

/** The flags of `gate runpack verify`. */
export interface RunpackVerifyOptions extends RepositoryFlags {
  readonly profile?: string;
  readonly trustedKey?: readonly string[];
  /** Fails a runpack that no trusted key has signed. */
  readonly requireSignature?: boolean;
  readonly budget?: readonly string[];
  /** Runs no JSON Schema of the runpack. */
  readonly recordedVerdicts?: boolean;
  readonly json?: boolean;
}

/** Gaps that are nobody's fault: no pack settles these claims, or nothing was given to settle them with. */
const OPEN_BY_NATURE: readonly UnavailableReason[] = [
  "no_trusted_keys",
  "no_evidence",
  "needs_current_head",
  "needs_external_checkpoint",
  "needs_dispatch_log",
  "needs_effect_observation",
  "needs_deployment_evidence",
  "needs_build_provenance",
];

/**
 * Runs `gate runpack verify`; 0 where every claim that was evaluated holds, 6 where one is violated, 4 where material
 * is lacking.
 */
export async function runRunpackVerify(named: string, flags: RunpackVerifyOptions): Promise<number> {
  if (flags.requireSignature === true && (flags.trustedKey ?? []).length === 0) {
    throw new CliError("usage", "Cannot require a signature: no key is trusted", "name one with --trusted-key FILE");
  }
  const asked = await askedBy(flags);
  const report = await onPacks(async () => {
    const pack = await openPack(named, flags);
    try {
      return await verifyPack(pack, asked);
    } finally {
      pack.close();
    }
  });
  const unsigned = flags.requireSignature === true && !isSigned(report);
  const exitCode = unsigned ? EXIT.verificationFailed : exitCodeOf(report);
  if (flags.json === true) writeResult("runpack verify", { report }, exitCode === EXIT.ok);
  else writeOut(`${showClaims(report)}${unsigned ? "No trusted key has signed this runpack\n" : ""}`);
  return exitCode;
}

/** Whether a signature over the runpack itself verifies under a key that was supplied. */
function isSigned({ trusted_bases }: VerificationReport): boolean {
  return trusted_bases.some((basis) => basis.startsWith("runpack_signature:"));
}

/** What the flags ask of a verification. */
export interface AskedVerification {
  readonly profile: VerificationProfile;
  readonly budget: BudgetLimits | null;
  readonly keys: readonly TrustedKey[];
  readonly recordedVerdicts: boolean;
}

/**
 * Reads the flags, which can be wrong whatever the runpack is.
 *
 * @throws {CliError} `usage`
 */
async function askedBy(flags: RunpackVerifyOptions): Promise<AskedVerification> {
  return {
    profile: profileOf(flags.profile),
    budget: budgetOf(flags.budget ?? []),
    keys: await readTrustedKeys(flags.trustedKey ?? []),
    recordedVerdicts: flags.recordedVerdicts === true,
  };
}

/**
 * Verifies an open pack as the flags ask.
 *
 * @throws {CliError} `not_evaluated` where a JSON Schema of the pack could not be run here in its time
 */
export async function verifyPack(pack: OpenPack, asked: AskedVerification): Promise<VerificationReport> {
  refuseSigners(asked.keys, pack.signatures);
  const schemas = asked.recordedVerdicts ? null : schemaValidator();
  try {
    return await verifyRunpack(pack.source, {
      runpack_identity: pack.identity,
      profile: asked.profile,
      budget: asked.budget,
      trusted_keys: asked.keys.length === 0 ? null : asked.keys.map(({ key }) => key),
      signatures: pack.signatures,
    }, verificationPrimitives(HOST_PRIMITIVES, schemas?.validate));
  } finally {
    schemas?.close();
  }
}

/** A verification that recomputes all, and takes of the flags what they say of the verdicts of JSON Schemas. */
export function fullReplay({ recordedVerdicts = false }: RunpackVerifyOptions): AskedVerification {
  return { profile: "full_replay_v1", budget: null, keys: [], recordedVerdicts };
}

/** The exit code that a report amounts to. */
export function exitCodeOf({ claims }: VerificationReport): number {
  if (claims.some(({ status }) => status.status === "violated")) return EXIT.verificationFailed;
  const lacks = claims.some(({ status }) => status.status === "unavailable" && !OPEN_BY_NATURE.includes(status.reason));
  return lacks ? EXIT.unknown : EXIT.ok;
}

function profileOf(named: string | undefined): VerificationProfile {
  if (named === undefined) return PROFILES[0];
  const profile = PROFILES.find((known) => known === named);
  if (profile !== undefined) return profile;
  throw new CliError("usage", `Unknown profile "${named}"`, `known are ${PROFILES.join(", ")}`);
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
        `expected NAME=NUMBER, names are ${BUDGET_MEMBERS.join(", ")}`,
      );
    }
    if (limits[member] !== undefined) throw new CliError("usage", `Cannot use budget "${one}": it is given twice`);
    limits[member] = limit;
  }
  return limits;
}
