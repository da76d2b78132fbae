/**
 * Values that are given on the command line by name, as `--arg NAME=VALUE`.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { CliError } from "./cli_error.ts";

const NUMBER = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*$/;

/**
 * `NAME=VALUE` pairs as members; a value that is no JSON is a text. One that is JSON and cannot be kept, such as an integer
 * beyond 2^53, is refused: as a text it would be another value.
 *
 * @param flag The flag that they are given with, for messages
 * @throws {CliError} `usage` for a pair that is none, for a value that cannot be kept, and for a name that is given twice
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { namedValues } from "@/cli/terminal/named_values.ts";
 *
 * assert.deepEqual(namedValues("--arg", ["run_id=7f", "limit=3"]), { run_id: "7f", limit: 3 });
 * ```
 */
export function namedValues(flag: string, pairs: readonly string[]): JsonObject {
  const members = new Map<string, JsonValue>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new CliError("usage", `Cannot read ${flag} "${pair}": expected NAME=VALUE`);
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const parsed = parseJson(value);
    // Hex digits may begin as a number does, even as one that cannot be kept.
    const isText = /^-?[0-9]/.test(value) && !NUMBER.test(value);
    if (!parsed.ok && parsed.fault.code !== "syntax" && !isText) {
      throw new CliError(
        "usage",
        `Cannot read ${flag} "${pair}": ${parsed.fault.message}`,
        `${flag} '${name}="..."' sends a text`,
      );
    }
    if (members.has(name)) throw new CliError("usage", `Cannot take ${flag} "${pair}": "${name}" is given twice`);
    members.set(name, parsed.ok ? parsed.value : value);
  }
  return Object.fromEntries(members);
}
