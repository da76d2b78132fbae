import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { CliError } from "./cli_error.ts";

const NUMBER = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*$/;

/**
 * Splits `NAME=VALUE` pairs into texts by name.
 *
 * @param flag The flag of the pairs, for messages
 * @param declared Names that may contain `=`: the longest one that a pair begins with is its name
 * @throws {CliError} `usage` for an invalid pair and a repeated name
 */
export function namedTexts(
  flag: string,
  pairs: readonly string[],
  declared: readonly string[] = [],
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const pair of pairs) {
    const lengths = declared.filter((name) => pair.startsWith(`${name}=`)).map(({ length }) => length);
    const at = lengths.length > 0 ? Math.max(...lengths) : pair.indexOf("=");
    if (at < 1) throw new CliError("usage", `Cannot read ${flag} "${pair}": expected NAME=VALUE`);
    const name = pair.slice(0, at);
    if (texts.has(name)) throw new CliError("usage", `Cannot use ${flag} "${pair}": "${name}" is repeated`);
    texts.set(name, pair.slice(at + 1));
  }
  return texts;
}

/**
 * Parses `NAME=VALUE` pairs. A value that is not JSON is a string. JSON that loses precision, such as an integer beyond
 * 2^53, is rejected: as a string it would be a different value.
 *
 * @param flag The flag of the pairs, for messages
 * @throws {CliError} `usage` for an invalid pair, a value that loses precision, and a repeated name
 */
export function namedValues(flag: string, pairs: readonly string[]): JsonObject {
  const members = [...namedTexts(flag, pairs)].map(([name, value]): [string, JsonValue] => {
    const parsed = parseJson(value);
    // Hex digits, such as a run id, may begin like a number that loses precision.
    const isText = /^-?[0-9]/.test(value) && !NUMBER.test(value);
    if (!parsed.ok && parsed.fault.code !== "syntax" && !isText) {
      throw new CliError(
        "usage",
        `Cannot read ${flag} "${name}=${value}": ${parsed.fault.message}`,
        `${flag} '${name}="..."' sends a string`,
      );
    }
    return [name, parsed.ok ? parsed.value : value];
  });
  return Object.fromEntries(members);
}
