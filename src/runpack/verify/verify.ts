/**
 * The verifier: checks each claim about a runpack without trusting its source (docs/format/runpack.md "Verification").
 */

import { identify, type Identity, type Sha256 } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { ParameterValue } from "../../law/types.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { asJson } from "../../run/primitives.ts";
import { checkSubject, constructManifest, traverseTree } from "./claims/manifest.ts";
import { keyIdOf, verifyEnvelope } from "../format/dsse.ts";
import { runpackIdentity } from "../format/manifest.ts";
import { openReading, readManifestBytes } from "./object_reader.ts";
import { type ReplayState, startReplay } from "./state.ts";
import { createMeter, type Meter } from "./budget.ts";
import { createFindings, type Findings } from "./findings.ts";
import { finishHistory, replayPart } from "./history.ts";
import { CLAIMS, claimsThatNeed, INTEGRITY_CLAIMS, REPLAY_CLAIMS } from "./claims.ts";
import { parametersOf, resultOfRun, type RunResult } from "./run_result.ts";
import {
  MATERIAL_RESOLUTION,
  type TrustedPublicKey,
  type VerificationPrimitives,
  type VerificationReport,
  type VerificationRequest,
  VERIFIER_PROCEDURE,
} from "./types.ts";
import { type Manifest, type PackSource, SIGNATURES } from "../format/types.ts";

/** What a verdict covers beside the report. */
interface VerdictSubject {
  /** The law that the manifest names; null without a valid manifest. */
  readonly law: Identity | null;
  /** The parameters of the first record; null where it was not replayed. */
  readonly parameters: readonly ParameterValue[] | null;
}

/** The identity of a verdict, kind `verdict`. */
function verdictIdentity(
  sha256: Sha256,
  { claims, profile, runpack_identity }: VerificationReport,
  { law, parameters }: VerdictSubject,
): Identity {
  const statuses = Object.fromEntries(claims.map(({ claim, status }) => [claim, status.status]));
  return identify(sha256, "verdict", {
    law,
    parameters: parameters === null ? null : asJson(parameters),
    profile,
    statuses,
    subject: runpack_identity,
  });
}

const LAW_CLAIMS = claimsThatNeed("law");
const CREATION_CLAIMS = claimsThatNeed("first_record");
const HISTORY_CLAIMS = claimsThatNeed("history");

/**
 * Adds the findings of a replay, and a gap for each claim that it left open. Without a replay, the gaps are recorded
 * already.
 */
function closeReplay(findings: Findings, replay: ReplayState | null): void {
  if (replay === null) return;
  if (replay.law === null) { for (const claim of LAW_CLAIMS) replay.findings.leaveOpen(claim, "law_not_constructed"); }
  if (replay.stage === "history_broken" || replay.stage === "budget_exhausted") {
    for (const claim of HISTORY_CLAIMS) replay.findings.leaveOpen(claim, replay.stage);
    if (replay.previous === null) replay.findings.leaveOpen("creation_receipt_integrity", replay.stage);
  }
  if (replay.created === null) {
    const reason = replay.stage === "budget_exhausted" ? replay.stage : "history_broken";
    for (const claim of CREATION_CLAIMS) replay.findings.leaveOpen(claim, reason);
  }
  findings.merge(replay.findings, REPLAY_CLAIMS);
}

/** Adds the gaps of the claims that no pack can decide. */
function markUndecidable(findings: Findings): void {
  for (const { name, unavailable } of CLAIMS) if (unavailable !== undefined) findings.leaveOpen(name, unavailable);
}

/** A verification with what it found beside its report. */
export interface Examination {
  readonly report: VerificationReport;
  /** Identity of kind `verdict`: equal for every verifier that comes to the same statuses. */
  readonly verdict_identity: Identity;
  /** The law that the manifest names; null without a valid manifest. */
  readonly law_identity: Identity | null;
  /** That law; null where it was not constructed, or where the profile replays nothing. */
  readonly law: CompiledLaw | null;
  /** The plain SHA-256 of its canonical bytes, in hex; null as above. */
  readonly law_digest: string | null;
  /** The parameters of the run; null where its first record was not replayed. */
  readonly parameters: readonly ParameterValue[] | null;
  /** What the run came to; null where its records were not all replayed. */
  readonly run: RunResult | null;
  /** The key ids of those producer keys that signed the pack. */
  readonly producers: readonly Identity[];
  /** Whether a JSON Schema was run, in place of assuming its recorded verdict. */
  readonly validated: boolean;
}

/**
 * Verifies a runpack. It uses no network, clock or file beyond `source`: the same material, request and primitives
 * yield the same report, byte for byte. No content of a pack makes it throw. It rejects only where the validator of
 * JSON Schemas rejects, and there is no report then.
 *
 * @param source The source of the pack's bytes, which is not trusted
 * @param request The request
 * @param primitives Hashing, signature checks, and optionally a JSON Schema validator
 */
export async function verifyRunpack(
  source: PackSource,
  request: VerificationRequest,
  primitives: VerificationPrimitives,
): Promise<VerificationReport> {
  return (await examineRunpack(source, request, primitives)).report;
}

/**
 * As {@link verifyRunpack}, with what the run came to.
 *
 * @param producerKeys Keys of those who may have made the pack; they are no part of the request
 */
export async function examineRunpack(
  source: PackSource,
  request: VerificationRequest,
  primitives: VerificationPrimitives,
  producerKeys: readonly TrustedPublicKey[] = [],
): Promise<Examination> {
  const { watched, hasRun } = watchSchemas(primitives);
  const verification: Verification = {
    request,
    primitives: watched,
    meter: createMeter(request.budget),
    findings: createFindings(),
    found: null,
    replay: null,
  };
  const manifest = await readManifest(verification, source);
  if (manifest !== null) await readTree(verification, source, manifest);
  const { findings, replay } = verification;
  if (request.profile === "full_replay_v1") closeReplay(findings, replay);
  markUndecidable(findings);
  const report = sealReport(verification);
  const law_identity = manifest?.scenario_law_identity ?? null;
  const created = replay?.created ?? null;
  const parameters = created === null ? null : parametersOf(created);
  const isFollowed = replay?.stage === "records";
  return {
    report,
    verdict_identity: verdictIdentity(primitives.sha256, report, { law: law_identity, parameters }),
    law_identity,
    law: replay?.law ?? null,
    law_digest: replay === null || replay.law === null ? null : primitives.sha256(replay.lawBytes),
    parameters,
    run: isFollowed && replay.state !== null ? resultOfRun(replay.course, replay.state) : null,
    producers: signersOf(verification, producerKeys),
    validated: hasRun(),
  };
}

/** The primitives, and whether their validator gave a verdict. */
function watchSchemas(
  primitives: VerificationPrimitives,
): { readonly watched: VerificationPrimitives; readonly hasRun: () => boolean } {
  const { validateSchema } = primitives;
  if (validateSchema === undefined) return { watched: primitives, hasRun: () => false };
  let ran = false;
  const watched: VerificationPrimitives = {
    ...primitives,
    validateSchema: async (...given) => {
      const verdict = await validateSchema(...given);
      ran ||= verdict !== null;
      return verdict;
    },
  };
  return { watched, hasRun: () => ran };
}

interface Verification {
  readonly request: VerificationRequest;
  readonly primitives: VerificationPrimitives;
  readonly meter: Meter;
  readonly findings: Findings;
  /** The manifest that was read. */
  found: { readonly identity: Identity; readonly bytes: Uint8Array; readonly manifest: Manifest | null } | null;
  /** The replay, where all material is intact. */
  replay: ReplayState | null;
}

/** Checks claims 1 and 2; null where no manifest can be read. */
async function readManifest(verification: Verification, source: PackSource): Promise<Manifest | null> {
  const { request, primitives: { sha256 }, meter, findings } = verification;
  if (!meter.charge({ hashing_workers: 1 })) return exhausted(verification);
  const bytes = await readManifestBytes(source);
  if (typeof bytes === "string") {
    const fault = constructManifest(bytes);
    if ("code" in fault) findings.note("structural_format_validity", fault);
    findings.leaveOpen("runpack_subject_identity", "manifest_unavailable");
    markUnread(findings);
    return null;
  }
  if (!meter.charge({ bytes_read: bytes.length, canonical_work_bytes: bytes.length })) return exhausted(verification);
  const identity = runpackIdentity(sha256, bytes);
  findings.note("runpack_subject_identity", checkSubject(identity, request.runpack_identity));
  const manifest = constructManifest(bytes);
  const isManifest = !("code" in manifest);
  verification.found = { identity, bytes, manifest: isManifest ? manifest : null };
  if (isManifest) return manifest;
  findings.note("structural_format_validity", manifest);
  markUnread(findings);
  return null;
}

/** Adds the gaps that an invalid manifest leaves. */
function markUnread(findings: Findings): void {
  findings.leaveOpen("artifact_tree_integrity", "manifest_invalid");
  for (const claim of REPLAY_CLAIMS) {
    findings.leaveOpen(claim, "material_not_intact");
  }
}

function exhausted({ findings }: Verification): null {
  for (const claim of [...INTEGRITY_CLAIMS, ...REPLAY_CLAIMS]) {
    findings.leaveOpen(claim, "budget_exhausted");
  }
  return null;
}

/** Checks claim 3 and replays the parts. The replay counts only if all material is intact. */
async function readTree(verification: Verification, source: PackSource, manifest: Manifest): Promise<void> {
  const { request, primitives, meter, findings } = verification;
  const reading = openReading(source, primitives, meter);
  const purpose = request.profile === "full_replay_v1" ? "replay" : "check";
  const replay = startReplay(primitives, manifest, request.trusted_keys, meter);
  const traversal = await traverseTree(reading, manifest, purpose, (part) => replayPart(replay, part));
  if (traversal === "whole") {
    if (purpose === "check") return;
    finishHistory(replay);
    verification.replay = replay;
    return;
  }
  if (traversal === "budget_exhausted") {
    for (const claim of ["artifact_tree_integrity", ...REPLAY_CLAIMS] as const) {
      findings.leaveOpen(claim, "budget_exhausted");
    }
  } else {
    findings.note("artifact_tree_integrity", traversal);
    for (const claim of REPLAY_CLAIMS) findings.leaveOpen(claim, "material_not_intact");
  }
}

/** The key ids of those keys under which a signature beside the pack verifies. */
function signersOf(
  { request, primitives, found }: Verification,
  keys: readonly TrustedPublicKey[],
): readonly Identity[] {
  const manifest = found?.manifest ?? null;
  if (found === null || manifest === null) return [];
  const envelopes = request.signatures?.slice(0, SIGNATURES) ?? [];
  return keys.flatMap((key) =>
    envelopes.some((envelope) => verifyEnvelope(primitives, envelope, found.bytes, manifest, key))
      ? [keyIdOf(primitives.sha256, key)]
      : []
  );
}

function requestIdentity({ request, primitives: { sha256 } }: Verification): Identity {
  const { budget, profile, runpack_identity, trusted_keys } = request;
  const keys = trusted_keys === null ? {} : { trusted_keys: trusted_keys.map((key) => sha256(key)).sort() };
  return identify(sha256, "request", {
    budget: budget === null ? null : asJson(budget),
    profile,
    runpack_identity,
    ...keys,
  });
}

function sealReport(verification: Verification): VerificationReport {
  const { request: { profile }, primitives: { sha256 }, meter, findings, found, replay } = verification;
  const replays = profile === "full_replay_v1";
  const claims = CLAIMS.map(({ name, method }): VerificationReport["claims"][number] => {
    const isRequested = replays || INTEGRITY_CLAIMS.includes(name);
    return { claim: name, status: isRequested ? findings.status(name, method) : { status: "not_requested" } };
  });
  const signers = signersOf(verification, verification.request.trusted_keys ?? []);
  const signatures = signers.map((keyId) => `runpack_signature:${keyId}`);
  const report = {
    assumptions: [...replay?.assumptions ?? []].sort(),
    budget: meter.consumed(),
    claims,
    material_resolution: MATERIAL_RESOLUTION,
    profile,
    request_identity: requestIdentity(verification),
    runpack_identity: found?.identity ?? null,
    trusted_bases: [...new Set(["sha256", ...replays ? ["ed25519"] : [], ...signatures])].sort(),
    verifier_procedure: VERIFIER_PROCEDURE,
  } as const;
  return { ...report, report_identity: identify(sha256, "report", asJson(report)) };
}

/** A report as JSON, its members in canonical order. */
export function reportAsJson(report: VerificationReport): JsonObject {
  const { assumptions, budget, claims, material_resolution, profile, report_identity, ...rest } = report;
  const { request_identity, runpack_identity, trusted_bases, verifier_procedure } = rest;
  return asJson({
    assumptions,
    budget,
    claims,
    material_resolution,
    profile,
    report_identity,
    request_identity,
    runpack_identity,
    trusted_bases,
    verifier_procedure,
  }) as JsonObject;
}
