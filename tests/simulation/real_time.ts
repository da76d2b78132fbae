/**
 * Compares the order of revisions with real time: a call that was sent after an answer was there sees at least the revision of that answer.
 *
 * @module
 */

import assert from "node:assert/strict";

/** A call of one run with its certain answer. All instants are of one clock, in milliseconds. */
export interface Observation {
  /** Names the run. */
  readonly run: string;
  /** The revision that the call added, or the one that it was told to be current. */
  readonly revision: number;
  readonly isAdded: boolean;
  /** When the call was sent first. */
  readonly sent: number;
  /** When its answer was there. */
  readonly answered: number;
}

/** Throws where a call does not see the revision of an answer that was there before the call was sent. */
export function checkRealTime(observations: readonly Observation[]): void {
  for (const ofRun of Map.groupBy(observations, ({ run }) => run).values()) {
    const answers = ofRun.toSorted((a, b) => a.answered - b.answered);
    let seen = 0;
    let next = 0;
    for (const { run, revision, isAdded, sent } of ofRun.toSorted((a, b) => a.sent - b.sent)) {
      for (let answer = answers[next]; answer !== undefined && answer.answered < sent; answer = answers[++next]) {
        seen = Math.max(seen, answer.revision);
      }
      const least = isAdded ? seen + 1 : seen;
      assert.ok(revision >= least, `run ${run} is at revision ${revision} after an answer with revision ${seen}`);
    }
  }
}
