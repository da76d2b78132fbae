/**
 * What is wrong with a configuration, and how it is said.
 *
 * Values are shown only where they cannot be secrets: numbers, booleans, and the words of closed lists. Any other string is
 * described by its length.
 *
 * @module
 */

/** Where a member stands: names and array indices from the root. */
export type SettingPath = readonly (string | number)[];

/** One thing that is wrong. */
export interface ConfigProblem {
  /** The member it is about, such as `providers[0].url`; the path of the file where it is about the whole. */
  readonly path: string;
  /** What is wrong, such as `must be >= 1, got 0`. */
  readonly message: string;
}

/** Takes one problem; a rule calls it for each thing that it finds wrong. */
export type Report = (path: SettingPath, message: string) => void;

/** A configuration that cannot be used: all that is wrong with it, in path order. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Absolute path of the file. */
  readonly configPath: string;
  readonly problems: readonly ConfigProblem[];

  /** Builds the error from at least one problem. */
  constructor(configPath: string, problems: readonly ConfigProblem[]) {
    super(`Cannot use configuration "${configPath}":\n${problems.map(formatProblem).join("\n")}`);
    this.configPath = configPath;
    this.problems = problems;
  }
}

/** One problem as a line, such as `server.limits.max_inflight: must be >= 1, got 0`. */
export function formatProblem(problem: ConfigProblem): string {
  return `${problem.path}: ${problem.message}`;
}

/**
 * A path as it is shown: names joined by dots, indices in brackets, names that need it in quotes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { formatPath } from "@/config/problems.ts";
 *
 * assert.equal(formatPath(["providers", 0, "config", "overrides", "A.B"]), 'providers[0].config.overrides."A.B"');
 * ```
 */
export function formatPath(path: SettingPath): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += (text === "" ? "" : ".") + (/^[A-Za-z0-9_-]+$/.test(segment) ? segment : quote(segment));
  }
  return text;
}

/**
 * A value as a message may show it: numbers and booleans as they are, anything else by kind and size.
 *
 * @param objectName What an object is called: a table in TOML
 */
export function describeValue(value: unknown, objectName = "a table"): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return `a string of ${countOf(value.length, "character")}`;
  if (Array.isArray(value)) return `an array of ${countOf(value.length, "item")}`;
  return objectName;
}

/** A string in quotes where it is short enough to be a word of a closed list, else its length. */
export function quoteShort(value: string): string {
  return value.length <= 64 ? quote(value) : describeValue(value);
}

/** A number of things, in words: `1 item`, `2 items`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Compares two paths member by member: indices by number, names by code unit, a parent before its members. */
function comparePaths(left: SettingPath, right: SettingPath): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [a, b] = [left[i], right[i]];
    if (a === b || a === undefined || b === undefined) continue;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a) < String(b) ? -1 : 1;
  }
  return left.length - right.length;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Collects problems and gives them back in path order. Of several at one member the first stays: it is the root of the others. */
export function problemCollector(): { report: Report; problems: () => readonly ConfigProblem[] } {
  const found = new Map<string, { path: SettingPath; message: string }>();
  return {
    report: (path, message) => {
      const key = formatPath(path);
      if (!found.has(key)) found.set(key, { path, message });
    },
    problems: () =>
      [...found.entries()]
        .sort(([, left], [, right]) => comparePaths(left.path, right.path))
        .map(([path, { message }]) => ({ path, message })),
  };
}

/** Steps of which each may find a configuration wrong, and what they found. */
export interface ProblemGathering {
  /** Runs a step; null where it found the configuration wrong. */
  readonly attempt: <Result>(step: () => Promise<Result>) => Promise<Result | null>;
  /** The result of a step; throws what all steps found, in the order in which they ran. */
  readonly settle: <Result>(result: Result | null) => Result;
}

/** Runs steps one after the other, so that all of them are heard before a wrong configuration is given up. */
export function gatherProblems(): ProblemGathering {
  const errors: ConfigError[] = [];
  return {
    attempt: async (step) => {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        errors.push(error);
        return null;
      }
    },
    settle: <Result>(result: Result | null): Result => {
      const [first] = errors;
      if (first === undefined) return result as Result;
      throw new ConfigError(first.configPath, errors.flatMap(({ problems }) => problems));
    },
  };
}
