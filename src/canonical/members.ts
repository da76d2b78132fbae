/**
 * What both ways of writing canonical text share: the order of member names and the refusals.
 *
 * @module
 */

/** Up to this many names insertion sort beats the general sort; beyond it its worst case would show. */
const INSERTION_SORT_LIMIT = 32;

/** Tells whether member names stand in canonical order: by UTF-16 code units, RFC 8785 section 3.2.3. */
export function areSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if (!precedes(names[index - 1] as string, names[index] as string)) return false;
  }
  return true;
}

/**
 * Puts member names into canonical order, in place.
 *
 * @param names The names, each once
 */
export function sortNames(names: string[]): void {
  if (names.length > INSERTION_SORT_LIMIT) {
    names.sort();
    return;
  }
  for (let index = 1; index < names.length; index++) {
    const name = names[index] as string;
    let place = index;
    while (place > 0 && precedes(name, names[place - 1] as string)) {
      names[place] = names[place - 1] as string;
      place--;
    }
    names[place] = name;
  }
}

/** Compares by code units; the first one settles most pairs without a call. NaN, of an empty name, settles nothing. */
function precedes(a: string, b: string): boolean {
  const left = a.charCodeAt(0);
  const right = b.charCodeAt(0);
  if (left < right) return true;
  if (left > right) return false;
  return a < b;
}

/** Tells whether an object is a bare record: one of a class would lose what its class means. */
export function isPlainObject(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Refuses a value that I-JSON (RFC 7493) cannot carry.
 *
 * @throws {TypeError} Always
 */
export function refuseValue(value: unknown): never {
  throw new TypeError(`Cannot write canonical JSON: ${describe(value)} has no JSON form`);
}

/**
 * Refuses a value that encloses more containers than the limit.
 *
 * @throws {RangeError} Always
 */
export function refuseDeeper(limit: number): never {
  throw new RangeError(`Cannot write canonical JSON: value is nested deeper than ${limit}`);
}

function describe(value: unknown): string {
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "string") return "a string with a lone surrogate";
  if (typeof value === "object") return "an object of a class";
  return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
}
