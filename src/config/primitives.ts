/** The kinds of value that the sections of the configuration share. */

import { isJsonObject, type JsonObject } from "../canonical/json.ts";
import { below } from "../canonical/path.ts";
import { annotated, listOf, type Reader, reject, shape, text } from "../canonical/shape.ts";
import { characters, checked, patterned, withDefault } from "../canonical/table_shape.ts";

/** The start of a URL without encryption. */
export const INSECURE_URL = "^[Hh][Tt][Tt][Pp]:";

/** Characters of a path and of one component. */
const MAXIMUM_PATH_LENGTH = 4096;
const MAXIMUM_COMPONENT_LENGTH = 255;

const COMPONENTS = `^[^/\\\\]{0,${MAXIMUM_COMPONENT_LENGTH}}(?:[/\\\\][^/\\\\]{0,${MAXIMUM_COMPONENT_LENGTH}})*$`;

/** The part of the URL rules that a pattern can express: no white space or control characters, a host, no user information. */
const URL_PATTERN = "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\@\\s\\p{Cc}]+(?:[/?#][^\\s\\p{Cc}]*)?$";

/** A string with at least one character other than white space. */
export function filled(maximum?: number): Reader<string> {
  return patterned(characters(1, maximum), /\S/, "must not be blank");
}

/** A string that is not blank and neither begins nor ends with white space. */
export function name(): Reader<string> {
  return patterned(filled(), /^\S(?:[\s\S]*\S)?$/u, "must not begin or end with white space");
}

/** A list of strings, empty by default. */
export function strings(item: Reader<string>, description: string): Reader<readonly string[]> {
  return withDefault(listOf(item), [], description);
}

/** The path of a file or folder. */
export function path(): Reader<string> {
  const problem = (value: string): string | null => {
    if (value.includes("\0")) return "must not hold a zero character";
    if (value.split(/[/\\]/).every((part) => part.length <= MAXIMUM_COMPONENT_LENGTH)) return null;
    return `must not have a component of more than ${MAXIMUM_COMPONENT_LENGTH} characters`;
  };
  return annotated(checked(filled(MAXIMUM_PATH_LENGTH), problem), {
    allOf: [{ pattern: "\\S" }, { pattern: "^[^\\0]*$" }, { pattern: COMPONENTS }],
  });
}

/** What JSON Schema can say of an {@link httpUrl}. */
export const HTTP_URL: JsonObject = { allOf: [{ pattern: URL_PATTERN }] };

/** An absolute http or https URL without white space and without user information. */
export function httpUrl(): Reader<string> {
  return annotated(checked(characters(1), urlProblem), HTTP_URL);
}

/** A secret for a header: no white space and no control characters. */
export function token(maximum?: number): Reader<string> {
  return patterned(characters(1, maximum), /^[^\s\p{Cc}]*$/u, "must not hold white space or control characters");
}

/** A table of strings under any names, `__proto__` included; the result has no prototype. `more` is for its JSON Schema. */
export function stringMap(more: JsonObject = {}): Reader<Readonly<Record<string, string>>> {
  return shape((faults, value, path) => {
    if (!isJsonObject(value)) return reject(faults, { kind: "object", required: [], value }, path);
    const copy: Record<string, string> = Object.create(null);
    let isWhole = true;
    for (const [key, item] of Object.entries(value)) {
      const read = text(faults, item, below(path, key));
      if (read === undefined) isWhole = false;
      else copy[key] = read;
    }
    return isWhole ? copy : undefined;
  }, () => ({ type: "object", additionalProperties: { type: "string" }, ...more }));
}

/** A member with a default that its JSON Schema does not name. */
export function withUnstatedDefault<T>(read: Reader<T>, value: NoInfer<T>, description: string): Reader<T> {
  return shape(withDefault(read, value), ({ of }) => ({ description, ...of(read) as JsonObject }));
}

/** The problem of a URL, or null. The message never repeats the URL, which may contain a secret. */
function urlProblem(value: string): string | null {
  if (/[\s\p{Cc}]/u.test(value)) return "must not hold white space or control characters";
  // The URL standard reads a backslash as a slash, so a reader could mistake another host for the host of the URL.
  const authority = /^https?:\/\/([^/?#\\]+)(?:[/?#]|$)/i.exec(value)?.[1];
  if (authority === undefined || !URL.canParse(value)) return "must be an http:// or https:// URL with a host";
  return authority.includes("@") ? "must not hold a user name or password" : null;
}
