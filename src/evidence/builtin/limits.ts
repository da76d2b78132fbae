/** Limits of the built-in providers that the configuration does not set. */

/** UTF-16 code units of a JSONPath query. */
export const JSONPATH_CHARACTERS_MAXIMUM = 4096;
/** Nodes that one query may hold at a time. Nodes found inside a filter count until the filter releases them. */
export const JSONPATH_NODES_MAXIMUM = 1_000_000;
/**
 * Steps that one query may take. One step is: a value that the query visits, an evaluation of a part of a filter, or a
 * comparison of 16 characters. Comparing whole arrays or objects costs more for each item and member. Compiling a
 * pattern costs 32 for each character and instruction; running it costs one for each instruction that a character is
 * tested against. Steps are weighted so that one takes at most 50 nanoseconds.
 */
export const JSONPATH_STEPS_MAXIMUM = 20_000_000;
/** UTF-16 code units of a pattern in `match` and `search`, which may come from the document. It is parsed before it runs. */
export const PATTERN_CHARACTERS_MAXIMUM = 65_536;
/** Canonical bytes of a result, and of any evidence value. */
export const RESULT_BYTES_MAXIMUM = 1_048_576;
