/**
 * The options in `.proto` texts: those that decide the encoding or the JSON form are kept, and others are skipped.
 *
 * @module
 */

import { fromJson } from "@bufbuild/protobuf";
import { type FeatureSet, FeatureSetSchema, FieldOptions_JSType } from "@bufbuild/protobuf/wkt";
import {
  advance,
  expectSymbol,
  faultAt,
  isSymbol,
  type ProtoCursor,
  readName,
  readText,
  readWord,
  skipBraces,
  takeSymbol,
  tokenText,
} from "./proto_tokens.ts";

/** The values of options as written, by their names; options of extensions are not kept. */
export type Settings = Map<string, string>;

const NO_SETTINGS: Settings = new Map();

/** Reads `[name = value, ...]`, where it begins here. */
export function readBracketed(cursor: ProtoCursor, spend: () => void): Settings {
  if (!takeSymbol(cursor, "[")) return NO_SETTINGS;
  const settings: Settings = new Map();
  do {
    spend();
    readSetting(cursor, settings);
  } while (takeSymbol(cursor, ","));
  expectSymbol(cursor, "]");
  return settings;
}

/** Reads `name = value;`. */
export function readOption(cursor: ProtoCursor, settings: Settings): void {
  readSetting(cursor, settings);
  expectSymbol(cursor, ";");
}

/** Options that decide the encoding or the JSON form, beside features. */
const KEPT_OPTIONS: ReadonlySet<string> = new Set(["allow_alias", "json_name", "jstype", "packed"]);

function readSetting(cursor: ProtoCursor, settings: Settings): void {
  const name = readSettingName(cursor);
  expectSymbol(cursor, "=");
  if (isSymbol(cursor, "{")) {
    if (name === "features") readFeatures(cursor, settings);
    else skipBraces(cursor);
    return;
  }
  takeSymbol(cursor, "-");
  if (cursor.kind === "end" || cursor.kind === "symbol") throw faultAt(cursor, "a value");
  const isKept = KEPT_OPTIONS.has(name) || name.startsWith("features.");
  if (isKept && settings.has(name)) throw faultAt(cursor, `one value of "${name}"`);
  if (cursor.kind !== "text") {
    if (isKept) settings.set(name, tokenText(cursor));
    advance(cursor);
  } else if (isKept) settings.set(name, readText(cursor, "a text"));
  else while (cursor.kind === "text") advance(cursor);
}

/** The name of an option; options of extensions, which have parentheses, have the name "". */
function readSettingName(cursor: ProtoCursor): string {
  let name = "";
  let isCustom = false;
  do {
    if (takeSymbol(cursor, "(")) {
      isCustom = true;
      readName(cursor, "the name of an option");
      expectSymbol(cursor, ")");
    } else name += `.${readWord(cursor, "the name of an option")}`;
  } while (takeSymbol(cursor, "."));
  return isCustom ? "" : name.slice(1);
}

/** Reads `{ name: VALUE ... }`. Features of other languages have names in brackets. */
function readFeatures(cursor: ProtoCursor, settings: Settings): void {
  expectSymbol(cursor, "{");
  while (!takeSymbol(cursor, "}")) {
    if (takeSymbol(cursor, "[")) {
      while (!takeSymbol(cursor, "]")) {
        if (cursor.kind === "end") throw faultAt(cursor, '"]"');
        advance(cursor);
      }
      takeSymbol(cursor, ":");
      skipBraces(cursor);
    } else {
      const name = `features.${readWord(cursor, "the name of a feature")}`;
      expectSymbol(cursor, ":");
      if (settings.has(name)) throw faultAt(cursor, `one value of "${name}"`);
      settings.set(name, readWord(cursor, "the value of a feature"));
    }
    if (!takeSymbol(cursor, ",")) takeSymbol(cursor, ";");
  }
}

/** The features of editions that options set; null where they set none. */
export function featuresOf(cursor: ProtoCursor, settings: Settings): FeatureSet | null {
  const given = [...settings].flatMap(([name, value]) =>
    /^features\.[a-z_]+$/.test(name) ? [[name.slice(9), value]] : []
  );
  if (given.length === 0) return null;
  try {
    return fromJson(FeatureSetSchema, Object.fromEntries(given));
  } catch {
    throw faultAt(cursor, "features that are known");
  }
}

/** The members of a field's descriptor that its options set. */
export function fieldSettings(cursor: ProtoCursor, settings: Settings): object {
  if (settings.size === 0) return {};
  const features = featuresOf(cursor, settings);
  const packed = settings.get("packed");
  const jsonName = settings.get("json_name");
  const jstype = FieldOptions_JSType[settings.get("jstype") as keyof typeof FieldOptions_JSType];
  return {
    ...jsonName === undefined ? {} : { jsonName },
    options: {
      ...features === null ? {} : { features },
      ...packed === "true" || packed === "false" ? { packed: packed === "true" } : {},
      ...jstype === undefined ? {} : { jstype },
    },
  };
}
