/** The findings of a verification so far, by claim. */

import type { ClaimName, ViolationCode } from "./claims.ts";
import { type ClaimStatus, UNAVAILABLE_REASONS, type UnavailableReason, type Violation } from "./types.ts";

/** Collects contradictions and gaps. It keeps the first contradiction of each claim, and the gap that ranks first. */
export interface Findings {
  /** Adds the contradiction that a check found, if any. */
  readonly note: (claim: ClaimName, found: Violation | null) => void;
  readonly leaveOpen: (claim: ClaimName, reason: UnavailableReason) => void;
  /** Adds the findings of others on some claims. */
  readonly merge: (others: Findings, claims: readonly ClaimName[]) => void;
  readonly violationOf: (claim: ClaimName) => Violation | null;
  readonly gapOf: (claim: ClaimName) => UnavailableReason | null;
  /** The status of a requested claim: violated, else unavailable, else satisfied. */
  readonly status: (claim: ClaimName, method: string | null) => ClaimStatus;
}

/** A contradiction at a place. */
export function violation(code: ViolationCode, place: string | null = null): Violation {
  return { code, place };
}

/** The place of a record. */
export function atRevision(revision: number): string {
  return `revision ${revision}`;
}

/** The place of an item of a record's evidence, counted from 0. */
export function atItem(revision: number, index: number): string {
  return `${atRevision(revision)}, item ${index}`;
}

/** Creates empty findings. */
export function createFindings(): Findings {
  const violations = new Map<ClaimName, Violation>();
  const gaps = new Map<ClaimName, UnavailableReason>();
  const note = (claim: ClaimName, found: Violation | null): void => {
    if (found !== null && !violations.has(claim)) violations.set(claim, found);
  };
  const leaveOpen = (claim: ClaimName, reason: UnavailableReason): void => {
    const known = gaps.get(claim);
    if (known === undefined || rank(reason) < rank(known)) gaps.set(claim, reason);
  };
  return {
    note,
    leaveOpen,
    merge(others, claims): void {
      for (const claim of claims) {
        const gap = others.gapOf(claim);
        note(claim, others.violationOf(claim));
        if (gap !== null) leaveOpen(claim, gap);
      }
    },
    violationOf: (claim) => violations.get(claim) ?? null,
    gapOf: (claim) => gaps.get(claim) ?? null,
    status(claim, method): ClaimStatus {
      const found = violations.get(claim);
      const gap = gaps.get(claim);
      if (found !== undefined && method !== null) {
        const reason = found.place === null ? found.code : `${found.code}: ${found.place}`;
        return { status: "violated", method, reason };
      }
      if (gap !== undefined) return { status: "unavailable", reason: gap };
      if (method === null) throw new Error(`Cannot decide claim "${claim}": it has neither method nor reason`);
      return { status: "satisfied", method };
    },
  };
}

function rank(reason: UnavailableReason): number {
  return UNAVAILABLE_REASONS.indexOf(reason);
}
