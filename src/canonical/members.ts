/** The order of member names and the errors of canonical text, shared by its two writers. */

/** Up to this many names insertion sort is faster than the general sort; with more its worst case shows. */
const INSERTION_SORT_LIMIT = 32;

/** Whether member names are in canonical order: by UTF-16 code units, RFC 8785 section 3.2.3. */
export function areSorted(names: readonly string[]): boolean {
  for (let index = 1; index < names.length; index++) {
    if (!precedes(names[index - 1] as string, names[index] as string)) return false;
  }
  return true;
}

/**
 * Sorts member names into canonical order, in place.
 *
 * @param names Distinct names
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

/** Compares by code units. The first unit decides most pairs; for an empty name it is NaN, which decides none. */
function precedes(a: string, b: string): boolean {
  const left = a.charCodeAt(0);
  const right = b.charCodeAt(0);
  if (left < right) return true;
  if (left > right) return false;
  return a < b;
}

/** Whether an object is a plain record. An object of a class would lose the meaning of its class. */
export function isPlainObject(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Rejects a value that I-JSON (RFC 7493) does not have.
 *
 * @throws {TypeError} Always
 */
export function refuseValue(value: unknown): never {
  throw new TypeError(`Cannot write canonical JSON: ${describeValue(value)} has no JSON form`);
}

/**
 * Rejects a value that is nested deeper than the limit.
 *
 * @throws {RangeError} Always
 */
export function refuseDeeper(limit: number): never {
  throw new RangeError(`Cannot write canonical JSON: value is nested deeper than ${limit}`);
}

function describeValue(value: unknown): string {
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "string") return "a string with a lone surrogate";
  if (typeof value === "object") return "an object of a class";
  return typeof value === "undefined" ? "undefined" : `a ${typeof value}`;
}
