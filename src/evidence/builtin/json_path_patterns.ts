/**
 * The functions `match` and `search` of JSONPath (RFC 9535, 2.4.6 and 2.4.7), in bounded time: the package would run the
 * patterns of I-Regexp (RFC 9485) in the engine of the runtime, which may take beyond all measure and cannot be stopped.
 *
 * @module
 */

import { FunctionExpressionType, jsonpath as p3, type JSONPathEnvironment } from "json-p3";
import { compileSearch, type Search, type Spend } from "../regular_expression/search.ts";

/** The filters and patterns of a query take longer than they may. */
export class TooManySteps extends Error {}

/** Patterns that are kept compiled. */
const KEPT_PATTERNS = 16;

/** Puts the two functions into an environment; what they do is counted. */
export function bindPatterns(environment: JSONPathEnvironment, spend: Spend): void {
  const checker = new p3.functions.Search({ throwErrors: true, cacheSize: 0 });
  for (const name of ["match", "search"]) {
    const compile = keeper((pattern) => {
      const search = compileSearch(name === "match" ? wholeOf(mapped(pattern), pattern) : mapped(pattern), spend);
      // The package says whether a pattern is one of I-Regexp by whether it can look for it, so it looks in what finds nothing.
      checker.call(NOWHERE, pattern);
      return search;
    });
    environment.functionRegister.set(name, {
      argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
      returnType: FunctionExpressionType.LogicalType,
      call: (text: unknown, pattern: unknown): boolean =>
        typeof text === "string" && typeof pattern === "string" && (compile(pattern)?.(text, spend) ?? false),
    });
  }
}

/** Stands for a text, and is asked in its place: the engine of the runtime is never run. */
const NOWHERE = { match: () => null } as unknown as string;

/** Keeps the last few patterns compiled; null for what is none. */
function keeper(compile: (pattern: string) => Search): (pattern: string) => Search | null {
  const kept = new Map<string, Search | null>();
  return (pattern) => {
    const known = kept.get(pattern);
    if (known !== undefined) return known;
    let search: Search | null;
    try {
      search = compile(pattern);
    } catch (error) {
      // Whatever else is thrown says of the pattern that it is none.
      if (error instanceof TooManySteps) throw error;
      search = null;
    }
    if (kept.size >= KEPT_PATTERNS) kept.clear();
    kept.set(pattern, search);
    return search;
  };
}

/** RFC 9485, 5.3: outside of classes a dot takes all but the ends of lines, of which there are two. */
function mapped(pattern: string): string {
  let isInClass = false;
  return pattern.replace(/\\.|[.[\]]/gsu, (part) => {
    if (part === "[") isInClass = true;
    if (part === "]") isInClass = false;
    return part === "." && !isInClass ? "[^\\n\\r]" : part;
  });
}

/** A pattern that takes the whole of a text, unless it says itself where it begins or ends. */
function wholeOf(mapped: string, pattern: string): string {
  return pattern.startsWith("^") || pattern.endsWith("$") ? mapped : `^(?:${mapped})$`;
}
