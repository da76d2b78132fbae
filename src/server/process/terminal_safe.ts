/**
 * Escapes characters that JSON allows but that control a terminal. C1 controls begin escape sequences like ESC. Others
 * change the direction of text or end a line.
 */

import { Buffer } from "node:buffer";
import { TERMINAL_ACTIVE } from "../../canonical/shown.ts";

/** The same for one match, since a test with the other expression would keep its position. */
const ACTIVE = new RegExp(TERMINAL_ACTIVE.source);

/** A JSON text with those characters escaped. Its value is unchanged, since they occur only in strings. */
export function terminalSafe(json: string): string {
  // Most texts are ASCII, which the runtime tests faster; of it DEL alone is matched.
  if (Buffer.byteLength(json) === json.length && !json.includes("\x7f")) return json;
  return ACTIVE.test(json) ? json.replaceAll(TERMINAL_ACTIVE, escaped) : json;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
