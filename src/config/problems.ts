/**
 * Problems of a configuration and their messages.
 *
 * A message shows only values that cannot be secrets: numbers, booleans, and the words of closed lists. It describes
 * any other string by its length.
 */

import { countOf } from "../canonical/count.ts";

export { countOf };

/** The position of a member: names and array indices from the root. */
export type SettingPath = readonly (string | number)[];

/** One problem of a configuration. */
export interface ConfigProblem {
  /** The member, such as `providers[0].url`; the path of the file where the problem concerns the whole file. */
  readonly path: string;
  /** The problem, such as `must be >= 1, got 0`. */
  readonly message: string;
}

/** Receives one problem; a rule calls it for each violation. */
export type Report = (path: SettingPath, message: string) => void;

/** A configuration that cannot be used, with all of its problems in path order. */
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
 * A path as text: names joined by dots, indices in brackets, names with other characters in quotes.
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

/**
 * A string in quotes where it is short enough for a word of a closed list; any other value as {@link describeValue}
 * shows it.
 */
export function quoteShort(value: unknown): string {
  return typeof value === "string" && value.length <= 64 ? quote(value) : describeValue(value);
}

/** Compares two paths member by member: indices by number, names by code unit, a parent before its members. */
function comparePaths(left: SettingPath, right: SettingPath): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const a = left[i];
    const b = right[i];
    if (a === b || a === undefined || b === undefined) continue;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a) < String(b) ? -1 : 1;
  }
  return left.length - right.length;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** Collects problems and returns them in path order. Of several problems at one member it keeps the first, their cause. */
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

/** Runs steps that may each reject a configuration, and collects their problems. */
export interface ProblemGathering {
  /** Runs a step; null where the step rejected the configuration. */
  readonly attempt: <Result>(step: () => Promise<Result>) => Promise<Result | null>;
  /** The result of a step; throws the problems of all steps, in the order in which they ran. */
  readonly settle: <Result>(result: Result | null) => Result;
}

/** Collects the problems of all steps before an invalid configuration is rejected. */
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
