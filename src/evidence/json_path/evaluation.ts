/**
 * Evaluates JSONPath queries (RFC 9535, 2.3 and 2.4) that json-p3 has parsed. The package's evaluator has no step
 * count, builds intermediate lists and records the location of each node. This one counts every visited value and every
 * part of a filter.
 *
 * A query compiles to functions, each of which passes the values that it selects to the next. So only found values are
 * held.
 */

import { jsonpath as p3, TokenKind } from "json-p3";
import { isJsonArray, type JsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { compare, lengthOf, NOTHING, type Nothing } from "./comparison.ts";
import { type Patterns, patternsOf } from "./patterns.ts";
import { hasChildren, type QueryWork } from "./work.ts";

/** A query as the package parses it. */
export type Query = InstanceType<typeof p3.JSONPathQuery>;
type Segment = Query["segments"][number];
type Selector = Segment["selectors"][number];
type Expression = InstanceType<typeof p3.expressions.FilterExpression>;
type FilterQuery = InstanceType<typeof p3.expressions.FilterQuery>;
type FunctionExtension = InstanceType<typeof p3.expressions.FunctionExtension>;

/** The package accepts the query, the RFC does not. */
export class InvalidQuery extends Error {}

/** Receives a visited value. */
type Visit = (value: JsonValue) => void;
/** Receives a value that has children. */
type Select = (value: JsonArray | JsonObject) => void;
/** The result of a part of a filter for the value that the filter tests. */
type Evaluate<Result> = (current: JsonValue) => Result;

/** Shared by all parts of a query. */
interface QueryContext {
  readonly root: JsonValue;
  readonly work: QueryWork;
  readonly patterns: Patterns;
}

/**
 * Compiles a query.
 *
 * @param found Receives the value of each node, in order
 * @returns The function that runs the query
 * @throws {InvalidQuery}
 */
export function prepareQuery(query: Query, root: JsonValue, work: QueryWork, found: Visit): () => void {
  const visit = visitOf(query, { root, work, patterns: patternsOf(work.spend) }, found);
  return () => visit(root);
}

function visitOf(query: Query, context: QueryContext, found: Visit): Visit {
  let visit: Visit = (value) => {
    context.work.hold();
    found(value);
  };
  for (const segment of query.segments.toReversed()) visit = segmentOf(segment, context, visit);
  return visit;
}

function segmentOf(segment: Segment, context: QueryContext, next: Visit): Visit {
  const selectors = segment.selectors.map((selector) => selectorOf(selector, context, next));
  const select: Select = (value) => {
    for (const one of selectors) one(value);
  };
  const visit: Visit = (value) => {
    if (hasChildren(value)) select(value);
  };
  return segment.token.kind === TokenKind.DDOT ? descend(select, context.work) : visit;
}

/** Visits all descendants. The recursion is as deep as the document, which the limit on inputs bounds. */
function descend(select: Select, work: QueryWork): Visit {
  const visit: Visit = (value) => {
    if (!hasChildren(value)) return;
    select(value);
    for (const child of work.childrenOf(value)) visit(child);
  };
  return visit;
}

function selectorOf(selector: Selector, context: QueryContext, next: Visit): Select {
  const { FilterSelector, IndexSelector, NameSelector, SliceSelector, WildcardSelector } = p3.selectors;
  const { work } = context;
  if (selector instanceof NameSelector) return nameOf(selector.name, work, next);
  if (selector instanceof IndexSelector) return indexOf(selector.index, work, next);
  if (selector instanceof SliceSelector) return sliceOf(selector, work, next);
  if (selector instanceof WildcardSelector) {
    return (value) => {
      for (const child of work.childrenOf(value)) next(child);
    };
  }
  if (!(selector instanceof FilterSelector)) throw new InvalidQuery("unknown selector");
  const test = testOf(selector.expression, context);
  return (value) => {
    for (const child of work.childrenOf(value)) if (test(child)) next(child);
  };
}

function nameOf(name: string, { spend }: QueryWork, next: Visit): Select {
  return (value) => {
    spend(1);
    const child = isJsonArray(value) ? undefined : member(value as JsonObject, name);
    if (child !== undefined) next(child);
  };
}

function indexOf(index: number, { spend }: QueryWork, next: Visit): Select {
  return (value) => {
    spend(1);
    const child = isJsonArray(value) ? value.at(index) : undefined;
    if (child !== undefined) next(child);
  };
}

/** RFC 9535, 2.3.4.2.2: bounds are clamped to the array first, so a slice visits at most its items. */
function sliceOf(
  { start, stop, step = 1 }: InstanceType<typeof p3.selectors.SliceSelector>,
  { spend }: QueryWork,
  next: Visit,
): Select {
  return (value) => {
    spend(1);
    if (!isJsonArray(value) || step === 0) return;
    const { length } = value;
    const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
    const within = (bound: number): number => Math.min(Math.max(bound < 0 ? bound + length : bound, least), most);
    const from = start === undefined ? (step > 0 ? least : most) : within(start);
    const to = stop === undefined ? (step > 0 ? most : least) : within(stop);
    for (let index = from; step > 0 ? index < to : index > to; index += step) {
      spend(1);
      next(value[index] ?? null);
    }
  };
}

/** Compiles the test of a filter. */
function testOf(expression: Expression, context: QueryContext): Evaluate<boolean> {
  const { FilterQuery, FunctionExtension, InfixExpression, LogicalExpression, PrefixExpression } = p3.expressions;
  const { spend } = context.work;
  if (expression instanceof LogicalExpression) return testOf(expression.expression, context);
  if (expression instanceof PrefixExpression) {
    const test = testOf(expression.right, context);
    return (current) => (spend(1), !test(current));
  }
  if (expression instanceof InfixExpression) {
    return expression.logical ? junctionOf(expression, context) : comparisonOf(expression, context);
  }
  if (expression instanceof FilterQuery) {
    const nodes = nodesOf(expression, context);
    return (current) => nodes(current).length > 0;
  }
  if (expression instanceof FunctionExtension) return patternTestOf(expression, context);
  throw new InvalidQuery("a literal must be compared");
}

type Infix = InstanceType<typeof p3.expressions.InfixExpression>;

function junctionOf({ left, operator, right }: Infix, context: QueryContext): Evaluate<boolean> {
  const { spend } = context.work;
  const first = testOf(left, context);
  const second = testOf(right, context);
  if (operator === "&&") return (current) => (spend(1), first(current) && second(current));
  return (current) => (spend(1), first(current) || second(current));
}

function comparisonOf({ left, operator, right }: Infix, context: QueryContext): Evaluate<boolean> {
  const { work } = context;
  const first = valueOf(left, context);
  const second = valueOf(right, context);
  return (current) => (work.spend(1), compare(first(current), operator, second(current), work));
}

/** Compiles an operand of a comparison, or an argument of type value. */
function valueOf(expression: Expression, context: QueryContext): Evaluate<JsonValue | Nothing> {
  const { BooleanLiteral, FilterQuery, FunctionExtension, NullLiteral, NumberLiteral, StringLiteral } = p3.expressions;
  const isLiteral = expression instanceof StringLiteral || expression instanceof NumberLiteral ||
    expression instanceof BooleanLiteral;
  if (isLiteral || expression instanceof NullLiteral) {
    const value = isLiteral ? expression.value : null;
    return () => value;
  }
  if (expression instanceof FilterQuery) return onlyOf(expression, context);
  if (expression instanceof FunctionExtension) return functionValueOf(expression, context);
  throw new InvalidQuery("a logical expression cannot be compared");
}

/** RFC 9535, 2.3.5.2.2 and 2.4.8: a query is the value of its only node, or nothing. */
function onlyOf(query: FilterQuery, context: QueryContext): Evaluate<JsonValue | Nothing> {
  const nodes = nodesOf(query, context);
  return (current) => {
    const found = nodes(current);
    return found.length === 1 ? found[0] ?? null : NOTHING;
  };
}

/** Compiles a query in a filter to the list of its values. No query runs within itself, so one list at a time suffices. */
function nodesOf(query: FilterQuery, context: QueryContext): Evaluate<readonly JsonValue[]> {
  const { root, work } = context;
  let values: JsonValue[] = [];
  const visit = visitOf(query.path, context, (value) => void values.push(value));
  const isFromRoot = query instanceof p3.expressions.RootQuery;
  return (current) => {
    work.spend(1);
    work.release(values.length);
    values = [];
    visit(isFromRoot ? root : current);
    return values;
  };
}

function functionValueOf({ name, args }: FunctionExtension, context: QueryContext): Evaluate<JsonValue | Nothing> {
  const { work } = context;
  const [argument] = args;
  if (argument instanceof p3.expressions.FilterQuery) {
    if (name === "value") return onlyOf(argument, context);
    if (name === "count") {
      const nodes = nodesOf(argument, context);
      return (current) => nodes(current).length;
    }
  }
  if (name !== "length" || argument === undefined) throw new InvalidQuery(`result of ${name}() cannot be compared`);
  const value = valueOf(argument, context);
  return (current) => (work.spend(1), lengthOf(value(current), work));
}

function patternTestOf({ name, args }: FunctionExtension, context: QueryContext): Evaluate<boolean> {
  const { spend } = context.work;
  const [text, pattern] = args;
  if ((name !== "match" && name !== "search") || text === undefined || pattern === undefined) {
    throw new InvalidQuery(`result of ${name}() must be compared`);
  }
  const matches = context.patterns[name];
  const textOf = valueOf(text, context);
  const patternOf = valueOf(pattern, context);
  return (current) => (spend(1), matches(textOf(current), patternOf(current)));
}
