/**
 * Regular expressions of ECMAScript, in its Unicode mode, as programs of a machine that goes through a text once.
 *
 * The engine of the runtime goes back for every choice, may so take beyond all measure, and does not end when its thread is told
 * to.
 *
 * @module
 */

import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { type CodePart, type CodeTest, codeTest, type Mode, namedTest } from "./code_points.ts";

/** What a machine does; it goes on with the next instruction unless told otherwise. */
export type Instruction =
  /** Takes one code point. */
  | { readonly does: "consume"; readonly test: CodeTest }
  /** Goes on at several places. */
  | { readonly does: "split"; readonly to: readonly number[] }
  /** Goes on only where this holds. */
  | { readonly does: "assert"; readonly assertion: Assertion }
  | { readonly does: "accept" };

/** What holds between two code points, or not. */
export type Assertion =
  | { readonly kind: "start" | "end"; readonly isMultiline: boolean }
  | { readonly kind: "word"; readonly isNegated: boolean; readonly isWord: CodeTest }
  | { readonly kind: "look"; readonly isNegated: boolean; readonly program: Program };

/** A program, which begins with its first instruction. */
export interface Program {
  readonly instructions: readonly Instruction[];
  /** Whether it goes through the text from its end. */
  readonly isBackward: boolean;
}

/** Instructions of one pattern; repeats are written out. */
export const INSTRUCTIONS_MAXIMUM = 20_000;

/** How many groups of a pattern may stand within each other: what reads them calls itself. */
const NESTED_GROUPS_MAXIMUM = 1_000;

/** Steps of making a test of code points, and of reading a property (`\p{L}`): more than those of their characters. */
const TEST_STEPS = 32;
const PROPERTY_STEPS = 32;

/** A pattern that is one, and takes more than may be written. */
export class PatternTooLarge extends SyntaxError {}

/** What all programs of one pattern share. */
interface Pattern {
  readonly spend: (steps: number) => void;
  /** Instructions that are written. */
  written: number;
  /** What takes one code point, by mode and text: repeats are written out, and need not be made again each time. */
  readonly consumers: Map<string, Instruction>;
}

interface Writer {
  readonly instructions: Instruction[];
  readonly isBackward: boolean;
  readonly pattern: Pattern;
}

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * The program of a pattern.
 *
 * @param spend Counts the steps of writing it
 * @throws {PatternTooLarge} Where it asks for too many instructions, or nests too deep
 * @throws {SyntaxError} Where it is no regular expression, or refers back to what a group has taken, which no machine of this
 * kind can
 */
export function programOf(pattern: string, spend: (steps: number) => void): Program {
  spend(pattern.length);
  refuseDeepNesting(pattern);
  spend(PROPERTY_STEPS * (pattern.match(/\\p/gi)?.length ?? 0));
  // What the runtime says of a pattern that is none is better known than what the parser does.
  new RegExp(pattern, "u");
  const tree = parser.parsePattern(pattern, 0, pattern.length, { unicode: true });
  const shared: Pattern = { spend, written: 0, consumers: new Map() };
  return write(tree.alternatives, { ignoreCase: false, multiline: false, dotAll: false }, false, shared);
}

/** Looks at brackets alone: what is wrong with them otherwise is for the runtime to say. */
function refuseDeepNesting(pattern: string): void {
  let depth = 0;
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "\\") at++;
    else if (character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
    else if (character === ")" && !isInClass) depth--;
    else if (character === "(" && !isInClass && ++depth > NESTED_GROUPS_MAXIMUM) {
      throw new PatternTooLarge(
        `pattern is nested too deep: more than ${NESTED_GROUPS_MAXIMUM} groups within each other`,
      );
    }
  }
}

function write(
  alternatives: readonly AST.Alternative[],
  mode: Mode,
  isBackward: boolean,
  pattern: Pattern,
): Program {
  const writer = { instructions: [], isBackward, pattern };
  writeAlternatives(writer, alternatives, mode);
  put(writer, { does: "accept" });
  return writer;
}

/** Writes an instruction, and gives its place. */
function put({ instructions, pattern }: Writer, instruction: Instruction): number {
  pattern.spend(1);
  if (++pattern.written > INSTRUCTIONS_MAXIMUM) {
    throw new PatternTooLarge("pattern is too large once its repeats are written out");
  }
  return instructions.push(instruction) - 1;
}

function writeAlternatives(writer: Writer, alternatives: readonly AST.Alternative[], mode: Mode): void {
  const starts: number[] = [];
  put(writer, { does: "split", to: starts });
  const ends: number[][] = [];
  for (const { elements } of alternatives) {
    starts.push(writer.instructions.length);
    for (const element of writer.isBackward ? elements.toReversed() : elements) writeElement(writer, element, mode);
    const end: number[] = [];
    put(writer, { does: "split", to: end });
    ends.push(end);
  }
  for (const end of ends) end.push(writer.instructions.length);
}

function writeElement(writer: Writer, element: AST.Element, mode: Mode): void {
  switch (element.type) {
    case "Group":
      return writeAlternatives(writer, element.alternatives, modeOf(element, mode));
    case "CapturingGroup":
      return writeAlternatives(writer, element.alternatives, mode);
    case "Quantifier":
      return writeRepeats(writer, element, mode);
    case "Assertion":
      return void put(writer, { does: "assert", assertion: assertionOf(writer, element, mode) });
    case "Backreference":
      throw new SyntaxError(`"${element.raw}" refers back to a group, which can take beyond all measure`);
    default:
      put(writer, consumeOf(writer.pattern, element, mode));
  }
}

function modeOf({ modifiers }: AST.Group, mode: Mode): Mode {
  const { add, remove } = modifiers ?? {};
  const is = (name: keyof Mode): boolean => (mode[name] || add?.[name] === true) && remove?.[name] !== true;
  return { ignoreCase: is("ignoreCase"), multiline: is("multiline"), dotAll: is("dotAll") };
}

function writeRepeats(writer: Writer, { min, max, element }: AST.Quantifier, mode: Mode): void {
  for (let time = 0; time < min; time++) writeElement(writer, element, mode);
  if (max === Infinity) {
    const to: number[] = [];
    const fork = put(writer, { does: "split", to });
    writeElement(writer, element, mode);
    put(writer, { does: "split", to: [fork] });
    to.push(fork + 1, writer.instructions.length);
    return;
  }
  const leaves: number[][] = [];
  for (let time = min; time < max; time++) {
    const to: number[] = [];
    leaves.push(to);
    to.push(put(writer, { does: "split", to }) + 1);
    writeElement(writer, element, mode);
  }
  for (const to of leaves) to.push(writer.instructions.length);
}

function assertionOf({ pattern }: Writer, element: AST.Assertion, mode: Mode): Assertion {
  switch (element.kind) {
    case "start":
    case "end":
      return { kind: element.kind, isMultiline: mode.multiline };
    case "word":
      return { kind: "word", isNegated: element.negate, isWord: namedTest("\\w", mode.ignoreCase) };
    default: {
      const program = write(element.alternatives, mode, element.kind === "lookbehind", pattern);
      return { kind: "look", isNegated: element.negate, program };
    }
  }
}

/** The instruction for a part of a pattern that takes one code point; the same one wherever that stands. */
function consumeOf(pattern: Pattern, part: CodePart, mode: Mode): Instruction {
  const key = `${mode.ignoreCase ? "i" : ""}${mode.dotAll ? "s" : ""}/${part.raw}`;
  const before = pattern.consumers.get(key);
  if (before !== undefined) return before;
  if (part.type !== "Character" || mode.ignoreCase) pattern.spend(TEST_STEPS);
  const made: Instruction = { does: "consume", test: codeTest(part, mode) };
  pattern.consumers.set(key, made);
  return made;
}
