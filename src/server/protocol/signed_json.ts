/** Signed JSON that a client carries from one request to a later one, in characters that header fields may have. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { StateKeys } from "../../tools/services/state_keys.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Signs a value for one purpose. */
export function signJson(keys: StateKeys, purpose: string, value: JsonValue): string {
  const bytes = encoder.encode(canonicalize(value));
  return keys.sign(purpose, bytes.toBase64({ alphabet: "base64url", omitPadding: true }));
}

/**
 * Opens a value that {@link signJson} signed for the purpose; undefined for any other text.
 *
 * @param maximum The longest text that is read, in UTF-16 code units
 */
export function openJson(keys: StateKeys, purpose: string, text: string, maximum: number): JsonValue | undefined {
  const signed = text.length > maximum ? null : keys.open(purpose, text);
  if (signed === null) return undefined;
  const parsed = parseJson(decoder.decode(Uint8Array.fromBase64(signed, { alphabet: "base64url" })));
  return parsed.ok ? parsed.value : undefined;
}
