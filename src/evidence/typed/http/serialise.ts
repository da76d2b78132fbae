/**
 * Serialises a check's params into the parts of an HTTP request, by style and explode (OpenAPI 3, Parameter Object).
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { isHeaderValue } from "../../../config/request_headers.ts";
import type { ObservedError } from "../../../run/types.ts";
import { invalidParams } from "../../builtin/result.ts";
import type { HttpOperation, OperationParameter } from "../runtime_profile.ts";

/** The parts of a request that depend on params. */
export interface RequestParts {
  /** The path with each placeholder replaced. */
  readonly path: string;
  /** Without the question mark; empty where no parameter was given. */
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Canonical JSON. */
  readonly body: string | null;
}

/** A parameter's value: texts of a primitive, of items, or of members with their names. */
type Serialisable =
  | { readonly kind: "one"; readonly text: string }
  | { readonly kind: "list"; readonly texts: readonly string[] }
  | { readonly kind: "map"; readonly pairs: readonly (readonly [string, string])[] };

/** Serialises params; the observed error `params_invalid` where a value has no form in its place. */
export function serialiseParams(
  operation: HttpOperation,
  params: JsonObject,
): RequestParts | { readonly error: ObservedError } {
  const unknown = unknownParam(operation, params);
  if (unknown !== null) return invalidParams(unknown, "only params that the operation has");
  let path = operation.path_template;
  const query: string[] = [];
  const headers: (readonly [string, string])[] = [];
  for (const parameter of operation.parameters) {
    const value = member(params, parameter.param);
    if (value === undefined) {
      if (parameter.in === "path") return invalidParams(parameter.param, `"${parameter.param}"`);
      continue;
    }
    const given = serialisable(value);
    if (given === null) return invalidParams(parameter.param, "a primitive, or a list or map of primitives");
    if (parameter.in === "query") query.push(...queryParts(parameter, given));
    else if (parameter.in === "header") {
      const text = joined(given, ",", parameter.explode ? "=" : ",", (one) => one);
      if (!isHeaderValue(text)) return invalidParams(parameter.param, "printable ASCII");
      headers.push([parameter.name, text]);
    } else {
      const text = pathPart(parameter, given);
      if (text === "") return invalidParams(parameter.param, `a "${parameter.param}" that is not empty`);
      // A function, because the text may contain replacement patterns.
      path = path.replace(`{${parameter.name}}`, () => text);
    }
  }
  // A template may write a dot as "%2e", and URL parsers accept that as a dot.
  const climbing = path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (climbing) {
    const first = operation.parameters.find((parameter) => parameter.in === "path");
    return invalidParams(first?.param ?? "", 'no path segment "." or ".."');
  }
  return { path, query: query.join("&"), headers, body: bodyOf(operation, params) };
}

function unknownParam({ parameters, body }: HttpOperation, params: JsonObject): string | null {
  const known = [...parameters.map(({ param }) => param), ...body === null ? [] : [body.param]];
  return Object.keys(params).find((name) => !known.includes(name)) ?? null;
}

function bodyOf({ body }: HttpOperation, params: JsonObject): string | null {
  const value = body === null ? undefined : member(params, body.param);
  return value === undefined ? null : canonicalize(value);
}

function serialisable(value: JsonValue): Serialisable | null {
  const text = primitiveText(value);
  if (text !== null) return { kind: "one", text };
  if (isJsonArray(value)) {
    const texts = value.map(primitiveText);
    return texts.includes(null) ? null : { kind: "list", texts: texts as string[] };
  }
  if (!isJsonObject(value)) return null;
  const pairs = Object.entries(value).map(([name, item]) => [name, primitiveText(item)] as const);
  return pairs.some(([, item]) => item === null)
    ? null
    : { kind: "map", pairs: pairs as (readonly [string, string])[] };
}

/** The text of a string, number or boolean; null for any other value. */
function primitiveText(value: JsonValue): string | null {
  if (typeof value === "string") return value.isWellFormed() ? value : null;
  return typeof value === "number" || typeof value === "boolean" ? canonicalize(value) : null;
}

/** Percent-encodes everything except unreserved characters (RFC 3986, 2.3). */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The texts joined: `between` separates items, `within` a name from its value. */
function joined(given: Serialisable, between: string, within: string, code: (text: string) => string): string {
  switch (given.kind) {
    case "one":
      return code(given.text);
    case "list":
      return given.texts.map(code).join(between);
    case "map":
      return given.pairs.map(([name, text]) => `${code(name)}${within}${code(text)}`).join(between);
  }
}

function pathPart({ name, style, explode }: OperationParameter, given: Serialisable): string {
  const within = explode ? "=" : ",";
  if (style === "label") {
    const text = joined(given, explode ? "." : ",", within, encode);
    return `.${text}`;
  }
  if (style !== "matrix") return joined(given, ",", within, encode);
  if (!explode || given.kind === "one") {
    const text = joined(given, ",", ",", encode);
    return text === "" ? `;${encode(name)}` : `;${encode(name)}=${text}`;
  }
  if (given.kind === "list") return given.texts.map((text) => `;${encode(name)}=${encode(text)}`).join("");
  return given.pairs.map(([key, text]) => `;${encode(key)}=${encode(text)}`).join("");
}

/** The separator of each style of a query parameter without explode, percent-encoded where a URL needs it. */
const SEPARATORS: Readonly<Record<string, string>> = { form: ",", spaceDelimited: "%20", pipeDelimited: "%7C" };

function queryParts({ name, style, explode }: OperationParameter, given: Serialisable): readonly string[] {
  if (explode && given.kind === "list") return given.texts.map((text) => `${encode(name)}=${encode(text)}`);
  if (explode && given.kind === "map") return given.pairs.map(([key, text]) => `${encode(key)}=${encode(text)}`);
  const separator = SEPARATORS[style] ?? ",";
  return [`${encode(name)}=${joined(given, separator, separator, encode)}`];
}
