/**
 * Regular expressions whose work is counted: the instructions of the pattern times the text at most, and with what looks ahead or
 * behind, which begins anew at each place, that much for each place. Whoever looks for one ends it where it takes too many steps.
 *
 * @module
 */

import { LINE_ENDS } from "./code_points.ts";
import { type Assertion, type Program, programOf } from "./program.ts";

/** Counts steps of work; throws where there were too many. */
export type Spend = (steps: number) => void;

/** Tells whether a pattern is found in a text. */
export type Search = (text: string, spend: Spend) => boolean;

/**
 * Compiles a pattern of ECMAScript, as if it had the flag `u`.
 *
 * @param compiling Counts the steps of that
 * @throws {SyntaxError} Where it is no regular expression, is too large (`PatternTooLarge`), or refers back to what a group has
 * taken
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compileSearch } from "@/evidence/regular_expression/search.ts";
 *
 * const search = compileSearch("^(a+)+$");
 * assert.equal(search("aaa", () => {}), true);
 * assert.equal(search("a".repeat(100) + "!", () => {}), false);
 * ```
 */
export function compileSearch(pattern: string, compiling: Spend = () => undefined): Search {
  const program = programOf(pattern, compiling);
  return (text, spend) => run({ text, spend }, program, 0, true);
}

interface Machine {
  readonly text: string;
  readonly spend: Spend;
}

/** Where a program is: the instructions that are to be done at one place of the text. */
interface ThreadList {
  /** Places of instructions that take a code point. */
  waiting: number[];
  /** The last step in which each instruction was come by. */
  readonly seen: Int32Array;
  step: number;
  isAccepted: boolean;
}

/**
 * Runs a program from a place of the text on.
 *
 * @param isSearch Whether it may begin at any later place as well
 */
function run(machine: Machine, program: Program, from: number, isSearch: boolean): boolean {
  const { text, spend } = machine;
  const { instructions, isBackward } = program;
  // A look ahead begins anew at each place.
  spend(instructions.length >> 4);
  const threads: ThreadList = { waiting: [], seen: new Int32Array(instructions.length), step: 1, isAccepted: false };
  let at = from;
  addThread(machine, program, threads, 0, at);
  while (!threads.isAccepted) {
    const code = isBackward ? before(text, at) : text.codePointAt(at);
    if (code === undefined || (threads.waiting.length === 0 && !isSearch)) return false;
    at += (code > 0xffff ? 2 : 1) * (isBackward ? -1 : 1);
    const { waiting } = threads;
    spend(waiting.length + 1);
    threads.waiting = [];
    threads.step++;
    for (const place of waiting) {
      const instruction = instructions[place];
      if (instruction?.does === "consume" && instruction.test(code)) {
        addThread(machine, program, threads, place + 1, at);
      }
    }
    if (isSearch) addThread(machine, program, threads, 0, at);
  }
  return true;
}

/** Comes by an instruction, and by every other that follows without taking a code point. */
function addThread(machine: Machine, { instructions }: Program, threads: ThreadList, first: number, at: number): void {
  const waiting = [first];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const instruction = instructions[place];
    if (instruction === undefined || threads.seen[place] === threads.step) continue;
    threads.seen[place] = threads.step;
    machine.spend(1);
    switch (instruction.does) {
      case "consume":
        threads.waiting.push(place);
        break;
      case "split":
        for (const to of instruction.to) waiting.push(to);
        break;
      case "assert":
        if (holds(machine, instruction.assertion, at)) waiting.push(place + 1);
        break;
      case "accept":
        threads.isAccepted = true;
    }
  }
}

function holds(machine: Machine, assertion: Assertion, at: number): boolean {
  const { text } = machine;
  switch (assertion.kind) {
    case "start":
      return at === 0 || (assertion.isMultiline && LINE_ENDS.has(text[at - 1] ?? ""));
    case "end":
      return at === text.length || (assertion.isMultiline && LINE_ENDS.has(text[at] ?? ""));
    case "word": {
      const [left, right] = [before(text, at), text.codePointAt(at)].map((code) =>
        code !== undefined && assertion.isWord(code)
      );
      return (left !== right) !== assertion.isNegated;
    }
    case "look":
      return run(machine, assertion.program, at, false) !== assertion.isNegated;
  }
}

/** The code point that ends at a place. */
function before(text: string, at: number): number | undefined {
  if (at === 0) return undefined;
  const isPair = at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return text.codePointAt(isPair ? at - 2 : at - 1);
}
