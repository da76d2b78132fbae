/**
 * The claims of a report, and its verdict.
 *
 * @module
 */

import { type ClaimName, CLAIMS } from "../verify/claims.ts";
import type { ClaimStatus, VerificationReport } from "../verify/types.ts";
import { all, element, type Markup } from "./markup.ts";
import { row, table } from "./timeline.ts";
import { counted } from "./words.ts";

const MEANINGS: ReadonlyMap<ClaimName, string> = new Map(CLAIMS.map(({ name, meaning }) => [name, meaning]));

/** Counts the claims with a status. */
export function countOf({ claims }: VerificationReport, status: ClaimStatus["status"]): number {
  return claims.filter((entry) => entry.status.status === status).length;
}

/** The verdict in one line. */
export function renderVerdict(report: VerificationReport): Markup {
  const violated = countOf(report, "violated");
  const satisfied = countOf(report, "satisfied");
  const open = countOf(report, "unavailable");
  const counts = `${satisfied} satisfied, ${violated} violated, ${open} not settled`;
  if (violated > 0) {
    const warning = `${counted(violated, "claim")} violated: do not believe what this page shows.`;
    return element("p", { class: "banner bad", role: "alert" }, element("b", {}, warning), ` ${counts}.`);
  }
  const good = satisfied > 0 ? "Nothing contradicts this runpack." : "Nothing was settled.";
  const tone = satisfied > 0 ? "good" : "warning";
  return element("p", { class: `banner ${tone}`, role: "status" }, element("b", {}, good), ` ${counts}.`);
}

/** Every claim with its status. */
export function renderClaims(report: VerificationReport): Markup {
  const rows = report.claims.map(({ claim, status }) =>
    row(
      all(element("code", {}, claim), element("div", { class: "quiet" }, MEANINGS.get(claim) ?? "")),
      element("span", { class: `status ${status.status}` }, status.status.replace("_", " ")),
      "reason" in status ? status.reason : "method" in status ? status.method : "",
    )
  );
  const { assumptions, trusted_bases, budget, profile, report_identity, verifier_procedure } = report;
  const assumed = assumptions.length === 0 ? "" : ` It takes as they stand: ${assumptions.join(", ")}.`;
  return all(
    table(["Claim", "Status", "Why, or how"], rows),
    element("p", {}, `Profile ${profile} by ${verifier_procedure}. It rests on ${trusted_bases.join(", ")}.${assumed}`),
    element(
      "p",
      { class: "quiet" },
      `Read ${counted(budget.objects, "object")}, ${counted(budget.bytes_read, "byte")}, `,
      `${counted(budget.records, "record")}. Report `,
      element("code", {}, report_identity),
    ),
  );
}
