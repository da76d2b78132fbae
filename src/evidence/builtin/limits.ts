/**
 * Limits of the built-in providers that the configuration does not set.
 *
 * @module
 */

/** UTF-16 code units of a JSONPath query. */
export const JSONPATH_CHARACTERS_MAXIMUM = 4096;
/** Nodes that one query may hold at a time, those found inside filters counted until their filter lets them go. */
export const JSONPATH_NODES_MAXIMUM = 1_000_000;
/**
 * Steps that one query may take: one for each value that it comes by, whether it finds it or not, and one for each part of a
 * filter, each time; one for 16 characters that are compared, and more for the items and members of what is compared as a whole;
 * for a pattern 32 for each of its characters and instructions to compile it, and one for each instruction that a character is
 * held against. A step is made to take at most 50 nanoseconds.
 */
export const JSONPATH_STEPS_MAXIMUM = 20_000_000;
/** UTF-16 code units of a pattern in `match` and `search`: it may be the document's, and is read whole before it is used. */
export const PATTERN_CHARACTERS_MAXIMUM = 65_536;
/** Canonical bytes of a result: no evidence value may be larger. */
export const RESULT_BYTES_MAXIMUM = 1_048_576;
