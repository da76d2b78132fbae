/**
 * Strict validation of a stage's conditions against a data shape: each has a member there, its comparator fits the type of that member,
 * and what it expects could stand in it.
 *
 * @module
 */

import { identify } from "../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { isJsonObject, member } from "../canonical/json.ts";
import { COMPARATORS } from "../law/comparators.ts";
import type { Condition } from "../law/types.ts";
import type { TypedValue } from "../law/value/types.ts";
import { sourceForms } from "../run/acquired.ts";
import type { CompiledStage } from "../run/compile.ts";
import {
  allowancesOf,
  type Fragment,
  fragmentOf,
  listedComparators,
  membersFor,
  SHAPE_VISITS,
  type Visits,
} from "./data_shape.ts";
import type { Services } from "./services.ts";

/** Why a condition cannot be judged by data of a shape. */
export interface ShapeRefusal {
  readonly condition_id: string;
  readonly code:
    | "member_missing"
    | "type_unknown"
    | "comparator_not_allowed"
    | "comparator_not_listed"
    | "expected_invalid";
  readonly message: string;
}

type Refuse = (code: ShapeRefusal["code"], message: string) => ShapeRefusal;

function refuseComparator(
  root: JsonValue,
  fragment: Fragment,
  comparator: string,
  refuse: Refuse,
  visits: Visits,
): ShapeRefusal | null {
  const allowances = allowancesOf(root, fragment, visits);
  if ("complaint" in allowances) {
    return refuse("type_unknown", `Its member cannot be classified: ${allowances.complaint}`);
  }
  const listed = listedComparators(fragment);
  if (listed !== null && "complaint" in listed) {
    return refuse("type_unknown", `Its member is not sound: ${listed.complaint}`);
  }
  const allowance = allowances.get(comparator) ?? "forbidden";
  if (allowance === "forbidden") {
    const message = `Comparator "${comparator}" is not allowed for the type of its member; it fits ${
      membersFor(comparator)
    }`;
    return refuse("comparator_not_allowed", message);
  }
  if (listed !== null && listed.includes(comparator)) return null;
  if (allowance === "opt_in") {
    const message = `Comparator "${comparator}" has to be listed in x-gate.allowed_comparators of its member`;
    return refuse("comparator_not_listed", message);
  }
  if (listed === null) return null;
  return refuse(
    "comparator_not_listed",
    `Comparator "${comparator}" is not in x-gate.allowed_comparators of its member`,
  );
}

function expectedOf({ predicate }: Condition): readonly TypedValue[] {
  if (!("expected" in predicate)) return [];
  return "value_type" in predicate.expected ? [predicate.expected] : predicate.expected;
}

/** The schema of a fragment alone, with the whole document at hand for what it refers to. */
function fragmentSchema(root: JsonObject, { pointer }: Fragment): JsonObject {
  const named = member(root, "$id");
  const id = typeof named === "string" ? named : "urn:gate:data-shape";
  return { $defs: { shape: { ...root, $id: id } }, $ref: `${id}${pointer}` };
}

async function refuseExpected(
  services: Services,
  root: JsonValue,
  fragment: Fragment,
  condition: Condition,
  refuse: Refuse,
): Promise<ShapeRefusal | null> {
  const schema = isJsonObject(root) ? fragmentSchema(root, fragment) : root;
  const identity = identify(services.surroundings.primitives.sha256, "schema", schema);
  for (const [index, expected] of expectedOf(condition).entries()) {
    const verdicts = await Promise.all(
      sourceForms(expected).map((form) => services.schemaSandbox.validate(identity, schema, form)),
    );
    if (verdicts.includes("valid")) continue;
    const at = Array.isArray((condition.predicate as { expected?: unknown }).expected) ? ` number ${index}` : "";
    const [verdict] = verdicts;
    const why = typeof verdict === "object" ? `: ${verdict.invalid}` : "";
    return refuse("expected_invalid", `Its expected value${at} does not meet the schema of its member${why}`);
  }
  return null;
}

/**
 * Every reason why the conditions of a stage cannot be judged by data of a shape; none where they can.
 *
 * @param root The JSON Schema of the shape
 * @throws {SchemaSandboxError} Where no verdict on an expected value was reached
 */
export async function checkDataShape(
  services: Services,
  stage: CompiledStage,
  root: JsonValue,
): Promise<ShapeRefusal[]> {
  const refusals: ShapeRefusal[] = [];
  const visits = { left: SHAPE_VISITS };
  for (const { condition } of stage.conditions) {
    const { condition_id, predicate } = condition;
    const quoted = JSON.stringify(condition_id);
    const refuse: Refuse = (code, message) => ({ condition_id, code, message: `Condition ${quoted}: ${message}` });
    const fragment = fragmentOf(root, condition_id, stage.conditions.length === 1);
    if ("complaint" in fragment) {
      refusals.push(refuse("member_missing", `It has no data to judge: ${fragment.complaint}`));
      continue;
    }
    const refusal = refuseComparator(root, fragment, COMPARATORS[predicate.predicate], refuse, visits) ??
      await refuseExpected(services, root, fragment, condition, refuse);
    if (refusal !== null) refusals.push(refusal);
  }
  return refusals;
}
