/** Reads the types of law files, such as `integer(0..10)`. */

import { didYouMean, quote } from "../../law/suggest.ts";
import type { ObservationDomain } from "../../law/value/types.ts";
import { TEXT_BYTES } from "../../law/words.ts";
import type { ReportFault, Span } from "./expression.ts";

/** The names of the types. */
export const TYPE_NAMES = [
  "text",
  "integer",
  "count",
  "decimal",
  "percent",
  "boolean",
  "time",
  "sha256",
  "json",
] as const;

const TYPE_FORM = /^([A-Za-z_][A-Za-z0-9_]*)(?:\(([^()]*)\))?$/;

/** Whether a text is written as a type: the name of one, with or without brackets. */
export function isTypeText(text: string): boolean {
  const [, name = ""] = TYPE_FORM.exec(text) ?? [];
  return TYPE_NAMES.some((one) => one === name);
}

/** Reads a type; undefined after a fault. */
export function readType(text: string, span: Span, fault: ReportFault): ObservationDomain | undefined {
  const [, name, given] = TYPE_FORM.exec(text) ?? [];
  const wrong = (expected: string): undefined => {
    fault("type_invalid", `Expected a type ${expected}, got ${quote(text)}`, span);
    return undefined;
  };
  switch (name) {
    case "text": {
      if (given === undefined) return { domain: "String", minimum_bytes: 0, maximum_bytes: TEXT_BYTES };
      const [, least = "", most = ""] = /^(\d{0,15})\.\.(\d{1,15})$/.exec(given) ?? [];
      if (most === "") return wrong('such as "text", "text(..64)" or "text(7..40)", in bytes');
      return { domain: "String", minimum_bytes: Number(least), maximum_bytes: Number(most) };
    }
    case "integer":
    case "decimal":
      return readRange(name, given ?? "..") ?? wrong(`such as "${name}", "${name}(0..10)" or "${name}(..10)"`);
    case "count":
    case "percent":
    case "boolean":
    case "time":
    case "sha256":
      return given === undefined ? { ...PLAIN[name] } : wrong(`"${name}" without brackets`);
    case "json": {
      const [, most = "", id, version] = /^([1-9]\d{0,14})(?: +(\S+)@([^@\s]+))?$/.exec(given ?? "") ?? [];
      if (most === "") return wrong('such as "json(4096)" or "json(4096 person@1)", with its greatest size in bytes');
      const schema = id === undefined || version === undefined ? {} : { schema: { schema_id: id, version } };
      return { domain: "Json", maximum_bytes: Number(most), ...schema };
    }
    default: {
      const hint = didYouMean(name ?? text, TYPE_NAMES) || `; types are ${TYPE_NAMES.join(", ")}`;
      fault("type_invalid", `Type ${quote(text)} is unknown${hint}`, span);
      return undefined;
    }
  }
}

const PLAIN = {
  count: { domain: "Integer", minimum: 0 },
  percent: { domain: "Decimal", minimum: "0", maximum: "100" },
  boolean: { domain: "Boolean" },
  time: { domain: "Timestamp" },
  sha256: { domain: "Digest", algorithm: "sha256" },
} as const;

const RANGE = /^(-?\d{1,1001}(?:\.\d{1,1000})?)?\.\.(-?\d{1,1001}(?:\.\d{1,1000})?)?$/;

function readRange(name: "integer" | "decimal", given: string): ObservationDomain | undefined {
  const match = RANGE.exec(given);
  if (match === null) return undefined;
  const [, minimum, maximum] = match;
  if (name === "decimal") {
    return {
      domain: "Decimal",
      ...minimum === undefined ? {} : { minimum },
      ...maximum === undefined ? {} : { maximum },
    };
  }
  if ([minimum, maximum].some((bound) => bound?.includes(".") === true)) return undefined;
  return {
    domain: "Integer",
    ...minimum === undefined ? {} : { minimum: Number(minimum) },
    ...maximum === undefined ? {} : { maximum: Number(maximum) },
  };
}
