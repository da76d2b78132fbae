/** Private keys that sign evidence statements: parsed from a file, or generated. */

import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { decodeBase64, encodeBase64 } from "../../canonical/base64.ts";

/** Bytes of a key file; a PEM text is far below it. */
export const KEY_FILE_BYTES_MAXIMUM = 8192;

/** The bytes before the 32 bytes of a key in PKCS #8 (RFC 8410, 7). */
const PKCS8_PREFIX = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);

/** An Ed25519 private key. */
export interface SigningKey {
  /** Base64 of the 32 bytes of the public key. */
  readonly public_key: string;
  /** Signs the UTF-8 bytes of a text; base64 of 64 bytes. */
  readonly sign: (text: string) => string;
}

/**
 * Parses a key file: 32 raw bytes, their base64, or PKCS #8 as PEM, encrypted or not.
 *
 * @param passphrase Of an encrypted key
 * @returns Null for any other content, for another passphrase, and for keys other than Ed25519
 */
export function parseSigningKey(bytes: Uint8Array, passphrase: string | null = null): SigningKey | null {
  if (bytes.length === 32) return keyOfSeed(bytes);
  const text = new TextDecoder().decode(bytes).trim();
  const seed = decodeBase64(text);
  if (seed?.length === 32) return keyOfSeed(seed);
  const isEncrypted = text.startsWith("-----BEGIN ENCRYPTED PRIVATE KEY-----") && passphrase !== null;
  if (!isEncrypted && !text.startsWith("-----BEGIN PRIVATE KEY-----")) return null;
  try {
    return signingKey(isEncrypted ? createPrivateKey({ key: text, passphrase }) : createPrivateKey(text));
  } catch {
    return null;
  }
}

function keyOfSeed(seed: Uint8Array): SigningKey | null {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  return signingKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
}

function signingKey(key: KeyObject): SigningKey | null {
  if (key.asymmetricKeyType !== "ed25519") return null;
  return {
    public_key: encodeBase64(rawPublicKey(createPublicKey(key))),
    sign: (text) => encodeBase64(sign(null, Buffer.from(text), key)),
  };
}

function rawPublicKey(key: KeyObject): Uint8Array {
  const { x } = key.export({ format: "jwk" }) as { readonly x: string };
  return Uint8Array.fromBase64(x, { alphabet: "base64url" });
}

/**
 * Generates a key pair as the texts of its two files: PKCS #8 as PEM, and the public key in base64.
 *
 * @param passphrase Encrypts the private key; null leaves it as it is
 */
export function makeKeyPair(
  passphrase: string | null = null,
): { readonly private_pem: string; readonly public_text: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    private_pem: privateKey.export({
      format: "pem",
      type: "pkcs8",
      ...passphrase === null ? {} : { cipher: "aes-256-cbc", passphrase },
    }) as string,
    public_text: `${encodeBase64(rawPublicKey(publicKey))}\n`,
  };
}
