import { decodeBase64 } from "../../canonical/base64.ts";

/** Most bytes of a public key file: 32 raw bytes, or their base64 with white space around. */
export const PUBLIC_KEY_FILE_BYTES = 256;

/** The Ed25519 public key of a file: 32 raw bytes or their base64; null for any other content. */
export function parsePublicKey(bytes: Uint8Array): Uint8Array | null {
  if (bytes.length === 32) return bytes;
  const decoded = bytes.length <= PUBLIC_KEY_FILE_BYTES ? decodeBase64(new TextDecoder().decode(bytes).trim()) : null;
  return decoded?.length === 32 ? decoded : null;
}
