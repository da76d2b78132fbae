/**
 * Formats a verification report for a terminal.
 *
 * @module
 */

import type { ClaimStatus, VerificationReport } from "../../runpack/verify/types.ts";
import { columns, paint, shown, type Tone, wantsColour } from "../terminal/text.ts";

const TONES: Readonly<Record<ClaimStatus["status"], Tone | null>> = {
  satisfied: "good",
  violated: "bad",
  unavailable: "warning",
  not_requested: null,
};

/** Formats the report: every claim with its status, then its bases and assumptions. */
export function showClaims(report: VerificationReport, colour: boolean = wantsColour()): string {
  const rows = report.claims.map(({ claim, status }) => [`  ${claim}`, status.status, detailOf(status)]);
  const lines = columns(rows).split("\n").map((line, index) => paintStatus(line, report.claims[index]?.status, colour));
  const { budget, assumptions, trusted_bases, profile } = report;
  return [
    `runpack ${report.runpack_identity ?? "(no manifest)"}`,
    `profile ${profile}, ${report.verifier_procedure}: ${verdictOf(report)}`,
    lines.join("\n").trimEnd(),
    `based on ${trusted_bases.join(", ")}${assumptions.length === 0 ? "" : `; assumes ${assumptions.join(", ")}`}`,
    `read ${budget.objects} objects, ${budget.bytes_read} bytes, ${budget.records} records`,
    `report ${report.report_identity}`,
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

function detailOf(status: ClaimStatus): string {
  // A reason may contain the name of a file of the runpack.
  return "reason" in status ? shown(status.reason) : "method" in status ? status.method : "";
}

function paintStatus(line: string, status: ClaimStatus | undefined, colour: boolean): string {
  const tone = status === undefined ? null : TONES[status.status];
  return status === undefined || tone === null ? line : line.replace(status.status, paint(status.status, tone, colour));
}
