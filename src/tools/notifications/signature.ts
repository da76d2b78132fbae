/** Signatures of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 over identifier, time and body. */

import { createHmac } from "node:crypto";
import { VERSION } from "../../config/product_version.ts";
import { decodeBase64 } from "../../canonical/base64.ts";

/** Bytes of a secret that the specification allows. */
const SECRET_BYTES = { least: 24, most: 64 };

const PREFIX = "whsec_";

/**
 * The bytes of a secret: `whsec_` and base64 of 24 to 64 bytes. Null for any other text.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { secretOf } from "@/tools/notifications/signature.ts";
 *
 * assert.equal(secretOf("whsec_" + btoa("x".repeat(24)))?.length, 24);
 * assert.equal(secretOf("whsec_" + btoa("x".repeat(23))), null);
 * ```
 */
export function secretOf(text: string): Uint8Array | null {
  if (!text.startsWith(PREFIX)) return null;
  const bytes = decodeBase64(text.slice(PREFIX.length));
  if (bytes === null || bytes.length < SECRET_BYTES.least || bytes.length > SECRET_BYTES.most) return null;
  return bytes;
}

/** The headers of one attempt to send an event. */
export function signedHeaders(
  secret: Uint8Array,
  { id, body }: { readonly id: string; readonly body: string },
  now: number,
): readonly (readonly [name: string, value: string])[] {
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  return [
    ["User-Agent", `gate/${VERSION}`],
    ["Accept", "*/*"],
    ["Connection", "close"],
    ["Content-Type", "application/json"],
    ["Content-Length", String(new TextEncoder().encode(body).length)],
    ["webhook-id", id],
    ["webhook-timestamp", timestamp],
    ["webhook-signature", `v1,${signature}`],
  ];
}
