/** Keywords that evaluate a value, or parts of it, against subschemas (JSON Schema 2020-12 Core, 10 and 11). */

import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  member,
} from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import { ASSERTIONS, namesOf } from "./assertions.ts";
import type { Search } from "../regular_expression/search.ts";
import { type Check, evaluate, type Failure, failure, failureAt, type Node, type Subject } from "./evaluation.ts";

/** The schema that contains a keyword, and the compilers for its subschemas and patterns. */
export interface KeywordContext {
  readonly schema: JsonObject;
  readonly compile: (inner: JsonValue) => Node;
  readonly search: (pattern: string) => Search;
}

/** Compiles a keyword's value to its check. */
export type Applicator = (given: JsonValue, context: KeywordContext) => Check;

/** The keywords with subschemas, except the `unevaluated` ones. */
export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ["allOf", allOf],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", not],
  ["if", conditional],
  ["dependentSchemas", dependentSchemas],
  ["dependencies", dependencies],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["propertyNames", propertyNames],
  ["prefixItems", prefixItems],
  ["items", items],
  ["contains", contains],
]);

/** The keywords for parts that no other keyword of the schema has evaluated: they run last. */
export const LAST_APPLICATORS: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties],
]);

function allOf(given: JsonValue, { compile }: KeywordContext): Check {
  const nodes = (given as JsonArray).map(compile);
  return (subject) => firstOf(subject, nodes, (node) => inPlace(node, subject));
}

function anyOf(given: JsonValue, { compile }: KeywordContext): Check {
  const nodes = (given as JsonArray).map(compile);
  return (subject) => {
    const failed = noFailures();
    for (const node of nodes) {
      const inner = inPlace(node, subject);
      // Every valid alternative contributes evaluated parts, so all of them run if a keyword needs these.
      if (inner === null && subject.evaluated === null) return null;
      if (inner !== null) addFailure(failed, inner);
    }
    return failed.count < nodes.length ? null : nearestFailure(failed, "anyOf");
  };
}

function oneOf(given: JsonValue, { compile }: KeywordContext): Check {
  const nodes = (given as JsonArray).map(compile);
  return (subject) => {
    const failed = noFailures();
    const holding: number[] = [];
    for (const [index, node] of nodes.entries()) {
      const inner = inPlace(node, subject);
      if (inner !== null) addFailure(failed, inner);
      else if (holding.length < LISTED_ALTERNATIVES) holding.push(index);
    }
    const count = nodes.length - failed.count;
    if (count === 1) return null;
    if (count === 0) return nearestFailure(failed, "oneOf");
    const others = count > holding.length ? ` and ${count - holding.length} more` : "";
    return failure(`must match exactly one schema in oneOf, not ${holding.join(" and ")}${others}`);
  };
}

/** Alternatives that a message lists. */
const LISTED_ALTERNATIVES = 4;

/** Characters of a message that joins those of alternatives. */
const MESSAGE_CHARACTERS = 256;

/** The failures of alternatives. Only those that a message lists are kept, because alternatives can be nested. */
interface FailedAlternatives {
  count: number;
  /** The failure deepest inside the value: its author most likely meant that alternative. */
  deepest: Failure;
  /** Distinct failures of the value itself. */
  readonly messages: string[];
}

function noFailures(): FailedAlternatives {
  return { count: 0, deepest: failure("no value is allowed here"), messages: [] };
}

function addFailure(failed: FailedAlternatives, inner: Failure): void {
  const { deepest, messages } = failed;
  if (failed.count++ === 0 || inner.steps.length > deepest.steps.length) failed.deepest = inner;
  if (inner.steps.length > 0 || messages.length >= LISTED_ALTERNATIVES || messages.includes(inner.message)) return;
  messages.push(inner.message);
}

function nearestFailure({ count, deepest, messages }: FailedAlternatives, keyword: string): Failure {
  // If every alternative fails for the value itself, the message joins their reasons.
  const message = deepest.steps.length === 0 ? messages.join(", or ") : deepest.message;
  // Nested alternatives would multiply the length of the message.
  if (message.length > MESSAGE_CHARACTERS) {
    return { steps: deepest.steps, message: `must match a schema in ${keyword}` };
  }
  return { steps: deepest.steps, message: count < 2 ? message : `${message} (${keyword})` };
}

function not(given: JsonValue, { compile }: KeywordContext): Check {
  const node = compile(given);
  return (subject) =>
    evaluate(node, subject.value, subject, null) === null ? failure("must NOT be valid by not") : null;
}

function conditional(given: JsonValue, { schema, compile }: KeywordContext): Check {
  const test = compile(given);
  const holds = compile(member(schema, "then") ?? true);
  const fails = compile(member(schema, "else") ?? true);
  return (subject) => inPlace(inPlace(test, subject) === null ? holds : fails, subject);
}

/** A function of its own, so that a check's closure does not retain the context, and with it the whole compiler. */
function nodesByName(given: JsonValue, { compile }: KeywordContext): readonly (readonly [name: string, node: Node])[] {
  return Object.entries(given as JsonObject).map(([name, inner]) => [name, compile(inner)] as const);
}

function dependentSchemas(given: JsonValue, context: KeywordContext): Check {
  const nodes = nodesByName(given, context);
  return (subject) => {
    const { value } = subject;
    if (!isJsonObject(value)) return null;
    return firstOf(subject, nodes, ([name, node]) => Object.hasOwn(value, name) ? inPlace(node, subject) : null);
  };
}

/** A keyword of older drafts that the metaschema still describes: each value is a schema or a list of names. */
function dependencies(given: JsonValue, context: KeywordContext): Check {
  const entries = Object.entries(given as JsonObject);
  const lists = Object.fromEntries(entries.filter(([, value]) => isJsonArray(value)));
  const required = ASSERTIONS.get("dependentRequired")?.(lists, context.search);
  const schemas = dependentSchemas(Object.fromEntries(entries.filter(([, value]) => !isJsonArray(value))), context);
  return (subject) => {
    const message = required?.(subject.value, subject.spend) ?? null;
    return message === null ? schemas(subject) : failure(message);
  };
}

function properties(given: JsonValue, context: KeywordContext): Check {
  const nodes = nodesByName(given, context);
  return (subject) => {
    const { value } = subject;
    if (!isJsonObject(value)) return null;
    return firstOf(
      subject,
      nodes,
      ([name, node]) => Object.hasOwn(value, name) ? inMember(node, subject, value, name) : null,
    );
  };
}

function patternProperties(given: JsonValue, context: KeywordContext): Check {
  const { search: compileSearch } = context;
  const nodes = nodesByName(given, context).map(([pattern, node]) => [compileSearch(pattern), node] as const);
  return (subject) =>
    firstMember(
      subject,
      (value, name) =>
        firstOf(subject, nodes, ([search, node]) =>
          search(name, subject.spend) ? inMember(node, subject, value, name) : null),
    );
}

function additionalProperties(given: JsonValue, { schema, compile, search: compileSearch }: KeywordContext): Check {
  const node = compile(given);
  const named = new Set(Object.keys((member(schema, "properties") ?? {}) as JsonObject));
  const patterns = Object.keys((member(schema, "patternProperties") ?? {}) as JsonObject).map((pattern) =>
    compileSearch(pattern)
  );
  return (subject) =>
    firstMember(subject, (value, name) => {
      if (named.has(name) || patterns.some((search) => search(name, subject.spend))) return null;
      return otherMember(node, subject, value, name, "additional");
    });
}

function unevaluatedProperties(given: JsonValue, { compile }: KeywordContext): Check {
  const node = compile(given);
  return (subject) =>
    firstMember(
      subject,
      (value, name) =>
        subject.evaluated?.names.has(name) ? null : otherMember(node, subject, value, name, "unevaluated"),
    );
}

/** Checks a member that the schema does not name. */
function otherMember(node: Node, subject: Subject, value: JsonObject, name: string, what: string): Failure | null {
  return node === false
    ? failure(`must NOT have ${what} properties: ${quote(name)}`)
    : inMember(node, subject, value, name);
}

function propertyNames(given: JsonValue, { compile }: KeywordContext): Check {
  const node = compile(given);
  return (subject) =>
    firstMember(subject, (_value, name) => {
      const wrong = evaluate(node, name, subject, null);
      return wrong === null ? null : failure(`property name ${quote(name)} ${wrong.message}`);
    });
}

function prefixItems(given: JsonValue, { compile }: KeywordContext): Check {
  const nodes = (given as JsonArray).map(compile);
  return (subject) =>
    firstItem(subject, (item, index) => inItem(nodes[index] ?? true, subject, item, index), nodes.length);
}

function items(given: JsonValue, { schema, compile }: KeywordContext): Check {
  const node = compile(given);
  const prefix = member(schema, "prefixItems");
  const first = isJsonArray(prefix) ? prefix.length : 0;
  return (subject) => {
    if (node === false) return itemsAfter(subject, first);
    return firstItem(subject, (item, index) => index < first ? null : inItem(node, subject, item, index));
  };
}

function itemsAfter({ value }: Subject, first: number): Failure | null {
  return isJsonArray(value) && value.length > first ? failure(`must NOT have more than ${first} items`) : null;
}

function contains(given: JsonValue, { schema, compile }: KeywordContext): Check {
  const node = compile(given);
  const least = (member(schema, "minContains") ?? 1) as number;
  const most = (member(schema, "maxContains") ?? Infinity) as number;
  return (subject) => {
    const { value, evaluated } = subject;
    if (!isJsonArray(value)) return null;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (evaluate(node, item, subject, null) !== null) continue;
      found++;
      evaluated?.items.add(index);
    }
    if (found < least) return failure(`must contain at least ${least} valid item(s), has ${found}`);
    return found > most ? failure(`must contain no more than ${most} valid item(s), has ${found}`) : null;
  };
}

function unevaluatedItems(given: JsonValue, { compile }: KeywordContext): Check {
  const node = compile(given);
  return (subject) =>
    firstItem(subject, (item, index) => {
      if (subject.evaluated?.items.has(index)) return null;
      return node === false ? failure(`must NOT have unevaluated items: ${index}`) : inItem(node, subject, item, index);
    });
}

/** Evaluates the same value against another schema. */
export function inPlace(node: Node, subject: Subject): Failure | null {
  return evaluate(node, subject.value, subject, subject.evaluated);
}

function inMember(node: Node, subject: Subject, value: JsonObject, name: string): Failure | null {
  const wrong = evaluate(node, value[name] ?? null, subject, null);
  if (wrong !== null) return failureAt(name, wrong);
  subject.evaluated?.names.add(name);
  return null;
}

function inItem(node: Node, subject: Subject, item: JsonValue, index: number): Failure | null {
  const wrong = evaluate(node, item, subject, null);
  if (wrong !== null) return failureAt(index, wrong);
  subject.evaluated?.items.add(index);
  return null;
}

function firstMember(subject: Subject, check: (value: JsonObject, name: string) => Failure | null): Failure | null {
  const { value } = subject;
  return isJsonObject(value) ? firstOf(subject, namesOf(value, subject.spend), (name) => check(value, name)) : null;
}

function firstItem(
  { value }: Subject,
  check: (item: JsonValue, index: number) => Failure | null,
  count = Infinity,
): Failure | null {
  if (!isJsonArray(value)) return null;
  for (const [index, item] of value.entries()) {
    if (index >= count) return null;
    const wrong = check(item, index);
    if (wrong !== null) return wrong;
  }
  return null;
}

function firstOf<T>(
  { spend }: Subject,
  entries: readonly T[],
  check: (entry: T) => Failure | null,
): Failure | null {
  for (const entry of entries) {
    spend(1);
    const wrong = check(entry);
    if (wrong !== null) return wrong;
  }
  return null;
}
