/** Reads values from JSON text that the scanner accepted. */

import type { JsonValue } from "./json.ts";
import type { ScanReport } from "./scanner.ts";

/** A position in checked text. */
interface Reader {
  readonly text: string;
  at: number;
}

/**
 * The value of a text without a fault. The native parser may confuse an escaped member name with another one of an
 * earlier text (https://github.com/nodejs/node/issues/63785): it reads `{"k":0,"\n":1}` with the name `\` once a text
 * had `\` after `k`. So a text with escaped names is read here, piece by piece.
 *
 * @param text The text
 * @param report The report of its scan, without a fault
 * @returns The value
 */
export function parseScanned(text: string, report: ScanReport): JsonValue {
  return report.escapedNames ? readValue({ text, at: 0 }) : JSON.parse(text) as JsonValue;
}

function readValue(reader: Reader): JsonValue {
  const unit = skipSpace(reader);
  if (unit === 0x7b) return readObject(reader);
  if (unit === 0x5b) return readArray(reader);
  if (unit === 0x22) return readString(reader);
  const start = reader.at;
  while (!isDelimiter(reader.text.charCodeAt(reader.at))) reader.at++;
  return JSON.parse(reader.text.slice(start, reader.at)) as JsonValue;
}

function readObject(reader: Reader): JsonValue {
  const members: [string, JsonValue][] = [];
  reader.at++;
  while (skipSpace(reader) !== 0x7d) {
    if (reader.text.charCodeAt(reader.at) === 0x2c) {
      reader.at++;
      skipSpace(reader);
    }
    const name = readString(reader);
    skipSpace(reader);
    reader.at++;
    members.push([name, readValue(reader)]);
  }
  reader.at++;
  return Object.fromEntries(members);
}

function readArray(reader: Reader): JsonValue {
  const items: JsonValue[] = [];
  reader.at++;
  while (skipSpace(reader) !== 0x5d) {
    if (reader.text.charCodeAt(reader.at) === 0x2c) reader.at++;
    items.push(readValue(reader));
  }
  reader.at++;
  return items;
}

function readString(reader: Reader): string {
  const start = reader.at;
  let unit = reader.text.charCodeAt(++reader.at);
  while (unit !== 0x22) {
    reader.at += unit === 0x5c ? 2 : 1;
    unit = reader.text.charCodeAt(reader.at);
  }
  return JSON.parse(reader.text.slice(start, ++reader.at)) as string;
}

/** Skips white space; returns the code unit after it. */
function skipSpace(reader: Reader): number {
  let unit = reader.text.charCodeAt(reader.at);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = reader.text.charCodeAt(++reader.at);
  return unit;
}

/** Whether a literal ends before this code unit. NaN is the end of the text. */
function isDelimiter(unit: number): boolean {
  return Number.isNaN(unit) || unit <= 0x20 || unit === 0x2c || unit === 0x5d || unit === 0x7d;
}
