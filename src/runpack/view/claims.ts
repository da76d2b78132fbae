/** The claims of a report. */

import { countOf } from "../../canonical/count.ts";
import { markIcon } from "../picture/draw_law.ts";
import { type Mark, MARKS } from "../picture/marks.ts";
import { type ClaimName, CLAIMS } from "../verify/claims.ts";
import type { ClaimStatus, VerificationReport } from "../verify/types.ts";
import type { Examination } from "../verify/verify.ts";
import { all, element, type Markup } from "./markup.ts";
import { row, table } from "./tables.ts";
import { differenceText } from "./words.ts";

const MEANINGS: ReadonlyMap<ClaimName, string> = new Map(CLAIMS.map(({ name, meaning }) => [name, meaning]));

/** Counts the claims with a status. */
export function claimsWith({ claims }: VerificationReport, status: ClaimStatus["status"]): number {
  return claims.filter((entry) => entry.status.status === status).length;
}

const STATUSES: Readonly<Record<ClaimStatus["status"], Mark>> = {
  satisfied: "met",
  violated: "not_met",
  unavailable: "unavailable",
  not_requested: "not_judged",
};

/** Every claim with its status. */
export function renderClaims(examination: Examination): Markup {
  const { report, verdict_identity } = examination;
  const rows = report.claims.map(({ claim, status }) =>
    row(
      all(element("code", {}, claim), element("div", { class: "quiet" }, MEANINGS.get(claim) ?? "")),
      statusOf(status.status),
      "reason" in status ? status.reason : "method" in status ? status.method : "",
    )
  );
  const { assumptions, trusted_bases, budget, profile, report_identity, verifier_procedure } = report;
  const difference = differenceText(examination);
  const assumed = assumptions.length === 0 ? "" : ` It takes as they stand: ${assumptions.join(", ")}.`;
  return all(
    table("Claims", ["Claim", "Status", "Why, or how"], rows),
    element("p", {}, `Profile ${profile} by ${verifier_procedure}. It rests on ${trusted_bases.join(", ")}.${assumed}`),
    element(
      "p",
      { class: "quiet" },
      `Read ${countOf(budget.objects, "object")}, ${countOf(budget.bytes_read, "byte")}, `,
      `${countOf(budget.records, "record")}. Verdict `,
      element("code", {}, verdict_identity),
      ". Report ",
      element("code", {}, report_identity),
      difference === null ? "." : ` (${difference}).`,
    ),
  );
}

/** A status after its shape. */
function statusOf(status: ClaimStatus["status"]): Markup {
  const mark = STATUSES[status];
  return element(
    "span",
    { class: `marked status ${status} ${MARKS[mark].tone}` },
    markIcon(mark),
    status.replace("_", " "),
  );
}
