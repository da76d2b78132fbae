/**
 * The marks of stages and conditions: one word, one shape and one tone each, for drawings, pages and terminals alike.
 */

/** The state of a condition in a run. */
export type ConditionMark = "met" | "not_met" | "unknown" | "waiting" | "unavailable" | "refused" | "not_judged";

/** The state of a stage in a run. */
export type StageMark = "complete" | "held" | "waiting" | "open" | "ready" | "blocked";

/** Every state that a drawing shows; the last two are those of the end. */
export type Mark = StageMark | ConditionMark | "reached" | "not_reached";

/** The colour of a mark: never the only sign of its state. */
export type Tone = "good" | "bad" | "doubt" | "absent" | "awaited" | "refusal" | "active" | "plain";

/** A part of a shape: filled, drawn as a line, or cut out of a filled part. */
type Part = readonly [kind: "fill" | "line" | "cut", path: string];

/** How a mark is shown. */
export interface MarkLook {
  readonly word: string;
  /** What the word means, for a legend. */
  readonly meaning: string;
  readonly tone: Tone;
  /** Stands for the shape on a terminal. */
  readonly character: string;
  /** Within 7 units of its centre. */
  readonly shape: readonly Part[];
}

const ring = (radius: number): string =>
  `M${-radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0Z`;

const CHECK: readonly Part[] = [["fill", ring(6.5)], ["cut", "M-3.2 .2L-1 2.6L3.4 -2.4"]];
const CROSS: readonly Part[] = [["fill", "M-6 -6H6V6H-6Z"], ["cut", "M-2.8 -2.8L2.8 2.8M2.8 -2.8L-2.8 2.8"]];
const HOURGLASS: readonly Part[] = [["line", "M-5 -6H5M-5 6H5"], ["fill", "M-4 -6H4L0 0L4 6H-4L0 0Z"]];
const QUESTION: readonly Part[] = [
  ["line", ring(6)],
  ["line", "M-2 -1.4C-2 -4.2 2.2 -4.2 2 -1.4C1.9 -.2 0 0 0 1.3M0 3.3V3.5"],
];
const DIAMOND: readonly Part[] = [["line", "M0 -6.5L6.5 0L0 6.5L-6.5 0Z"], ["line", "M-2.6 0H2.6"]];
const STOP: readonly Part[] = [
  ["fill", "M-2.7 -6.5H2.7L6.5 -2.7V2.7L2.7 6.5H-2.7L-6.5 2.7V-2.7Z"],
  ["cut", "M-3.4 0H3.4"],
];
const HALF: readonly Part[] = [["line", ring(6)], ["fill", "M0 -6A6 6 0 0 1 0 6Z"]];
const START: readonly Part[] = [["line", ring(6)], ["fill", "M-1.8 -3L3.4 0L-1.8 3Z"]];
const LOCK: readonly Part[] = [["fill", "M-5 -1H5V6H-5Z"], ["line", "M-3 -1V-3A3 3 0 0 1 3 -3V-1"]];

/** Every mark, in the order of a legend. */
export const MARKS: Readonly<Record<Mark, MarkLook>> = {
  reached: { word: "reached", meaning: "the run is complete", tone: "good", character: "●", shape: CHECK },
  not_reached: {
    word: "not reached",
    meaning: "the run is open",
    tone: "plain",
    character: "○",
    shape: [["line", ring(6)]],
  },
  complete: { word: "complete", meaning: "the stage is complete", tone: "good", character: "●", shape: CHECK },
  held: { word: "held", meaning: "the last attempt was false", tone: "bad", character: "✗", shape: CROSS },
  open: { word: "open", meaning: "opened, not decided", tone: "active", character: "◐", shape: HALF },
  ready: {
    word: "ready to be opened",
    meaning: "not opened yet",
    tone: "active",
    character: "○",
    shape: START,
  },
  blocked: { word: "blocked", meaning: "waits for other stages", tone: "plain", character: "·", shape: LOCK },
  met: { word: "met", meaning: "evidence satisfies it", tone: "good", character: "✓", shape: CHECK },
  not_met: { word: "not met", meaning: "evidence contradicts it", tone: "bad", character: "✗", shape: CROSS },
  refused: { word: "refused", meaning: "signed statements refuse it", tone: "refusal", character: "⊘", shape: STOP },
  unknown: { word: "unknown", meaning: "the evidence does not decide", tone: "doubt", character: "?", shape: QUESTION },
  waiting: {
    word: "waiting",
    meaning: "a signed statement is missing",
    tone: "awaited",
    character: "◷",
    shape: HOURGLASS,
  },
  unavailable: {
    word: "unavailable",
    meaning: "a source gave no answer",
    tone: "absent",
    character: "◇",
    shape: DIAMOND,
  },
  not_judged: {
    word: "not judged",
    meaning: "no attempt has judged it",
    tone: "plain",
    character: "-",
    shape: [["line", ring(3.5)]],
  },
};

/** All marks, in the order of a legend. */
export const MARK_ORDER = Object.keys(MARKS) as readonly Mark[];

/** A mark in words, with its detail. */
export function stateWords(mark: Mark, detail: string): string {
  return `${MARKS[mark].word}${detail === "" ? "" : `, ${detail}`}`;
}
