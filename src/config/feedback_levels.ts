/** The levels of feedback of `scenario_next`. Plain data: tools read it, and a start without a file loads no schema. */

/** From least to most. */
export const FEEDBACK_LEVELS = ["summary", "trace", "evidence"] as const;

/** One of {@link FEEDBACK_LEVELS}. */
export type FeedbackLevel = typeof FEEDBACK_LEVELS[number];
