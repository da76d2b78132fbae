/**
 * Limits of the built-in providers that the configuration does not set.
 *
 * @module
 */

/** UTF-16 code units of a JSONPath query. */
export const JSONPATH_CHARACTERS_MAXIMUM = 4096;
/** Nodes that one query may find, those found on the way inside filters counted. */
export const JSONPATH_NODES_MAXIMUM = 1_000_000;
/** Steps that the patterns of one query may take: instructions of a pattern, times the characters they are held against. */
export const JSONPATH_STEPS_MAXIMUM = 20_000_000;
/** Canonical bytes of a result: no evidence value may be larger. */
export const RESULT_BYTES_MAXIMUM = 1_048_576;
