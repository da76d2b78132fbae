/**
 * What compiled schemas are made of, and how a value is held against one.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import type { Spend } from "../regular_expression/search.ts";
import type { Resource } from "./document.ts";

/** Why a value is not valid. */
export interface Failure {
  /** The steps from where the value was held against the schema to what is wrong, the last one first. */
  readonly steps: (string | number)[];
  readonly message: string;
}

/** Which members and items of a value a schema has looked at, for the keywords that are about all the others. */
export interface Evaluated {
  readonly names: Set<string>;
  readonly items: Set<number>;
}

/** The resources that evaluation has come through, the last one first (2020-12 Core, 7.1: dynamic scope). */
export interface Scope {
  readonly resource: Resource;
  readonly outer: Scope | null;
}

/** Where evaluation stands, and what counts its steps: schemas can ask for more of them than anybody waits for. */
export interface Evaluation {
  readonly scope: Scope | null;
  readonly spend: Spend;
}

/** A value that is held against a schema, and what notes which parts of it were looked at: null where nobody asks. */
export interface Subject extends Evaluation {
  readonly value: JsonValue;
  readonly evaluated: Evaluated | null;
}

/** What one keyword says of a value. */
export type Check = (subject: Subject) => Failure | null;

/** A compiled schema. */
export type Node = boolean | {
  readonly resource: Resource;
  readonly checks: Check[];
  /** Whether a keyword of this schema asks what the others have looked at. */
  readonly isTracking: boolean;
};

/** A failure of the value itself. */
export function failure(message: string): Failure {
  return { steps: [], message };
}

/** A failure of a part of the value. */
export function failureAt(step: string | number, inner: Failure): Failure {
  inner.steps.push(step);
  return inner;
}

/**
 * Holds a value against a schema.
 *
 * @param into Where to note what was looked at; only a schema that holds notes anything (2020-12 Core, 7.7.1.2)
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
