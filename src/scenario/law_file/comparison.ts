/** Gives comparisons their types: the domain of the evidence, and a typed value for each operand. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { sortedBy } from "../../canonical/order.ts";
import { quote } from "../../law/suggest.ts";
import type { ParameterDomain } from "../../law/types.ts";
import type { Expected, ObservationDomain, Predicate, SetMember, TypedValue } from "../../law/value/types.ts";
import { TEXT_BYTES, typeText } from "../../law/words.ts";
import type { Comparison, Operand, ReportFault } from "./expression.ts";

/** A parameter by its name. */
export interface NamedParameter {
  readonly id: string;
  readonly domain: ParameterDomain | undefined;
}

/** The parameters of a law file by their names. */
export type Parameters = ReadonlyMap<string, NamedParameter>;

/** The domain that a comparison implies; null if it implies none. */
export function impliedDomain(comparison: Comparison, parameters: Parameters): ObservationDomain | null {
  for (const operand of comparison.operands) {
    switch (operand.kind) {
      case "parameter":
        return parameters.get(operand.name)?.domain ?? null;
      case "now":
      case "time":
        return { domain: "Timestamp" };
      case "number":
        return { domain: "Decimal" };
      case "text":
        return { domain: "String", minimum_bytes: 0, maximum_bytes: TEXT_BYTES };
      case "boolean":
        return { domain: "Boolean" };
      case "json":
        return null;
    }
  }
  return null;
}

/** The predicate of a comparison with evidence of a domain; undefined after a fault. */
export function typedPredicate(
  { predicate, operands }: Comparison,
  domain: ObservationDomain,
  parameters: Parameters,
  fault: ReportFault,
): Predicate | undefined {
  if (predicate === "Exists" || predicate === "NotExists") return { predicate };
  const values = operands.map((operand) => expectedOf(operand, domain, parameters, fault));
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return undefined;
  if (predicate === "InSet") {
    const members = sortedBy(known as readonly SetMember[], canonicalize);
    return { predicate, expected: members };
  }
  const [expected] = known;
  return expected === undefined ? undefined : { predicate, expected };
}

function expectedOf(
  operand: Operand,
  domain: ObservationDomain,
  parameters: Parameters,
  fault: ReportFault,
): Expected | undefined {
  if (operand.kind === "parameter") return { parameter: parameters.get(operand.name)?.id ?? operand.name };
  if (operand.kind === "now" && domain.domain === "Timestamp") {
    return { relative_to: "evaluation_time", offset_milliseconds: operand.offset };
  }
  const value = valueOf(operand, domain);
  if (value !== undefined) return { value, value_type: domain.domain } as TypedValue;
  const type = typeText(domain) ?? "json";
  fault(
    "expected_invalid",
    `Expected ${EXAMPLES[domain.domain]} for type ${quote(type)}, got ${KINDS[operand.kind]}`,
    operand,
  );
  return undefined;
}

/** The value of an operand in a domain; undefined if it is of another type. */
function valueOf(operand: Operand, { domain }: ObservationDomain): JsonValue | undefined {
  switch (operand.kind) {
    case "number": {
      if (domain === "Decimal") return operand.text;
      const integer = Number(operand.text);
      return domain === "Integer" && !operand.text.includes(".") && Number.isSafeInteger(integer) ? integer : undefined;
    }
    case "text":
      return domain === "String" || domain === "Digest" ? operand.text : undefined;
    case "boolean":
      return domain === "Boolean" ? operand.value : undefined;
    case "time":
      return domain === "Timestamp" ? operand.text : undefined;
    case "json":
      return domain === "Json" ? operand.value : undefined;
    default:
      return undefined;
  }
}

const EXAMPLES: Readonly<Record<ObservationDomain["domain"], string>> = {
  String: 'a text such as "main"',
  Boolean: "true or false",
  Integer: "an integer within ±9007199254740991, such as 80",
  Decimal: "a number such as 91.5",
  Timestamp: 'timestamp("2026-01-31T00:00:00Z"), or now',
  Digest: "64 hex digits in quotes",
  Json: 'json("..")',
};

const KINDS: Readonly<Record<Operand["kind"], string>> = {
  number: "a number",
  text: "a text",
  boolean: "a boolean",
  parameter: "a parameter",
  time: "a timestamp",
  now: "an instant relative to now",
  json: "JSON",
};
