/**
 * Regular expressions of ECMAScript, in its Unicode mode, as programs of a machine that goes through a text once.
 *
 * The engine of the runtime goes back for every choice, may so take beyond all measure, and does not end when its thread is told
 * to. What one code point is taken by is still asked of it.
 *
 * @module
 */

import { type AST, RegExpParser } from "@eslint-community/regexpp";

/** What a machine does; it goes on with the next instruction unless told otherwise. */
export type Instruction =
  /** Takes one code point. */
  | { readonly does: "take"; readonly test: (code: number) => boolean }
  /** Goes on at several places. */
  | { readonly does: "fork"; readonly to: readonly number[] }
  /** Goes on only where this holds. */
  | { readonly does: "assert"; readonly assertion: Assertion }
  | { readonly does: "accept" };

/** What holds between two code points, or not. */
export type Assertion =
  | { readonly kind: "start" | "end"; readonly isMultiline: boolean }
  | { readonly kind: "word"; readonly isNegated: boolean; readonly isWord: (code: number) => boolean }
  | { readonly kind: "look"; readonly isNegated: boolean; readonly program: Program };

/** A program, which begins with its first instruction. */
export interface Program {
  readonly instructions: readonly Instruction[];
  /** Whether it goes through the text from its end. */
  readonly isBackward: boolean;
}

/** Instructions of one pattern; repeats are written out. */
export const INSTRUCTIONS_MAXIMUM = 20_000;

/** A pattern that is one, and takes more than may be written. */
export class PatternTooLarge extends SyntaxError {}

/** How the letters of a part are read. */
interface Mode {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

interface Writer {
  readonly instructions: Instruction[];
  readonly isBackward: boolean;
  /** Counts what is written in all programs of the pattern. */
  readonly count: () => void;
}

const parser = new RegExpParser({ ecmaVersion: 2025 });

/**
 * The program of a pattern.
 *
 * @param spend Counts the steps of writing it
 * @throws {SyntaxError} Where it is no regular expression, or refers back to what a group has taken, which no machine of this
 * kind can
 * @throws {PatternTooLarge}
 */
export function programOf(pattern: string, spend: (steps: number) => void): Program {
  spend(pattern.length);
  // What the runtime says of a pattern that is none is better known than what the parser does.
  new RegExp(pattern, "u");
  const tree = parser.parsePattern(pattern, 0, pattern.length, { unicode: true });
  let written = 0;
  const count = (): void => {
    spend(1);
    if (++written > INSTRUCTIONS_MAXIMUM) {
      throw new PatternTooLarge("pattern is too large once its repeats are written out");
    }
  };
  return write(tree.alternatives, { ignoreCase: false, multiline: false, dotAll: false }, false, count);
}

function write(
  alternatives: readonly AST.Alternative[],
  mode: Mode,
  isBackward: boolean,
  count: () => void,
): Program {
  const writer = { instructions: [], isBackward, count };
  writeAlternatives(writer, alternatives, mode);
  put(writer, { does: "accept" });
  return writer;
}

/** Writes an instruction, and gives its place. */
function put({ instructions, count }: Writer, instruction: Instruction): number {
  count();
  return instructions.push(instruction) - 1;
}

function writeAlternatives(writer: Writer, alternatives: readonly AST.Alternative[], mode: Mode): void {
  const starts: number[] = [];
  put(writer, { does: "fork", to: starts });
  const ends: number[][] = [];
  for (const { elements } of alternatives) {
    starts.push(writer.instructions.length);
    for (const element of writer.isBackward ? elements.toReversed() : elements) writeElement(writer, element, mode);
    const end: number[] = [];
    put(writer, { does: "fork", to: end });
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
      put(writer, { does: "take", test: testOf(element, mode) });
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
    const fork = put(writer, { does: "fork", to });
    writeElement(writer, element, mode);
    put(writer, { does: "fork", to: [fork] });
    to.push(fork + 1, writer.instructions.length);
    return;
  }
  const leaves: number[][] = [];
  for (let time = min; time < max; time++) {
    const to: number[] = [];
    leaves.push(to);
    to.push(put(writer, { does: "fork", to }) + 1);
    writeElement(writer, element, mode);
  }
  for (const to of leaves) to.push(writer.instructions.length);
}

function assertionOf({ count }: Writer, element: AST.Assertion, mode: Mode): Assertion {
  switch (element.kind) {
    case "start":
    case "end":
      return { kind: element.kind, isMultiline: mode.multiline };
    case "word":
      return { kind: "word", isNegated: element.negate, isWord: nativeTest("\\w", mode) };
    default: {
      const program = write(element.alternatives, mode, element.kind === "lookbehind", count);
      return { kind: "look", isNegated: element.negate, program };
    }
  }
}

/** Whether a part of a pattern that takes one code point takes this one. */
function testOf(
  part: AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass,
  mode: Mode,
): (code: number) => boolean {
  if (part.type === "Character" && !mode.ignoreCase) {
    const { value } = part;
    return (code) => code === value;
  }
  return nativeTest(part.raw, mode);
}

/** Asks the runtime what such a part takes: of one code point it cannot take long. */
function nativeTest(raw: string, { ignoreCase, dotAll }: Mode): (code: number) => boolean {
  const expression = new RegExp(`^(?:${raw})$`, `u${ignoreCase ? "i" : ""}${dotAll ? "s" : ""}`);
  const known = new Map<number, boolean>();
  return (code) => {
    const before = known.get(code);
    if (before !== undefined) return before;
    const takes = expression.test(String.fromCodePoint(code));
    if (known.size < KNOWN_CODE_POINTS) known.set(code, takes);
    return takes;
  };
}

/** Code points for which an answer is kept. */
const KNOWN_CODE_POINTS = 256;
