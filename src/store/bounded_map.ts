/** A map that evicts the least recently used entry. */

/**
 * A map of at most `capacity` entries; a read or write makes an entry the most recently used.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { BoundedMap } from "@/store/bounded_map.ts";
 *
 * const map = new BoundedMap<string, number>(2);
 * map.set("a", 1);
 * map.set("b", 2);
 * map.get("a");
 * map.set("c", 3);
 * assert.equal(map.get("b"), undefined);
 * assert.equal(map.get("a"), 1);
 * ```
 */
export class BoundedMap<Key, Value extends NonNullable<unknown>> {
  readonly #entries = new Map<Key, Value>();
  readonly #capacity: number;

  /** Creates an empty map of at most `capacity` entries. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The entry, which becomes the most recently used; undefined where it is absent. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Sets an entry; a full map evicts the least recently used one. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  /** Removes an entry. */
  delete(key: Key): void {
    this.#entries.delete(key);
  }

  /** Removes every entry. */
  clear(): void {
    this.#entries.clear();
  }
}
