/**
 * Runs regular expressions and counts their steps: at most instructions times characters. A look-ahead or look-behind
 * runs anew at each position and costs up to that much there. The caller ends a search that takes too many steps.
 */

import { LINE_ENDS } from "./code_points.ts";
import { type Assertion, type Program, programOf } from "./program.ts";

/** Counts steps of work; throws where they exceed the limit. */
export type Spend = (steps: number) => void;

/** Whether a pattern is found in a text. */
export type Search = (text: string, spend: Spend) => boolean;

/**
 * Compiles a pattern of ECMAScript as with the flag `u`.
 *
 * @param compiling Counts the steps of compiling
 * @throws {SyntaxError} Where it is not a regular expression, is too large (`PatternTooLarge`), or has a backreference
 */
export function compileSearch(pattern: string, compiling: Spend = () => undefined): Search {
  const program = programOf(pattern, compiling);
  return (text, spend) => run({ text, spend }, program, 0, true);
}

interface Machine {
  readonly text: string;
  readonly spend: Spend;
}

/** The threads of a program at one position of the text. */
interface ThreadList {
  /** Indices of the consuming instructions that wait for the next code point. */
  waiting: number[];
  /** The last step in which each instruction was reached. */
  readonly seen: Int32Array;
  step: number;
  isAccepted: boolean;
}

/**
 * Runs a program from a position of the text.
 *
 * @param isSearch Whether a match may also begin at any later position
 */
function run(machine: Machine, program: Program, from: number, isSearch: boolean): boolean {
  const { text, spend } = machine;
  const { instructions, isBackward } = program;
  // The allocation below: a look-ahead runs anew at each position.
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

/** Adds a thread at an instruction, and follows all instructions that consume no code point. */
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
      const isWord = (code: number | undefined): boolean => code !== undefined && assertion.isWord(code);
      const isBoundary = isWord(before(text, at)) !== isWord(text.codePointAt(at));
      return isBoundary !== assertion.isNegated;
    }
    case "look":
      return run(machine, assertion.program, at, false) !== assertion.isNegated;
  }
}

/** The code point that ends at a position. */
function before(text: string, at: number): number | undefined {
  if (at === 0) return undefined;
  const isPair = at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff;
  return text.codePointAt(isPair ? at - 2 : at - 1);
}
