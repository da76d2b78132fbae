/**
 * Decides the status of the claims that a replay left open.
 *
 * @module
 */

import { CLAIMS, claimsThatNeed, REPLAY_CLAIMS } from "./claims.ts";
import type { Findings } from "./findings.ts";
import type { Course } from "./state.ts";

const LAW_CLAIMS = claimsThatNeed("law");
const CREATION_CLAIMS = claimsThatNeed("first_record");
const HISTORY_CLAIMS = claimsThatNeed("history");

/** Takes over what a replay found, and says what it left open. A replay that never counted has said so already. */
export function settleReplay(findings: Findings, course: Course | null): void {
  if (course === null) return;
  if (course.law === null) { for (const claim of LAW_CLAIMS) course.findings.lack(claim, "law_not_constructed"); }
  if (course.stage === "history_broken" || course.stage === "budget_exhausted") {
    for (const claim of HISTORY_CLAIMS) course.findings.lack(claim, course.stage);
    if (course.previous === null) course.findings.lack("creation_receipt_integrity", course.stage);
  }
  if (course.created === null) {
    const reason = course.stage === "budget_exhausted" ? course.stage : "history_broken";
    for (const claim of CREATION_CLAIMS) course.findings.lack(claim, reason);
  }
  findings.adopt(course.findings, REPLAY_CLAIMS);
}

/** What no pack can settle. */
export function settleBeyond(findings: Findings): void {
  for (const { name, unavailable } of CLAIMS) if (unavailable !== undefined) findings.lack(name, unavailable);
}
