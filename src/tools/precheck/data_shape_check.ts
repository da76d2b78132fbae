/**
 * Strict validation of a stage's conditions against a data shape: each has a member, its comparator fits the type of
 * the member, and its expected value meets the schema of the member.
 */

import type { JsonValue } from "../../canonical/json.ts";
import { SchemaSandboxError } from "../../evidence/sandbox/schema_sandbox.ts";
import { PREDICATES } from "../../law/value/predicates.ts";
import type { Condition } from "../../law/types.ts";
import { expectedOf, isTypedValue } from "../../law/value/types.ts";
import { sourceForms } from "../../run/acquired.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { allowanceOf, allowancesOf, inquire, type Inquiry, listedComparators, membersFor } from "./data_shape.ts";
import { type DataShape, type Fragment, fragmentOf } from "./data_shape_members.ts";
import type { Services } from "../services/services.ts";
import { inTurns } from "../../evidence/cooperative_scheduler.ts";

/** Why a condition cannot be evaluated on data of a shape. */
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

function refuseFor({ condition_id }: Condition): Refuse {
  const quoted = JSON.stringify(condition_id);
  return (code, message) => ({ condition_id, code, message: `Condition ${quoted}: ${message}` });
}

function* refuseComparator(
  inquiry: Inquiry,
  fragment: Fragment,
  comparator: string,
  refuse: Refuse,
): Generator<undefined, ShapeRefusal | null> {
  const allowances = yield* allowancesOf(inquiry, fragment);
  if (typeof allowances !== "number") {
    return refuse("type_unknown", `Its member cannot be classified: ${allowances.complaint}`);
  }
  const listed = listedComparators(inquiry, fragment);
  if (listed !== null && "complaint" in listed) {
    return refuse("type_unknown", `Its member is invalid: ${listed.complaint}`);
  }
  const allowance = allowanceOf(allowances, comparator);
  if (allowance === "forbidden") {
    const message = `Comparator "${comparator}" is not allowed for the type of its member; it fits ${
      membersFor(comparator)
    }`;
    return refuse("comparator_not_allowed", message);
  }
  if (listed !== null && listed.has(comparator)) return null;
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

/** The result for a condition: its refusal, or else the member for the check of its expected value. */
interface Found {
  readonly condition: Condition;
  readonly refusal: ShapeRefusal | null;
  readonly pointer: string;
}

function* refuseMembers(stage: CompiledStage, shape: DataShape): Generator<undefined, readonly Found[]> {
  const inquiry = inquire(shape);
  const found: Found[] = [];
  for (const { condition } of stage.conditions) {
    yield;
    const refuse = refuseFor(condition);
    const fragment = fragmentOf(shape, condition.condition_id, stage.conditions.length === 1);
    if ("complaint" in fragment) {
      const refusal = refuse("member_missing", `It has no data: ${fragment.complaint}`);
      found.push({ condition, refusal, pointer: "" });
      continue;
    }
    const comparator = PREDICATES[condition.predicate.predicate].comparator;
    const refusal = yield* refuseComparator(inquiry, fragment, comparator, refuse);
    found.push({ condition, refusal, pointer: fragment.pointer });
  }
  return found;
}

/** Milliseconds for the expected values of one stage: each value may take as long as a schema may. */
const EXPECTED_MILLISECONDS = 30_000;

/** Returns a function that throws once the time is over. */
function deadlineIn(milliseconds: number): () => void {
  const end = performance.now() + milliseconds;
  return () => {
    if (performance.now() <= end) return;
    const message = `Cannot validate the expected values of the conditions within ${milliseconds} ms`;
    throw new SchemaSandboxError("deadline_exceeded", message);
  };
}

/**
 * @param checkDeadline Throws where the time is over
 * @param validate Validates a value against the member of the condition
 */
async function refuseExpected(
  condition: Condition,
  checkDeadline: () => void,
  validate: (value: JsonValue) => ReturnType<Services["schemaSandbox"]["validate"]>,
): Promise<ShapeRefusal | null> {
  for (const [index, expected] of expectedOf(condition.predicate).entries()) {
    if (!isTypedValue(expected)) continue;
    checkDeadline();
    const verdicts = await Promise.all(sourceForms(expected).map(validate));
    if (verdicts.includes("valid")) continue;
    const at = Array.isArray((condition.predicate as { expected?: unknown }).expected) ? ` number ${index}` : "";
    const [verdict] = verdicts;
    const why = typeof verdict === "object" ? `: ${verdict.invalid}` : "";
    const message = `Its expected value${at} does not meet the schema of its member${why}`;
    return refuseFor(condition)("expected_invalid", message);
  }
  return null;
}

/**
 * Every reason why the conditions of a stage cannot be evaluated on data of a shape; empty where they can.
 *
 * @param identity Identity of the JSON Schema of the shape
 * @param milliseconds Time for all expected values
 * @throws {SchemaSandboxError} Where an expected value got no verdict
 */
export async function checkDataShape(
  { schemaSandbox }: Services,
  stage: CompiledStage,
  shape: DataShape,
  identity: string,
  milliseconds = EXPECTED_MILLISECONDS,
): Promise<ShapeRefusal[]> {
  const refusals: ShapeRefusal[] = [];
  const members = await inTurns(refuseMembers(stage, shape));
  const checkDeadline = deadlineIn(milliseconds);
  for (const { condition, refusal, pointer } of members) {
    const validate = (value: JsonValue): ReturnType<typeof schemaSandbox.validate> =>
      schemaSandbox.validate(identity, shape.root, value, pointer);
    const found = refusal ?? await refuseExpected(condition, checkDeadline, validate);
    if (found !== null) refusals.push(found);
  }
  return refusals;
}
