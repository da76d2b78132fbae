/**
 * The law file: how people and models write a law (docs/reference/law_file.md). It compiles to the long form of a spec,
 * which the kernel judges.
 *
 * The entry points:
 *
 * - `isLawFile` of `source_position.ts` is whether a document is a law file, not a spec in long form.
 * - {@link compileLaw} compiles a law file, with every fault and its position. What `constructLaw` then refuses in the
 *   spec is placed in the file by `locate`.
 * - {@link readLawText} does both for the YAML text of a law.
 * - {@link inlineLaw} is the law of one expression.
 * - {@link writeLaw} prints any law as a law file, and {@link formatLaw} gives a law file the one layout.
 * - {@link askedExpression} reads one expression about a law, such as `prove --needs` and cases have.
 * - `lawWords` of `src/law/words.ts` prints the sentences of a law: names, conditions and requirements.
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, type JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import type { ScenarioLaw } from "../law/types.ts";
import type { ObservationDomain, Predicate } from "../law/value/types.ts";
import { type LawNames, lawWords } from "../law/words.ts";
import { type Parameters, typedPredicate } from "./law_file/comparison.ts";
import { compileFile } from "./law_file/compile.ts";
import {
  type Comparison,
  eachComparison,
  type Expression,
  readExpression,
  type ReportFault,
  type Span,
} from "./law_file/expression.ts";
import { formatText, lawText } from "./law_file/layout.ts";
import { originOf } from "./law_file/origin.ts";
import type { LawFault } from "./law_file/report.ts";
import { lawDocument } from "./law_file/write.ts";
import {
  childOf,
  isLawFile,
  type Locator,
  PlacedText,
  type Position,
  type ReadSource,
  type SourceFault,
  type Steps,
} from "./source_position.ts";
import { CONTINUED_LINE, quoteHint, readYamlSource } from "./source_yaml.ts";

/** The namespace of a law file that names none, unless the command does. */
const NAMESPACE_OF_FILES = 2;

/** A law file in long form. */
export interface LawFile {
  readonly spec: JsonValue;
  /** The question that the file asks; it is no part of the law. */
  readonly question: string | null;
  /** The names of the file, for {@link lawWords} and {@link askedExpression}. */
  readonly names: LawNames;
  readonly warnings: readonly SourceFault[];
  /** Converts steps in the spec to steps in the file. */
  readonly inFile: (steps: Steps) => Steps;
  /** Finds the position in the file of a value of the spec, also inside an expression. */
  readonly locate: Locator["locate"];
  /** The line of a position, with a mark below it. */
  readonly excerpt: (position: Position) => string;
}

/** A law file, or all of its faults. */
export type CompileResult =
  | { readonly ok: true; readonly file: LawFile }
  | { readonly ok: false; readonly faults: readonly SourceFault[] };

/**
 * Compiles a law file.
 *
 * @param read A document for which `isLawFile` holds, as the reader of its format returned it
 * @param namespaceId The namespace of a file that names none
 */
export function compileLaw(
  read: Extract<ReadSource, { ok: true }>,
  namespaceId: number = NAMESPACE_OF_FILES,
): CompileResult {
  const { text, value } = read;
  let located: Locator | null = null;
  // Positions are computed on first use, because most files have no faults.
  const locator = (): Locator => located ??= read.locator();
  const placedText = new PlacedText(text);
  const excerpt = (position: Position): string => excerptOf(placedText, position);
  const extras = (read.extras?.() ?? []).map((fault) => ({ ...fault, excerpt: excerpt(fault.position) }));
  if (!isJsonObject(value)) throw new TypeError("Cannot compile a law file: the document is no object");
  const compiled = compileFile(value, namespaceId);
  const positionOf = (fault: Pick<LawFault, "steps" | "isName" | "span">): Position => {
    const source = fault.span === undefined ? null : locator().textAt(fault.steps);
    const inner = fault.steps.reduce(childOf, value as JsonValue | undefined);
    if (source === null || fault.span === undefined || typeof inner !== "string") {
      return locator().locate(fault.steps, fault.isName === true ? "name" : "value");
    }
    return placedText.positionAt(placedText.offsetInside(source, inner, fault.span.start));
  };
  const placed = (fault: LawFault): SourceFault => {
    const { code, steps } = fault;
    const continued = continuedAt(placedText, value, fault, locator);
    const position = continued === null ? positionOf(fault) : placedText.positionAt(continued);
    const message = continued === null ? fault.message + cutHint(text, fault, locator) : CONTINUED_LINE;
    return { code, message, path: formatPath(steps), position, excerpt: excerpt(position) };
  };
  const faults = [...extras, ...compiled.faults.map(placed)].sort(({ position: one }, { position: other }) =>
    one.line - other.line || one.column - other.column
  );
  if (faults.length > 0) return { ok: false, faults };
  const { spec, question, names, origin } = compiled;
  return {
    ok: true,
    file: {
      spec,
      question,
      names,
      warnings: compiled.warnings.map(placed),
      inFile: (steps) => originOf(origin, steps).steps,
      locate: (steps, part) => positionOf({ ...originOf(origin, steps), isName: part === "name" }),
      excerpt,
    },
  };
}

/**
 * Reads and compiles the text of a law file in YAML.
 *
 * @param namespaceId The namespace of a text that names none
 */
export function readLawText(text: string, namespaceId?: number): CompileResult {
  const read = readYamlSource(new TextEncoder().encode(text));
  if (!read.ok) {
    return { ok: false, faults: [{ ...read.fault, excerpt: excerptOf(new PlacedText(text), read.fault.position) }] };
  }
  if (isLawFile(read.value)) return compileLaw(read, namespaceId);
  const message = 'Expected a law file: a map with the member "law"';
  return { ok: false, faults: [{ code: "member_missing", message, path: "$", position: { line: 1, column: 1 } }] };
}

/**
 * The law of one expression: scenario `inline` with the stage `gate`, whose evidence is the caller's word.
 *
 * @param namespaceId Its namespace
 */
export function inlineLaw(expression: string, namespaceId?: number): CompileResult {
  const scope = { ofStages: false, names: null, parameters: new Set<string>() };
  const names = new Set<string>();
  const read = readExpression(expression, scope, () => {});
  if (read !== undefined) eachComparison(read, ({ name }) => names.add(name));
  const evidence = [...names].map((name) => `  ${name}: caller\n`).join("");
  const head = `law: inline\n${evidence === "" ? "" : `evidence:\n${evidence}`}stages:\n  gate: |-\n`;
  const result = readLawText(`${head}${expression.replaceAll(/^/gm, INDENT)}\n`, namespaceId);
  if (result.ok) return result;
  // Positions are those in the expression.
  const before = head.split("\n").length - 1;
  const faults = result.faults.map((fault): SourceFault => {
    const { line, column } = fault.position;
    const position = { line: Math.max(1, line - before), column: Math.max(1, column - INDENT.length) };
    return { ...fault, position, excerpt: excerptOf(new PlacedText(expression), position) };
  });
  return { ok: false, faults };
}

const INDENT = "    ";

/** Any law as a law file in YAML. Compiled, it is the same law. */
export function writeLaw(law: ScenarioLaw): string {
  return lawText(lawDocument(law));
}

/** A law file in YAML in the one layout. Its comments stay, and so does its law. */
export function formatLaw(text: string): string {
  return formatText(text);
}

/**
 * Where an item of a list is indented deeper than the item above, so that YAML reads its dash as a minus in the text of
 * that one; null if the fault has no such line.
 */
function continuedAt(
  file: PlacedText,
  value: JsonValue,
  { steps, span }: LawFault,
  locator: () => Locator,
): number | null {
  const source = span === undefined ? null : locator().textAt(steps);
  const inner = steps.reduce(childOf, value as JsonValue | undefined);
  if (source?.style !== "plain" || span === undefined || typeof inner !== "string") return null;
  const start = file.offsetInside(source, inner, span.start);
  const dash = /\n[ \t]*(?=- )/.exec(file.text.slice(start, file.offsetInside(source, inner, span.end)));
  return dash === null ? null : start + dash.index + dash[0].length;
}

/** A hint where YAML ends a text without quotes before the end that its author meant. */
function cutHint(text: string, { code, steps }: LawFault, locator: () => Locator): string {
  const source = code === "expression_syntax" ? locator().textAt(steps) : null;
  if (source?.style !== "plain") return "";
  const [, mark] = /^[ \t]*( #|[,{[])/.exec(text.slice(source.end, source.end + 80)) ?? [];
  return mark === undefined ? "" : quoteHint(text, source.start, mark);
}

/** Maximum characters of an excerpt, before and after its mark. */
const EXCERPT_CHARACTERS = 100;

function excerptOf(text: PlacedText, { line, column }: Position): string {
  const whole = text.line(line);
  const start = Math.max(0, column - 1 - EXCERPT_CHARACTERS);
  const shown = whole.slice(start, column - 1 + EXCERPT_CHARACTERS).toWellFormed();
  // A tab before the mark keeps the mark below its character.
  const indent = shown.slice(0, column - 1 - start).replaceAll(/[^\t]/g, " ");
  return `${shown}\n${indent}^`;
}

/** An expression about a law. Its leaves are comparisons of the law's evidence, or calls. */
export type AskedExpression =
  | { readonly And: readonly AskedExpression[] }
  | { readonly Or: readonly AskedExpression[] }
  | { readonly Not: AskedExpression }
  | { readonly RequireGroup: { readonly min: number; readonly reqs: readonly AskedExpression[] } }
  | { readonly Compared: AskedComparison }
  | { readonly Called: { readonly call: string; readonly argument: string | null } };

/** A comparison of an asked expression. */
export interface AskedComparison extends Span {
  /** The name of the evidence. */
  readonly evidence: string;
  readonly predicate: Predicate;
  /** The condition with this comparison; null if the law has no such one. */
  readonly condition_id: string | null;
}

/** A fault of an asked expression. */
export interface AskedFault extends Span {
  readonly code: string;
  readonly message: string;
}

/**
 * Reads one expression about a law.
 *
 * @param names The names of the law file; by default those that `lawWords` gives the law
 * @param calls Functions that may stand as leaves: whether each takes a text, as `key("alice")`, or nothing
 */
export function askedExpression(
  text: string,
  law: ScenarioLaw,
  names: LawNames = lawWords(law),
  calls: ReadonlyMap<string, boolean> = new Map(),
): { readonly ok: true; readonly expression: AskedExpression } | {
  readonly ok: false;
  readonly faults: readonly AskedFault[];
} {
  const faults: AskedFault[] = [];
  const fault: ReportFault = (code, message, { start, end }) => faults.push({ code, message, start, end });
  const parameters: Parameters = new Map(
    (law.parameters ?? []).map(({ parameter_id: id, domain }) => [names.parameters.get(id) ?? id, { id, domain }]),
  );
  const conditions = Map.groupBy(law.conditions, ({ condition_id: id }) => names.evidence.get(id) ?? id);
  const scope = {
    ofStages: false,
    names: new Set(conditions.keys()),
    parameters: new Set(parameters.keys()),
    calls,
  };
  const read = readExpression(text, scope, fault);
  const compared = (comparison: Comparison): AskedExpression => {
    const own = conditions.get(comparison.name) ?? [];
    const domain = own[0]?.observation_domain as ObservationDomain;
    const predicate = typedPredicate(comparison, domain, parameters, fault) ?? { predicate: "Exists" };
    const key = canonicalize(predicate as JsonValue);
    const found = own.find((one) => canonicalize(one.predicate as JsonValue) === key);
    const { name: evidence, start, end } = comparison;
    return { Compared: { evidence, predicate, condition_id: found?.condition_id ?? null, start, end } };
  };
  const expression = read && askedOf(read, compared);
  return expression === undefined || faults.length > 0 ? { ok: false, faults } : { ok: true, expression };
}

function askedOf(expression: Expression, compared: (comparison: Comparison) => AskedExpression): AskedExpression {
  const inner = (one: Expression): AskedExpression => askedOf(one, compared);
  switch (expression.kind) {
    case "And":
      return { And: expression.operands.map(inner) };
    case "Or":
      return { Or: expression.operands.map(inner) };
    case "Not":
      return { Not: inner(expression.operand) };
    case "RequireGroup":
      return { RequireGroup: { min: expression.min, reqs: expression.operands.map(inner) } };
    case "comparison":
      return compared(expression.comparison);
    case "call":
      return { Called: { call: expression.call.call, argument: expression.call.argument } };
    case "stage":
      throw new TypeError("Cannot ask about a law: an expression over evidence names a stage");
  }
}
