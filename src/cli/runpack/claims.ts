/** Formats a verification report for a terminal. */

import { countOf } from "../../config/problems.ts";
import type { Identity } from "../../canonical/identity.ts";
import { type ClaimName, CLAIMS } from "../../runpack/verify/claims.ts";
import { derivationOf, resultLine } from "../../runpack/verify/result_line.ts";
import type { ClaimStatus, VerificationReport } from "../../runpack/verify/types.ts";
import type { Examination } from "../../runpack/verify/verify.ts";
import { differenceText, expectationText, undecidableText } from "../../runpack/view/words.ts";
import { columns, paint, shown, type Tone, wantsColour } from "../terminal/text.ts";

const TONES: Readonly<Record<ClaimStatus["status"], Tone | null>> = {
  satisfied: "good",
  violated: "bad",
  unavailable: "warning",
  not_requested: null,
};

const MEANINGS: ReadonlyMap<ClaimName, string> = new Map(CLAIMS.map(({ name, meaning }) => [name, meaning]));

/**
 * Formats a verification: what the run came to, what no verification can show, then every claim with its sentence.
 *
 * @param expected The runpack identity that was expected; null where nothing was
 */
export function showVerification(
  examination: Examination,
  expected: Identity | null,
  colour: boolean = wantsColour(),
): string {
  const { report } = examination;
  const derivation = derivationOf(report);
  const tone = derivation === "derived" ? "good" : derivation === "violated" ? "bad" : "warning";
  const rows = report.claims.map(({ claim, status }) => [`  ${claim}`, status.status, sentenceOf(claim, status)]);
  const lines = columns(rows).split("\n").map((line, index) => paintStatus(line, report.claims[index]?.status, colour));
  const { assumptions, trusted_bases, profile, verifier_procedure } = report;
  return [
    paint(shown(resultLine(examination)), tone, colour),
    undecidableText(),
    expectationText(expected),
    "",
    `runpack ${report.runpack_identity ?? "(no manifest)"}`,
    `profile ${profile}, ${verifier_procedure}: ${verdictOf(report)}`,
    lines.join("\n").trimEnd(),
    `based on ${trusted_bases.join(", ")}${assumptions.length === 0 ? "" : `; assumes ${assumptions.join(", ")}`}`,
    showBasis(examination),
  ].join("\n");
}

/** Formats the identities of a verification, and what it read. */
export function showBasis(examination: Examination): string {
  const { report: { budget, report_identity }, verdict_identity } = examination;
  const difference = differenceText(examination);
  return [
    `read ${countOf(budget.objects, "object")}, ${countOf(budget.bytes_read, "byte")}, ${
      countOf(budget.records, "record")
    }`,
    `verdict ${verdict_identity}`,
    `report ${report_identity}${difference === null ? "" : ` (${difference})`}`,
    "",
  ].join("\n");
}

/** Counts the claims by status. */
export function verdictOf({ claims }: VerificationReport): string {
  const count = (status: ClaimStatus["status"]): number =>
    claims.filter((entry) => entry.status.status === status).length;
  const parts = [
    `${count("satisfied")} satisfied`,
    `${count("violated")} violated`,
    `${count("unavailable")} unavailable`,
  ];
  return parts.join(", ");
}

/** What a claim means, with the reason of its status. A reason may contain the name of a file of the runpack. */
function sentenceOf(claim: ClaimName, status: ClaimStatus): string {
  const meaning = MEANINGS.get(claim) ?? "";
  return "reason" in status ? `${meaning} [${shown(status.reason)}]` : meaning;
}

function paintStatus(line: string, status: ClaimStatus | undefined, colour: boolean): string {
  const tone = status === undefined ? null : TONES[status.status];
  return status === undefined || tone === null ? line : line.replace(status.status, paint(status.status, tone, colour));
}
