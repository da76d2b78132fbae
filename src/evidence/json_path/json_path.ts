/** JSONPath (RFC 9535) over a document: parsed by json-p3, evaluated here with a limit on all work. */

import { jsonpath as p3, JSONPathEnvironment, TokenKind } from "json-p3";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { isExactNumber } from "../../canonical/number.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { ObservedError } from "../../run/types.ts";
import { INSTRUCTIONS_MAXIMUM, PatternTooLarge } from "../regular_expression/program.ts";
import { InvalidQuery, prepareQuery } from "./evaluation.ts";
import { QueryWork, TooManyNodes, TooManySteps } from "./work.ts";
import {
  JSONPATH_CHARACTERS_MAXIMUM,
  JSONPATH_NODES_MAXIMUM,
  JSONPATH_STEPS_MAXIMUM,
  PATTERN_CHARACTERS_MAXIMUM,
  RESULT_BYTES_MAXIMUM,
} from "../builtin/limits.ts";
import { observed } from "../builtin/result.ts";

/** The canonical text of a query's result, or the observed error. */
export type Selection = { readonly found: string } | { readonly error: ObservedError };

type Expression = InstanceType<typeof p3.expressions.FilterExpression>;
type ReadNumber = (stream: { readonly current: Expression["token"] }) => Expression;

/** The result of the query exceeds the size limit. */
class ResultTooLarge extends Error {}

const environment = new JSONPathEnvironment();

// The package's number parser rejects 0.5 for its leading zero and accepts -01; RFC 9535, 2.3.5.1, requires the
// opposite.
const { tokenMap } =
  (environment as unknown as { readonly parser: { readonly tokenMap: Map<string, ReadNumber> } }).parser;
if (!tokenMap.has(TokenKind.NUMBER)) {
  throw new Error("Cannot replace the number parser of json-p3: it has no entry for numbers");
}
tokenMap.set(TokenKind.NUMBER, readNumber);

function readNumber({ current: token }: Parameters<ReadNumber>[0]): Expression {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(token.value)) {
    throw new InvalidQuery("a number is malformed");
  }
  if (!isExactNumber(token.value)) throw new InvalidQuery("a number has no exact double");
  return new p3.expressions.NumberLiteral(token, Number(token.value));
}

/**
 * Runs a query. A singular query returns its value, any other query an array. The error is `jsonpath_not_found` without
 * a node, `invalid_jsonpath` for an invalid query, and `jsonpath_limit_exceeded` for a query that exceeds a limit.
 */
export function selectJson(document: JsonValue, jsonpath: string): Selection {
  if (jsonpath.length > JSONPATH_CHARACTERS_MAXIMUM) {
    return invalid(jsonpath, `longer than ${JSONPATH_CHARACTERS_MAXIMUM} characters`);
  }
  const found: Found = { values: [], bytes: 0 };
  let isSingular: boolean;
  let runQuery: () => void;
  try {
    const query = environment.compile(jsonpath);
    isSingular = query.singularQuery();
    runQuery = prepareQuery(query, document, new QueryWork(), (value) => addFound(found, value));
  } catch (error) {
    // Any failure of the parser, stack overflow included, follows from the query.
    return invalid(jsonpath, error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : "");
  }
  try {
    runQuery();
  } catch (error) {
    return stopped(jsonpath, error);
  }
  const [first] = found.values;
  if (first === undefined) {
    return observed("jsonpath_not_found", `Query "${shown(jsonpath)}" finds no node`, { jsonpath: shown(jsonpath) });
  }
  return selectWhole(isSingular ? first : found.values);
}

/** The values found so far. */
interface Found {
  readonly values: JsonValue[];
  bytes: number;
}

function addFound(found: Found, value: JsonValue): void {
  found.bytes += measureJson(value, RESULT_BYTES_MAXIMUM - found.bytes);
  if (found.bytes > RESULT_BYTES_MAXIMUM) throw new ResultTooLarge();
  found.values.push(value);
}

/** The error of a query that exceeded a limit. */
function stopped(jsonpath: string, error: unknown): Selection {
  const exceeds = (what: string, limits: JsonObject): Selection =>
    observed("jsonpath_limit_exceeded", `Query "${shown(jsonpath)}" ${what}`, { jsonpath: shown(jsonpath), ...limits });
  if (error instanceof ResultTooLarge) return selectionTooLarge();
  if (error instanceof TooManySteps) return exceeds("takes too long", { max_steps: JSONPATH_STEPS_MAXIMUM });
  if (error instanceof PatternTooLarge) {
    return exceeds("uses a pattern that is too large", {
      max_pattern_characters: PATTERN_CHARACTERS_MAXIMUM,
      max_pattern_instructions: INSTRUCTIONS_MAXIMUM,
    });
  }
  if (!(error instanceof TooManyNodes) && !(error instanceof RangeError)) throw error;
  return exceeds("finds more nodes than can be held", { max_nodes: JSONPATH_NODES_MAXIMUM });
}

/** The canonical text of a whole document, or the error for one that is too large. */
export function selectWhole(value: JsonValue): Selection {
  if (measureJson(value, RESULT_BYTES_MAXIMUM) > RESULT_BYTES_MAXIMUM) return selectionTooLarge();
  const found = canonicalize(value);
  return utf8Length(found) > RESULT_BYTES_MAXIMUM ? selectionTooLarge() : { found };
}

function selectionTooLarge(): Selection {
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

/**
 * A lower bound of the bytes of a value's canonical text. Counting stops once it exceeds the budget, so measuring costs
 * no more than the budget.
 *
 * @param value Nested at most as deep as inputs may be
 */
function measureJson(value: JsonValue, budget: number): number {
  if (typeof value === "string") return value.length + 2;
  if (isJsonArray(value)) {
    let bytes = value.length + 1;
    for (const item of value) {
      if (bytes > budget) break;
      bytes += measureJson(item, budget - bytes);
    }
    return bytes;
  }
  if (!isJsonObject(value)) return 1;
  let bytes = 1;
  for (const name of Object.keys(value)) {
    if (bytes > budget) break;
    bytes += name.length + 4;
    bytes += measureJson(value[name] ?? null, budget - bytes);
  }
  return bytes;
}
