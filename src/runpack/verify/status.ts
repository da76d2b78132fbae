/**
 * Decides the status of the claims that a replay left open.
 *
 * @module
 */

import { CLAIMS, claimsThatNeed, REPLAY_CLAIMS } from "./claims.ts";
import type { Findings } from "./findings.ts";
import type { ReplayState } from "./state.ts";

const LAW_CLAIMS = claimsThatNeed("law");
const CREATION_CLAIMS = claimsThatNeed("first_record");
const HISTORY_CLAIMS = claimsThatNeed("history");

/**
 * Adds the findings of a replay, and a gap for each claim that it left open. Without a replay, the gaps are recorded
 * already.
 */
export function closeReplay(findings: Findings, replay: ReplayState | null): void {
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
export function markUndecidable(findings: Findings): void {
  for (const { name, unavailable } of CLAIMS) if (unavailable !== undefined) findings.leaveOpen(name, unavailable);
}
