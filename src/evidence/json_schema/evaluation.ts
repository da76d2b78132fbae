/** The parts of compiled schemas, and the evaluation of a value against one. */

import type { JsonValue } from "../../canonical/json.ts";
import type { Spend } from "../regular_expression/search.ts";
import type { Resource } from "./document.ts";

/** The failure of a value. */
export interface Failure {
  /** Path from the evaluated value to the invalid part, last step first. */
  readonly steps: (string | number)[];
  readonly message: string;
}

/** The members and items that a schema has evaluated, for the `unevaluated` keywords. */
export interface Evaluated {
  readonly names: Set<string>;
  readonly items: Set<number>;
}

/** The resources that evaluation has entered, last one first (2020-12 Core, 7.1: dynamic scope). */
export interface Scope {
  readonly resource: Resource;
  readonly outer: Scope | null;
}

/** The state of an evaluation, with the counter of its steps, which can grow exponentially. */
export interface Evaluation {
  readonly scope: Scope | null;
  readonly spend: Spend;
}

/** A value under evaluation. `evaluated` collects its evaluated parts; null where no keyword needs them. */
export interface Subject extends Evaluation {
  readonly value: JsonValue;
  readonly evaluated: Evaluated | null;
}

/** The check of one keyword. */
export type Check = (subject: Subject) => Failure | null;

/** A compiled schema. */
export type Node = boolean | {
  readonly resource: Resource;
  readonly checks: Check[];
  /** Whether the schema has an `unevaluated` keyword. */
  readonly isTracking: boolean;
};

/** Builds a failure of the value itself. */
export function failure(message: string): Failure {
  return { steps: [], message };
}

/** Moves the failure of a part to the value that contains it. */
export function failureAt(step: string | number, inner: Failure): Failure {
  inner.steps.push(step);
  return inner;
}

/**
 * Evaluates a value against a schema.
 *
 * @param into Receives the evaluated parts, from a valid evaluation only (2020-12 Core, 7.7.1.2)
 */
export function evaluate(node: Node, value: JsonValue, from: Evaluation, into: Evaluated | null): Failure | null {
  const { spend, scope: outer } = from;
  spend(1);
  if (typeof node === "boolean") return node ? null : failure("no value is allowed here");
  const scope = outer?.resource === node.resource ? outer : { resource: node.resource, outer };
  const evaluated: Evaluated | null = into !== null || node.isTracking ? { names: new Set(), items: new Set() } : null;
  const subject = { value, scope, spend, evaluated };
  for (const check of node.checks) {
    const wrong = check(subject);
    if (wrong !== null) return wrong;
  }
  if (into !== null) {
    spend((evaluated?.names.size ?? 0) + (evaluated?.items.size ?? 0));
    for (const name of evaluated?.names ?? []) into.names.add(name);
    for (const item of evaluated?.items ?? []) into.items.add(item);
  }
  return null;
}
