/**
 * The functions `match` and `search` of JSONPath (RFC 9535, 2.4.6 and 2.4.7), in bounded time. The package would run
 * the patterns of I-Regexp (RFC 9485) in the engine of the runtime, which can take exponential time and cannot be
 * stopped.
 *
 * A pattern that is not I-Regexp matches nothing, as the RFC requires. An I-Regexp that exceeds a limit ends the query:
 * treating it as no match would make `!search(...)` true.
 */

import { jsonpath as p3 } from "json-p3";
import { PatternTooLarge } from "../regular_expression/program.ts";
import { compileSearch, type Search, type Spend } from "../regular_expression/search.ts";
import { PATTERN_CHARACTERS_MAXIMUM } from "../builtin/limits.ts";

/** Whether a pattern matches a string; false where either is not a string. */
type PatternTest = (text: unknown, pattern: unknown) => boolean;

/** The functions that use patterns. */
export interface Patterns {
  readonly match: PatternTest;
  readonly search: PatternTest;
}

/** Compiled patterns that a query caches. */
const CACHED_PATTERNS = 1000;
/** Steps of parsing a character of a pattern, and of emitting an instruction: both cost more than running an instruction. */
const COMPILE_STEPS = 32;

/**
 * The functions for one query. Each query compiles its own patterns, so its step count does not depend on earlier
 * queries.
 *
 * @throws {PatternTooLarge} From either function
 */
export function patternsOf(spend: Spend): Patterns {
  const testWith = (wrap: (translated: string) => string): PatternTest => {
    const searchOf = cached((pattern) => compile(pattern, wrap, spend));
    return (text, pattern) =>
      typeof text === "string" && typeof pattern === "string" && (searchOf(pattern)?.(text, spend) ?? false);
  };
  // RFC 9485, 5.3: `match` tests the whole string, also with a pattern that contains anchors.
  return { match: testWith((translated) => `^(?:${translated})$`), search: testWith((translated) => translated) };
}

/** Caches compiled patterns. */
function cached(compile: (pattern: string) => Search | null): (pattern: string) => Search | null {
  const cache = new Map<string, Search | null>();
  return (pattern) => {
    const known = cache.get(pattern);
    if (known !== undefined) return known;
    const search = compile(pattern);
    if (cache.size >= CACHED_PATTERNS) cache.clear();
    cache.set(pattern, search);
    return search;
  };
}

/** Compiles a pattern; null where it is not I-Regexp. */
function compile(pattern: string, wrap: (translated: string) => string, spend: Spend): Search | null {
  if (pattern.length > PATTERN_CHARACTERS_MAXIMUM) throw new PatternTooLarge("pattern is too long");
  spend(pattern.length * COMPILE_STEPS);
  try {
    if (!isIRegexp(pattern)) return null;
    return compileSearch(wrap(translate(pattern)), (steps) => spend(steps * COMPILE_STEPS));
  } catch (error) {
    if (error instanceof RangeError) throw new PatternTooLarge("pattern is nested too deep");
    // The grammar accepts reversed bounds, as in [b-a] and a{2,1}; the compiler rejects them.
    if (error instanceof SyntaxError && !(error instanceof PatternTooLarge)) return null;
    throw error;
  }
}

const checker = new p3.functions.Search({ throwErrors: true, cacheSize: 0 });

/** A subject whose `match` finds nothing, so that the package checks the pattern without running the runtime's engine. */
const EMPTY_SUBJECT = { match: () => null } as unknown as string;

/** Characters of the grammar (RFC 9485, 4) that the package rejects, and the replacement that it accepts. */
const BEYOND_BASIC = /[\u{10000}-\u{10FFFF}]/gu;
const PRIVATE_USE = "\uE000";

/** Whether a pattern is I-Regexp. The package checks this only as part of a search, so it searches an empty subject. */
function isIRegexp(pattern: string): boolean {
  try {
    checker.call(EMPTY_SUBJECT, pattern.replaceAll(BEYOND_BASIC, PRIVATE_USE));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    // Other errors come from the runtime, which compiles the package's own translation of the pattern.
    return !(error instanceof Error && error.name === "IRegexpError");
  }
  return true;
}

/**
 * Translates I-Regexp to ECMAScript (RFC 9485, 5.3): outside of classes a dot matches all characters except `\n` and
 * `\r`. The other differences: ECMAScript has no escaped hyphen outside of classes, no repeated `^` or `$`, and fewer
 * capturing groups.
 */
function translate(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[.[\]^$(]/gsu, (part) => {
    if (part === "[") isInClass = true;
    if (part === "]") isInClass = false;
    return isInClass ? part : OUTSIDE_OF_CLASSES.get(part) ?? part;
  });
}

const OUTSIDE_OF_CLASSES = new Map([
  [".", "[^\\n\\r]"],
  ["\\-", "-"],
  ["^", "(?:^)"],
  ["$", "(?:$)"],
  ["(", "(?:"],
]);
