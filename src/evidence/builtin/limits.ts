/**
 * Limits of the built-in providers that the configuration does not set.
 *
 * @module
 */

/** UTF-16 code units of a JSONPath query. */
export const JSONPATH_CHARACTERS_MAXIMUM = 4096;
/** Nodes that one query may find, those found on the way inside filters counted. */
export const JSONPATH_NODES_MAXIMUM = 1_000_000;
/**
 * Steps that one query may take: four for each test of a filter, and for a pattern its instructions times the characters that
 * they are held against.
 */
export const JSONPATH_STEPS_MAXIMUM = 20_000_000;
/** Canonical bytes of a result: no evidence value may be larger. */
export const RESULT_BYTES_MAXIMUM = 1_048_576;
