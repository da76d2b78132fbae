/**
 * Compiles the JSON Schemas (2020-12, complete) that users register to validators.
 *
 * As the specification requires, `format`, the content keywords and unknown keywords are annotations. A reference out
 * of the document is refused, never fetched, except to the metaschema of the dialect.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import { compileSearch, type Search, type Spend } from "../regular_expression/search.ts";
import { type Applicator, APPLICATORS, inPlace, LAST_APPLICATORS } from "./applicators.ts";
import { type Assertion, ASSERTIONS } from "./assertions.ts";
import {
  atPointer,
  DIALECT,
  explain,
  isSchema,
  METASCHEMA,
  type Path,
  readDocument,
  type ResolvedReference,
  resolveReference,
  type Resource,
  type Schema,
  type SchemaDocument,
  SchemaRefusal,
} from "./document.ts";
import { type Check, evaluate, failure, type Node } from "./evaluation.ts";

/**
 * A compiled schema. Returns null for a valid value, otherwise path and reason. `spend` may throw to end an evaluation.
 * A JSON Pointer selects a schema within the document, which is evaluated as through a reference from the root. A
 * pointer to a schema that the root does not refer to throws `ReferenceError`.
 */
export type Validator = (value: JsonValue, spend?: Spend, pointer?: string) => string | null;

/** A compiled schema, or the reason for its refusal. */
export type Compilation =
  | {
    readonly validator: Validator;
    /** Approximate bytes of memory, without the document. */
    readonly size: number;
  }
  | { readonly refusal: string };

const UNCOUNTED: Spend = () => undefined;

interface Compiler {
  readonly document: SchemaDocument;
  /** Nodes that are compiled or wait for it, because schemas can refer to themselves. */
  readonly nodes: Map<JsonObject, Node>;
  readonly waiting: Waiting[];
  readonly search: (pattern: string) => Search;
  /** The schemas with a dynamic anchor of a name, by their resource. */
  readonly anchored: Map<string, ReadonlyMap<Resource, Node>>;
  readonly spend: Spend;
}

/** A schema whose keywords are not compiled yet. */
interface Waiting {
  readonly schema: JsonObject;
  readonly path: Path;
  readonly resource: Resource;
  readonly checks: Check[];
}

/**
 * Compiles a schema.
 *
 * @param schema The JSON Schema document, an object or a boolean
 * @param spend Counts the steps of compiling
 */
export function compileSchema(schema: JsonValue, spend: Spend = UNCOUNTED): Compilation {
  if (!isSchema(schema)) return { refusal: "$: expected an object or a boolean" };
  try {
    const document = readDocument(schema, spend);
    const fault = validateSchema(schema, spend);
    if (fault !== null) return { refusal: fault };
    return compileDocument(document, schema, spend);
  } catch (error) {
    if (error instanceof SchemaRefusal) return { refusal: error.message };
    throw error;
  }
}

let metaschema: Validator | null = null;

/** Validates a schema against the metaschema. */
function validateSchema(schema: Schema, spend: Spend): string | null {
  metaschema ??= compileDocument(METASCHEMA, METASCHEMA.resources.get(DIALECT)?.root ?? false, UNCOUNTED).validator;
  return metaschema(schema, spend);
}

/** Bytes of memory for a compiled schema, and for a step of compiling a pattern. Measured on schemas that take much. */
const NODE_BYTES = 300;
const PATTERN_STEP_BYTES = 250;

function compileDocument(
  document: SchemaDocument,
  root: Schema,
  compiling: Spend,
): { readonly validator: Validator; readonly size: number } {
  const patterns = { left: PATTERN_STEPS };
  const compiler: Compiler = {
    document,
    nodes: new Map(),
    waiting: [],
    search: createSearchCompiler(patterns, compiling),
    anchored: new Map(),
    spend: compiling,
  };
  const node = compile(compiler, root);
  for (let next = compiler.waiting.pop(); next !== undefined; next = compiler.waiting.pop()) fill(compiler, next);
  const size = NODE_BYTES * compiler.nodes.size + PATTERN_STEP_BYTES * (PATTERN_STEPS - patterns.left);
  const resource = isJsonObject(root) ? document.places.get(root)?.resource : undefined;
  return { validator: validatorOf(compiler.nodes, root, node, resource), size };
}

/** A function of its own, so that the validator's closure does not retain the compiler. */
function validatorOf(nodes: Compiler["nodes"], root: Schema, node: Node, resource: Resource | undefined): Validator {
  const scope = resource === undefined ? null : { resource, outer: null };
  return (value, spend = UNCOUNTED, pointer = "") => {
    const from = pointer === "" ? node : nodeAt(nodes, root, pointer);
    const wrong = evaluate(from, value, { scope, spend }, null);
    return wrong === null ? null : explain(wrong.steps.toReversed(), wrong.message);
  };
}

/** The compiled schema at a pointer. */
function nodeAt(nodes: Compiler["nodes"], root: Schema, pointer: string): Node {
  const schema = atPointer(root, pointer);
  const node = isJsonObject(schema) ? nodes.get(schema) : schema;
  if (node === undefined) throw new ReferenceError(`the document has no compiled schema at ${quote(pointer)}`);
  return node;
}

/** Steps for compiling the patterns of one schema, which stay in memory; a short pattern can have many repeats. */
const PATTERN_STEPS = 120_000;

/** Compiles each distinct pattern of a schema once. */
function createSearchCompiler(patterns: { left: number }, spend: Spend): (pattern: string) => Search {
  const compiled = new Map<string, Search>();
  return (pattern) => {
    const known = compiled.get(pattern);
    if (known !== undefined) return known;
    const search = compileSearch(pattern, (steps) => {
      spend(steps);
      if ((patterns.left -= steps) < 0) throw new SyntaxError("the patterns of the schema are too large together");
    });
    compiled.set(pattern, search);
    return search;
  };
}

/** The node of a schema. Its keywords are compiled later, so that a long chain of references does not overflow the stack. */
function compile({ document, nodes, waiting }: Compiler, schema: JsonValue): Node {
  if (!isJsonObject(schema)) return schema === true;
  const made = nodes.get(schema);
  if (made !== undefined) return made;
  const place = document.places.get(schema) ?? METASCHEMA.places.get(schema);
  if (place === undefined) return false;
  const isTracking = [...LAST_APPLICATORS.keys()].some((keyword) => Object.hasOwn(schema, keyword));
  const node = { resource: place.resource, checks: [], isTracking };
  nodes.set(schema, node);
  waiting.push({ schema, path: place.path, resource: place.resource, checks: node.checks });
  return node;
}

function fill(compiler: Compiler, { schema, path, resource, checks }: Waiting): void {
  const { search, spend } = compiler;
  spend(1);
  const context = { schema, compile: (inner: JsonValue) => compile(compiler, inner), search };
  for (const [keyword, make] of keywordsOf(compiler, resource)) {
    if (!Object.hasOwn(schema, keyword)) continue;
    spend(1);
    try {
      checks.push(make(schema[keyword] ?? null, context));
    } catch (error) {
      // An invalid pattern, or a reference that does not resolve.
      if (!(error instanceof SyntaxError || error instanceof ReferenceError)) throw error;
      throw new SchemaRefusal([...path, keyword], error.message);
    }
  }
}

/** Every keyword with its compiler; the `unevaluated` keywords come last. */
function* keywordsOf(compiler: Compiler, resource: Resource): Generator<readonly [keyword: string, make: Applicator]> {
  for (const [keyword, make] of ASSERTIONS) yield [keyword, (given, { search }) => checkOf(make(given, search))];
  yield ["$ref", (given) => reference(compiler, resource, given as string)];
  yield ["$dynamicRef", (given) => dynamicReference(compiler, resource, given as string)];
  yield* APPLICATORS;
  yield* LAST_APPLICATORS;
}

function checkOf(assertion: Assertion): Check {
  return ({ value, spend }) => {
    const message = assertion(value, spend);
    return message === null ? null : failure(message);
  };
}

function reference(compiler: Compiler, resource: Resource, given: string): Check {
  const node = compile(compiler, find(compiler, resource, given).schema);
  return (subject) => inPlace(node, subject);
}

/** 2020-12 Core, 8.2.3.2: a dynamic anchor resolves to the outermost resource of the dynamic scope that has it. */
function dynamicReference(compiler: Compiler, resource: Resource, given: string): Check {
  const found = find(compiler, resource, given);
  const node = compile(compiler, found.schema);
  const { anchor } = found;
  if (anchor === null || !found.resource.dynamicAnchors.has(anchor)) return (subject) => inPlace(node, subject);
  const nodes = anchoredBy(compiler, anchor);
  return (subject) => {
    let outermost = node;
    for (let scope = subject.scope; scope !== null; scope = scope.outer) {
      subject.spend(1);
      outermost = nodes.get(scope.resource) ?? outermost;
    }
    return inPlace(outermost, subject);
  };
}

function anchoredBy(compiler: Compiler, anchor: string): ReadonlyMap<Resource, Node> {
  const known = compiler.anchored.get(anchor);
  if (known !== undefined) return known;
  const nodes = new Map<Resource, Node>();
  for (const one of [...compiler.document.resources.values(), ...METASCHEMA.resources.values()]) {
    compiler.spend(1);
    const schema = one.dynamicAnchors.get(anchor);
    if (schema !== undefined) nodes.set(one, compile(compiler, schema));
  }
  compiler.anchored.set(anchor, nodes);
  return nodes;
}

function find({ document }: Compiler, resource: Resource, given: string): ResolvedReference {
  const found = resolveReference(document, resource, given);
  if (found === null) throw new ReferenceError(`cannot resolve reference ${quote(given)} to a schema of this document`);
  return found;
}
