/** Reads a value from the text of a command line or a form, by the domain that it must lie in. */

import type { JsonValue } from "../../canonical/json.ts";
import { checkInDomain } from "./typed_value.ts";
import type { ObservationDomain, TypedValue, ValueType } from "./types.ts";

/** No integer within ±(2^53-1) has more digits. */
const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/;

/**
 * The value of a text in a domain; null where it has none. Texts of a `String` domain are taken as they are, without
 * quotes. A `Json` domain has no values of texts.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { valueOfText } from "@/law/value/value_of_text.ts";
 *
 * assert.deepEqual(valueOfText("7", { domain: "Integer" }), { value: 7, value_type: "Integer" });
 * const domain = { domain: "String", minimum_bytes: 0, maximum_bytes: 9 } as const;
 * assert.deepEqual(valueOfText("7", domain), { value: "7", value_type: "String" });
 * assert.equal(valueOfText("yes", { domain: "Boolean" }), null);
 * ```
 */
export function valueOfText(text: string, domain: ObservationDomain): TypedValue | null {
  const value = jsonOf(text, domain.domain);
  if (value === undefined) return null;
  const typed: TypedValue = { value, value_type: domain.domain };
  return checkInDomain(typed, domain) === null ? typed : null;
}

function jsonOf(text: string, type: ValueType): JsonValue | undefined {
  switch (type) {
    case "Boolean":
      return text === "true" ? true : text === "false" ? false : undefined;
    case "Integer":
      return INTEGER.test(text) ? Number(text) : undefined;
    case "Json":
      return undefined;
    default:
      return text;
  }
}
