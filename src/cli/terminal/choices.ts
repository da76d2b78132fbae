/**
 * What some flags and arguments may be, for those who offer them and those who take them.
 *
 * @module
 */

/** The shells that completions are for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** One of {@link SHELLS}. */
export type Shell = typeof SHELLS[number];

/** The forms of a drawn graph. */
export const GRAPH_FORMATS = ["terminal", "mermaid", "svg"] as const;
