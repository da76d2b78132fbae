/**
 * Reads expressions of law files. They have the grammar of the Common Expression Language, which a package parses.
 * Nothing is evaluated: each comparison becomes a condition, which the kernel judges.
 */

import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { formatPath } from "../../canonical/path.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { didYouMean, quote } from "../../law/suggest.ts";
import { MAXIMUM_SET_SIZE } from "../../law/value/predicate.ts";
import type { PredicateName } from "../../law/value/predicates.ts";
import { isInstant } from "../../law/value/timestamp.ts";
import { DURATION_UNITS, isName, OPERATORS } from "../../law/words.ts";

/** A part of a text, by UTF-16 code units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value that evidence is compared with. */
export type Operand =
  & Span
  & (
    | { readonly kind: "number"; readonly text: string }
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "boolean"; readonly value: boolean }
    | { readonly kind: "parameter"; readonly name: string }
    | { readonly kind: "time"; readonly text: string }
    | { readonly kind: "now"; readonly offset: number }
    | { readonly kind: "json"; readonly value: JsonValue }
  );

/** A comparison of evidence. */
export interface Comparison extends Span {
  /** The name of the evidence, and where it stands. */
  readonly name: string;
  readonly named: Span;
  readonly predicate: PredicateName;
  /** Empty for the tests of presence. */
  readonly operands: readonly Operand[];
}

/** A question about something other than evidence, such as `key("alice")`. */
export interface Call extends Span {
  readonly call: string;
  /** Null in a call without an argument. */
  readonly argument: string | null;
}

/** An expression, resolved against the names of its scope. */
export type Expression =
  & Span
  & (
    | { readonly kind: "And" | "Or"; readonly operands: readonly Expression[]; readonly isExact: boolean }
    | { readonly kind: "Not"; readonly operand: Expression }
    | { readonly kind: "RequireGroup"; readonly min: number; readonly operands: readonly Expression[] }
    | { readonly kind: "comparison"; readonly comparison: Comparison }
    | { readonly kind: "stage"; readonly name: string }
    | { readonly kind: "call"; readonly call: Call }
  );

/** The names that an expression may use. */
export interface Scope {
  /** Whether its leaves are stages, which have no negation. */
  readonly ofStages: boolean;
  /** The evidence, or the stages; null accepts every name. */
  readonly names: ReadonlySet<string> | null;
  readonly parameters: ReadonlySet<string>;
  /** Functions of one text, or of nothing where false, that ask about something else. */
  readonly calls?: ReadonlyMap<string, boolean>;
  /** The hint at a name that is not known, where a text has many expressions: bounded over all of them. */
  readonly hint?: (name: string, known: Iterable<string>) => string;
}

/** Receives a fault with its place in the text. */
export type ReportFault = (code: string, message: string, span: Span) => void;

function* bothOf(names: Iterable<string>, others: Iterable<string>): Generator<string> {
  yield* names;
  yield* others;
}

const PARSER = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxCallArguments: SPEC_LIMITS.requirementNodes, maxListElements: MAXIMUM_SET_SIZE },
});

const DURATION_FORM = /^(0|[1-9][0-9]*)(ms|s|m|h|d)$/;

/** A duration in milliseconds; null for any other text. */
export function durationMillis(text: string): number | null {
  const [, digits, unit] = DURATION_FORM.exec(text) ?? [];
  const size = DURATION_UNITS.find(([name]) => name === unit)?.[1];
  const millis = Number(digits) * (size ?? NaN);
  return Number.isSafeInteger(millis) ? millis : null;
}

/** The forms of durations, for messages. */
export const DURATION_EXPECTED = 'such as "90s", "10m", "24h" or "7d"';

/** Reads an expression; undefined after a fault. */
export function readExpression(text: string, scope: Scope, fault: ReportFault): Expression | undefined {
  const tree = parse(text, fault);
  if (tree === undefined) return undefined;
  const reader = new Reader(text, scope, fault);
  const read = reader.read(tree);
  return reader.isSound ? read : undefined;
}

function parse(text: string, fault: ReportFault): ASTNode | undefined {
  try {
    const { ast } = PARSER.parse(text);
    const open = trailingComma(text, ast);
    if (open === null) return ast;
    fault("expression_syntax", "Expected an operand after the comma", open);
    return undefined;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const { start, end } = error.range ?? { start: 0, end: text.length };
    fault("expression_syntax", parseMessage(text, error, start), { start, end });
    return undefined;
  }
}

/** A call whose operands end with a comma, which the parser accepts and the grammar does not. */
function trailingComma(text: string, root: ASTNode): Span | null {
  const pending: unknown[] = [root];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (Array.isArray(one)) pending.push(...one);
    if (typeof one !== "object" || one === null || !("op" in one)) continue;
    const { op, args, start, end } = one as ASTNode;
    if ((op === "call" || op === "rcall") && /,\s*\)$/.test(text.slice(start, end))) return { start: end - 1, end };
    pending.push(args);
  }
  return null;
}

/** Words of other languages, with their spelling here. */
const OPERATOR_WORDS: Readonly<Record<string, string>> = {
  and: "&&",
  or: "||",
  not: "!",
  AND: "&&",
  OR: "||",
  NOT: "!",
};

/** The tokens that the parser names, as they are written. */
const TOKENS: Readonly<Record<string, string>> = {
  EOF: "the end",
  LPAREN: "(",
  RPAREN: ")",
  LBRACKET: "[",
  RBRACKET: "]",
  LBRACE: "{",
  RBRACE: "}",
  COMMA: ",",
  COLON: ":",
  IDENTIFIER: "a name",
};

function parseMessage(text: string, error: ParseError, start: number): string {
  if (text.trim() === "") return "Expected an expression, such as: tests_failed == 0";
  const [word = ""] = /^[A-Za-z_]+/.exec(text.slice(start)) ?? [];
  const operator = OPERATOR_WORDS[word];
  if (operator !== undefined) return `Expected "${operator}" in place of "${word}"`;
  if (text[start] === "=" && text[start + 1] !== "=") return 'Expected "==" in place of "="';
  if (text[start] === "&" || text[start] === "|") return `Expected "${text[start]}${text[start]}"`;
  const day = /\d{4}-\d\d-\d\d$/.exec(text.slice(0, start))?.[0];
  if (day !== undefined && text[start] === "T") {
    const instant = `${day}${/^[\dT:.Z+-]*/.exec(text.slice(start))?.[0] ?? ""}`;
    return `Expected timestamp("${instantNear(instant)}")${clockHint(instant)}`;
  }
  const [, number] = /(?<![\w.])(\d+)\s*$/.exec(text.slice(0, start)) ?? [];
  if (number !== undefined && durationMillis(number + word) !== null) {
    return `Expected a duration before ${quote(word)}: write duration("${number}${word}")`;
  }
  const summary = error.summary.replaceAll(/\b[A-Z]{3,}\b/g, (token) => TOKENS[token] ?? token.toLowerCase());
  return error.code === "unexpected_character" && text[start] !== undefined && /\w|["']/.test(text[start])
    ? `Expected an operator such as "&&" or "==" before ${quote(text.slice(start).split(/\s/)[0] ?? "")}`
    : `Cannot read the expression: ${summary}`;
}

/** What to write where the clock itself is compared with an instant. */
function clockHint(instant: string): string {
  return `; where the clock is meant, give it a name in evidence: NAME: after ${instantNear(instant)}, or before`;
}

/** The instant that a text lacks least of: a date-time with its offset. */
function instantNear(text: string): string {
  return [text, `${text}Z`, `${text}:00Z`, `${text}T00:00:00Z`].find(isInstant) ?? "2026-12-01T09:00:00Z";
}

/** The functions of expressions, for hints. */
export const FUNCTIONS = [
  "at_least",
  "all",
  "any",
  "present",
  "absent",
  "lex",
  "deep",
  "timestamp",
  "json",
  "duration",
];

const FLIPPED: Readonly<Record<string, string>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
  "!=": "!=",
};

/** What to write in place of a construct of CEL that gate does not judge. */
const INSTEAD: Readonly<Record<string, string>> = {
  "?:": "write (a && b) || (!a && c)",
  ".": "a name has no members: give each value a name in evidence",
  ".?": "a name has no members: give each value a name in evidence",
  "[]": "a name has no items: give each value a name in evidence, by a JSONPath",
  "[?]": "a name has no items: give each value a name in evidence, by a JSONPath",
  map: 'write a JSON value as json("..")',
  list: "a list stands after in, as: name in [1, 2]",
  "+": "there is no arithmetic: compare with the value itself",
  "-": "there is no arithmetic: compare with the value itself",
  "*": "there is no arithmetic: compare with the value itself",
  "/": "there is no arithmetic: compare with the value itself",
  "%": "there is no arithmetic: compare with the value itself",
  "-_": "there is no arithmetic: compare with the value itself",
};

/** Functions of CEL, with what to write in place of them. */
const OTHER_FUNCTIONS: Readonly<Record<string, string>> = {
  has: "write present(name)",
  size: "gate counts nothing: take the number as evidence",
  matches: "gate matches no patterns: compare with ==, in or .contains",
  startsWith: "compare with ==, in or .contains",
  endsWith: "compare with ==, in or .contains",
};

class Reader {
  /** Whether no fault was found. */
  isSound = true;
  readonly #text: string;
  readonly #scope: Scope;
  readonly #report: ReportFault;

  constructor(text: string, scope: Scope, report: ReportFault) {
    this.#text = text;
    this.#scope = scope;
    this.#report = report;
  }

  #fault(message: string, span: Span, code = "expression_invalid"): undefined {
    this.isSound = false;
    this.#report(code, message, { start: span.start, end: span.end });
    return undefined;
  }

  read(node: ASTNode): Expression | undefined {
    const { start, end } = node;
    switch (node.op) {
      case "&&":
      case "||":
        return this.#list(node.op === "&&" ? "And" : "Or", flatten(node), false, { start, end });
      case "!_": {
        if (this.#scope.ofStages) return this.#fault('Stages have no "!": a stage is complete for good', node);
        const operand = this.read(node.args);
        return operand === undefined ? undefined : { kind: "Not", operand, start, end };
      }
      case "id":
        return this.#name(node.args, { start, end });
      case "call":
        return this.#call(node.args[0], node.args[1], { start, end });
      case "rcall":
        return this.#method(node.args[0], node.args[1], node.args[2], { start, end });
      case "in":
        return this.#inSet(node.args[0], node.args[1], { start, end });
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.#compare(node.op, node.args[0], node.args[1], { start, end });
      case "value":
        return this.#fault("Expected a name or a comparison, such as: tests_failed == 0", node);
      default:
        return this.#fault(`Cannot use ${quote(this.#textOf(node))}: ${INSTEAD[node.op] ?? "it is not judged"}`, node);
    }
  }

  #list(kind: "And" | "Or", nodes: readonly ASTNode[], isExact: boolean, span: Span): Expression {
    const operands = nodes.flatMap((one) => this.read(one) ?? []);
    return { kind, operands, isExact, ...span };
  }

  #name(name: string, span: Span): Expression | undefined {
    if (this.#scope.ofStages) {
      return this.#isKnown(name, span) ? { kind: "stage", name, ...span } : undefined;
    }
    if (this.#scope.parameters.has(name)) {
      return this.#fault(`Parameter ${quote(name)} is no evidence: compare evidence with it`, span);
    }
    if (!this.#isKnown(name, span)) return undefined;
    const operand: Operand = { kind: "boolean", value: true, ...span };
    const comparison: Comparison = { name, named: span, predicate: "Equals", operands: [operand], ...span };
    return { kind: "comparison", comparison, ...span };
  }

  #isKnown(name: string, span: Span): boolean {
    const { names, parameters, ofStages } = this.#scope;
    if (!isName(name)) this.#fault(`Word ${quote(name)} is reserved: it is no name`, span);
    else if (names !== null && !names.has(name)) {
      const kind = ofStages ? "Stage" : "Name";
      const hint = (this.#scope.hint ?? didYouMean)(name, ofStages ? names : bothOf(names, parameters));
      const rest = hint || (ofStages ? "" : '; declare it in "evidence" or "parameters"');
      this.#fault(`${kind} ${quote(name)} is not declared${rest}`, span, "name_unknown");
    } else return true;
    return false;
  }

  #call(name: string, args: readonly ASTNode[], span: Span): Expression | undefined {
    const takesText = this.#scope.calls?.get(name);
    if (takesText !== undefined) {
      const argument = takesText ? this.#onlyText(name, args, span) : args.length === 0 ? null : undefined;
      if (argument === undefined) {
        return takesText ? undefined : this.#fault(`Function ${name}() has no argument`, span);
      }
      return { kind: "call", call: { call: name, argument, ...span }, ...span };
    }
    switch (name) {
      case "all":
      case "any":
        if (args.length === 0) return this.#fault(`Function ${name}() needs at least one operand`, span);
        return this.#list(name === "all" ? "And" : "Or", args, true, span);
      case "at_least":
        return this.#atLeast(args, span);
      case "present":
      case "absent": {
        const subject = args.length === 1 && !this.#scope.ofStages ? this.#subject(args[0] as ASTNode) : null;
        if (subject === null || subject?.form !== "") {
          return subject === undefined ? undefined : this.#fault(`Expected ${name}(name)`, span);
        }
        const predicate = name === "present" ? "Exists" : "NotExists";
        return this.#comparison(subject, predicate, [], span);
      }
      default: {
        const instead = OTHER_FUNCTIONS[name];
        const rest = instead === undefined ? didYouMean(name, FUNCTIONS) : `: ${instead}`;
        return this.#fault(`Function ${quote(name)} is unknown${rest}`, span, "function_unknown");
      }
    }
  }

  #atLeast([count, ...operands]: readonly ASTNode[], span: Span): Expression | undefined {
    const text = count?.op === "value" ? this.#textOf(count) : "";
    if (!/^[1-9][0-9]{0,5}$/.test(text) || operands.length === 0) {
      return this.#fault("Expected at_least(2, a, b, c): a number, then the operands", span);
    }
    const read = operands.flatMap((one) => this.read(one) ?? []);
    return { kind: "RequireGroup", min: Number(text), operands: read, ...span };
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[], span: Span): Expression | undefined {
    if (name !== "contains" || this.#scope.ofStages) {
      const hint = OTHER_FUNCTIONS[name] ?? "only name.contains(value) is judged";
      return this.#fault(`Cannot use .${name}(): ${hint}`, span, "function_unknown");
    }
    const subject = this.#subject(receiver);
    const [value] = args;
    if (subject === undefined) return undefined;
    if (subject === null || subject.form !== "" || args.length !== 1 || value === undefined) {
      return this.#fault("Expected name.contains(value)", span);
    }
    const operand = this.#operand(value);
    return operand === undefined ? undefined : this.#comparison(subject, "Contains", [operand], span);
  }

  #inSet(left: ASTNode, right: ASTNode, span: Span): Expression | undefined {
    if (this.#scope.ofStages) return this.#fault("Stages are not compared", span);
    const subject = this.#subject(left);
    if (subject === undefined) return undefined;
    if (subject === null || subject.form !== "" || right.op !== "list" || right.args.length === 0) {
      return this.#fault("Expected a name and a list, as: name in [1, 2]", span);
    }
    const operands = right.args.flatMap((one) => this.#operand(one) ?? []);
    return this.#comparison(subject, "InSet", operands, span);
  }

  #compare(operator: string, left: ASTNode, right: ASTNode, span: Span): Expression | undefined {
    if (this.#scope.ofStages) return this.#fault("Stages are not compared: name those that have to be complete", span);
    const [a, b] = [this.#subject(left), this.#subject(right)];
    if (a === undefined || b === undefined) return undefined;
    if (a !== null && b !== null) {
      const message = `Evidence ${quote(a.name)} and ${quote(b.name)} cannot be compared with each other: ` +
        "compare each with a literal, a parameter or now";
      return this.#fault(message, span);
    }
    const subject = a ?? b;
    if (subject === null) return this.#neitherNamed(left, right, span);
    const turned = a === null ? FLIPPED[operator] ?? operator : operator;
    const operand = this.#operand(a === null ? left : right);
    const predicate = PREDICATE_NAMES.find((name) => {
      const [own, form] = OPERATORS[name] ?? [];
      return own === turned && form === subject.form;
    });
    if (predicate === undefined) {
      return this.#fault(`Function ${subject.form}() does not go with "${operator}"`, span);
    }
    return operand === undefined ? undefined : this.#comparison(subject, predicate, [operand], span);
  }

  /** A comparison without evidence: its operands may have faults of their own. */
  #neitherNamed(left: ASTNode, right: ASTNode, span: Span): undefined {
    const operands = [this.#operand(left), this.#operand(right)];
    if (operands.includes(undefined)) return undefined;
    const instant = operands.some((one) => one?.kind === "now")
      ? operands.find((one) => one?.kind === "time")?.text
      : undefined;
    const hint = instant === undefined ? "" : clockHint(instant);
    return this.#fault(`Expected the name of evidence on one side of the comparison${hint}`, span);
  }

  #comparison(subject: Subject, predicate: PredicateName, operands: readonly Operand[], span: Span): Expression {
    return {
      kind: "comparison",
      comparison: { name: subject.name, named: subject, predicate, operands, ...span },
      ...span,
    };
  }

  /** The evidence of one side of a comparison; null if the side is a value, undefined after a fault. */
  #subject(node: ASTNode): Subject | null | undefined {
    const { start, end } = node;
    if (node.op === "call" && (node.args[0] === "lex" || node.args[0] === "deep")) {
      const [form, [inner]] = node.args;
      if (inner?.op !== "id" || node.args[1].length !== 1) return this.#fault(`Expected ${form}(name)`, node);
      return this.#isKnown(inner.args, inner)
        ? { name: inner.args, form: form as "lex" | "deep", start, end }
        : undefined;
    }
    if (node.op !== "id" || node.args === "now" || this.#scope.parameters.has(node.args)) return null;
    return this.#isKnown(node.args, node) ? { name: node.args, form: "", start, end } : undefined;
  }

  #operand(node: ASTNode): Operand | undefined {
    const { start, end } = node;
    switch (node.op) {
      case "value":
        return this.#literal(node.args, this.#textOf(node), { start, end });
      case "-_": {
        const text = node.args.op === "value" ? this.#textOf(node.args) : "";
        if (NUMBER.test(text)) return { kind: "number", text: `-${text}`, start, end };
        return this.#fault("Expected a number after the minus sign", node);
      }
      case "id":
        if (node.args === "now") return { kind: "now", offset: 0, start, end };
        if (this.#scope.parameters.has(node.args)) return { kind: "parameter", name: node.args, start, end };
        if (!this.#isKnown(node.args, node)) return undefined;
        return this.#fault(`Evidence ${quote(node.args)} is no value to compare with`, node);
      case "+":
      case "-":
        return this.#relative(node.op, node.args[0], node.args[1], { start, end });
      case "call":
        return this.#valueCall(node.args[0], node.args[1], { start, end });
      default:
        return this.#fault(`Cannot compare with ${quote(this.#textOf(node))}: ${INSTEAD[node.op] ?? EXPECTED}`, node);
    }
  }

  #literal(value: unknown, text: string, span: Span): Operand | undefined {
    if (typeof value === "boolean") return { kind: "boolean", value, ...span };
    if (typeof value === "string") return { kind: "text", text: value, ...span };
    if (value === null) return this.#fault("Cannot compare with null: write absent(name)", span);
    if (NUMBER.test(text)) return { kind: "number", text, ...span };
    return this.#fault(`Expected a decimal number without exponent, such as 80 or 91.5, got ${quote(text)}`, span);
  }

  #relative(operator: "+" | "-", left: ASTNode, right: ASTNode, span: Span): Operand | undefined {
    const isFromNow = left.op === "id" && left.args === "now";
    if (!isFromNow || right.op !== "call" || right.args[0] !== "duration") {
      const message = 'There is no arithmetic but now - duration("24h") and now + duration("24h")';
      return this.#fault(message, isFromNow ? right : span);
    }
    const text = this.#onlyText("duration", right.args[1], right);
    if (text === undefined) return undefined;
    const millis = durationMillis(text);
    if (millis === null) {
      const message = `Expected a duration ${DURATION_EXPECTED}, got ${quote(text)}`;
      return this.#fault(message, right.args[1][0] ?? right);
    }
    return { kind: "now", offset: operator === "-" && millis > 0 ? -millis : millis, ...span };
  }

  #valueCall(name: string, args: readonly ASTNode[], span: Span): Operand | undefined {
    if (name === "duration") return this.#fault('Expected now - duration("24h") or now + duration("24h")', span);
    if (name !== "timestamp" && name !== "json") {
      const message = `Function ${quote(name)} gives no value to compare with${didYouMean(name, FUNCTIONS)}`;
      return this.#fault(message, span, "function_unknown");
    }
    const text = this.#onlyText(name, args, span);
    if (text === undefined) return undefined;
    if (name === "timestamp") return { kind: "time", text, ...span };
    const parsed = parseJson(text);
    if (parsed.ok) return { kind: "json", value: parsed.value, ...span };
    const { path, message } = parsed.fault;
    return this.#fault(`Expected JSON text: ${path === formatPath([]) ? "" : `${path}: `}${message}`, span);
  }

  #onlyText(name: string, args: readonly ASTNode[], span: Span): string | undefined {
    const [first] = args;
    if (args.length === 1 && first?.op === "value" && typeof first.args === "string") return first.args;
    return this.#fault(`Expected ${name}("..") with one text`, span);
  }

  #textOf({ start, end }: Span): string {
    return this.#text.slice(start, end);
  }
}

/** Visits the comparisons of an expression from left to right. */
export function eachComparison(expression: Expression, visit: (comparison: Comparison) => void): void {
  if (expression.kind === "comparison") visit(expression.comparison);
  if (expression.kind === "Not") eachComparison(expression.operand, visit);
  if ("operands" in expression) { for (const one of expression.operands) eachComparison(one, visit); }
}

/** The evidence of one side of a comparison, in a function or not. */
interface Subject extends Span {
  readonly name: string;
  readonly form: "" | "lex" | "deep";
}

const PREDICATE_NAMES = Object.keys(OPERATORS) as readonly PredicateName[];
const NUMBER = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/;
const EXPECTED = "expected a literal, a parameter or now";

/** The operands of `&&` or `||` of one kind in a row. The parser nests them to the left, a thousand deep. */
function flatten(root: ASTNode): ASTNode[] {
  const operands: ASTNode[] = [];
  const pending: ASTNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ((node.op === "&&" || node.op === "||") && node.op === root.op) pending.push(node.args[1], node.args[0]);
    else operands.push(node);
  }
  return operands;
}
