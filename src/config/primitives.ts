/**
 * The kinds of value that the sections of the configuration share.
 *
 * @module
 */

import * as z from "./schema_builder.ts";
import { isTable } from "./toml_tree.ts";

/** The start of a URL without encryption. */
export const INSECURE_URL = "^[Hh][Tt][Tt][Pp]:";

/** Characters of a path and of one component. */
const MAXIMUM_PATH_LENGTH = 4096;
const MAXIMUM_COMPONENT_LENGTH = 255;

const COMPONENTS = `^[^/\\\\]{0,${MAXIMUM_COMPONENT_LENGTH}}(?:[/\\\\][^/\\\\]{0,${MAXIMUM_COMPONENT_LENGTH}})*$`;

/** The part of the URL rules that a pattern can express: no white space or control characters, a host, no user information. */
const URL_PATTERN = "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\@\\s\\p{Cc}]+(?:[/?#][^\\s\\p{Cc}]*)?$";

/** An integer of at least `minimum` and at most `maximum`. */
export function integer(minimum: number, maximum = Number.MAX_SAFE_INTEGER): z.Schema<number> {
  return z.int().min(minimum).max(maximum);
}

/** A string with at least one character other than white space. */
export function text(): z.Schema<string> {
  return z.string().min(1).regex(/\S/, "must not be blank");
}

/** A string that is not blank and neither begins nor ends with white space. */
export function name(): z.Schema<string> {
  return text().regex(/^\S(?:[\s\S]*\S)?$/u, "must not begin or end with white space");
}

/** A list of strings, empty by default. */
export function strings(item: z.Schema<string>): z.Schema<string[]> {
  return z.array(item).default([]);
}

/** The path of a file or folder. */
export function path(): z.Schema<string> {
  return text()
    .max(MAXIMUM_PATH_LENGTH)
    .refine((value) => !value.includes("\0"), "must not hold a zero character")
    .refine(
      (value) => value.split(/[/\\]/).every((part) => part.length <= MAXIMUM_COMPONENT_LENGTH),
      `must not have a component of more than ${MAXIMUM_COMPONENT_LENGTH} characters`,
    )
    .meta({ allOf: [{ pattern: "\\S" }, { pattern: "^[^\\0]*$" }, { pattern: COMPONENTS }] });
}

/** An absolute http or https URL without white space and without user information. */
export function httpUrl(): z.Schema<string> {
  return z.string().min(1).check(urlProblem).meta({ allOf: [{ pattern: URL_PATTERN }] });
}

/** A secret for a header: no white space and no control characters. */
export function token(): z.Schema<string> {
  return z.string().min(1).regex(/^[^\s\p{Cc}]*$/u, "must not hold white space or control characters");
}

/** A table of strings under any names, `__proto__` included; the result has no prototype. */
export function stringMap(): z.Schema<Record<string, string>> {
  return z.transformed((value, issues): Record<string, string> => {
    const copy: Record<string, string> = Object.create(null);
    if (!isTable(value)) issues.push({ code: "invalid_type", expected: "object", path: [] });
    for (const [key, item] of Object.entries(isTable(value) ? value : {})) {
      if (typeof item === "string") copy[key] = item;
      else issues.push({ code: "invalid_type", expected: "string", path: [key] });
    }
    return copy;
  }).meta({ type: "object", additionalProperties: { type: "string" } });
}

/** The problem of a URL, or null. The message never repeats the URL, which may contain a secret. */
function urlProblem(value: string): string | null {
  if (value === "") return null;
  if (/[\s\p{Cc}]/u.test(value)) return "must not hold white space or control characters";
  // The URL standard reads a backslash as a slash, so a reader could mistake another host for the host of the URL.
  const authority = /^https?:\/\/([^/?#\\]+)(?:[/?#]|$)/i.exec(value)?.[1];
  if (authority === undefined || !URL.canParse(value)) return "must be an http:// or https:// URL with a host";
  return authority.includes("@") ? "must not hold a user name or password" : null;
}
