/**
 * The claims of a report, and its verdict.
 *
 * @module
 */

import { type ClaimName, CLAIMS } from "../verify/claims.ts";
import type { AdmissionReason } from "../verify/admission.ts";
import { derivationOf } from "../verify/result_line.ts";
import type { ClaimStatus, VerificationReport } from "../verify/types.ts";
import type { Examination } from "../verify/verify.ts";
import { all, element, type Markup } from "./markup.ts";
import { row, table } from "./timeline.ts";
import { counted, differenceText, undecidableText } from "./words.ts";

/** The line above a page: what the run came to, or the decision on it. */
export interface ShownResult {
  readonly line: string;
  readonly isGood: boolean;
  readonly reasons: readonly AdmissionReason[];
}

const MEANINGS: ReadonlyMap<ClaimName, string> = new Map(CLAIMS.map(({ name, meaning }) => [name, meaning]));

/** Counts the claims with a status. */
export function countOf({ claims }: VerificationReport, status: ClaimStatus["status"]): number {
  return claims.filter((entry) => entry.status.status === status).length;
}

/** What the run came to, in one line, then what no verification can show, and what was expected. */
export function renderResult(
  examination: Examination,
  { line, isGood, reasons }: ShownResult,
  expected: string,
): Markup {
  const tone = isGood ? "good" : derivationOf(examination.report) === "violated" ? "bad" : "warning";
  return all(
    element("p", { class: `banner ${tone}`, id: "line" }, element("b", {}, line)),
    element("ul", {}, reasons.map(({ code, message }) => element("li", {}, element("code", {}, code), ` ${message}`))),
    element("p", { class: "quiet" }, undecidableText()),
    element("p", { class: "quiet" }, expected),
  );
}

/** The counts of the claims in one line. */
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
export function renderClaims(examination: Examination): Markup {
  const { report, verdict_identity } = examination;
  const rows = report.claims.map(({ claim, status }) =>
    row(
      all(element("code", {}, claim), element("div", { class: "quiet" }, MEANINGS.get(claim) ?? "")),
      element("span", { class: `status ${status.status}` }, status.status.replace("_", " ")),
      "reason" in status ? status.reason : "method" in status ? status.method : "",
    )
  );
  const { assumptions, trusted_bases, budget, profile, report_identity, verifier_procedure } = report;
  const difference = differenceText(examination);
  const assumed = assumptions.length === 0 ? "" : ` It takes as they stand: ${assumptions.join(", ")}.`;
  return all(
    table(["Claim", "Status", "Why, or how"], rows),
    element("p", {}, `Profile ${profile} by ${verifier_procedure}. It rests on ${trusted_bases.join(", ")}.${assumed}`),
    element(
      "p",
      { class: "quiet" },
      `Read ${counted(budget.objects, "object")}, ${counted(budget.bytes_read, "byte")}, `,
      `${counted(budget.records, "record")}. Verdict `,
      element("code", {}, verdict_identity),
      ". Report ",
      element("code", {}, report_identity),
      difference === null ? "." : ` (${difference}).`,
    ),
  );
}
