/**
 * Reads requirement expressions (docs/format/scenario_law.md). A node is a JSON object with one member; depth and size
 * are bounded.
 */

import { isJsonArray, isJsonObject, type JsonValue } from "../canonical/json.ts";
import { closedSchema, integer, named, oneOf, readMember, readObject, shape } from "../canonical/shape.ts";
import { objectOf, type Read, readIdentifier, readPositive, readVariant, variantsSchema } from "./readers.ts";
import { INTEGER_MAXIMUM, SPEC_LIMITS } from "./limits.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import { describe, quote, quoteAll } from "./suggest.ts";
import type { Prerequisite, Requirement } from "./types.ts";

const NODE_KINDS = ["Condition", "And", "Or", "Not", "RequireGroup"] as const;
type NodeKind = typeof NODE_KINDS[number];

/** Common other names of the kinds, in lower case and without separators. The nearest name would be another kind. */
const SYNONYMS: ReadonlyMap<string, NodeKind> = new Map([
  ...["all", "allof", "every", "requireall"].map((name) => [name, "And"] as const),
  ...["any", "anyof", "oneof", "some", "either", "requireany"].map((name) => [name, "Or"] as const),
  ...["none", "noneof", "never", "negate"].map((name) => [name, "Not"] as const),
  ...["atleast", "minimum", "quorum", "group", "nof"].map((name) => [name, "RequireGroup"] as const),
  ...["stage", "stageid", "conditionid", "leaf"].map((name) => [name, "Condition"] as const),
]);

/** The state of reading one tree. */
interface Reading {
  readonly refusals: Collector;
  readonly root: JsonPath;
  nodes: number;
}

/** Reads a requirement expression; undefined if any part of it is malformed. */
export const readRequirement: Read<Requirement> = named(
  "req",
  shape<Requirement, Collector>(
    (refusals, value, path) => readNode({ refusals, root: path, nodes: 0 }, value, path, 0),
    (publisher) => {
      const operand = publisher.of(readRequirement);
      const maxItems = SPEC_LIMITS.requirementNodes - 1;
      const list = { schema: () => ({ type: "array", items: operand, maxItems, minItems: 1 }) };
      const operands = publisher.refer("reqs", list);
      const group = closedSchema(["min", "reqs"], [["min", readPositive], ["reqs", { schema: () => operands }]]);
      return {
        description: "Leaves name conditions in a stage's completion_requirement, stages elsewhere",
        type: "object",
        properties: {
          Condition: publisher.of(readIdentifier),
          And: operands,
          Or: operands,
          Not: operand,
          RequireGroup: group(publisher),
        },
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
      };
    },
  ),
);

/** Reads the prerequisite of a stage. */
export const readPrerequisite: Read<Prerequisite> = shape<Prerequisite, Collector>(
  (refusals, value, path) => {
    const kind = readVariant(refusals, value, path, "kind", ["root", "requires"]);
    if (kind === undefined) {
      // The required members are unknown; a requirement that is present can still be read.
      if (isJsonObject(value)) readMember(refusals, value, path, "requirement", readRequirement);
      return undefined;
    }
    const object = readObject(refusals, value, path, kind === "root" ? ["kind"] : ["kind", "requirement"]);
    if (object === undefined) return undefined;
    if (kind === "root") return { kind };
    const requirement = readMember(refusals, object, path, "requirement", readRequirement);
    return requirement === undefined ? undefined : { kind, requirement };
  },
  variantsSchema([
    objectOf({ kind: oneOf("root") }),
    objectOf({ kind: oneOf("requires"), requirement: readRequirement }),
  ]),
);

function readNode(reading: Reading, value: JsonValue, path: JsonPath, depth: number): Requirement | undefined {
  const { refusals } = reading;
  if (++reading.nodes > SPEC_LIMITS.requirementNodes) {
    if (reading.nodes === SPEC_LIMITS.requirementNodes + 1) {
      const message = `Requirement has more than ${SPEC_LIMITS.requirementNodes} nodes`;
      refusals.refuse("requirement_too_large", reading.root, message);
    }
    return undefined;
  }
  if (depth > SPEC_LIMITS.requirementDepth) {
    const message = `Requirement is nested deeper than ${SPEC_LIMITS.requirementDepth}`;
    return refusals.refuse("requirement_too_deep", path, message);
  }
  const kind = readKind(refusals, value, path);
  if (kind === undefined || !isJsonObject(value)) return undefined;
  const content = value[kind] as JsonValue;
  const inside = below(path, kind);
  if (kind === "Condition") {
    const id = readIdentifier(refusals, content, inside);
    return id === undefined ? undefined : { Condition: id };
  }
  if (kind === "Not") {
    const operand = readNode(reading, content, inside, depth + 1);
    return operand === undefined ? undefined : { Not: operand };
  }
  if (kind === "RequireGroup") return readGroup(reading, content, inside, depth);
  const operands = readOperands(reading, content, inside, depth);
  if (operands === undefined) return undefined;
  return kind === "And" ? { And: operands } : { Or: operands };
}

function readKind(refusals: Collector, value: JsonValue, path: JsonPath): NodeKind | undefined {
  if (!isJsonObject(value)) {
    const message = `Expected a requirement, an object with one of ${quoteAll(NODE_KINDS)}, got ${describe(value)}`;
    return refusals.refuse("type_invalid", path, message);
  }
  const names = Object.keys(value);
  const kinds = NODE_KINDS.filter((kind) => Object.hasOwn(value, kind));
  const unknown = names.filter((name) => !(NODE_KINDS as readonly string[]).includes(name));
  for (const name of unknown) {
    const at = name.length <= SPEC_LIMITS.identifierBytes ? below(path, name) : path;
    const synonym = SYNONYMS.get(name.toLowerCase().replaceAll(/[-_]/g, ""));
    const near = refusals.hint(synonym ?? name, synonym === undefined ? NODE_KINDS : [synonym]);
    const hint = near || `; expected one of ${quoteAll(NODE_KINDS)}`;
    refusals.refuse("member_unknown", at, `Member ${quote(name)} is unknown${hint}`);
  }
  if (names.length === 0) {
    refusals.refuse("member_missing", path, `Expected a requirement with one of ${quoteAll(NODE_KINDS)}`);
  }
  if (kinds.length > 1) return refusals.refuse("value_invalid", path, `Expected one member, got ${quoteAll(kinds)}`);
  return unknown.length > 0 ? undefined : kinds[0];
}

function readGroup(reading: Reading, value: JsonValue, path: JsonPath, depth: number): Requirement | undefined {
  const object = readObject(reading.refusals, value, path, ["min", "reqs"]);
  if (object === undefined) return undefined;
  // The maximum of `min` is the number of operands, so here it only must be an integer.
  const min = readMember(reading.refusals, object, path, "min", integer(-INTEGER_MAXIMUM));
  const reqs = readMember(
    reading.refusals,
    object,
    path,
    "reqs",
    (_, operands, inside) => readOperands(reading, operands, inside, depth),
  );
  const count = isJsonArray(object["reqs"]) ? object["reqs"].length : 0;
  if (min !== undefined && count > 0 && (min < 1 || min > count)) {
    const message = `Expected a minimum from 1 to ${count}, the number of operands, got ${min}`;
    reading.refusals.refuse("group_minimum_invalid", below(path, "min"), message);
    // Continue with the nearest minimum, so that faults of the operands are reported too.
    return reqs === undefined ? undefined : { RequireGroup: { min: min < 1 ? 1 : count, reqs } };
  }
  return min === undefined || reqs === undefined ? undefined : { RequireGroup: { min, reqs } };
}

function readOperands(reading: Reading, value: JsonValue, path: JsonPath, depth: number): Requirement[] | undefined {
  if (!isJsonArray(value)) {
    return reading.refusals.refuse("type_invalid", path, `Expected an array, got ${describe(value)}`);
  }
  if (value.length === 0) return reading.refusals.refuse("requirement_empty", path, "Expected at least one operand");
  const operands: Requirement[] = [];
  let whole = true;
  for (let index = 0; index < value.length; index++) {
    // Beyond the limit no further operands are read.
    if (reading.nodes > SPEC_LIMITS.requirementNodes) return undefined;
    const operand = readNode(reading, value[index] as JsonValue, below(path, index), depth + 1);
    if (operand === undefined) whole = false;
    else operands.push(operand);
  }
  return whole ? operands : undefined;
}
