/**
 * Tests of the form of JSON values, composed once and run often: closed objects, bounded texts and lists.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonValue } from "../../canonical/json.ts";

/** Whether a value has a form. */
export type Shape = (value: JsonValue | undefined) => boolean;

/**
 * Exactly the required members, and any of the optional ones, each of its form. No member is named as one that every
 * object inherits, so one that is not there reads as undefined.
 */
export function closed(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  const needed = Object.entries(required);
  const allowed = Object.entries(optional);
  return (value) => {
    if (!isJsonObject(value)) return false;
    let count = needed.length;
    for (const [name, shape] of needed) {
      const member = value[name];
      if (member === undefined || !shape(member)) return false;
    }
    for (const [name, shape] of allowed) {
      const member = value[name];
      if (member === undefined) continue;
      if (!shape(member)) return false;
      count++;
    }
    for (const _ in value) count--;
    return count === 0;
  };
}

/** Items of one form, at most so many. */
export function listOf(item: Shape, most: number): Shape {
  return (value) => isJsonArray(value) && value.length <= most && value.every((one) => item(one));
}

/** One of some values. */
export function oneOf(...known: readonly (string | number | boolean | null)[]): Shape {
  return (value) => known.includes(value as string);
}

/** Any of some forms. */
export function anyOf(...shapes: readonly Shape[]): Shape {
  return (value) => shapes.some((shape) => shape(value));
}

/** Of the form, or null. */
export function orNull(shape: Shape): Shape {
  return (value) => value === null || shape(value);
}

/** An object that says by one member which of some forms it has. */
export function variant(name: string, shapes: Readonly<Record<string, Shape>>): Shape {
  return (value) => {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return false;
    const kind = value[name];
    return typeof kind === "string" && Object.hasOwn(shapes, kind) && shapes[kind]?.(value) === true;
  };
}

/** An integer within bounds. */
export function integer(least: number, most: number = Number.MAX_SAFE_INTEGER): Shape {
  return (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
}

/** A string. */
export const text: Shape = (value) => typeof value === "string";
/** True or false. */
export const flag: Shape = (value) => typeof value === "boolean";
/** Any object. */
export const object: Shape = (value) => isJsonObject(value);
/** Any value that is there. */
export const anything: Shape = (value) => value !== undefined;
/** So many lower-case hex digits; a record has a dozen of them, and an expression takes several times as long. */
function hexDigits(length: number): Shape {
  return (value) => {
    if (typeof value !== "string" || value.length !== length) return false;
    for (let at = 0; at < length; at++) {
      const unit = value.charCodeAt(at);
      if (unit < 0x30 || unit > 0x66 || (unit > 0x39 && unit < 0x61)) return false;
    }
    return true;
  };
}

/** 64 lower-case hex digits. */
export const identity: Shape = hexDigits(64);
/** 32 lower-case hex digits. */
export const operationIdentity: Shape = hexDigits(32);
/** Milliseconds since 1970, or before. */
export const millis: Shape = integer(Number.MIN_SAFE_INTEGER);
/** `{algorithm: "sha256", value}`. */
export const contentHash: Shape = closed({ algorithm: oneOf("sha256"), value: identity });
