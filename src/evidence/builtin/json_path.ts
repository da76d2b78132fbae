/**
 * JSONPath (RFC 9535) over a document: parsed and evaluated by json-p3, bounded here, and held to the letter of the RFC
 * where the package follows JavaScript instead: in the length and the order of strings, and in the members of objects.
 *
 * @module
 */

import {
  FunctionExpressionType,
  jsonpath as p3,
  JSONPathEnvironment,
  JSONPathNodeList,
  Nothing,
  TokenKind,
} from "json-p3";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { isExactNumber } from "../../canonical/number.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { jsonEqual } from "../../law/value/json_equality.ts";
import type { ObservedError } from "../../run/types.ts";
import { measureJson } from "./json_size.ts";
import { bindPatterns, TooManySteps } from "./json_path_patterns.ts";
import {
  JSONPATH_CHARACTERS_MAXIMUM,
  JSONPATH_NODES_MAXIMUM,
  JSONPATH_STEPS_MAXIMUM,
  RESULT_BYTES_MAXIMUM,
} from "./limits.ts";
import { observed } from "./result.ts";

/** The canonical text of what a query finds, or the error that was observed. */
export type Selection = { readonly found: string } | { readonly error: ObservedError };

type Query = ReturnType<JSONPathEnvironment["compile"]>;
type Expression = InstanceType<typeof p3.expressions.FilterExpression>;
type Context = Parameters<Expression["evaluate"]>[0];
type Token = Expression["token"];
type TokenStream = { readonly current: Token };
type ReadNumber = (stream: TokenStream) => Expression;

/** Counts nodes down; throws when there are too many. */
interface Budget {
  nodes: number;
}

/** A query finds more than it may. */
class TooManyNodes extends Error {}

/** The query itself cannot be used. */
class UnusableQuery extends Error {}

const environment = new JSONPathEnvironment({ maxRecursionDepth: 1024 });
environment.functionRegister.set("length", {
  argTypes: [FunctionExpressionType.ValueType],
  returnType: FunctionExpressionType.ValueType,
  call: lengthOf,
});

/** Steps of one test of a filter. */
const FILTER_STEPS = 4;

/** What the query in work may still take; there is one at a time. */
let stepsLeft = 0;
bindPatterns(environment, spend);

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new TooManySteps();
}

// The package's own reader of numbers refuses 0.5 for its leading zero and takes -01; both are the other way round in RFC
// 9535, 2.3.5.1.
const { tokenMap } =
  (environment as unknown as { readonly parser: { readonly tokenMap: Map<string, ReadNumber> } }).parser;
if (!tokenMap.has(TokenKind.NUMBER)) throw new Error("Cannot read numbers in queries: the parser is another one");
tokenMap.set(TokenKind.NUMBER, readNumber);

function readNumber(stream: TokenStream): Expression {
  const { current: token } = stream;
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(token.value)) {
    throw new UnusableQuery("a number is malformed");
  }
  if (!isExactNumber(token.value)) throw new UnusableQuery("a number is not kept exactly by a double");
  return new p3.expressions.NumberLiteral(token, Number(token.value));
}

/** RFC 9535, 2.4.4: characters of a string are Unicode scalar values, not code units. */
function lengthOf(value: unknown): unknown {
  if (typeof value === "string") {
    spend(value.length >> 4);
    let length = 0;
    for (const _ of value) length++;
    return length;
  }
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : Nothing;
}

/**
 * What a query finds: a singular query gives its value, any other an array. No node is `jsonpath_not_found`; a text that
 * is no query is `invalid_jsonpath`, whatever the document. Nodes are counted, and the steps of filters and patterns.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { selectJson } from "@/evidence/builtin/json_path.ts";
 *
 * assert.deepEqual(selectJson({ a: [1, 2] }, "$.a[0]"), { found: "1" });
 * assert.deepEqual(selectJson({ a: [1, 2] }, "$.a[:1]"), { found: "[1]" });
 * ```
 */
export function selectJson(document: JsonValue, jsonpath: string): Selection {
  if (jsonpath.length > JSONPATH_CHARACTERS_MAXIMUM) {
    return invalid(jsonpath, `longer than ${JSONPATH_CHARACTERS_MAXIMUM} characters`);
  }
  const budget: Budget = { nodes: JSONPATH_NODES_MAXIMUM };
  stepsLeft = JSONPATH_STEPS_MAXIMUM;
  let query: Query;
  try {
    query = environment.compile(jsonpath);
    bindQuery(query, budget);
  } catch (error) {
    // Whatever stops the parser, stack depth included, is a property of the query.
    return invalid(jsonpath, error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : "");
  }
  try {
    return collect(document, query, jsonpath, budget);
  } catch (error) {
    if (error instanceof TooManySteps) {
      const message = `Query "${shown(jsonpath)}" takes too long`;
      return observed("jsonpath_limit_exceeded", message, {
        jsonpath: shown(jsonpath),
        max_steps: JSONPATH_STEPS_MAXIMUM,
      });
    }
    if (!(error instanceof TooManyNodes) && !(error instanceof RangeError)) throw error;
    const message = `Query "${shown(jsonpath)}" finds more nodes than can be held`;
    return observed("jsonpath_limit_exceeded", message, {
      jsonpath: shown(jsonpath),
      max_nodes: JSONPATH_NODES_MAXIMUM,
    });
  }
}

/** The canonical text of a whole document, or the error that it is too large. */
export function selectWhole(document: JsonValue): Selection {
  return bounded(document);
}

function collect(document: JsonValue, query: Query, jsonpath: string, budget: Budget): Selection {
  const values: JsonValue[] = [];
  let bytes = 0;
  for (const node of query.lazyQuery(document as never)) {
    count(budget);
    const value = node.value as JsonValue;
    bytes += measureJson(value, RESULT_BYTES_MAXIMUM - bytes);
    if (bytes > RESULT_BYTES_MAXIMUM) return tooLarge();
    values.push(value);
  }
  const [first] = values;
  if (first === undefined) {
    return observed("jsonpath_not_found", `Query "${shown(jsonpath)}" finds no node`, { jsonpath: shown(jsonpath) });
  }
  return bounded(query.singularQuery() ? first : values);
}

function bounded(value: JsonValue): Selection {
  if (measureJson(value, RESULT_BYTES_MAXIMUM) > RESULT_BYTES_MAXIMUM) return tooLarge();
  const found = canonicalize(value);
  return utf8Length(found) > RESULT_BYTES_MAXIMUM ? tooLarge() : { found };
}

function tooLarge(): Selection {
  const message = `Expected a result of at most ${RESULT_BYTES_MAXIMUM} canonical bytes`;
  return observed("result_too_large", message, { max_bytes: RESULT_BYTES_MAXIMUM });
}

function invalid(jsonpath: string, reason: string): Selection {
  const message = `Cannot use query "${shown(jsonpath)}": ${reason}`;
  return observed("invalid_jsonpath", message, { jsonpath: shown(jsonpath) });
}

function shown(jsonpath: string): string {
  return jsonpath.length > 256 ? `${jsonpath.slice(0, 256)}...` : jsonpath;
}

function count(budget: Budget): void {
  budget.nodes -= 1;
  if (budget.nodes < 0) throw new TooManyNodes();
}

/** Puts a query's filters under the budget and the RFC's comparisons. */
function bindQuery(query: Query, budget: Budget): void {
  for (const segment of query.segments) {
    for (const selector of segment.selectors) {
      if (!(selector instanceof p3.selectors.FilterSelector)) continue;
      bindExpression(selector.expression, budget);
      bindFilter(selector.expression);
    }
  }
}

/** A filter that finds nothing is work as well. */
function bindFilter(expression: Expression): void {
  const evaluate = expression.evaluate.bind(expression);
  expression.evaluate = (context: Context): ReturnType<Expression["evaluate"]> => {
    spend(FILTER_STEPS);
    return evaluate(context);
  };
}

function bindExpression(expression: Expression, budget: Budget): void {
  const { FilterQuery, FunctionExtension, InfixExpression, LogicalExpression, PrefixExpression } = p3.expressions;
  if (expression instanceof LogicalExpression) bindExpression(expression.expression, budget);
  else if (expression instanceof PrefixExpression) bindExpression(expression.right, budget);
  else if (expression instanceof FunctionExtension) {
    for (const argument of expression.args) bindExpression(argument, budget);
  } else if (expression instanceof FilterQuery) {
    bindQuery(expression.path, budget);
    bindFilterQuery(expression, budget);
  } else if (expression instanceof InfixExpression) {
    bindExpression(expression.left, budget);
    bindExpression(expression.right, budget);
    if (!expression.logical) bindComparison(expression);
  }
}

/** Nodes are found one by one and counted; the package would build every list in between first. */
function bindFilterQuery(expression: InstanceType<typeof p3.expressions.FilterQuery>, budget: Budget): void {
  const fromRoot = expression instanceof p3.expressions.RootQuery;
  expression.evaluate = (context: Context): JSONPathNodeList => {
    const nodes = [];
    for (const node of expression.path.lazyQuery(fromRoot ? context.rootValue : context.currentValue)) {
      count(budget);
      nodes.push(node);
    }
    return new JSONPathNodeList(nodes);
  };
}

function bindComparison(expression: InstanceType<typeof p3.expressions.InfixExpression>): void {
  const { left, operator, right } = expression;
  expression.evaluate = (context: Context): boolean =>
    compare(comparable(left.evaluate(context)), operator, comparable(right.evaluate(context)));
}

/** RFC 9535, 2.3.5.2.2: a singular query stands for its value, or for nothing. */
function comparable(value: unknown): unknown {
  if (!(value instanceof JSONPathNodeList)) return value;
  return value.nodes.length === 1 ? value.nodes[0]?.value : Nothing;
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return isEqual(left, right);
  if (operator === "!=") return !isEqual(left, right);
  if (operator === "<") return isLess(left, right);
  if (operator === ">") return isLess(right, left);
  if (operator === "<=") return isLess(left, right) || isEqual(left, right);
  return isLess(right, left) || isEqual(left, right);
}

function isEqual(left: unknown, right: unknown): boolean {
  if (left === Nothing || right === Nothing) return left === right;
  spend(costOf(left as JsonValue));
  return jsonEqual(left as JsonValue, right as JsonValue);
}

function isLess(left: unknown, right: unknown): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  if (typeof left !== "string" || typeof right !== "string") return false;
  spend(costOf(left));
  return compareCodePoints(left, right) < 0;
}

/** Steps of comparing a value, which looks at no more than all of it. */
function costOf(value: JsonValue): number {
  if (typeof value === "string") return value.length >> 4;
  return typeof value === "object" && value !== null ? measureJson(value, Infinity) >> 4 : 0;
}
