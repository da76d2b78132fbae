/** Parts of next steps that several modules share. */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { NextStep } from "../framework/types.ts";

/** Stands in a hint for an identity that the caller makes up. */
export const FRESH_ID = "<32 fresh random hex digits>";

/** Makes the step that repeats a call with some arguments changed. */
export type Retry = (change: JsonObject, why: string) => NextStep;

/** A text member of a result; empty where it is missing. */
export function textOf(result: JsonObject, name: string): string {
  const value = member(result, name);
  return typeof value === "string" ? value : "";
}

/** The first item of an array member of a result. */
export function firstOf(result: JsonObject, name: string): JsonValue | undefined {
  const value = member(result, name);
  return isJsonArray(value) ? value[0] : undefined;
}
