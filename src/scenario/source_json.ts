/** Reads JSON documents with the position of every value. */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import { decodeUtf8Strict, parseJson } from "../canonical/scan.ts";
import {
  type Locator,
  locatorOf,
  notUtf8,
  PlacedText,
  type Places,
  positionAt,
  type ReadSource,
  type Steps,
  type TextSource,
} from "./source_position.ts";

/** Parses JSON as the server does. */
export function readJsonSource(bytes: Uint8Array): ReadSource {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notUtf8();
  const parsed = parseJson(text);
  if (parsed.ok) {
    const { value } = parsed;
    const locator = (): Locator => {
      const placed = new PlacedText(text);
      return locatorOf(offsetsOf(text, value), (at) => placed.positionAt(at), (at) => textSourceAt(text, at));
    };
    return { ok: true, value, text, locator };
  }
  const { code, path, offset, message } = parsed.fault;
  return { ok: false, fault: { code, path, message, position: positionAt(text, offset) } };
}

/** A token with which a name or a value starts: a string, a bracket that opens, a literal or a number. */
const START = /"[^"\\]*(?:\\.[^"\\]*)*"|[[{]|[^\s,:\]}[{"]+/g;

function textSourceAt(text: string, start: number): TextSource | null {
  const [quoted] = /^"[^"\\]*(?:\\.[^"\\]*)*"/.exec(text.slice(start)) ?? [];
  return quoted === undefined ? null : { start, end: start + quoted.length, style: "escaped" };
}

/** The offsets of all values of a text that is valid JSON, by path. */
function offsetsOf(text: string, root: JsonValue): Places<number> {
  const offsets: Places<number> = new Map();
  const tokens = text.matchAll(START);
  const nextToken = (): RegExpExecArray => {
    const { value } = tokens.next();
    if (value === undefined) throw new TypeError("Cannot locate a value: the text has fewer than its document");
    return value;
  };
  const visit = (value: JsonValue | undefined, steps: Steps, name?: number): void => {
    const { index: start } = nextToken();
    offsets.set(formatPath(steps), { name: name ?? start, value: start });
    if (isJsonArray(value)) value.forEach((item, index) => visit(item, [...steps, index]));
    else if (isJsonObject(value)) {
      // The members have the order of the text, which that of the object's names can differ from.
      for (let left = Object.keys(value).length; left > 0; left--) {
        const { 0: quoted, index } = nextToken();
        const inner = JSON.parse(quoted) as string;
        visit(member(value, inner), [...steps, inner], index);
      }
    }
  };
  visit(root, []);
  return offsets;
}
