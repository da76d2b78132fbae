/** Counts the work of one JSONPath query. A computing thread cannot be ended from outside, so the query ends itself. */

import { isJsonArray, type JsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { JSONPATH_NODES_MAXIMUM, JSONPATH_STEPS_MAXIMUM } from "../builtin/limits.ts";

/** The query exceeds its limit of steps. */
export class TooManySteps extends Error {}

/** The query exceeds its limit of nodes. */
export class TooManyNodes extends Error {}

/** Members from which an object's values are cached for a query: listing those of large objects is slow. */
const MANY_MEMBERS = 64;

/** The work of one query. */
export class QueryWork {
  #steps = JSONPATH_STEPS_MAXIMUM;
  #nodes = JSONPATH_NODES_MAXIMUM;
  readonly #listed = new Map<JsonObject, JsonArray>();

  /** Counts steps, in advance where their number is known. */
  readonly spend = (steps: number): void => {
    this.#steps -= steps;
    if (this.#steps < 0) throw new TooManySteps();
  };

  /** Counts a found node, which takes memory. */
  hold(): void {
    this.#nodes -= 1;
    if (this.#nodes < 0) throw new TooManyNodes();
  }

  /** Releases counted nodes. */
  release(nodes: number): void {
    this.#nodes += nodes;
  }

  /** The number of items of an array or members of an object; that of a large object is cached. */
  sizeOf(value: JsonArray | JsonObject): number {
    if (isJsonArray(value)) return value.length;
    const known = this.#listed.get(value as JsonObject);
    return known === undefined ? this.childrenOf(value).length : known.length;
  }

  /** The items of an array, or the values of an object's members; counts a step for each. */
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

/** Whether a value is an array or an object. */
export function hasChildren(value: JsonValue): value is JsonArray | JsonObject {
  return typeof value === "object" && value !== null;
}
