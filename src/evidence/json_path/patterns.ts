/**
 * The functions `match` and `search` of JSONPath (RFC 9535, 2.4.6 and 2.4.7), in bounded time: the package would run the
 * patterns of I-Regexp (RFC 9485) in the engine of the runtime, which may take beyond all measure and cannot be stopped.
 *
 * What is no I-Regexp matches nothing, as the RFC has it. What is one and cannot be used ends the query: that nothing was found
 * would be no answer, and `!search(...)` would take it for one.
 *
 * @module
 */

import { jsonpath as p3 } from "json-p3";
import { PatternTooLarge } from "../regular_expression/program.ts";
import { compileSearch, type Search, type Spend } from "../regular_expression/search.ts";
import { PATTERN_CHARACTERS_MAXIMUM } from "../builtin/limits.ts";

/** Whether a pattern takes a text; false where either is no text. */
type PatternTest = (text: unknown, pattern: unknown) => boolean;

/** The functions that take patterns. */
export interface Patterns {
  readonly match: PatternTest;
  readonly search: PatternTest;
}

/** Patterns that a query keeps compiled; it has paid for each of their instructions. */
const KEPT_PATTERNS = 1000;
/** Steps of reading a character of a pattern, and of writing an instruction: more work than to hold one against a character. */
const COMPILE_STEPS = 32;

/**
 * The functions for one query, which pays for each pattern itself: what a query takes does not hang on those before it.
 *
 * @throws {PatternTooLarge} From either function
 */
export function patternsOf(spend: Spend): Patterns {
  const testWith = (envelop: (mapped: string) => string): PatternTest => {
    const searchOf = keeper((pattern) => compile(pattern, envelop, spend));
    return (text, pattern) =>
      typeof text === "string" && typeof pattern === "string" && (searchOf(pattern)?.(text, spend) ?? false);
  };
  // RFC 9485, 5.3: a pattern takes the whole of a text, whatever it says itself of where it begins and ends.
  return { match: testWith((mapped) => `^(?:${mapped})$`), search: testWith((mapped) => mapped) };
}

/** Keeps patterns compiled. */
function keeper(compile: (pattern: string) => Search | null): (pattern: string) => Search | null {
  const kept = new Map<string, Search | null>();
  return (pattern) => {
    const known = kept.get(pattern);
    if (known !== undefined) return known;
    const search = compile(pattern);
    if (kept.size >= KEPT_PATTERNS) kept.clear();
    kept.set(pattern, search);
    return search;
  };
}

/** A pattern made ready; null for what is no I-Regexp. */
function compile(pattern: string, envelop: (mapped: string) => string, spend: Spend): Search | null {
  if (pattern.length > PATTERN_CHARACTERS_MAXIMUM) throw new PatternTooLarge("pattern is too long");
  spend(pattern.length * COMPILE_STEPS);
  try {
    if (!isOfGrammar(pattern)) return null;
    return compileSearch(envelop(mapped(pattern)), (steps) => spend(steps * COMPILE_STEPS));
  } catch (error) {
    if (error instanceof RangeError) throw new PatternTooLarge("pattern is nested too deep");
    // What the grammar takes and this does not has its bounds the wrong way round, as in [b-a] and a{2,1}.
    if (error instanceof SyntaxError && !(error instanceof PatternTooLarge)) return null;
    throw error;
  }
}

const checker = new p3.functions.Search({ throwErrors: true, cacheSize: 0 });

/** Stands for a text, and is asked in its place: the engine of the runtime is never run. */
const NOWHERE = { match: () => null } as unknown as string;

/** Characters that the grammar has (RFC 9485, 4) and the package does not know as one; and one that it knows. */
const BEYOND_BASIC = /[\u{10000}-\u{10FFFF}]/gu;
const PRIVATE_USE = "\uE000";

/** The package says whether a pattern is one of I-Regexp by whether it can look for it, so it looks in what finds nothing. */
function isOfGrammar(pattern: string): boolean {
  try {
    checker.call(NOWHERE, pattern.replaceAll(BEYOND_BASIC, PRIVATE_USE));
  } catch (error) {
    if (error instanceof RangeError) throw error;
    // Anything else is of the runtime, which is asked of a pattern that the package maps in another way.
    return !(error instanceof Error && error.name === "IRegexpError");
  }
  return true;
}

/**
 * RFC 9485, 5.3: outside of classes a dot takes all but the ends of lines, of which there are two. The rest is what the runtime
 * reads in another way than the grammar: it knows no escaped hyphen there, nothing that repeats a `^` or `$`, and not as many
 * groups if it has to keep what they take.
 */
function mapped(pattern: string): string {
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
