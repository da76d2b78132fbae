/**
 * What one JSONPath query takes, counted. A thread that computes cannot be ended from outside, so the query ends itself.
 *
 * @module
 */

import { isJsonArray, type JsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { JSONPATH_NODES_MAXIMUM, JSONPATH_STEPS_MAXIMUM } from "../builtin/limits.ts";

/** A query takes more steps than it may. */
export class TooManySteps extends Error {}

/** A query finds more nodes than it may. */
export class TooManyNodes extends Error {}

/** Members from which on an object's values are listed once for a query: the runtime takes long for large objects. */
const MANY_MEMBERS = 64;

/** The work of one query. */
export class QueryWork {
  #steps = JSONPATH_STEPS_MAXIMUM;
  #nodes = JSONPATH_NODES_MAXIMUM;
  readonly #listed = new Map<JsonObject, JsonArray>();

  /** Counts steps: before they are taken where it is known how many they are. */
  readonly spend = (steps: number): void => {
    this.#steps -= steps;
    if (this.#steps < 0) throw new TooManySteps();
  };

  /** Counts a node that was found: it takes memory. */
  hold(): void {
    this.#nodes -= 1;
    if (this.#nodes < 0) throw new TooManyNodes();
  }

  /** Counts nodes no more that are let go. */
  release(nodes: number): void {
    this.#nodes += nodes;
  }

  /** How many items an array has, or members an object: a large object is counted once. */
  sizeOf(value: JsonArray | JsonObject): number {
    if (isJsonArray(value)) return value.length;
    const known = this.#listed.get(value as JsonObject);
    return known === undefined ? this.childrenOf(value).length : known.length;
  }

  /** The items of an array, or the values of an object's members. Whoever goes through them has paid for each. */
  childrenOf(value: JsonArray | JsonObject): JsonArray {
    const children = isJsonArray(value) ? value : this.#valuesOf(value as JsonObject);
    this.spend(children.length + 1);
    return children;
  }

  #valuesOf(object: JsonObject): JsonArray {
    const known = this.#listed.get(object);
    if (known !== undefined) return known;
    const values = Object.values(object);
    if (values.length >= MANY_MEMBERS) this.#listed.set(object, values);
    return values;
  }
}

/** Tells whether a value is an array or an object. */
export function hasChildren(value: JsonValue): value is JsonArray | JsonObject {
  return typeof value === "object" && value !== null;
}
