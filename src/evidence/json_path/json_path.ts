/**
 * JSONPath (RFC 9535) over a document: parsed by json-p3, evaluated here, where all that a query takes is counted.
 *
 * @module
 */

import { jsonpath as p3, JSONPathEnvironment, TokenKind } from "json-p3";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { isExactNumber } from "../../canonical/number.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { ObservedError } from "../../run/types.ts";
import { INSTRUCTIONS_MAXIMUM, PatternTooLarge } from "../regular_expression/program.ts";
import { InvalidQuery, prepareQuery } from "./evaluation.ts";
import { QueryWork, TooManyNodes, TooManySteps } from "./work.ts";
import { measureJson } from "../builtin/json_size.ts";
import {
  JSONPATH_CHARACTERS_MAXIMUM,
  JSONPATH_NODES_MAXIMUM,
  JSONPATH_STEPS_MAXIMUM,
  PATTERN_CHARACTERS_MAXIMUM,
  RESULT_BYTES_MAXIMUM,
} from "../builtin/limits.ts";
import { observed } from "../builtin/result.ts";

/** The canonical text of what a query finds, or the error that was observed. */
export type Selection = { readonly found: string } | { readonly error: ObservedError };

type Expression = InstanceType<typeof p3.expressions.FilterExpression>;
type ReadNumber = (stream: { readonly current: Expression["token"] }) => Expression;

/** What a query finds is larger than a result may be. */
class ResultTooLarge extends Error {}

const environment = new JSONPathEnvironment();

// The package's own reader of numbers refuses 0.5 for its leading zero and takes -01; both are the other way round in RFC
// 9535, 2.3.5.1.
const { tokenMap } =
  (environment as unknown as { readonly parser: { readonly tokenMap: Map<string, ReadNumber> } }).parser;
if (!tokenMap.has(TokenKind.NUMBER)) throw new Error("Cannot read numbers in queries: the parser is another one");
tokenMap.set(TokenKind.NUMBER, readNumber);

function readNumber({ current: token }: Parameters<ReadNumber>[0]): Expression {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(token.value)) {
    throw new InvalidQuery("a number is malformed");
  }
  if (!isExactNumber(token.value)) throw new InvalidQuery("a number is not kept exactly by a double");
  return new p3.expressions.NumberLiteral(token, Number(token.value));
}

/**
 * What a query finds: a singular query gives its value, any other an array. No node is `jsonpath_not_found`; a text that
 * is no query is `invalid_jsonpath`, whatever the document. One that takes more than it may is `jsonpath_limit_exceeded`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { selectJson } from "@/evidence/json_path/json_path.ts";
 *
 * assert.deepEqual(selectJson({ a: [1, 2] }, "$.a[0]"), { found: "1" });
 * assert.deepEqual(selectJson({ a: [1, 2] }, "$.a[:1]"), { found: "[1]" });
 * ```
 */
export function selectJson(document: JsonValue, jsonpath: string): Selection {
  if (jsonpath.length > JSONPATH_CHARACTERS_MAXIMUM) {
    return invalid(jsonpath, `longer than ${JSONPATH_CHARACTERS_MAXIMUM} characters`);
  }
  const found: Found = { values: [], bytes: 0 };
  let isSingular: boolean;
  let look: () => void;
  try {
    const query = environment.compile(jsonpath);
    isSingular = query.singularQuery();
    look = prepareQuery(query, document, new QueryWork(), (value) => take(found, value));
  } catch (error) {
    // Whatever stops the parser, stack depth included, is a property of the query.
    return invalid(jsonpath, error instanceof Error ? error.message.split("\n", 1)[0] ?? "" : "");
  }
  try {
    look();
  } catch (error) {
    return stopped(jsonpath, error);
  }
  const [first] = found.values;
  if (first === undefined) {
    return observed("jsonpath_not_found", `Query "${shown(jsonpath)}" finds no node`, { jsonpath: shown(jsonpath) });
  }
  return bounded(isSingular ? first : found.values);
}

/** What was found so far. */
interface Found {
  readonly values: JsonValue[];
  bytes: number;
}

function take(found: Found, value: JsonValue): void {
  found.bytes += measureJson(value, RESULT_BYTES_MAXIMUM - found.bytes);
  if (found.bytes > RESULT_BYTES_MAXIMUM) throw new ResultTooLarge();
  found.values.push(value);
}

/** What is said of a query that did not come to its end. */
function stopped(jsonpath: string, error: unknown): Selection {
  const exceeds = (what: string, limits: JsonObject): Selection =>
    observed("jsonpath_limit_exceeded", `Query "${shown(jsonpath)}" ${what}`, { jsonpath: shown(jsonpath), ...limits });
  if (error instanceof ResultTooLarge) return tooLarge();
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

/** The canonical text of a whole document, or the error that it is too large. */
export function selectWhole(document: JsonValue): Selection {
  return bounded(document);
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
