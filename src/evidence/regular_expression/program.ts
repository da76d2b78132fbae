/**
 * Compiles regular expressions of ECMAScript, in Unicode mode, to programs of an automaton that reads a text once.
 *
 * The runtime's engine backtracks. It can take exponential time, and terminating its thread does not stop it.
 */

import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { type CodePart, type CodeTest, codeTest, type Mode, namedTest } from "./code_points.ts";

/** An instruction; the next one follows it except after `split` and `accept`. */
export type Instruction =
  /** Consumes one code point that passes the test. */
  | { readonly does: "consume"; readonly test: CodeTest }
  /** Continues at several instructions. */
  | { readonly does: "split"; readonly to: readonly number[] }
  /** Continues only where the assertion holds. */
  | { readonly does: "assert"; readonly assertion: Assertion }
  | { readonly does: "accept" };

/** A condition on a position between two code points. */
export type Assertion =
  | { readonly kind: "start" | "end"; readonly isMultiline: boolean }
  | { readonly kind: "word"; readonly isNegated: boolean; readonly isWord: CodeTest }
  | { readonly kind: "look"; readonly isNegated: boolean; readonly program: Program };

/** A program; it begins with its first instruction. */
export interface Program {
  readonly instructions: readonly Instruction[];
  /** Whether it reads the text backwards. */
  readonly isBackward: boolean;
}

/** Instructions of one pattern, with repeats expanded. */
export const INSTRUCTIONS_MAXIMUM = 20_000;

/** Nesting depth of groups; the parser is recursive. */
const NESTED_GROUPS_MAXIMUM = 1_000;

/** Extra steps of compiling a test of code points, and of parsing a property (`\p{L}`). */
const TEST_STEPS = 32;
const PROPERTY_STEPS = 32;

/** The pattern is valid and exceeds a limit. */
export class PatternTooLarge extends SyntaxError {}

/** Shared by the programs of one pattern. */
interface Pattern {
  readonly spend: (steps: number) => void;
  /** Instructions written so far. */
  written: number;
  /** Consuming instructions by flags and source, so that an expanded repeat compiles its tests once. */
  readonly consumers: Map<string, Instruction>;
}

interface Writer {
  readonly instructions: Instruction[];
  readonly isBackward: boolean;
  readonly pattern: Pattern;
}

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * Compiles a pattern.
 *
 * @param spend Counts the steps of compiling
 * @throws {PatternTooLarge} Where it has too many instructions or nested groups
 * @throws {SyntaxError} Where it is not a regular expression, or has a backreference, which an automaton cannot match
 */
export function programOf(pattern: string, spend: (steps: number) => void): Program {
  spend(pattern.length);
  refuseDeepNesting(pattern);
  spend(PROPERTY_STEPS * (pattern.match(/\\p/gi)?.length ?? 0));
  // Throws for an invalid pattern: the runtime's message is better known than the parser's.
  new RegExp(pattern, "u");
  const tree = parser.parsePattern(pattern, 0, pattern.length, { unicode: true });
  const shared: Pattern = { spend, written: 0, consumers: new Map() };
  return write(tree.alternatives, { ignoreCase: false, multiline: false, dotAll: false }, false, shared);
}

/** Checks the nesting of brackets only; the runtime reports other faults. */
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
      throw new PatternTooLarge(`pattern is nested too deep: more than ${NESTED_GROUPS_MAXIMUM} nested groups`);
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

/** Writes an instruction and returns its index. */
function put({ instructions, pattern }: Writer, instruction: Instruction): number {
  pattern.spend(1);
  if (++pattern.written > INSTRUCTIONS_MAXIMUM) {
    throw new PatternTooLarge("pattern is too large with its repeats expanded");
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
      throw new SyntaxError(`"${element.raw}" is a backreference, which can take exponential time`);
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
    const split = put(writer, { does: "split", to });
    writeElement(writer, element, mode);
    put(writer, { does: "split", to: [split] });
    to.push(split + 1, writer.instructions.length);
    return;
  }
  const exits: number[][] = [];
  for (let time = min; time < max; time++) {
    const to: number[] = [];
    exits.push(to);
    to.push(put(writer, { does: "split", to }) + 1);
    writeElement(writer, element, mode);
  }
  for (const to of exits) to.push(writer.instructions.length);
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

/** The instruction for a part of a pattern that consumes one code point; equal parts share it. */
function consumeOf(pattern: Pattern, part: CodePart, mode: Mode): Instruction {
  const key = `${mode.ignoreCase ? "i" : ""}${mode.dotAll ? "s" : ""}/${part.raw}`;
  const before = pattern.consumers.get(key);
  if (before !== undefined) return before;
  if (part.type !== "Character" || mode.ignoreCase) pattern.spend(TEST_STEPS);
  const made: Instruction = { does: "consume", test: codeTest(part, mode) };
  pattern.consumers.set(key, made);
  return made;
}
