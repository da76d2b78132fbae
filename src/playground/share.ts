/**
 * What the page holds, as the fragment of its address. A fragment is data: nothing in it is run, and it is never sent.
 */

import { decodeBase64, encodeBase64 } from "../canonical/base64.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../canonical/scan.ts";
import type { Given } from "./fields.ts";

/** Maximum characters of a law in the page, and of each other field. The slowest of 80 texts takes 0.6 s. */
export const LAW_CHARACTERS_MAXIMUM = 65_536;

/** Maximum characters of a fragment. */
export const FRAGMENT_CHARACTERS_MAXIMUM = 65_536;

/** What the page holds. */
export interface Held {
  readonly law: string;
  /** The changed law; empty where there is none. */
  readonly changed: string;
  readonly given: Given;
}

const MEMBERS = ["at", "changed", "evidence", "law", "parameters", "signed"];

/** The fragment of what the page holds; null where it would be too long. */
export function fragmentOf({ law, changed, given }: Held): string | null {
  const { evidence, parameters, signed, at } = given;
  const entered = [law, changed, at, ...evidence.values(), ...parameters.values()];
  // A character takes at least a byte, and four of a fragment hold three bytes: longer texts are not encoded at all.
  if (entered.reduce((total, { length }) => total + length, 0) > FRAGMENT_CHARACTERS_MAXIMUM * 3 / 4) return null;
  const texts = (map: ReadonlyMap<string, string>): object =>
    Object.fromEntries([...map].filter(([, text]) => text !== ""));
  const value = {
    law,
    changed,
    evidence: texts(evidence),
    parameters: texts(parameters),
    signed: [...signed],
    at,
  };
  const text = encodeBase64(new TextEncoder().encode(JSON.stringify(value)));
  const fragment = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return fragment.length > FRAGMENT_CHARACTERS_MAXIMUM ? null : fragment;
}

/** What a fragment holds; null where it is not one that {@link fragmentOf} makes. */
export function heldIn(fragment: string): Held | null {
  if (fragment.length > FRAGMENT_CHARACTERS_MAXIMUM) return null;
  const standard = fragment.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = decodeBase64(standard.padEnd(Math.ceil(standard.length / 4) * 4, "="));
  const text = bytes === null ? null : decodeUtf8Strict(bytes);
  const parsed = text === null ? null : parseJson(text);
  if (parsed === null || !parsed.ok || !isJsonObject(parsed.value)) return null;
  const value = parsed.value;
  if (Object.keys(value).sort().join() !== MEMBERS.join()) return null;
  const { law, changed, at, signed } = value as Readonly<Record<string, JsonValue>>;
  const evidence = textsOf(value["evidence"]);
  const parameters = textsOf(value["parameters"]);
  if (typeof law !== "string" || typeof changed !== "string" || typeof at !== "string") return null;
  if (!Array.isArray(signed) || evidence === null || parameters === null) return null;
  if (!signed.every((one) => typeof one === "string")) return null;
  return { law, changed, given: { evidence, parameters, signed: new Set<string>(signed), at } };
}

function textsOf(value: JsonObject[string] | undefined): Map<string, string> | null {
  if (value === undefined || !isJsonObject(value)) return null;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string") ? new Map(entries) : null;
}
