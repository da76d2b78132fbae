/**
 * Reads the parameters and the body of an operation: which members of a check's params they become, and their schemas.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { below, type JsonPath } from "../../../canonical/path.ts";
import { utf8Length } from "../../../canonical/utf8.ts";
import { isReservedHeader } from "../../../config/request_headers.ts";
import { type CandidateReasonCode, shortDescription } from "../import_result.ts";
import type { HttpOperation, OperationParameter } from "../runtime_profile.ts";
import { PARAMETER_STYLES, PROFILE_LIMITS, PROFILE_PATTERNS } from "../runtime_profile.ts";
import { CandidateFault, faultAt, type Found, type OpenApiDocument, pointerAt, readReferable } from "./document.ts";
import { jsonMediaType } from "./media_types.ts";
import { convertSchema, finishSchema, type SchemaConverter, targetOf } from "./schema.ts";
import { type SchemaFacts, type SchemaType, typesOf } from "./schema_facts.ts";

/** How the params of a check become a request, and their schema. */
export interface RequestParts {
  readonly parameters: readonly OperationParameter[];
  readonly body: HttpOperation["body"];
  readonly params_schema: JsonValue;
  readonly params_required: boolean;
}

/** What the reading of an operation's request needs. */
export interface RequestContext {
  readonly document: OpenApiDocument;
  readonly converter: SchemaConverter;
  readonly facts: SchemaFacts;
  /** Parameters that were read, by their object in the document: many operations refer to the same ones. */
  readonly known: Map<JsonObject, KnownParameter>;
  /** Whether the operation was selected by name: optional parameters that cannot be set are then left out. */
  readonly isSelected: boolean;
}

/** The part of a parameter that is the same for every operation. */
interface KnownParameter extends Pick<OperationParameter, "style" | "explode"> {
  readonly path: JsonPath;
  readonly schema: JsonValue;
}

/** The place of an operation in the document. */
export interface OperationPlace {
  readonly method: string;
  readonly template: string;
  readonly pathItem: { readonly value: JsonObject; readonly path: JsonPath };
  readonly operation: { readonly value: JsonObject; readonly path: JsonPath };
}

/** One parameter as the document gives it. */
interface Given {
  readonly value: JsonObject;
  readonly path: JsonPath;
  readonly name: string;
  readonly location: string;
  readonly isRequired: boolean;
}

/** A parameter, or the body, as a member of the params. */
interface Member {
  readonly param: string;
  readonly schema: JsonValue;
  readonly isRequired: boolean;
}

/** Headers that the specification says to ignore as parameters. */
const IGNORED_HEADERS = ["accept", "authorization", "content-type"];
const SCALARS: readonly SchemaType[] = ["string", "number", "integer", "boolean"];
const SCALAR_TYPES = ["string", "number", "boolean"];
const SCALAR_SCHEMA: JsonObject = { type: SCALAR_TYPES };

/**
 * Reads the request of an operation.
 *
 * @throws {CandidateFault} Where the request cannot be made from the params of a check
 */
export function readRequest(context: RequestContext, place: OperationPlace): RequestParts {
  const given = givenParameters(context, place);
  const placeholders = placeholdersOf(place);
  for (const name of placeholders) {
    const parameter = given.find((one) => one.location === "path" && one.name === name);
    if (parameter === undefined) throw faultAt("parameter_missing", place.operation.path, name);
  }
  const parameters: OperationParameter[] = [];
  const members: Member[] = [];
  for (const one of given) {
    if (one.location === "path" && !placeholders.includes(one.name)) {
      context.document.warnings.warn("parameter_ignored", pointerAt(one.path), `The path has no "{${one.name}}"`);
      continue;
    }
    const read = readOrLeaveOut(context, one, members);
    if (read === null) continue;
    parameters.push(read.parameter);
    members.push(read.member);
  }
  if (parameters.length > PROFILE_LIMITS.parameters) {
    throw faultAt(
      "parameter_count",
      place.operation.path,
      `${parameters.length}; the most are ${PROFILE_LIMITS.parameters}`,
    );
  }
  const body = readBody(context, place, members);
  if (body !== null) members.push(body.member);
  const required = members.filter(({ isRequired }) => isRequired).map(({ param }) => param);
  return {
    parameters,
    body: body === null ? null : { param: body.member.param, content_type: "application/json" },
    params_schema: objectSchema(context, members, required, place.operation.path),
    params_required: required.length > 0,
  };
}

function placeholdersOf({ template }: OperationPlace): readonly string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
}

/** The parameters of the path and of the operation; the operation's replace those of the path. */
function givenParameters(context: RequestContext, { pathItem, operation }: OperationPlace): readonly Given[] {
  const found = new Map<string, Given>();
  for (const { value, path } of [pathItem, operation]) {
    const list = member(value, "parameters") ?? [];
    if (!isJsonArray(list)) throw faultAt("parameter_invalid", below(path, "parameters"), "Expected an array");
    for (const [index, item] of list.entries()) {
      const given = givenParameter(context.document, { value: item, path: below(below(path, "parameters"), index) });
      if (given !== null) found.set(`${given.location} ${given.name}`, given);
    }
  }
  return [...found.values()];
}

/** Null for a header that the specification says to ignore. */
function givenParameter(document: OpenApiDocument, item: Found): Given | null {
  const found = readReferable(document, item);
  const name = found === null ? undefined : member(found.value, "name");
  const location = found === null ? undefined : member(found.value, "in");
  if (found === null || typeof name !== "string" || typeof location !== "string") {
    throw faultAt("parameter_invalid", item.path, 'Expected "name" and "in"');
  }
  const { value, path } = found;
  if (location === "header" && IGNORED_HEADERS.includes(name.toLowerCase())) {
    document.warnings.warn(
      "parameter_ignored",
      pointerAt(path),
      `OpenAPI says to ignore the header parameter "${name}"`,
    );
    return null;
  }
  // A path without its value is another path.
  const isRequired = location === "path" || member(value, "required") === true;
  return { value, path, name, location, isRequired };
}

interface ReadParameter {
  readonly parameter: OperationParameter;
  readonly member: Member;
}

function readOrLeaveOut(context: RequestContext, given: Given, members: readonly Member[]): ReadParameter | null {
  try {
    return readParameter(context, given, members);
  } catch (error) {
    if (!(error instanceof CandidateFault) || given.isRequired || !context.isSelected) throw error;
    const message = `The optional parameter "${given.name}" was left out: ${error.reason.message}`;
    context.document.warnings.warn("parameter_left_out", error.reason.pointer, message);
    return null;
  }
}

function readParameter(context: RequestContext, given: Given, members: readonly Member[]): ReadParameter {
  const { value, path, name, location, isRequired } = given;
  if (location !== "path" && location !== "query" && location !== "header") {
    throw faultAt("parameter_location", path, `"${name}" in ${location}`);
  }
  const fault = (code: CandidateReasonCode): CandidateFault => faultAt(code, path, name);
  const isUsableName = utf8Length(name) <= PROFILE_LIMITS.nameCharacters && name.length > 0;
  if (!isUsableName) throw fault("parameter_invalid");
  if (location === "header") {
    if (!new RegExp(PROFILE_PATTERNS.headerName).test(name)) throw fault("parameter_invalid");
    if (isReservedHeader(name)) throw fault("parameter_reserved");
  }
  if (Object.hasOwn(value, "content")) throw fault("parameter_content");
  if (member(value, "allowReserved") === true) {
    context.document.warnings.warn("parameter_encoded", pointerAt(path), `"${name}" is sent percent-encoded`);
  }
  const { schema, style, explode } = readOnce(context, given);
  const param = paramName(location, name, members);
  const parameter: OperationParameter = { name, in: location, param, style, explode };
  return { parameter, member: { param, schema, isRequired } };
}

/** Reads schema and style of a parameter. An object of YAML may stand in several places, which reasons then tell apart. */
function readOnce(context: RequestContext, given: Given): KnownParameter {
  const { value, path } = given;
  const known = context.known.get(value);
  if (known?.path === path) return known;
  const { schema, shapes } = readSchema(context, given);
  const description = shortDescription(member(value, "description"), "").slice(0, DESCRIPTION_CHARACTERS);
  const described = withDescription(schema, description.toWellFormed());
  const read = { path, schema: described, ...readStyle(given, shapes) };
  context.known.set(value, read);
  return read;
}

/** Characters of the description of one parameter. */
const DESCRIPTION_CHARACTERS = 300;

function withDescription(schema: JsonValue, description: string): JsonValue {
  if (description === "" || schema === false) return schema;
  return isJsonObject(schema) ? { ...schema, description } : { description };
}

/** The name of the parameter, with its location before it where another parameter has the same name. */
function paramName(location: string, name: string, members: readonly Member[]): string {
  let param = name;
  while (members.some((one) => one.param === param)) {
    param = `${location}_${param}`.slice(-PROFILE_LIMITS.nameCharacters);
  }
  return param;
}

/** The kinds of values that a parameter takes. */
interface Shapes {
  readonly scalar: boolean;
  readonly array: boolean;
  readonly object: boolean;
}

/** The schema of a parameter, limited to values that a URL or a header can carry. */
function readSchema(context: RequestContext, given: Given): { readonly schema: JsonValue; readonly shapes: Shapes } {
  const { converter, facts } = context;
  const { value, path, location } = given;
  const schema = convertSchema(converter, { value: member(value, "schema") ?? true, path: below(path, "schema") });
  const types = typesOf(facts, schema);
  const shapes: Shapes = {
    scalar: types === null || SCALARS.some((type) => types.has(type)),
    array: types?.has("array") ?? false,
    object: types?.has("object") ?? false,
  };
  if (!shapes.scalar && !shapes.array && !shapes.object) throw faultAt("parameter_schema", path);
  if (!hasFlatParts(context, schema, shapes)) throw faultAt("parameter_schema", path);
  const isPlain = types !== null && !types.has("null") && !shapes.array && !shapes.object;
  const limited = isPlain ? schema : { allOf: [schema], ...limitsOf(shapes) };
  return { schema: location === "path" ? nonEmpty(limited, types) : limited, shapes };
}

/** The values that can be written into a request: no null, and no container inside another one. */
function limitsOf({ scalar, array, object }: Shapes): JsonObject {
  const type = [...scalar ? SCALAR_TYPES : [], ...array ? ["array"] : [], ...object ? ["object"] : []];
  return {
    type: type.length === 1 ? type[0] as string : type,
    ...array ? { items: SCALAR_SCHEMA } : {},
    ...object ? { additionalProperties: SCALAR_SCHEMA } : {},
  };
}

/** Whether some list of scalars, or flat object, fits the schema where it takes lists or objects. */
function hasFlatParts({ converter, facts }: RequestContext, schema: JsonValue, shapes: Shapes): boolean {
  const target = targetOf(converter, schema);
  if (!isJsonObject(target) || shapes.scalar) return true;
  const isFlat = (part: JsonValue | undefined): boolean => {
    if (part === undefined) return true;
    const types = typesOf(facts, part);
    return types === null || SCALARS.some((type) => types.has(type));
  };
  const properties = member(target, "properties");
  const members = isJsonObject(properties) ? Object.values(properties) : [];
  return (!shapes.array || isFlat(member(target, "items"))) && (!shapes.object || members.every(isFlat));
}

/** A path segment without text would be another path. */
function nonEmpty(schema: JsonValue, types: ReadonlySet<SchemaType> | null): JsonValue {
  if (!isJsonObject(schema) || (types !== null && !types.has("string"))) return schema;
  const least = member(schema, "minLength");
  return typeof least === "number" && least > 0 ? schema : { ...schema, minLength: 1 };
}

function readStyle(given: Given, shapes: Shapes): Pick<OperationParameter, "style" | "explode"> {
  const { value, path, name, location } = given;
  const allowed = PARAMETER_STYLES[location as keyof typeof PARAMETER_STYLES] as readonly string[];
  const style = member(value, "style") ?? allowed[0] as string;
  const fault = (): CandidateFault =>
    faultAt("parameter_style", path, `"${name}" has the style ${JSON.stringify(style)}`);
  if (typeof style !== "string" || !allowed.includes(style)) throw fault();
  const isDelimited = style === "spaceDelimited" || style === "pipeDelimited";
  const explode = member(value, "explode") ?? style === "form";
  if (typeof explode !== "boolean" || (isDelimited && (shapes.object || !shapes.array))) throw fault();
  // Exploded, the delimited styles are the style form.
  if (isDelimited && explode) return { style: "form", explode };
  return { style: style as OperationParameter["style"], explode };
}

function readBody(
  context: RequestContext,
  { method, operation }: OperationPlace,
  members: readonly Member[],
): { readonly member: Member } | null {
  const given = member(operation.value, "requestBody");
  if (given === undefined || method === "GET") return null;
  const path = below(operation.path, "requestBody");
  const body = readReferable(context.document, { value: given, path });
  if (body === null) throw faultAt("body_unsupported", path);
  const isRequired = member(body.value, "required") === true;
  const content = member(body.value, "content");
  const media = isJsonObject(content) ? jsonMediaType(content, below(body.path, "content")) : null;
  if (media?.schema === undefined || media.type !== "application/json") {
    if (isRequired) throw faultAt("body_unsupported", path);
    return null;
  }
  const schema = convertSchema(context.converter, media.schema);
  return { member: { param: paramName("request", "body", members), schema, isRequired } };
}

/** The schema of the params: a closed object. */
function objectSchema(
  { converter }: RequestContext,
  members: readonly Member[],
  required: readonly string[],
  path: JsonPath,
): JsonValue {
  const properties = Object.fromEntries(members.map(({ param, schema }) => [param, schema]));
  const schema = { type: "object", additionalProperties: false, properties, required };
  return finishSchema(converter, schema, path);
}
